// The kernel matrix as a heat map, by class: two alike samples are dark, and a kernel that suits the data shows blocks.

import { asker, classOf, figure, frameOf, label, notice, part, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */

/**
 * A colour between the ground and one of two inks: below 0 towards the second.
 * @param {number} share from −1 to 1 @param {boolean} dark @returns {[number, number, number]}
 */
export function heat(share, dark) {
  const size = Math.min(1, Math.abs(share));
  const ground = dark ? [24, 28, 36] : [255, 255, 255];
  const full = share >= 0 ? (dark ? [120, 200, 255] : [8, 48, 107]) : dark ? [255, 160, 90] : [140, 45, 4];
  const mix = (/** @type {number} */ k) => Math.round(ground[k] + (full[k] - ground[k]) * size);
  return [mix(0), mix(1), mix(2)];
}

/** @type {import("../types.js").View} */
export const kernel = {
  id: "kernel",
  title: "Kernel matrix",
  doc: "K(xᵢ, xⱼ) for all pairs, by class and by the size of α: what a dual solver sees of the data.",
  applies: () => true,
  mount(el, app) {
    const said = part(el, "p", "", "view-said");
    const asked = asker(app, () => shown.update(app.store.get()), 150);
    /** @type {any} */ let answer = null;
    /** @type {number[]} */ let order = [];
    /** @type {{key: any, image: HTMLCanvasElement}|null} */ let kept = null;
    let pointed = /** @type {[number, number]|null} */ (null);
    const box = { left: 26, right: 0, top: 26, bottom: 0 };
    const cell = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ to) => {
      const k = Math.floor(((at - from) / (to - from)) * order.length);
      return k >= 0 && k < order.length ? k : -1;
    };
    const shown = figure(el, app, {
      height: (width) => Math.min(width, 420),
      hit(x, y) {
        const [i, j] = [cell(y, box.top, box.bottom), cell(x, box.left, box.right)];
        pointed = i < 0 || j < 0 ? null : [i, j];
        return i < 0 ? null : (order[i] ?? null);
      },
      order: () => order,
      draw(pen, state) {
        if (!state.problem) return notice(pen, state.problemError || "There is no problem yet.");
        const frame = frameOf(state);
        const about = frame?.run && frame.ended ? { run: frame.run, index: frame.index } : { problem: state.problem.problem };
        const got = asked.get(JSON.stringify([about, state.problem.problem, state.machine]), { ...about, machine: state.machine, name: "kernel" });
        if (got.error) return notice(pen, (said.textContent = got.error));
        answer = got.answer;
        if (!answer) return notice(pen, "…");
        order = Array.from(answer.arrays.order);
        const side = Math.min(pen.width - 40, pen.height - 34);
        [box.right, box.bottom] = [box.left + side, box.top + side];
        if (!kept || kept.key !== answer || kept.image.dataset.theme !== state.theme) kept = { key: answer, image: painted(answer, state.theme) };
        pen.ctx.imageSmoothingEnabled = false;
        pen.ctx.drawImage(kept.image, box.left, box.top, side, side);
        borders(pen, box, order, state);
        if (pen.width - box.right > 60) legend(pen, box, answer, state.theme);
        const at = state.hover === null ? -1 : order.indexOf(state.hover);
        if (at >= 0) cross(pen, box, order.length, at, pointed?.[0] === at ? pointed[1] : -1);
        said.textContent = words(answer, order, at, pointed);
      },
      tell: () => (answer ? `Kernel matrix. ${words(answer, order, -1, null)}` : "Kernel matrix: nothing yet."),
    });
    return shown;
  },
};

/** @param {any} answer @param {string} theme */
function painted(answer, theme) {
  const [m] = answer.arrays.values.shape;
  const image = document.createElement("canvas");
  [image.width, image.height] = [m, m];
  image.dataset.theme = theme;
  const ctx = /** @type {CanvasRenderingContext2D} */ (image.getContext("2d"));
  const pixels = ctx.createImageData(m, m);
  const most = Math.max(Math.abs(answer.low), Math.abs(answer.high)) || 1;
  answer.arrays.values.forEach((/** @type {number} */ value, /** @type {number} */ k) => pixels.data.set([...heat(value / most, theme === "dark"), 255], 4 * k));
  ctx.putImageData(pixels, 0, 0);
  return image;
}

/** Lines between the classes, and the classes at the edges. @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {number[]} order @param {State} state */
function borders({ ctx, ink }, box, order, state) {
  const side = box.right - box.left;
  const at = (/** @type {number} */ k) => (k / order.length) * side;
  ctx.strokeStyle = ink("quiet");
  ctx.strokeRect(box.left, box.top, side, side);
  for (let first = 0; first < order.length; ) {
    const one = classOf(state, order[first]);
    let last = first;
    while (last < order.length && classOf(state, order[last]) === one) last++;
    ctx.fillStyle = ink(`class-${one % 10}`);
    ctx.fillRect(box.left - 9, box.top + at(first), 6, at(last - first) - 1);
    ctx.fillRect(box.left + at(first), box.top - 9, at(last - first) - 1, 6);
    if (state.points.task === "classification") {
      ctx.fillStyle = ink("ink");
      ctx.textAlign = "left";
      ctx.textBaseline = "bottom";
      ctx.fillText(state.points.labels[one] ?? "", box.left + at(first), box.top - 10);
    }
    if (first) {
      stroke(ctx, ink("ink"), [box.left, box.top + at(first), box.right, box.top + at(first)], 1);
      stroke(ctx, ink("ink"), [box.left + at(first), box.top, box.left + at(first), box.bottom], 1);
    }
    first = last;
  }
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {any} answer @param {string} theme */
function legend(pen, box, answer, theme) {
  const { ctx } = pen;
  const most = Math.max(Math.abs(answer.low), Math.abs(answer.high)) || 1;
  const [x, high] = [box.right + 14, Math.min(160, box.bottom - box.top - 20)];
  for (let k = 0; k < high; k++) {
    const value = answer.high - ((answer.high - Math.min(answer.low, 0)) * k) / high;
    ctx.fillStyle = `rgb(${heat(value / most, theme === "dark").join(",")})`;
    ctx.fillRect(x, box.top + k, 12, 1.5);
  }
  ctx.strokeStyle = pen.ink("line");
  ctx.strokeRect(x, box.top, 12, high);
  label(pen, written(answer.high), x + 16, box.top + 6);
  label(pen, written(Math.min(answer.low, 0)), x + 16, box.top + high - 6);
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {number} m @param {number} row @param {number} column */
function cross({ ctx, ink }, box, m, row, column) {
  const step = (box.right - box.left) / m;
  ctx.strokeStyle = ink("focus");
  ctx.lineWidth = 2;
  ctx.strokeRect(box.left, box.top + row * step - 1, box.right - box.left, step + 2);
  const other = column < 0 ? row : column;
  ctx.strokeRect(box.left + other * step - 1, box.top, step + 2, box.bottom - box.top);
}

/** @param {any} answer @param {number[]} order @param {number} at @param {[number, number]|null} pointed */
function words(answer, order, at, pointed) {
  if (pointed && at === pointed[0]) {
    return `K of sample ${order[pointed[0]]} and sample ${order[pointed[1]]}: ${written(answer.arrays.values[pointed[0] * order.length + pointed[1]], 4)}`;
  }
  if (at >= 0) return `Sample ${order[at]}: K with itself is ${written(answer.arrays.values[at * (order.length + 1)], 4)}`;
  const some = answer.total > order.length ? `, ${order.length} of ${answer.total} samples, evenly chosen` : "";
  return `From ${written(answer.low)} to ${written(answer.high)}${some}.`;
}
