// The KKT conditions: a checklist of the whole point, the same of the sample that is pointed at, and all samples on the
// curve that complementary slackness allows.

import { BOUND, FREE, axes, classOf, figure, frameOf, linear, mark, nearest, notice, ofMachine, part, ring, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {{name: string, formula: string, holds: boolean, told: string}} Check */

/** What is near enough to be called holding: the run's tolerance, or what rounding leaves. @param {State} state */
const allowed = (state) => Math.max(state.tol, 1e-9);

/**
 * The conditions of one sample.
 * @param {State} state @param {number} i @returns {Check[]}
 */
export function checksOf(state, i) {
  const frame = frameOf(state);
  if (!frame || !(i < frame.arrays.z.length) || frame.arrays.kinds[i] === 255) return [];
  const { z, alpha, beta, slack, gaps } = frame.arrays;
  const [lower, upper] = [ofMachine(state, "lower")?.[i] ?? -Infinity, ofMachine(state, "upper")?.[i] ?? Infinity];
  const tol = allowed(state);
  /** @type {Check[]} */ const checks = [];
  const size = Math.max(1e-300, Number.isFinite(upper - lower) ? upper - lower : Math.max(...Array.from(beta, Math.abs).filter(Number.isFinite)));
  const inBox = beta[i] >= lower - 1e-12 * size && beta[i] <= upper + 1e-12 * size;
  if (state.points.task === "classification") {
    const target = ofMachine(state, "target")?.[i] ?? 1;
    const margin = target * z[i];
    const most = Math.max(Math.abs(lower), Math.abs(upper));
    const hard = !Number.isFinite(most);
    checks.push(hard
      ? { name: "primal", formula: "y z ≥ 1", holds: margin >= 1 - 1e-9, told: `yz = ${written(margin, 5)}` }
      : { name: "primal", formula: "y z ≥ 1 − ξ, ξ ≥ 0", holds: true, told: `yz = ${written(margin, 5)}, ξ = ${written(slack[i])}` });
    checks.push({ name: "dual", formula: hard ? "α ≥ 0" : "0 ≤ α ≤ C", holds: inBox, told: `α = ${written(alpha[i], 5)}${hard ? "" : `, C = ${written(most)}`}` });
  } else {
    checks.push({ name: "dual", formula: "lower ≤ β ≤ upper", holds: inBox, told: `β = ${written(beta[i], 5)} in ${written(lower)} … ${written(upper)}` });
  }
  if (gaps) {
    const scale = Math.max(Math.abs(frame.certificate.primal), Math.abs(frame.certificate.dual));
    const share = gaps[i] / (Number.isFinite(scale) && scale > 0 ? scale : 1);
    const formula = slackness(state, frame.arrays.kinds[i]);
    checks.push({ name: "slackness", formula, holds: share <= tol, told: `it owes ${written(gaps[i])} of the gap` });
  }
  return checks;
}

/** Complementary slackness, for the hinge as what the sample's kind asks for. @param {State} state @param {number} kind */
function slackness(state, kind) {
  if (state.points.task !== "classification" || state.settings.loss !== "hinge") return "C(ℓ(z) + ℓ*(−β/C)) + βz = 0";
  return kind === FREE ? "0 < α < C, so y z = 1" : kind === BOUND ? "α = C, so y z ≤ 1" : "α = 0, so y z ≥ 1";
}

/** @type {import("../types.js").View} */
export const conditions = {
  id: "conditions",
  title: "KKT conditions",
  doc: "A point is optimal exactly when all of these hold; each sample then lies on the curve.",
  applies: () => true,
  mount(el, app) {
    const list = part(el, "table", "", "view-checks");
    const single = part(el, "div", "", "view-said view-single");
    /** @type {Float64Array} */ let xs = new Float64Array(0);
    /** @type {Float64Array} */ let ys = new Float64Array(0);
    let before = "";
    const figured = figure(el, app, {
      height: (width) => (width < 420 ? 260 : 250),
      hit(x, y) {
        const found = nearest(xs, ys, x, y);
        return found < 0 ? null : found;
      },
      order: (state) => Array.from(frameOf(state)?.arrays.z.keys() ?? []),
      press(x, y, _, __, kind) {
        const found = nearest(xs, ys, x, y);
        if (kind === "down" && found >= 0) app.select([found]);
        return false;
      },
      draw(pen, state) {
        const frame = frameOf(state);
        if (!frame) return notice(pen, "The samples will be drawn here, on the curve that the conditions allow.");
        [xs, ys] = drawCurve(pen, state);
      },
      tell(state) {
        const frame = frameOf(state);
        if (!frame?.conditions) return "KKT conditions: nothing has run yet.";
        const open = frame.conditions.filter((one) => one.residual > allowed(state)).map((one) => one.name);
        return open.length ? `KKT conditions: not yet ${open.join(", ")}.` : "KKT conditions: all hold.";
      },
    });
    const update = (/** @type {State} */ state) => {
      const frame = frameOf(state);
      const key = JSON.stringify([frame?.conditions, state.tol]);
      if (key !== before) fill(list, frame?.conditions ?? [], state, app);
      before = key;
      const i = state.hover ?? state.selection[0] ?? null;
      single.replaceChildren();
      part(single, "div", i === null ? "Point at a sample for its own conditions." : `Sample ${i}`);
      for (const one of i === null ? [] : checksOf(state, i)) {
        const line = part(single, "div");
        part(line, "span", one.holds ? "✓ " : "✗ ", one.holds ? "good" : "bad");
        line.append(`${one.formula}:  ${one.told}`);
      }
      figured.update(state);
    };
    return { update, destroy: () => (figured.destroy(), list.remove(), single.remove()) };
  },
};

/** @param {HTMLElement} list @param {import("../types.js").Frame["conditions"]} all @param {State} state @param {import("../types.js").App} app */
function fill(list, all, state, app) {
  const had = /** @type {HTMLElement|null} */ (list.ownerDocument.activeElement)?.dataset?.worst;
  list.replaceChildren();
  for (const one of all) {
    const row = part(list, "tr");
    const holds = one.residual <= allowed(state);
    part(row, "td", holds ? "✓" : "✗", holds ? "good" : "bad").setAttribute("aria-label", holds ? "holds" : "does not hold");
    const name = part(row, "th", one.name);
    name.setAttribute("scope", "row");
    part(name, "small", ` ${one.formula}`, "formula");
    part(row, "td", written(one.residual, 2), "number");
    const worst = part(row, "td");
    if (one.worst === null) continue;
    const button = part(worst, "button", `sample ${one.worst}`);
    button.dataset.worst = one.name;
    button.setAttribute("aria-label", `worst for sample ${one.worst}: select it`);
    button.addEventListener("click", () => app.select([Number(one.worst)]));
    button.addEventListener("pointerenter", () => app.hover(one.worst));
    button.addEventListener("pointerleave", () => app.hover(null));
    if (had === one.name) button.focus();
  }
}

/** Each sample at its margin and its multiplier (its error and its β for a regression).
 * @param {import("./chart.js").Pen} pen @param {State} state @returns {[Float64Array, Float64Array]} */
function drawCurve(pen, state) {
  const { ctx, ink, width, height } = pen;
  const frame = /** @type {import("../types.js").Frame} */ (frameOf(state));
  const box = { left: 52, right: width - 14, top: 24, bottom: height - 40 };
  const { z, alpha, beta, kinds } = frame.arrays;
  const target = ofMachine(state, "target");
  const classes = state.points.task === "classification";
  const regression = state.points.task === "regression";
  const [lower, upper] = [ofMachine(state, "lower"), ofMachine(state, "upper")];
  const margins = Float64Array.from(z, (value, i) => (regression ? value - (target?.[i] ?? 0) : classes ? (target?.[i] ?? 1) * value : value));
  const reach = (/** @type {number} */ i) => Math.max(Math.abs(lower?.[i] ?? Infinity), Math.abs(upper?.[i] ?? Infinity));
  const open = !z.every((_, i) => kinds[i] === 255 || Number.isFinite(reach(i)));
  const shares = Float64Array.from(classes ? alpha : beta, (value, i) => (open ? value : value / (reach(i) || 1)));
  const there = Array.from(z.keys()).filter((i) => kinds[i] !== 255 && Number.isFinite(margins[i] + shares[i]));
  const sorted = there.map((i) => margins[i]).sort((a, b) => a - b);
  const kink = regression ? 0 : classes ? 1 : 0;
  // A few far samples would press all others together.
  const quantile = (/** @type {number} */ q) => sorted[Math.round(q * (sorted.length - 1))] ?? 0;
  const [low, high] = [Math.min(quantile(0.02), kink - 1), Math.max(quantile(0.98), kink + 1)];
  const room = 0.06 * (high - low);
  const values = there.map((i) => shares[i]);
  const [least, most] = [Math.min(0, ...values), Math.max(open ? 1e-12 : 1, ...values)];
  const x = linear(low - room, high + room, box.left, box.right);
  const y = linear(least - 0.08 * (most - least), most + 0.08 * (most - least), box.bottom, box.top);
  const letter = classes ? "α" : "β";
  axes(pen, box, { x, y, xName: regression ? "error z − y" : classes ? "margin y z" : "decision value z", yName: open ? letter : `${letter} / C` });
  if (classes && state.settings.loss === "hinge") {
    const corner = open ? y.high : 1;
    const places = open ? [x(1), y(corner), x(1), y(0), box.right, y(0)] : [box.left, y(1), x(1), y(1), x(1), y(0), box.right, y(0)];
    stroke(ctx, ink("line"), places, 9);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left - 8, box.top - 8, box.right - box.left + 16, box.bottom - box.top + 16);
  ctx.clip();
  const xs = new Float64Array(z.length).fill(NaN);
  const ys = new Float64Array(z.length).fill(NaN);
  for (const i of there) {
    [xs[i], ys[i]] = [x(Math.min(Math.max(margins[i], x.low), x.high)), y(shares[i])];
    mark(pen, xs[i], ys[i], 4, classOf(state, i), kinds[i]);
  }
  for (const i of state.hover === null ? state.selection : [...state.selection, state.hover]) if (Number.isFinite(xs[i])) ring(pen, xs[i], ys[i]);
  ctx.restore();
  return [xs, ys];
}
