// A slider over C on a certified path: every stop is solved and proved before it is shown.

import { image, levelIn } from "../shading.js";
import { asker, axes, figure, label, linear, logarithmic, notice, part, sidesOf, stroke, written } from "./chart.js";
import { drawAxes, drawSamples, planeOf, sampleAt } from "./plane.js";

/** @typedef {import("../types.js").State} State */

const COUNT = 21;
const [LOW, HIGH] = [1e-3, 1e3];
const GRID = 48;

/** @type {import("../types.js").View} */
export const path = {
  id: "path",
  title: "Path of C",
  doc: "What the fit becomes as C grows: each stop is solved and proved beforehand; the kinds of the samples change, one by one.",
  applies: (state) => (state.points.task === "novelty" ? "For one class C only scales w: ν is what decides." : true),
  mount(el, app) {
    const bar = part(el, "label", "C ", "view-bar");
    const slider = /** @type {HTMLInputElement} */ (part(bar, "input"));
    Object.assign(slider, { type: "range", min: "0", max: String(COUNT - 1), step: "1", value: String(Math.floor(COUNT / 2)) });
    slider.style.flex = "1 1 200px";
    const value = part(bar, "output", "", "view-said");
    const use = /** @type {HTMLButtonElement} */ (part(bar, "button", "Use this C"));
    const again = () => {
      plane.update(app.store.get());
      counts.update(app.store.get());
    };
    const asked = asker(app, again, 350);
    /** @type {any} */ let answer = null;
    let error = "";
    /** @type {import("./plane.js").Plane|null} */ let room = null;
    slider.addEventListener("input", again);
    use.addEventListener("click", () => answer && app.change({ C: Number(answer.arrays.C[stop()].toPrecision(3)), nu: null }));
    const stop = () => Math.min(Number(slider.value), (answer?.arrays.C.length ?? 1) - 1);
    /** A new path begins at the C that is nearest to the problem's own. @param {State} state */
    const begin = (state) => {
      const wanted = Math.log(Math.min(Math.max(state.problem?.C ?? 1, LOW), HIGH));
      const apart = Array.from(answer.arrays.C, (C) => Math.abs(Math.log(C) - wanted));
      slider.max = String(apart.length - 1);
      slider.value = String(apart.indexOf(Math.min(...apart)));
      use.hidden = state.host === "tape";
    };

    /** Ask for the path of the problem; a wider or narrower picture alone is no reason to solve all again. @param {State} state */
    const ask = (state) => {
      if (!room || !state.problem) return;
      const { x, y } = room;
      const field = { x0: x.low, x1: x.high, y0: y.low, y1: y.high, nx: GRID, ny: GRID };
      const { problem } = state.problem;
      const got = asked.get(JSON.stringify([problem, state.machine]), { problem, machine: state.machine, name: "path", count: COUNT, low: LOW, high: HIGH, field });
      if (!got.current) return;
      const had = answer;
      ({ answer, error } = got);
      if (answer && answer !== had) begin(state);
    };

    const plane = figure(el, app, {
      height: (width) => Math.min(380, Math.max(250, width * 0.66)),
      needs: (state) => [state.problem, state.problemError, state.machine, state.points, state.hover, state.selection, (ask(state), answer), error, stop()],
      hit: (x, y, _, state) => sampleAt(room, state, x, y),
      order: (state) => Array.from(state.points.y.keys()),
      draw(pen, state) {
        if (!state.problem) return notice(pen, state.problemError || "There is no problem yet.");
        room = planeOf({ left: 44, right: pen.width - 10, top: 10, bottom: pen.height - 28 }, state);
        ask(state);
        if (!answer) return notice(pen, error || "Solving for each C …");
        const k = stop();
        value.textContent = said(answer, k);
        slider.setAttribute("aria-valuetext", said(answer, k));
        drawField(pen, room, answer, k, state);
        drawAxes(pen, room);
        const n = state.points.y.length;
        if (answer.arrays.kinds.length === n * answer.arrays.C.length) {
          const alpha = answer.arrays.alpha.subarray(k * n, (k + 1) * n);
          const most = Math.max(...Array.from(alpha, Math.abs).filter(Number.isFinite), 1e-300);
          drawSamples(pen, room, state, answer.arrays.kinds.subarray(k * n, (k + 1) * n), (i) => 4 + 4 * Math.sqrt(Math.abs(alpha[i]) / most || 0));
        }
      },
      tell: () => (answer ? `Path of C. ${said(answer, stop())}` : error || "Path of C: nothing yet."),
    });
    const seek = (/** @type {number} */ at, /** @type {number} */ width) => {
      if (!answer) return false;
      const scale = logarithmic(answer.arrays.C[0], answer.arrays.C[answer.arrays.C.length - 1], 52, width - 14);
      const all = Array.from(answer.arrays.C, (C) => Math.abs(scale(C) - at));
      slider.value = String(all.indexOf(Math.min(...all)));
      again();
      return true;
    };
    const counts = figure(el, app, {
      height: 150,
      press: (x, _, pen, __, kind) => (kind === "up" ? true : seek(x, pen.width)),
      draw: (pen, state) => (answer && state.problem ? drawCounts(pen, answer, stop()) : undefined),
      tell: () => (answer ? "Numbers of free and bound support vectors against C." : "Counts: nothing yet."),
    });
    return {
      update(state) {
        plane.update(state);
        counts.update(state);
      },
      destroy() {
        plane.destroy();
        counts.destroy();
        bar.remove();
      },
    };
  },
};

/** @param {any} answer @param {number} k */
export function said(answer, k) {
  const [, free, bound] = answer.arrays.support.subarray(3 * k, 3 * k + 3);
  const gap = answer.arrays.relative_gap[k];
  const proof = gap <= answer.tol ? `proved to ${written(gap, 1)}` : `gap ${written(gap, 2)}, not proved`;
  return `C = ${written(answer.arrays.C[k])}: ${free} free, ${bound} bound; ${proof}`;
}

/** The sides, the hyperplane and the margins of a stop. @param {import("./chart.js").Pen} pen @param {import("./plane.js").Plane} room @param {any} answer @param {number} k @param {State} state */
function drawField({ ctx, ink }, { x, y, box }, answer, k, state) {
  const { field, window } = answer.arrays.field ? { field: answer.arrays.field, window: answer.window } : {};
  if (!field) return;
  const nx = window.nx;
  const ny = field.shape.length === 3 ? window.ny : 1;
  const values = field.subarray(k * nx * ny, (k + 1) * nx * ny);
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  ctx.clip();
  if (ny === 1) {
    const at = (/** @type {number} */ i) => x(window.x0 + (i / (nx - 1)) * (window.x1 - window.x0));
    stroke(ctx, ink("ink"), Array.from(values, (_, i) => [at(i), y(values[i])]).flat(), 2);
  } else {
    const shown = { values, classes: null, window };
    const novelty = state.points.task === "novelty";
    const sides = sidesOf(state);
    const shade = (/** @type {string} */ name) => ink(name === "class-0" || name === "class-1" ? `class-${sides[Number(name.at(-1))] % 10}` : name);
    // The image has its values at the middles of its pixels: half a step more on every side.
    const [hx, hy] = [(window.x1 - window.x0) / (nx - 1) / 2, (window.y1 - window.y0) / (ny - 1) / 2];
    const [left, top] = [x(window.x0 - hx), y(window.y1 + hy)];
    ctx.drawImage(image(shown, shade, novelty), left, top, x(window.x1 + hx) - left, y(window.y0 - hy) - top);
    for (const level of novelty ? [0] : [-1, 1, 0]) {
      const parts = levelIn(shown, level);
      ctx.beginPath();
      for (let p = 0; p < parts.length; p += 4) {
        ctx.moveTo(x(parts[p]), y(parts[p + 1]));
        ctx.lineTo(x(parts[p + 2]), y(parts[p + 3]));
      }
      ctx.strokeStyle = ink("ink");
      ctx.lineWidth = level ? 1.2 : 2.2;
      ctx.setLineDash(level ? (level > 0 ? [6, 3] : [2, 3]) : []);
      ctx.stroke();
    }
    ctx.setLineDash([]);
  }
  ctx.restore();
}

/** Support vectors against C. @param {import("./chart.js").Pen} pen @param {any} answer @param {number} k */
function drawCounts(pen, answer, k) {
  const { ctx, ink, width, height } = pen;
  const box = { left: 52, right: width - 14, top: 24, bottom: height - 38 };
  const { C, support } = answer.arrays;
  const x = logarithmic(C[0], C[C.length - 1], box.left, box.right);
  const free = Array.from(C, (_, j) => support[3 * j + 1]);
  const bound = Array.from(C, (_, j) => support[3 * j + 2]);
  const y = linear(0, Math.max(1, ...free.map((one, j) => one + bound[j])), box.bottom, box.top);
  axes(pen, box, { x, y, xName: "C", yName: "support vectors", whole: true });
  const line = (/** @type {number[]} */ values) => Array.from(C, (one, j) => [x(one), y(values[j])]).flat();
  stroke(ctx, ink("kind-bound"), line(bound), 2.2);
  stroke(ctx, ink("kind-free"), line(free), 2.2, [6, 3]);
  const least = Math.min(k, C.length - 1);
  stroke(ctx, ink("focus"), [x(C[least]), box.top - 4, x(C[least]), box.bottom], 2, [3, 3]);
  label(pen, "bound", box.left + 8, y(bound[0]) + 12, "left", "kind-bound");
  label(pen, "free (dashed)", box.right - 4, y(free[free.length - 1]) - 10, "right", "kind-free");
}
