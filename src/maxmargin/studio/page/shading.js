// The picture behind the points: decision values as colour, and the level lines of a frame.

import { isLinear } from "./engine.js";
import { levelLine, linearField } from "./geometry.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Window} Window */

/** Points along the longer side of a field that the page computes itself. */
const OWN = 90;

/**
 * The decision values of a frame on a grid: the host's, or for one hyperplane the page's own.
 * @param {Frame} frame
 * @param {State} state
 * @returns {{values: ArrayLike<number>, classes: ArrayLike<number>|null, window: Window}|null}
 */
export function fieldOf(frame, state) {
  if (isLinear(frame, state)) {
    const window = { ...state.window, nx: OWN, ny: OWN };
    return { values: linearField(/** @type {any} */ (frame.arrays.w), frame.b ?? 0, window), classes: null, window };
  }
  if (!frame.arrays.field || !frame.window) return null;
  return { values: frame.arrays.field, classes: frame.arrays.classes ?? null, window: frame.window };
}

/**
 * A colour "#rrggbb" or "rgb(r, g, b)" as three numbers.
 * @param {string} colour
 * @returns {number[]}
 */
export function rgb(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16));
  return (colour.match(/[\d.]+/g) ?? ["128", "128", "128"]).slice(0, 3).map(Number);
}

/**
 * The field as an image: the class by colour, the distance from the boundary by strength up to the margin.
 * @param {NonNullable<ReturnType<typeof fieldOf>>} field
 * @param {(name: string) => string} ink
 * @param {boolean} novelty whether there is an inside and an outside instead of two classes
 * @returns {HTMLCanvasElement}
 */
export function image({ values, classes, window: { nx, ny } }, ink, novelty) {
  const made = document.createElement("canvas");
  [made.width, made.height] = [nx, ny];
  const ctx = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
  const data = ctx.createImageData(nx, ny);
  const palette = Array.from({ length: 10 }, (_, i) => rgb(ink(`class-${i}`)));
  for (let j = 0; j < ny; j++)
    for (let i = 0; i < nx; i++) {
      const value = values[j * nx + i];
      const which = classes ? classes[j * nx + i] : value > 0 ? (novelty ? 0 : 1) : novelty ? 9 : 0;
      const at = 4 * ((ny - 1 - j) * nx + i);
      const colour = palette[which % 10];
      [data.data[at], data.data[at + 1], data.data[at + 2]] = colour;
      const size = Math.abs(value);
      data.data[at + 3] = novelty && value < 0 ? 0 : 14 + 40 * Math.min(1, size) + 14 * Math.min(1, Math.max(0, size - 1) / 2);
    }
  ctx.putImageData(data, 0, 0);
  return made;
}

/**
 * The level lines of a field in the plane's coordinates.
 * @param {NonNullable<ReturnType<typeof fieldOf>>} field
 * @param {number} level
 * @returns {number[]} x0, y0, x1, y1, ...
 */
export function levelIn({ values, window: { x0, x1, y0, y1, nx, ny } }, level) {
  return levelLine(values, nx, ny, level).map((at, i) => (i % 2 ? y0 + ((y1 - y0) * at) / (ny - 1) : x0 + ((x1 - x0) * at) / (nx - 1)));
}

/**
 * The borders between several classes: where the lead of each over the others ends.
 * @param {NonNullable<ReturnType<typeof fieldOf>>} field
 * @returns {number[]} x0, y0, x1, y1, ...
 */
export function borders({ values, classes, window }) {
  if (!classes) return [];
  return [...new Set(Array.from(classes))].flatMap((k) => {
    const lead = Float32Array.from(values, (value, at) => (classes[at] === k ? value : -value));
    return levelIn({ values: lead, classes: null, window }, 0);
  });
}
