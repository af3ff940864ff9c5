// The tools of the plane and the classes, as buttons above it.

import { h, text } from "./dom.js";
import { mark } from "./views/chart.js";
import { rebuilt } from "./fields.js";

/** @typedef {import("./types.js").State} State */

const TOOLS = [
  ["points", "Add and move", "Click an empty place to add a sample, drag one to move it, click one to select it. The other button changes its class."],
  ["select", "Select", "Drag a rectangle; with Shift it adds to the selection."],
  ["brush", "Brush", "Drag to add many samples."],
  ["erase", "Erase", "Click or drag over samples to remove them."],
];

/**
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountToolbar(el, app) {
  let shape = "";
  /** @param {State} state */
  const update = (state) => {
    const { points, tool, brush, selection, theme } = state;
    const now = JSON.stringify([points.task, points.labels, tool, brush, selection.length > 0, selection.length, theme, app.past(), app.future()]);
    if (now === shape) return;
    shape = now;
    const classes = points.task === "classification" ? points.labels.map((label, i) => h("button", { type: "button", class: `class ${selection.length ? "" : brush === i ? "on" : ""}`, "aria-pressed": String(brush === i), "aria-label": `class ${label}`, title: selection.length ? `Make the selected samples class ${label} (key ${i + 1})` : `Draw class ${label} (key ${i + 1})`, onclick: () => app.setClass(i) }, sample(i, el), label)) : [];
    rebuilt(el, [
      h("div", { class: "group", role: "group", "aria-label": "tool" }, ...TOOLS.map(([name, title, doc]) => h("button", { type: "button", class: tool === name ? "on" : "", "aria-pressed": String(tool === name), title: doc, "data-key": `tool ${name}`, onclick: () => app.store.set({ tool: name }) }, title))),
      classes.length > 0 && h("div", { class: "group", role: "group", "aria-label": "class" }, ...classes, points.labels.length < 6 && h("button", { type: "button", "aria-label": "one more class", title: "One more class", onclick: () => app.addClass() }, "+")),
      h("div", { class: "group", role: "group", "aria-label": "edit" },
        h("button", { type: "button", disabled: !app.past(), "data-key": "undo", title: "Undo (Ctrl+Z)", onclick: () => app.undo() }, "Undo"),
        h("button", { type: "button", disabled: !app.future(), "data-key": "redo", title: "Redo (Ctrl+Shift+Z)", onclick: () => app.redo() }, "Redo"),
        selection.length > 0 && h("button", { type: "button", "data-key": "delete", onclick: () => app.removeSelected() }, `Delete ${selection.length}`),
        h("button", { type: "button", "data-key": "fit", title: "Show all samples", onclick: () => app.fit() }, "Fit")),
    ]);
  };
  return { update, destroy: () => el.replaceChildren() };
}

/** The mark of a class, on a small canvas. @param {number} index @param {HTMLElement} el */
function sample(index, el) {
  const node = h("canvas", { width: 36, height: 36, class: "mark", "aria-hidden": "true" });
  const style = getComputedStyle(el);
  const ctx = /** @type {CanvasRenderingContext2D} */ (node.getContext("2d"));
  ctx.scale(2, 2);
  mark({ ctx, ink: (name) => style.getPropertyValue(`--${name}`).trim() }, 9, 9, 6, index, 3);
  return node;
}

const KEYS = [
  ["Mouse", "click: add · drag: move · click a sample: select · other button: change its class · Shift+click: add the next class · Ctrl+wheel: closer"],
  ["Touch", "tap: add · drag: move · tap a sample: select, then delete it or choose its class · two fingers: closer"],
  ["Arrows", "move the crosshair, or the selected samples (Shift: further)"],
  ["Enter", "add a sample at the crosshair"],
  ["N, P", "select the next sample, the one before"],
  ["1 – 9", "the class of the selected samples, or to be drawn"],
  ["Delete, A, Esc", "remove the selected; select all; select none"],
  ["+, −, 0", "closer, further, all"],
  ["Space , .", "play or pause; one step back; one step on"],
  ["Ctrl+Z", "undo; with Shift redo"],
];

/**
 * What the hands can do.
 * @param {HTMLElement} el
 * @param {*} _app
 */
export function mountKeys(el, _app) {
  el.append(h("details", {}, h("summary", {}, "Mouse, touch and keyboard"), h("dl", { class: "keys" }, ...KEYS.flatMap(([key, what]) => [h("dt", {}, key), h("dd", {}, what)]))));
  return { update: () => {}, destroy: () => el.replaceChildren() };
}

/**
 * What the marks mean.
 * @param {HTMLElement} el
 * @param {*} _app
 */
export function mountLegend(el, _app) {
  const kinds = [["outside", "beyond its margin, α = 0", 0], ["candidate", "on the margin, α = 0", 1], ["free", "on the margin, 0 < α < C", 2], ["bound", "inside the margin, α = C", 3]];
  const counts = kinds.map(() => h("b", {}));
  const marks = kinds.map(() => h("canvas", { width: 36, height: 36, class: "mark", "aria-hidden": "true" }));
  el.append(...kinds.map(([name, doc], i) => h("span", { class: "kind", title: doc }, marks[i], counts[i], ` ${name}`)), h("span", { class: "kind", title: "how far a sample is on the wrong side of its margin, or outside its tube" }, h("span", { class: "slack-mark", "aria-hidden": "true" }), "slack ξ"));
  let drawn = "";
  /** @param {State} state */
  const update = (state) => {
    const found = state.runs[state.shown]?.frame?.certificate.counts;
    kinds.forEach(([name], i) => text(counts[i], found ? String(/** @type {any} */ (found)[/** @type {string} */ (name)]) : "–"));
    if (drawn === state.theme) return;
    drawn = state.theme;
    const style = getComputedStyle(el);
    marks.forEach((node, i) => {
      const ctx = /** @type {CanvasRenderingContext2D} */ (node.getContext("2d"));
      ctx.setTransform(2, 0, 0, 2, 0, 0);
      ctx.clearRect(0, 0, 18, 18);
      mark({ ctx, ink: (name) => style.getPropertyValue(`--${name}`).trim() }, 9, 9, 5.5, 1, /** @type {number} */ (kinds[i][2]));
    });
  };
  return { update, destroy: () => el.replaceChildren() };
}
