// A small plane for the views that have one of their own: the samples in a box, the same scale on both axes.

import { axes, classOf, frameOf, linear, mark, nearest, ring } from "./chart.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {{x: import("./chart.js").Scale, y: import("./chart.js").Scale, box: import("./chart.js").Box}} Plane */

/** The plane around all samples (and further points), fitted into a box. @param {import("./chart.js").Box} box @param {State} state @param {number[][]} [more] */
export function planeOf(box, state, more = []) {
  const { xy } = state.points;
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  const take = (/** @type {number} */ x, /** @type {number} */ y) => {
    [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
  };
  for (let k = 0; k < xy.length; k += 2) take(xy[k], xy[k + 1]);
  for (const [x, y] of more) if (Number.isFinite(x + y)) take(x, y);
  if (x0 > x1) [x0, x1, y0, y1] = [0, 1, 0, 1];
  const [wide, high] = [box.right - box.left, box.bottom - box.top];
  const unit = 1.12 * Math.max((x1 - x0) / wide, (y1 - y0) / high, 1e-9 * (1 + Math.abs(x0) + Math.abs(y0)));
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const x = linear(cx - (unit * wide) / 2, cx + (unit * wide) / 2, box.left, box.right);
  const y = linear(cy - (unit * high) / 2, cy + (unit * high) / 2, box.bottom, box.top);
  return { x, y, box };
}

/** @param {import("./chart.js").Pen} pen @param {Plane} plane */
export function drawAxes(pen, { x, y, box }) {
  axes(pen, box, { x, y });
}

/** The samples with their kinds; `size` gives the radius of each. @param {import("./chart.js").Pen} pen @param {Plane} plane @param {State} state
 * @param {ArrayLike<number>|null} [kinds] @param {(i: number) => number} [size] */
export function drawSamples(pen, { x, y }, state, kinds = frameOf(state)?.arrays.kinds ?? null, size = () => 5) {
  const { xy } = state.points;
  for (let i = 0; i < xy.length / 2; i++) {
    if (kinds?.[i] === 255) continue;
    mark(pen, x(xy[2 * i]), y(xy[2 * i + 1]), size(i), classOf(state, i), kinds ? kinds[i] : 0);
  }
  for (const i of state.hover === null ? state.selection : [...state.selection, state.hover]) {
    if (2 * i + 1 < xy.length) ring(pen, x(xy[2 * i]), y(xy[2 * i + 1]));
  }
}

/** The sample at a place, or null. @param {Plane|null} plane @param {State} state @param {number} px @param {number} py */
export function sampleAt(plane, state, px, py) {
  if (!plane) return null;
  const { xy } = state.points;
  const xs = new Float64Array(xy.length / 2);
  const ys = new Float64Array(xy.length / 2);
  for (let i = 0; i < xs.length; i++) [xs[i], ys[i]] = [plane.x(xy[2 * i]), plane.y(xy[2 * i + 1])];
  const found = nearest(xs, ys, px, py);
  return found < 0 ? null : found;
}

/** The ends of the line w·x + b = level inside a window. @param {ArrayLike<number>} w @param {number} b @param {number} level @param {Plane} plane */
export function lineInside(w, b, level, { x, y }) {
  const found = [];
  if (Math.abs(w[1]) >= Math.abs(w[0])) {
    for (const at of [x.low, x.high]) found.push(at, (level - b - w[0] * at) / w[1]);
  } else {
    for (const at of [y.low, y.high]) found.push((level - b - w[1] * at) / w[0], at);
  }
  return found;
}
