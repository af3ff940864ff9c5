// The samples: changes of them give new ones, so that undo is the old ones.

/** @typedef {import("./types.js").Points} Points */

/**
 * The points of an answer to `toy` or `import`.
 * @param {*} answer
 * @param {{name: string, data: string}|null} [file]
 * @param {import("./types.js").ToyChoice|null} [toy]
 * @returns {Points}
 */
export function pointsOf(answer, file = null, toy = null) {
  const { X, y } = answer.arrays;
  const regression = answer.points.task === "regression";
  const xy = regression ? Float64Array.from({ length: 2 * y.length }, (_, i) => (i % 2 ? y[i >> 1] : X[i >> 1])) : Float64Array.from(X);
  return {
    task: answer.points.task, xy, y: regression ? new Float64Array(y.length) : Float64Array.from(y),
    labels: answer.points.labels?.length ? answer.points.labels : ["0"], note: answer.points.note ?? "", columns: answer.points.columns, shown: answer.points.shown ?? null, file, toy,
  };
}

/**
 * X and y of the points, as the command `problem` takes them.
 * @param {Points} points
 */
export function rowsOf(points) {
  const n = count(points);
  if (points.task !== "regression") return { X: encoded(points.xy, [n, 2]), y: encoded(points.y, [n]) };
  return { X: encoded(points.xy.filter((_, i) => i % 2 === 0), [n, 1]), y: encoded(points.xy.filter((_, i) => i % 2 === 1), [n]) };
}

/** @param {Points} points */
export const count = (points) => points.xy.length / 2;

/** Coordinates are kept to three decimals, so that they fit into an address and come back the same. @param {number} x */
export const rounded = (x) => Math.round(x * 1000) / 1000;

/**
 * @param {Points} points
 * @param {number} x
 * @param {number} y
 * @param {number} label index
 * @returns {Points}
 */
export function added(points, x, y, label) {
  return { ...points, xy: Float64Array.of(...points.xy, rounded(x), rounded(y)), y: Float64Array.of(...points.y, points.task === "classification" ? label : 0) };
}

/**
 * @param {Points} points
 * @param {number[]} indices
 * @param {number} dx
 * @param {number} dy
 * @returns {Points}
 */
export function moved(points, indices, dx, dy) {
  const xy = points.xy.slice();
  for (const i of indices) {
    xy[2 * i] = rounded(xy[2 * i] + dx);
    xy[2 * i + 1] = rounded(xy[2 * i + 1] + dy);
  }
  return { ...points, xy };
}

/**
 * @param {Points} points
 * @param {number[]} indices
 * @returns {Points}
 */
export function removed(points, indices) {
  const gone = new Set(indices);
  return { ...points, xy: points.xy.filter((_, i) => !gone.has(i >> 1)), y: points.y.filter((_, i) => !gone.has(i)) };
}

/**
 * @param {Points} points
 * @param {number[]} indices
 * @param {number|((old: number) => number)} label
 * @returns {Points}
 */
export function relabelled(points, indices, label) {
  const y = points.y.slice();
  for (const i of indices) y[i] = typeof label === "function" ? label(y[i]) : label;
  return { ...points, y };
}

/**
 * The same coordinates for another task.
 * @param {Points} points
 * @param {import("./types.js").Task} task
 * @returns {Points}
 */
export function forTask(points, task) {
  if (points.task === task) return points;
  const n = count(points);
  const y = task === "classification" ? Float64Array.from({ length: n }, (_, i) => (points.xy[2 * i] > 0 ? 1 : 0)) : new Float64Array(n);
  return { ...points, task, y, labels: task === "classification" ? ["−1", "+1"] : ["0"], note: "", columns: undefined, file: null, toy: null };
}

/**
 * Numbers as base64.
 * @param {Float64Array} array
 * @param {number[]} shape
 */
export function encoded(array, shape) {
  return { dtype: "f8", shape, data: base64(new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) };
}

/** @param {Uint8Array} bytes @returns {string} */
export function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

/** @param {string} text @returns {Uint8Array} */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/**
 * The share of the shown machine's samples on the right side, or null where there is no such thing.
 * @param {Pick<import("./types.js").State, "points"|"problem"|"machine">} state
 * @param {import("./types.js").Frame|null} frame
 * @returns {number|null}
 */
export function accuracyOf({ points, problem, machine }, frame) {
  if (!frame || !problem || points.task !== "classification" || frame.arrays.z.length !== problem.n) return null;
  const target = problem.arrays.target.subarray(machine * problem.n, (machine + 1) * problem.n);
  const right = target.filter((y, i) => y * frame.arrays.z[i] > 0).length;
  return right / target.filter((y) => !Number.isNaN(y)).length;
}
