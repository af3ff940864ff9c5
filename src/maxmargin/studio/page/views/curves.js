// The primal from above, the dual from below, and what is between them on a logarithmic axis with the tolerance.

import { axes, choice, figure, frameOf, label, linear, logarithmic, notice, part, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Row} Row */

const CLOCKS = { iteration: "iterations", seconds: "seconds", work: "multiply-adds" };
const LOWER = {
  relative_gap: "relative gap",
  beta_sum: "Σβ as the solver has it",
  support: "support vectors",
};
const DASHES = [[], [7, 3], [2, 3], [8, 3, 2, 3]];

/**
 * The least and the largest of the values that matter: the primal of a first iterate may be a thousand times too
 * large, and would flatten all that follows; so no more than twelve times what is between the best two is shown.
 * @param {Row[][]} traces @returns {[number, number]}
 */
export function reachOf(traces) {
  let primal = Infinity;
  let dual = -Infinity;
  let low = Infinity;
  let high = -Infinity;
  for (const row of traces.flat()) {
    if (Number.isFinite(row.primal)) [primal, high] = [Math.min(primal, row.primal), Math.max(high, row.primal)];
    if (Number.isFinite(row.dual)) [dual, low] = [Math.max(dual, row.dual), Math.min(low, row.dual)];
  }
  if (!Number.isFinite(primal)) [primal, high] = [dual, dual];
  if (!Number.isFinite(dual)) [dual, low] = [primal, primal];
  if (!Number.isFinite(primal)) return [0, 1];
  const span = Math.max(primal - dual, 0.35 * Math.abs(primal), 1e-12);
  const [least, most] = [Math.max(low, dual - 4 * span), Math.min(high, primal + 4 * span)];
  const room = 0.06 * (most - least) || 0.5 * Math.abs(most) || 0.5;
  return [least - room, most + room];
}

/** The row whose clock is nearest to a value. @param {Row[]} trace @param {"iteration"|"seconds"|"work"} clock @param {number} value */
export function rowAt(trace, clock, value) {
  let best = 0;
  for (let k = 1; k < trace.length; k++) if (Math.abs(trace[k][clock] - value) < Math.abs(trace[best][clock] - value)) best = k;
  return best;
}

/** The powers of ten around all gaps and the tolerance. @param {Row[][]} traces @param {number} tol @returns {[number, number]} */
export function gapReach(traces, tol) {
  let low = tol;
  let high = 1;
  for (const { relative_gap: gap } of traces.flat()) {
    if (gap > 0 && Number.isFinite(gap)) [low, high] = [Math.min(low, gap), Math.max(high, gap)];
  }
  return [10 ** Math.floor(Math.log10(Math.max(low, 1e-17)) - 0.3), Math.min(10 ** Math.ceil(Math.log10(high)), 1e3)];
}

/** @type {import("../types.js").View} */
export const curves = {
  id: "curves",
  title: "Primal and dual",
  doc: "The primal comes down, the dual comes up: the optimum is between them, and the gap proves how near.",
  applies: () => true,
  mount(el, app) {
    let lower = /** @type {keyof typeof LOWER} */ ("relative_gap");
    const bar = part(el, "div", "", "view-bar");
    choice(bar, "Below:", LOWER, lower, (value) => {
      lower = /** @type {keyof typeof LOWER} */ (value);
      shown.update(app.store.get());
    });
    const against = choice(bar, "Against:", CLOCKS, app.store.get().clock, (value) => app.store.set({ clock: /** @type {any} */ (value) }));
    const names = part(el, "div", "", "view-bar");
    /** @type {import("./chart.js").Scale} */ let x = linear(0, 1, 0, 1);
    const seek = (/** @type {number} */ at, /** @type {State} */ state) => {
      const trace = state.runs[state.shown]?.trace ?? [];
      if (trace.length) app.seek(rowAt(trace, state.clock, x.invert(at)));
      return true;
    };
    const shown = figure(el, app, {
      height: (width) => (width < 420 ? 400 : 360),
      draw(pen, state) {
        legend(names, state);
        against.value = state.clock;
        const runs = state.runs.filter((run) => run.trace.length);
        if (!runs.length) return notice(pen, "Press play: the two objectives will be drawn here.");
        const { width, height } = pen;
        const middle = Math.round(height * 0.5);
        const top = { left: 52, right: width - 12, top: 24, bottom: middle - 26 };
        const below = { left: 52, right: width - 12, top: middle + 20, bottom: height - 40 };
        const traces = runs.map((run) => run.trace);
        const last = Math.max(...traces.map((trace) => trace[trace.length - 1][state.clock]).filter(Number.isFinite), 0);
        const first = Math.min(...traces.map((trace) => trace[0][state.clock]).filter(Number.isFinite), last);
        x = linear(first, last > first ? last : first + 1, top.left, top.right);
        drawObjectives(pen, top, x, state);
        drawBelow(pen, below, x, state, lower);
        const frame = frameOf(state);
        const row = frame && state.runs[state.shown].trace[frame.index];
        if (row) stroke(pen.ctx, pen.ink("focus"), [x(row[state.clock]), top.top, x(row[state.clock]), below.bottom], 1.5, [3, 3]);
      },
      press: (at, _, __, state, kind) => (kind === "up" ? true : seek(at, state)),
      tell(state) {
        const frame = frameOf(state);
        if (!frame) return "Primal and dual: nothing has run yet.";
        const { primal, dual, relative_gap: gap } = frame.best ?? frame.certificate;
        return `Primal ${written(primal, 6)}, dual ${written(dual, 6)}, relative gap ${written(gap)} after ${frame.k} iterations; the tolerance is ${written(frame.tol)}.`;
      },
    });
    shown.canvas.addEventListener("keydown", (event) => {
      const state = app.store.get();
      const frame = frameOf(state);
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!frame || by === undefined) return;
      app.seek(Math.min(Math.max(0, frame.index + by), state.runs[state.shown].recorded - 1));
      event.preventDefault();
      event.stopPropagation();
    });
    return shown;
  },
};

/** The runs and their lines, where there are several. @param {HTMLElement} names @param {State} state */
function legend(names, state) {
  const said = state.runs.length > 1 ? state.runs.map((run) => run.solver) : [];
  if (names.dataset.said === said.join()) return;
  names.dataset.said = said.join();
  names.replaceChildren();
  said.forEach((solver, r) => {
    const swatch = part(part(names, "span"), "span");
    swatch.style.cssText = `display:inline-block;width:26px;margin-right:5px;vertical-align:middle;border-top:3px ${["solid", "dashed", "dotted", "double"][r]} var(--run-${r})`;
    /** @type {HTMLElement} */ (swatch.parentElement).append(solver);
  });
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {import("./chart.js").Scale} x @param {State} state */
function drawObjectives(pen, box, x, state) {
  const { ctx, ink } = pen;
  const y = linear(...reachOf(state.runs.map((run) => run.trace)), box.bottom, box.top);
  axes(pen, box, { y, yName: "objective" });
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - 4, box.right - box.left, box.bottom - box.top + 8);
  ctx.clip();
  state.runs.forEach((run, r) => {
    if (!run.trace.length) return;
    const primal = line(run.trace, (row) => [x(row[state.clock]), y(row.primal)]);
    const dual = line(run.trace, (row) => [x(row[state.clock]), y(row.dual)]);
    if (r === state.shown) fillBetween(ctx, primal, dual, ink("gap"), box);
    const only = state.runs.length === 1;
    stroke(ctx, ink(only ? "primal" : `run-${r}`), primal, 2.2, DASHES[r]);
    stroke(ctx, ink(only ? "dual" : `run-${r}`), dual, 2.2, DASHES[r]);
  });
  ctx.restore();
  const run = state.runs[state.shown];
  const row = run?.trace[run.trace.length - 1];
  if (!row) return;
  const inside = (/** @type {number} */ at) => Math.min(Math.max(at, box.top + 2), box.bottom - 4);
  const [up, down] = [inside(y(row.primal)), inside(y(row.dual))];
  const apart = Math.max(0, 18 - (down - up)) / 2;
  if (run.trace.length === 1) {
    for (const [name, at] of [["primal", y(row.primal)], ["dual", y(row.dual)]]) {
      if (!Number.isFinite(Number(at))) continue;
      ctx.fillStyle = ink(String(name));
      ctx.fillRect(x(row[state.clock]) - 3, Number(at) - 3, 6, 6);
    }
  }
  if (Number.isFinite(row.primal)) label(pen, "primal", box.right - 4, up - 10 - apart, "right", state.runs.length === 1 ? "primal" : "ink");
  if (Number.isFinite(row.dual)) label(pen, "dual", box.right - 4, down + 10 + apart, "right", state.runs.length === 1 ? "dual" : "ink");
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {import("./chart.js").Scale} x @param {State} state @param {keyof typeof LOWER} what */
function drawBelow(pen, box, x, state, what) {
  const { ctx, ink } = pen;
  const traces = state.runs.map((run) => run.trace);
  let y;
  if (what === "relative_gap") y = logarithmic(...gapReach(traces, state.tol), box.bottom, box.top);
  else {
    const values = traces.flat().map((row) => row[what]).filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    y = linear(low, high > low ? high : low + 1, box.bottom, box.top);
  }
  axes(pen, box, { x, y, xName: CLOCKS[state.clock], yName: LOWER[what], whole: state.clock === "iteration" });
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - 4, box.right - box.left, box.bottom - box.top + 8);
  ctx.clip();
  state.runs.forEach((run, r) => {
    const colour = ink(state.runs.length === 1 ? (what === "relative_gap" ? "gap" : "accent") : `run-${r}`);
    stroke(ctx, colour, line(run.trace, (row) => [x(row[state.clock]), y(Number.isFinite(row[what]) ? row[what] : NaN)]), 2.2, DASHES[r]);
    const row = run.trace[run.trace.length - 1];
    if (!row || !Number.isFinite(row[what])) return;
    ctx.beginPath();
    ctx.arc(x(row[state.clock]), y(row[what]), 3.5, 0, 2 * Math.PI);
    ctx.fillStyle = colour;
    ctx.fill();
  });
  ctx.restore();
  if (what === "relative_gap") {
    stroke(ctx, ink("tolerance"), [box.left, y(state.tol), box.right, y(state.tol)], 1.6, [6, 4]);
    label(pen, `tolerance ${written(state.tol)}`, box.left + 6, y(state.tol) - 10, "left", "tolerance");
  }
}

/** The places of a curve; of very many rows as many as the screen can tell apart. @param {Row[]} trace @param {(row: Row) => [number, number]} at */
function line(trace, at) {
  const every = Math.max(1, Math.floor(trace.length / 1500));
  const places = [];
  for (let k = 0; k < trace.length; k += every) places.push(...at(trace[k]));
  if ((trace.length - 1) % every) places.push(...at(trace[trace.length - 1]));
  return places;
}

/** @param {CanvasRenderingContext2D} ctx @param {number[]} above @param {number[]} below @param {string} colour @param {import("./chart.js").Box} box */
function fillBetween(ctx, above, below, colour, box) {
  const tame = (/** @type {number} */ y, /** @type {number} */ away) => (Number.isFinite(y) ? Math.min(Math.max(y, box.top - 50), box.bottom + 50) : away);
  ctx.beginPath();
  for (let k = 0; k < above.length; k += 2) ctx.lineTo(above[k], tame(above[k + 1], box.top - 50));
  for (let k = below.length - 2; k >= 0; k -= 2) ctx.lineTo(below[k], tame(below[k + 1], box.bottom + 50));
  ctx.closePath();
  ctx.globalAlpha = 0.13;
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.globalAlpha = 1;
}
