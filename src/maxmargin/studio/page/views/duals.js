// The dual variables as bars in their box: 0 ≤ α ≤ C for classes, lower ≤ β ≤ upper for any other loss.

import { BOUND, CANDIDATE, FREE, axes, choice, classOf, figure, frameOf, linear, notice, ofMachine, part, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */

const ORDERS = { class: "class", size: "size", row: "row" };
const KIND_NAMES = ["not a support vector", "candidate: on the margin with α = 0", "free support vector", "bound support vector"];

/**
 * The samples in the order that they are shown in.
 * @param {State} state @param {string} by @returns {number[]}
 */
export function ordered(state, by) {
  const frame = frameOf(state);
  if (!frame) return [];
  const { beta, kinds } = frame.arrays;
  const there = Array.from(beta.keys()).filter((i) => kinds[i] !== 255);
  const size = (/** @type {number} */ i) => Math.abs(beta[i]);
  if (by === "size") there.sort((i, j) => size(j) - size(i) || i - j);
  if (by === "class") there.sort((i, j) => classOf(state, i) - classOf(state, j) || size(j) - size(i) || i - j);
  return there;
}

/** A sample's bar: its value and the ends of its box. @param {State} state @param {number} i */
export function barOf(state, i) {
  const frame = /** @type {import("../types.js").Frame} */ (frameOf(state));
  const lower = ofMachine(state, "lower")?.[i] ?? NaN;
  const upper = ofMachine(state, "upper")?.[i] ?? NaN;
  const value = frame.arrays.beta[i];
  if (state.points.task !== "classification") return { value, low: lower, high: upper };
  return { value: frame.arrays.alpha[i], low: 0, high: Math.max(Math.abs(lower), Math.abs(upper)) };
}

/** @type {import("../types.js").View} */
export const duals = {
  id: "duals",
  title: "Dual variables",
  doc: "One bar for each sample, in its box: 0 means that the sample does not matter, C that it cannot matter more.",
  applies: () => true,
  mount(el, app) {
    let by = "class";
    const bar = part(el, "div", "", "view-bar");
    choice(bar, "Order:", ORDERS, by, (value) => {
      by = value;
      shown.update(app.store.get());
    });
    const said = part(bar, "output", "", "view-said");
    let order = /** @type {number[]} */ ([]);
    const box = { left: 52, right: 0, top: 24, bottom: 0 };
    const at = (/** @type {number} */ x) => {
      const k = Math.floor(((x - box.left) / (box.right - box.left)) * order.length);
      return x < box.left || x > box.right || !order.length ? null : (order[Math.min(k, order.length - 1)] ?? null);
    };
    const shown = figure(el, app, {
      height: 230,
      hit: (x) => at(x),
      order: () => order,
      press(x, _, __, ___, kind) {
        const sample = at(x);
        if (kind === "down" && sample !== null) app.select([sample]);
        return false;
      },
      draw(pen, state) {
        const frame = frameOf(state);
        order = ordered(state, by);
        if (!frame || !order.length) return notice(pen, "The dual variables will be drawn here.");
        [box.right, box.bottom] = [pen.width - 12, pen.height - 34];
        drawBars(pen, box, state, order);
        said.textContent = words(state);
      },
      tell(state) {
        const frame = frameOf(state);
        if (!frame) return "Dual variables: nothing has run yet.";
        const { candidate, free, bound } = frame.certificate.counts;
        return `Dual variables: ${free} free and ${bound} bound support vectors, ${candidate} candidate${candidate === 1 ? "" : "s"}. ${words(state)}`;
      },
    });
    return shown;
  },
};

/** What there is to say of the sample that is pointed at. @param {State} state */
function words(state) {
  const frame = frameOf(state);
  const i = state.hover;
  if (!frame || i === null || frame.arrays.kinds[i] === 255 || i >= frame.arrays.beta.length) return "";
  const { value, high } = barOf(state, i);
  const classes = state.points.task === "classification";
  const end = Number.isFinite(high) ? ` of at most ${written(high)}` : "";
  return `Sample ${i}: ${classes ? "α" : "β"} = ${written(value, 4)}${end}; ${KIND_NAMES[frame.arrays.kinds[i]]}.`;
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {State} state @param {number[]} order */
function drawBars(pen, box, state, order) {
  const { ctx, ink } = pen;
  const frame = /** @type {import("../types.js").Frame} */ (frameOf(state));
  const bars = order.map((i) => barOf(state, i));
  const ends = bars.flatMap((one) => [one.low, one.high]).filter(Number.isFinite);
  const values = bars.map((one) => one.value);
  let high = Math.max(...ends, 0);
  let low = Math.min(...ends, 0);
  // A box much larger than what is in it would show nothing: then it is open above.
  const [most, least] = [Math.max(...values, 0), Math.min(...values, 0)];
  if (most <= 0.02 * high || high === 0) high = 1.25 * most || 1;
  if (least >= 0.02 * low && low < 0) low = 1.25 * least;
  const room = 0.04 * (high - low);
  const y = linear(low < 0 ? low - room : 0, high + room, box.bottom, box.top);
  axes(pen, box, { y, yName: state.points.task !== "classification" ? "β, between its bounds" : ends.some((end) => end > 0) ? "α, in 0 … C" : "α ≥ 0" });
  const step = (box.right - box.left) / order.length;
  const wide = Math.max(1, Math.min(18, step * 0.72));
  const moved = frame.event?.indices ?? [];
  order.forEach((i, k) => {
    const middle = box.left + (k + 0.5) * step;
    const { value, low: from, high: to } = bars[k];
    const kind = frame.arrays.kinds[i];
    if (i === state.hover || state.selection.includes(i)) {
      ctx.fillStyle = ink("focus");
      ctx.globalAlpha = i === state.hover ? 0.3 : 0.15;
      ctx.fillRect(middle - Math.max(step, 6) / 2, box.top - 4, Math.max(step, 6), box.bottom - box.top + 8);
      ctx.globalAlpha = 1;
    }
    if (step > 3) {
      ctx.fillStyle = ink("line");
      ctx.globalAlpha = 0.55;
      const [top, bottom] = [y(Math.min(to, y.high)), y(Math.max(from, y.low))];
      ctx.fillRect(middle - wide / 2, top, wide, bottom - top);
      ctx.globalAlpha = 1;
    }
    const colour = ink(`class-${classOf(state, i) % 10}`);
    ctx.fillStyle = colour;
    const [top, bottom] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))];
    ctx.fillRect(middle - wide / 2, top, wide, bottom - top);
    if (wide >= 4 && kind === FREE) {
      ctx.strokeStyle = ink("ink");
      ctx.lineWidth = 1.5;
      ctx.strokeRect(middle - wide / 2, top, wide, bottom - top);
    }
    if (kind === BOUND && wide >= 3) stroke(ctx, ink("ink"), [middle - wide / 2, y(value), middle + wide / 2, y(value)], 3);
    if (kind === CANDIDATE) {
      ctx.beginPath();
      ctx.arc(middle, y(0), Math.min(3, wide / 2 + 1), 0, 2 * Math.PI);
      ctx.strokeStyle = ink("ink");
      ctx.lineWidth = 1.5;
      ctx.stroke();
    }
    if (moved.includes(i)) {
      ctx.fillStyle = ink("accent");
      ctx.textAlign = "center";
      ctx.textBaseline = "bottom";
      ctx.fillText("▼", middle, y(Math.max(value, 0)) - 3);
    }
  });
  stroke(ctx, ink("quiet"), [box.left, y(0), box.right, y(0)], 1);
  ctx.fillStyle = ink("quiet");
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.fillText(`${order.length} samples${moved.length ? "   ▼ what just moved" : ""}`, box.left, box.bottom + 8);
}
