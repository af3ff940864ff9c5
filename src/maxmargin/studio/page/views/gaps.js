// Each sample's part of the duality gap, the largest first: the gap is their sum, and none of them is below 0.

import { axes, classOf, figure, frameOf, logarithmic, mark, notice, part, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */

const MOST = 60;

/** The samples by their part of the gap, the largest first; those without any are left out. @param {ArrayLike<number>} gaps */
export function debtors(gaps) {
  return Array.from(gaps, (gap, i) => ({ gap, i })).filter(({ gap }) => gap > 0).sort((a, b) => b.gap - a.gap || a.i - b.i);
}

/** @type {import("../types.js").View} */
export const gaps = {
  id: "gaps",
  title: "Who owes the gap",
  doc: "The duality gap is a sum over samples: C(ℓ(z) + ℓ*(−β/C)) + βz, which is 0 where the KKT conditions hold.",
  applies: () => true,
  mount(el, app) {
    const said = part(el, "p", "", "view-said");
    /** @type {{gap: number, i: number}[]} */ let shownOnes = [];
    const box = { left: 56, right: 0, top: 24, bottom: 0 };
    const at = (/** @type {number} */ x) => {
      const k = Math.floor(((x - box.left) / (box.right - box.left)) * Math.max(shownOnes.length, 12));
      return x < box.left ? null : (shownOnes[k]?.i ?? null);
    };
    const shown = figure(el, app, {
      height: 220,
      hit: (x) => at(x),
      order: () => shownOnes.map((one) => one.i),
      press(x, _, __, ___, kind) {
        const sample = at(x);
        if (kind === "down" && sample !== null) app.select([sample]);
        return false;
      },
      draw(pen, state) {
        const frame = frameOf(state);
        const values = frame?.arrays.gaps;
        if (!frame || !values) return notice(pen, "The parts of the gap will be drawn here.");
        const all = debtors(values);
        shownOnes = all.slice(0, MOST);
        said.textContent = words(all, state);
        [box.right, box.bottom] = [pen.width - 12, pen.height - 24];
        const finite = all.map((one) => one.gap).filter(Number.isFinite);
        if (!shownOnes.length) return notice(pen, "No sample owes anything: every part of the gap is 0.");
        draw(pen, box, shownOnes, finite, state);
      },
      tell: (state) => {
        const values = frameOf(state)?.arrays.gaps;
        return values ? `Parts of the gap. ${words(debtors(values), state)}` : "Parts of the gap: nothing has run yet.";
      },
    });
    return shown;
  },
};

/** @param {{gap: number, i: number}[]} all @param {State} state */
function words(all, state) {
  const total = all.reduce((sum, one) => sum + one.gap, 0);
  const endless = all.filter((one) => one.gap === Infinity).length;
  const i = state.hover;
  const one = i === null ? null : all.find((debt) => debt.i === i);
  if (i !== null && one?.gap === Infinity) return `Sample ${i} is inside a hard margin: its part is infinite.`;
  if (i !== null && one) return `Sample ${i} owes ${written(one.gap)}${endless ? "" : `, ${written((100 * one.gap) / total, 2)} % of ${written(total)}`}.`;
  if (i !== null) return `Sample ${i} owes nothing.`;
  if (!all.length) return "";
  if (endless) return `${endless} samples are inside the hard margin: their parts, and the gap, are infinite.`;
  let sum = 0;
  const half = all.findIndex((debt) => (sum += debt.gap) >= total / 2) + 1;
  const rest = all.length > MOST ? ` The ${MOST} largest are drawn.` : "";
  return `${all.length} samples owe ${written(total)} together, and half of it ${half === 1 ? "is one sample's" : `${half} of them`}.${rest}`;
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {{gap: number, i: number}[]} ones @param {number[]} finite @param {State} state */
function draw(pen, box, ones, finite, state) {
  const { ctx, ink } = pen;
  const high = 10 ** Math.ceil(Math.log10(finite[0] ?? 1) + 0.05);
  const low = Math.max(high * 1e-8, 10 ** Math.floor(Math.log10(finite[Math.min(finite.length, MOST) - 1] ?? 0.1) - 0.05));
  const y = logarithmic(Math.min(low, high / 10), high, box.bottom, box.top);
  axes(pen, box, { y, yName: "part of the gap" });
  const step = (box.right - box.left) / Math.max(ones.length, 12);
  ones.forEach(({ gap, i }, k) => {
    const x = box.left + (k + 0.5) * step;
    const top = Number.isFinite(gap) ? y(gap) : box.top - 10;
    const lit = i === state.hover || state.selection.includes(i);
    if (lit) {
      ctx.fillStyle = ink("focus");
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x - Math.max(step, 6) / 2, box.top - 8, Math.max(step, 6), box.bottom - box.top + 8);
      ctx.globalAlpha = 1;
    }
    ctx.fillStyle = ink(`class-${classOf(state, i) % 10}`);
    ctx.globalAlpha = 0.85;
    const wide = Math.max(1, Math.min(16, step * 0.7));
    ctx.fillRect(x - wide / 2, top, wide, Math.max(0, box.bottom - top));
    ctx.globalAlpha = 1;
    if (step >= 9) mark(pen, x, box.bottom + 10, 4, classOf(state, i), frameOf(state)?.arrays.kinds[i] ?? 0);
  });
}
