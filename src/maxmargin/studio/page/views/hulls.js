// The dual as geometry: the (reduced) convex hulls, their nearest points, or the point that both share.

import { asker, figure, frameOf, label, notice, part, sidesOf, stroke, written } from "./chart.js";
import { drawAxes, drawSamples, lineInside, planeOf, sampleAt } from "./plane.js";

/** @typedef {import("../types.js").State} State */

/** @type {import("../types.js").View} */
export const hulls = {
  id: "hulls",
  title: "Hulls",
  doc: "The hinge's dual looks for the nearest points of two convex hulls; w is their difference. If the hulls meet, no hyperplane separates.",
  applies(state) {
    const fine = state.points.task === "classification" && state.settings.loss === "hinge" && state.settings.kernel === "linear" && state.settings.bias === "free" && (state.settings.regularizer ?? "l2") === "l2";
    return fine ? true : "Hulls are the dual of the hinge with the linear kernel and a free bias.";
  },
  mount(el, app) {
    const said = part(el, "p", "", "view-said");
    const asked = asker(app, () => shown.update(app.store.get()));
    /** @type {any} */ let answer = null;
    let error = "";
    /** @type {import("./plane.js").Plane|null} */ let plane = null;
    const shown = figure(el, app, {
      height: (width) => Math.min(440, Math.max(280, width * 0.72)),
      hit: (x, y, _, state) => sampleAt(plane, state, x, y),
      order: (state) => Array.from(state.points.y.keys()),
      draw(pen, state) {
        const frame = frameOf(state);
        if (!state.problem && !frame) return notice(pen, state.problemError || "There is no problem yet.");
        const { machine } = state;
        const got = frame
          ? asked.get(`${frame.run}/${frame.index}/${machine}`, { run: frame.run, index: frame.index, machine, name: "hulls" })
          : asked.get(`${state.problem?.problem}/${machine}`, { problem: state.problem?.problem, machine, name: "hulls" });
        if (got.answer || got.error) ({ answer, error } = got);
        said.textContent = error || (answer ? words(answer) : "");
        if (!answer || error) return notice(pen, error || "…");
        plane = planeOf({ left: 44, right: pen.width - 10, top: 10, bottom: pen.height - 28 }, state);
        drawAxes(pen, plane);
        drawHulls(pen, plane, state, answer);
      },
      tell: () => (error ? error : answer ? `Hulls. ${words(answer)}` : "Hulls: nothing yet."),
    });
    return shown;
  },
};

/** @param {any} answer */
export function words(answer) {
  if (!answer.separable) return answer.proved ? `No hyperplane separates: ${answer.text}.` : `${answer.text}.`;
  if (answer.p === null) return "The hulls do not meet: a hyperplane separates the classes.";
  const reduced = answer.arrays.reduced_negative ? ` No weight above C/A = C/${written(answer.A)}: that shrinks the hulls.` : "";
  return `|p − q| = ${written(answer.distance)}, and w = A(p − q) with A = Σ₊α = ${written(answer.A)}.${reduced}`;
}

/** @param {import("./chart.js").Pen} pen @param {import("./plane.js").Plane} plane @param {State} state @param {any} answer */
function drawHulls(pen, plane, state, answer) {
  const { ctx, ink } = pen;
  const { x, y, box } = plane;
  const sides = sidesOf(state);
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  ctx.clip();
  ["negative", "positive"].forEach((name, k) => {
    area(pen, plane, answer.arrays[name], ink(`class-${sides[k] % 10}`), 0.1, []);
    if (answer.arrays[`reduced_${name}`]) area(pen, plane, answer.arrays[`reduced_${name}`], ink(`class-${sides[k] % 10}`), 0.28, [6, 4]);
  });
  const frame = frameOf(state);
  if (frame?.arrays.w && frame.b !== null && frame.norm > 0) {
    for (const level of [-1, 0, 1]) {
      const ends = lineInside(frame.arrays.w, frame.b, level, plane);
      stroke(ctx, ink("ink"), [x(ends[0]), y(ends[1]), x(ends[2]), y(ends[3])], level ? 1 : 2, level ? [5, 4] : []);
    }
  }
  const { common, weights } = answer.arrays;
  if (common) {
    const most = Math.max(...weights);
    weights.forEach((/** @type {number} */ weight, /** @type {number} */ i) => {
      if (weight <= 0) return;
      const { xy, y: classes } = state.points;
      stroke(ctx, ink(`class-${classes[i] % 10}`), [x(xy[2 * i]), y(xy[2 * i + 1]), x(common[0]), y(common[1])], 1 + (3 * weight) / most);
    });
  }
  drawSamples(pen, plane, state);
  if (common) target(pen, x(common[0]), y(common[1]), "in both hulls");
  if (answer.separable && answer.p !== null) {
    const [p, q] = [answer.p, answer.q].map((point) => [x(point[0]), y(point[1])]);
    stroke(ctx, ink("accent"), [...p, ...q], 3, [6, 3]);
    const apart = Math.hypot(p[0] - q[0], p[1] - q[1]);
    target(pen, p[0], p[1], apart > 26 ? "p" : "");
    target(pen, q[0], q[1], apart > 26 ? "q" : "");
  }
  ctx.restore();
}

/** @param {import("./chart.js").Pen} pen @param {import("./plane.js").Plane} plane @param {any} corners @param {string} colour @param {number} share @param {number[]} dashes */
function area({ ctx }, { x, y }, corners, colour, share, dashes) {
  if (!corners?.length) return;
  const places = [];
  for (let k = 0; k <= corners.length; k += 2) places.push(x(corners[k % corners.length]), y(corners[(k % corners.length) + 1]));
  stroke(ctx, colour, places, 1.6, dashes);
  ctx.fillStyle = colour;
  ctx.globalAlpha = share;
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** @param {import("./chart.js").Pen} pen @param {number} x @param {number} y @param {string} name */
function target(pen, x, y, name) {
  const { ctx, ink } = pen;
  ctx.beginPath();
  ctx.arc(x, y, 7, 0, 2 * Math.PI);
  ctx.strokeStyle = ink("ink");
  ctx.lineWidth = 2.5;
  ctx.stroke();
  if (name) label(pen, name, x + 12, y - 14);
}

