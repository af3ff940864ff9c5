// Controls for the fields of losses, kernels and solvers, made from what the registry says of them.

import { h, labelled, menu, slider } from "./dom.js";

/** @typedef {import("./types.js").Field} Field */

/** Where a slider helps, and between what; all others get a box. @type {Record<string, {low: number, high: number, log?: boolean, whole?: boolean, label?: string}>} */
const RANGES = {
  gamma: { low: 0.01, high: 100, log: true, label: "γ (gamma)" },
  degree: { low: 1, high: 8, whole: true },
  coef0: { low: -2, high: 2 },
  epsilon: { low: 0, high: 2, label: "ε (epsilon)" },
  nu: { low: 0.01, high: 1, label: "ν (nu)" },
  step: { low: 1e-4, high: 100, log: true, label: "step size" },
  c: { low: 0.01, high: 1000, log: true, label: "c, the penalty's weight" },
};

/**
 * A control for one field. `fitted` is what a word such as "scale" came out as.
 * @param {Field} field
 * @param {*} value
 * @param {(value: *, final: boolean) => void} changed
 * @param {number} [fitted]
 * @returns {HTMLElement}
 */
export function fieldControl(field, value, changed, fitted) {
  const title = field.doc;
  const now = value === undefined ? field.default : value;
  const range = RANGES[field.name];
  const label = range?.label ?? field.name.replaceAll("_", " ");
  if (field.type === "flag") {
    const box = h("input", { type: "checkbox", checked: Boolean(now), "data-key": field.name, onchange: () => changed(box.checked, true) });
    return h("label", { class: "field tick", title }, box, label);
  }
  if (field.type === "choice") return labelled(label, menu(choices(field), String(now), (one) => changed(one, true), { "data-key": field.name }), title);
  const words = (field.choices ?? []).concat(field.optional ? ["left to the solver"] : []);
  if (field.type === "text") return labelled(label, box(field, now, changed), title);
  if (!range) return labelled(field.optional ? `${label} (empty: left to it)` : label, box(field, now, changed), title);
  const number = typeof now === "number" ? now : Number.isFinite(fitted) ? Number(fitted) : Math.sqrt(range.low * range.high) || 1;
  const made = slider({ ...range, label, value: number, title, changed });
  if (!words.length) return made;
  const word = typeof now === "number" ? "own" : now === null ? "left to the solver" : String(now);
  const pick = menu([...words, "own"].map((name) => ({ name, title: name === "own" ? "a number" : name })), word,
    (one) => changed(one === "own" ? Number(number.toPrecision(3)) : one === "left to the solver" ? null : one, true), { "data-key": `${field.name} word`, "aria-label": `${label}: how it is set` });
  return h("div", { class: "field worded", title }, made, pick);
}

/** @param {Field} field */
const choices = (field) => (field.choices ?? []).map((name) => ({ name, title: name }));

/** @param {Field} field @param {*} now @param {(value: *, final: boolean) => void} changed */
function box(field, now, changed) {
  const node = h("input", {
    type: "text", inputmode: field.type === "text" ? "text" : "decimal", value: now === null || now === undefined ? "" : String(now), "data-key": field.name,
    onchange: () => {
      const typed = node.value.trim();
      if (typed === "" && field.optional) return changed(null, true);
      const number = Number(typed.replace(",", "."));
      changed(field.type === "text" || typed === "" || Number.isNaN(number) ? typed : number, true);
    },
  });
  return node;
}

/**
 * Build anew inside an element, and give the focus back to the control that had it.
 * @param {HTMLElement} el
 * @param {(Node|null|false)[]} children
 */
export function rebuilt(el, children) {
  const active = document.activeElement;
  const held = active instanceof HTMLElement && el.contains(active) ? active.dataset.key ?? active.getAttribute("aria-label") : null;
  el.replaceChildren(.../** @type {Node[]} */ (children.filter(Boolean)));
  if (!held) return;
  const again = [...el.querySelectorAll("[data-key], [aria-label]")].find((one) => one.getAttribute("data-key") === held || one.getAttribute("aria-label") === held);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}
