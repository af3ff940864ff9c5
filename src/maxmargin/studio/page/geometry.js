// The plane's geometry: windows, the nearest sample, level lines of a grid. Pure functions.

/** @typedef {import("./types.js").Window} Window */

/**
 * A window of the given shape round all points, with some room.
 * @param {Float64Array} xy
 * @param {number} nx
 * @param {number} ny
 * @param {boolean} [square] whether both axes have one scale
 * @returns {Window}
 */
export function windowOf(xy, nx, ny, square = true) {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < xy.length; i += 2) {
    x0 = Math.min(x0, xy[i]);
    x1 = Math.max(x1, xy[i]);
    y0 = Math.min(y0, xy[i + 1]);
    y1 = Math.max(y1, xy[i + 1]);
  }
  if (!(x1 >= x0)) [x0, x1, y0, y1] = [-3, 3, -3, 3];
  const room = (/** @type {number} */ a, /** @type {number} */ b) => Math.max(0.12 * (b - a), (b - a) === 0 ? 1 : 0);
  const [rx, ry] = [room(x0, x1), room(y0, y1)];
  return shaped({ x0: x0 - rx, x1: x1 + rx, y0: y0 - ry, y1: y1 + ry, nx, ny }, nx / ny, square);
}

/**
 * The window widened to an aspect ratio, its centre kept.
 * @param {Window} window
 * @param {number} aspect width / height
 * @param {boolean} [square]
 * @returns {Window}
 */
export function shaped(window, aspect, square = true) {
  const [width, height] = [window.x1 - window.x0, window.y1 - window.y0];
  if (!square) return window;
  const [wide, tall] = width / height < aspect ? [height * aspect, height] : [width, width / aspect];
  const [cx, cy] = [(window.x0 + window.x1) / 2, (window.y0 + window.y1) / 2];
  return { ...window, x0: cx - wide / 2, x1: cx + wide / 2, y0: cy - tall / 2, y1: cy + tall / 2 };
}

/**
 * The window enlarged or shrunk about a point of the plane.
 * @param {Window} window
 * @param {number} factor below 1: closer
 * @param {number} x
 * @param {number} y
 * @returns {Window}
 */
export function zoomed(window, factor, x, y) {
  return { ...window, x0: x + (window.x0 - x) * factor, x1: x + (window.x1 - x) * factor, y0: y + (window.y0 - y) * factor, y1: y + (window.y1 - y) * factor };
}

/**
 * The sample nearest to a pixel, or null if none is within `reach`.
 * @param {Float64Array} xy
 * @param {(x: number) => number} toX
 * @param {(y: number) => number} toY
 * @param {number} px
 * @param {number} py
 * @param {number} reach pixels
 * @returns {number|null}
 */
export function nearest(xy, toX, toY, px, py, reach) {
  let [found, best] = [/** @type {number|null} */ (null), reach * reach];
  for (let i = 0; i < xy.length / 2; i++) {
    const [dx, dy] = [toX(xy[2 * i]) - px, toY(xy[2 * i + 1]) - py];
    if (dx * dx + dy * dy <= best) [found, best] = [i, dx * dx + dy * dy];
  }
  return found;
}

/**
 * The samples inside a rectangle of pixels.
 * @param {Float64Array} xy
 * @param {(x: number) => number} toX
 * @param {(y: number) => number} toY
 * @param {{x0: number, y0: number, x1: number, y1: number}} box corners, in any order
 * @returns {number[]}
 */
export function inside(xy, toX, toY, box) {
  const [left, right, top, bottom] = [Math.min(box.x0, box.x1), Math.max(box.x0, box.x1), Math.min(box.y0, box.y1), Math.max(box.y0, box.y1)];
  const made = [];
  for (let i = 0; i < xy.length / 2; i++) {
    const [x, y] = [toX(xy[2 * i]), toY(xy[2 * i + 1])];
    if (x >= left && x <= right && y >= top && y <= bottom) made.push(i);
  }
  return made;
}

/**
 * The level line of a grid by marching squares: segments x0, y0, x1, y1 in units of grid steps.
 * @param {ArrayLike<number>} grid row-major, row 0 first
 * @param {number} nx
 * @param {number} ny
 * @param {number} level
 * @returns {number[]}
 */
export function levelLine(grid, nx, ny, level) {
  /** @type {number[]} */
  const made = [];
  for (let j = 0; j + 1 < ny; j++)
    for (let i = 0; i + 1 < nx; i++) {
      const a = grid[j * nx + i] - level;
      const b = grid[j * nx + i + 1] - level;
      const c = grid[(j + 1) * nx + i + 1] - level;
      const d = grid[(j + 1) * nx + i] - level;
      const which = (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (c > 0 ? 4 : 0) | (d > 0 ? 8 : 0);
      if (which === 0 || which === 15 || Number.isNaN(a + b + c + d)) continue;
      const low = [i + a / (a - b), j];
      const right = [i + 1, j + b / (b - c)];
      const high = [i + d / (d - c), j + 1];
      const left = [i, j + a / (a - d)];
      const line = (/** @type {number[]} */ p, /** @type {number[]} */ q) => made.push(p[0], p[1], q[0], q[1]);
      if (which === 5 || which === 10) {
        const middle = a + b + c + d > 0; // a saddle: the middle decides which corners hold together
        if ((which === 5) === middle) line(low, right), line(left, high);
        else line(low, left), line(right, high);
      } else if (which === 1 || which === 14) line(low, left);
      else if (which === 2 || which === 13) line(low, right);
      else if (which === 4 || which === 11) line(right, high);
      else if (which === 8 || which === 7) line(high, left);
      else if (which === 3 || which === 12) line(left, right);
      else line(low, high);
    }
  return made;
}

/**
 * The values of w·x + b on the grid of a window.
 * @param {ArrayLike<number>} w two numbers
 * @param {number} b
 * @param {Window} window
 * @returns {Float32Array}
 */
export function linearField(w, b, window) {
  const { x0, x1, y0, y1, nx, ny } = window;
  const made = new Float32Array(nx * ny);
  for (let j = 0; j < ny; j++)
    for (let i = 0; i < nx; i++) made[j * nx + i] = w[0] * (x0 + ((x1 - x0) * i) / (nx - 1)) + w[1] * (y0 + ((y1 - y0) * j) / (ny - 1)) + b;
  return made;
}

/**
 * Segments joined into lines, so that dashes run on; lines are apart by NaN, NaN.
 * @param {number[]} segments x0, y0, x1, y1, ...
 * @returns {number[]}
 */
export function joined(segments) {
  const key = (/** @type {number} */ at) => `${segments[at].toFixed(7)},${segments[at + 1].toFixed(7)}`;
  /** @type {Map<string, number[]>} */
  const ends = new Map();
  for (let at = 0; at < segments.length; at += 2) {
    const name = key(at);
    const there = ends.get(name);
    if (there) there.push(at);
    else ends.set(name, [at]);
  }
  const used = new Uint8Array(segments.length / 4);
  const follow = (/** @type {number} */ from) => {
    /** @type {number[]} */
    const line = [];
    for (let at = from; ; ) {
      used[at >> 2] = 1;
      const other = at ^ 2; // the other end of the segment
      line.push(segments[other], segments[other + 1]);
      const next = (ends.get(key(other)) ?? []).find((one) => !used[one >> 2]);
      if (next === undefined) return line;
      at = next;
    }
  };
  /** @type {number[]} */
  const made = [];
  for (let s = 0; s < used.length; s++) {
    if (used[s]) continue;
    const onward = follow(4 * s);
    const before = (ends.get(key(4 * s)) ?? []).find((one) => !used[one >> 2]);
    const back = before === undefined ? [] : follow(before);
    for (let i = back.length - 2; i >= 0; i -= 2) made.push(back[i], back[i + 1]);
    made.push(segments[4 * s], segments[4 * s + 1], ...onward, NaN, NaN);
  }
  return made;
}

/**
 * The point of some segments that is nearest to a place, or null where there is no segment.
 * @param {number[]} segments x0, y0, x1, y1, ...
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]|null}
 */
export function nearestOn(segments, x, y) {
  let [found, least] = [/** @type {[number, number]|null} */ (null), Infinity];
  for (let at = 0; at < segments.length; at += 4) {
    const [ax, ay] = [segments[at], segments[at + 1]];
    const [dx, dy] = [segments[at + 2] - ax, segments[at + 3] - ay];
    const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    const apart = (ax + t * dx - x) ** 2 + (ay + t * dy - y) ** 2;
    if (apart < least) [found, least] = [[ax + t * dx, ay + t * dy], apart];
  }
  return found;
}
