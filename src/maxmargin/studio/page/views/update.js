// One update of a dual method: the pair of SMO in its box, or one coordinate on its interval, with the parabola of the
// dual along it, how far it would have gone, and the clip.

import { asker, axes, classOf, figure, frameOf, label, linear, notice, outline, part, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */
/**
 * The answer to the view `step`.
 * @typedef {{indices: number[], before: number[], after: number[], unclipped: number, slope: number, curvature: number,
 *   lower: number[], upper: number[], tube: number[], signs: number[], low: number, high: number}} Line
 */

/** What the dual gains by a step t. @param {Line} line @param {number} t */
export function gainAt(line, t) {
  const along = [t, -t];
  const kinked = line.before.reduce((sum, beta, k) => sum + line.tube[k] * (Math.abs(beta + along[k]) - Math.abs(beta)), 0);
  return line.slope * t - 0.5 * line.curvature * t * t - kinked;
}

/** The steps that the picture shows: where it went, where it would have gone, and the ends that it may not pass.
 * @param {Line} line @returns {[number, number]} */
export function stepsShown(line) {
  const taken = line.after[0] - line.before[0];
  // A step that was cut very short must still be seen: then its aim is outside the picture.
  const aim = taken ? Math.sign(line.unclipped) * Math.min(Math.abs(line.unclipped), 6 * Math.abs(taken)) : line.unclipped;
  const far = Math.max(Math.abs(taken), Math.abs(aim), 1e-12);
  const all = [0, taken, aim, ...[line.low, line.high].filter((end) => Math.abs(end) <= 4 * far)];
  const room = 0.18 * (Math.max(...all) - Math.min(...all));
  return [Math.min(...all) - room, Math.max(...all) + room];
}

/** Whether the bounds ended the step. @param {Line} line */
export function clipped(line) {
  const taken = line.after[0] - line.before[0];
  return Math.abs(taken) < Math.abs(line.unclipped) * (1 - 1e-9);
}

/** @type {import("../types.js").View} */
export const update = {
  id: "update",
  title: "The update",
  doc: "What the last step did: the dual is a parabola along it; the step goes to its top, or to the edge of the box.",
  applies(state) {
    const run = state.runs[state.shown];
    const solver = state.hello?.solvers.find((one) => one.name === (run?.frame?.solver ?? run?.solver));
    return solver?.grain || run?.frame?.event ? true : "This is for solvers that move one or two dual variables at a time: smo, coordinate-ascent.";
  },
  mount(el, app) {
    const said = part(el, "p", "", "view-said");
    const asked = asker(app, () => update(app.store.get()));
    /** @type {{line: Line|null, error: string}} */ let now = { line: null, error: "" };
    const read = (/** @type {State} */ state) => {
      const frame = frameOf(state);
      if (!frame?.event) return { line: null, error: frame ? "Switch “one update at a time” on, and step: this iterate is not a single update." : "Nothing has run yet." };
      const { answer, error, current } = asked.get(`${frame.run}/${frame.index}/${frame.machine}`, {
        run: frame.run, index: frame.index, machine: frame.machine, name: "step",
      });
      return { line: current || !error ? answer : null, error };
    };
    const shown = figure(el, app, {
      height: (width) => (now.line ? (width < 480 ? 470 : 280) : 110),
      order: () => now.line?.indices ?? [],
      draw(pen, state) {
        said.textContent = now.line ? words(now.line, state) : "";
        if (!now.line) return notice(pen, now.error || "…");
        const { width, height } = pen;
        const pair = now.line.indices.length === 2;
        const narrow = width < 480;
        const first = narrow
          ? { left: 52, right: width - 14, top: 24, bottom: height / 2 - 44 }
          : { left: 52, right: width * 0.46, top: 24, bottom: height - 44 };
        const second = narrow
          ? { left: 52, right: width - 14, top: height / 2 + 24, bottom: height - 40 }
          : { left: width * 0.46 + 66, right: width - 14, top: 24, bottom: height - 44 };
        if (pair) drawBox(pen, first, now.line, state);
        else drawInterval(pen, first, now.line, state);
        drawParabola(pen, second, now.line);
      },
      tell: (state) => (now.line ? words(now.line, state) : "The update: there is none to show."),
    });
    const { destroy } = shown;
    const update = (/** @type {State} */ state) => {
      now = read(state);
      shown.update(state);
    };
    return { update, destroy };
  },
};

/** @param {Line} line @param {State} state */
function words(line, state) {
  const letter = state.points.task === "classification" ? "α" : "β";
  const moved = line.indices.map((i, k) => {
    const sign = state.points.task === "classification" ? line.signs[k] : 1;
    const [before, after] = [sign * line.before[k] || 0, sign * line.after[k] || 0];
    const [from, to] = [written(before), written(after)];
    const by = `${after < before ? "−" : "+"} ${written(Math.abs(after - before))}`;
    return `${letter}${subscript(i)} ${from} ${from === to && after !== before ? by : `→ ${to}`}`;
  });
  const how = clipped(line) ? "cut off at the edge of the box" : "to the top of the parabola";
  return `${moved.join(", ")}: ${how}; the dual gains ${written(gainAt(line, line.after[0] - line.before[0]))}.`;
}

/** @param {number} i */
export function subscript(i) {
  return String(i).replace(/[0-9]/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);
}

/** The pair in its box, and the line of constant Σβ through it.
 * @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {Line} line @param {State} state */
function drawBox(pen, box, line, state) {
  const { ctx, ink } = pen;
  const classes = state.points.task === "classification";
  const signs = classes ? line.signs : [1, 1];
  const ends = [0, 1].map((k) => {
    const pair = [signs[k] * line.lower[k], signs[k] * line.upper[k]].sort((a, b) => a - b);
    const values = [signs[k] * line.before[k], signs[k] * line.after[k], 0];
    const reach = Math.max(...values) - Math.min(...values) || 1;
    return pair.map((end, e) => (Number.isFinite(end) ? end : e ? Math.max(...values) + 0.5 * reach : Math.min(...values) - 0.5 * reach));
  });
  const room = ends.map(([low, high]) => 0.1 * (high - low || 1));
  const x = linear(ends[0][0] - room[0], ends[0][1] + room[0], box.left, box.right);
  const y = linear(ends[1][0] - room[1], ends[1][1] + room[1], box.bottom, box.top);
  const letter = classes ? "α" : "β";
  axes(pen, box, { x, y, xName: `${letter}${subscript(line.indices[0])}`, yName: `${letter}${subscript(line.indices[1])}` });
  const square = [x(ends[0][0]), y(ends[1][1]), x(ends[0][1]) - x(ends[0][0]), y(ends[1][0]) - y(ends[1][1])];
  ctx.fillStyle = ink("accent");
  ctx.globalAlpha = 0.1;
  ctx.fillRect(square[0], square[1], square[2], square[3]);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = ink("ink");
  ctx.lineWidth = 1.5;
  ctx.strokeRect(square[0], square[1], square[2], square[3]);
  const at = (/** @type {number} */ t) => [x(signs[0] * (line.before[0] + t)), y(signs[1] * (line.before[1] - t))];
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  ctx.clip();
  const far = 2 * Math.max(...[0, 1].map((k) => ends[k][1] - ends[k][0] + Math.abs(line.before[k])));
  stroke(ctx, ink("quiet"), [...at(-far), ...at(far)], 1, [4, 4]);
  stroke(ctx, ink("accent"), [...at(Math.max(line.low, -far)), ...at(Math.min(line.high, far))], 2.5);
  drawStops(pen, at, line);
  ctx.restore();
  const inside = [-far, far].map((t) => at(Math.min(Math.max(t, line.low), line.high)));
  const near = inside.map(([px, py]) => [Math.min(Math.max(px, square[0]), square[0] + square[2]), Math.min(Math.max(py, square[1]), square[1] + square[3])]);
  label(pen, "Σβ stays", ...halfway(near[0], near[1]), "left", "quiet");
}

/** @param {number[]} a @param {number[]} b @returns {[number, number]} */
function halfway(a, b) {
  return [(a[0] + b[0]) / 2 + 8, (a[1] + b[1]) / 2 - 12];
}

/** Before, where it would have gone, and after. @param {import("./chart.js").Pen} pen @param {(t: number) => number[]} at @param {Line} line */
function drawStops({ ctx, ink }, at, line) {
  const [from, aimed, to] = [at(0), at(line.unclipped), at(line.after[0] - line.before[0])];
  if (clipped(line)) {
    stroke(ctx, ink("bad"), [...to, ...aimed], 1.5, [2, 3]);
    outline(ctx, aimed[0], aimed[1], 5, 0);
    ctx.strokeStyle = ink("bad");
    ctx.lineWidth = 2;
    ctx.stroke();
  }
  outline(ctx, from[0], from[1], 5, 0);
  ctx.fillStyle = ink("panel");
  ctx.fill();
  ctx.strokeStyle = ink("ink");
  ctx.lineWidth = 2;
  ctx.stroke();
  outline(ctx, to[0], to[1], 6, 0);
  ctx.fillStyle = ink("ink");
  ctx.fill();
}

/** One coordinate on its interval. @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {Line} line @param {State} state */
function drawInterval(pen, box, line, state) {
  const { ctx, ink } = pen;
  const classes = state.points.task === "classification";
  const sign = classes ? line.signs[0] : 1;
  const [low, high] = [sign * line.lower[0], sign * line.upper[0]].sort((a, b) => a - b);
  const values = [0, sign * line.before[0], sign * line.after[0]];
  const most = Number.isFinite(high) ? high : 1.5 * Math.max(...values) || 1;
  const least = Number.isFinite(low) ? low : 1.5 * Math.min(...values);
  const room = 0.15 * (most - least || 1);
  const x = linear(least - room, most + room, box.left, box.right);
  const middle = (box.top + box.bottom) / 2;
  axes(pen, { ...box, bottom: middle + 40 }, { x, xName: `${classes ? "α" : "β"}${subscript(line.indices[0])}` });
  ctx.fillStyle = ink("accent");
  ctx.globalAlpha = 0.12;
  ctx.fillRect(x(least), middle - 16, x(most) - x(least), 32);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = ink("ink");
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x(least), middle - 16, x(most) - x(least), 32);
  drawStops(pen, (t) => [x(sign * (line.before[0] + t)), middle], line);
  const shape = classOf(state, line.indices[0]);
  outline(ctx, box.left + 8, middle - 44, 6, shape);
  ctx.fillStyle = ink(`class-${shape % 10}`);
  ctx.fill();
  label(pen, `sample ${line.indices[0]}, its interval`, box.left + 20, middle - 44);
}

/** The dual along the step. @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {Line} line */
function drawParabola(pen, box, line) {
  const { ctx, ink } = pen;
  const [first, last] = stepsShown(line);
  const steps = Array.from({ length: 121 }, (_, k) => first + ((last - first) * k) / 120);
  const values = steps.map((t) => gainAt(line, t));
  const top = Math.max(...values, 0);
  const bottom = Math.max(Math.min(...values, 0), -1.2 * (top || 1));
  const x = linear(first, last, box.left, box.right);
  const y = linear(bottom - 0.08 * (top - bottom), top + 0.16 * (top - bottom || 1), box.bottom, box.top);
  axes(pen, box, { x, y, xName: "step t", yName: "gain of the dual" });
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - 12, box.right - box.left, box.bottom - box.top + 12);
  ctx.clip();
  const [low, high] = [Math.max(line.low, first), Math.min(line.high, last)];
  ctx.fillStyle = ink("accent");
  ctx.globalAlpha = 0.1;
  ctx.fillRect(x(low), box.top, x(high) - x(low), box.bottom - box.top);
  ctx.globalAlpha = 1;
  for (const end of [line.low, line.high]) {
    if (end >= first && end <= last) stroke(ctx, ink("ink"), [x(end), box.top, x(end), box.bottom], 1.5);
  }
  stroke(ctx, ink("dual"), steps.flatMap((t, k) => [x(t), y(values[k])]), 2.2);
  drawStops(pen, (t) => [x(t), y(gainAt(line, t))], line);
  ctx.restore();
  if (line.high <= last && clipped(line)) label(pen, "edge of the box", x(line.after[0] - line.before[0] > 0 ? line.high : line.low) - 4, box.top + 10, "right");
}
