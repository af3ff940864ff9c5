// Elements made from a description; all texts go through textContent, so that a file name or label cannot be markup.

/**
 * An element with attributes, listeners (`onclick`) and children (texts or elements).
 * @param {string} tag
 * @param {Record<string, *>} [attributes] `class`, `style`, any attribute; a function under `on...`; true and false switch
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {any} an HTMLElement of that tag
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") /** @type {any} */ (node)[name] = value;
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((one) => one !== null && one !== undefined && one !== false).map((one) => (one instanceof Node ? one : String(one))));
  return node;
}

/**
 * Whether what an element stands on is dark: a notebook has themes of its own, beside that of the browser.
 * @param {HTMLElement} el
 */
export function isDark(el) {
  const ctx = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d")); // it reads every way to write a colour
  for (let node = /** @type {any} */ (el); node; node = node.parentElement ?? node.getRootNode().host) {
    ctx.clearRect(0, 0, 1, 1);
    ctx.fillStyle = getComputedStyle(node).backgroundColor;
    ctx.fillRect(0, 0, 1, 1);
    const [r, g, b, opaque] = ctx.getImageData(0, 0, 1, 1).data;
    if (opaque > 127) return 0.3 * r + 0.6 * g + 0.1 * b < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Set a text only where it changes, so that a screen reader is not told the same twice.
 * @param {HTMLElement} node
 * @param {string} value
 */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

/**
 * A formula as it is written in plain text, with its lower indices as such: K_ii, max_β.
 * @param {string} value
 * @returns {(string|HTMLElement)[]}
 */
export function formula(value) {
  return value.split(/_([ijklmnt0-9]{1,2}|β|max|min)(?![\w])/).map((part, k) => (k % 2 ? h("sub", {}, part) : part));
}

/**
 * A labelled control: the label on its own line above it.
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [title]
 * @returns {HTMLElement}
 */
export function labelled(label, control, title) {
  return h("label", { class: "field", title: title ?? null }, h("span", { class: "name" }, label), control);
}

/**
 * A menu.
 * @param {{name: string, title: string, refused?: string|null}[]} options
 * @param {string} value
 * @param {(value: string) => void} changed
 * @param {Record<string, *>} [attributes]
 * @returns {HTMLSelectElement}
 */
export function menu(options, value, changed, attributes = {}) {
  const made = options.map((one) => h("option", { value: one.name, title: one.refused ?? null }, one.refused ? `${one.title} (refused)` : one.title));
  const node = h("select", { ...attributes, onchange: () => changed(node.value) }, ...made);
  node.value = value;
  return node;
}

/**
 * A number with a slider and a box; the slider may be logarithmic and may end in infinity.
 * @param {{label: string, low: number, high: number, value: number, log?: boolean, infinity?: boolean, whole?: boolean, title?: string, changed: (value: number, final: boolean) => void}} spec
 * @returns {HTMLElement & {show: (value: number) => void}}
 */
export function slider(spec) {
  const steps = 200;
  const place = (/** @type {number} */ value) => {
    if (!Number.isFinite(value)) return steps + 10;
    const [low, high, at] = spec.log ? [Math.log(spec.low), Math.log(spec.high), Math.log(Math.max(value, spec.low))] : [spec.low, spec.high, value];
    return Math.max(0, Math.min(steps, ((at - low) / (high - low)) * steps));
  };
  const value = (/** @type {number} */ position) => {
    if (spec.infinity && position > steps) return Infinity;
    const share = Math.min(position, steps) / steps;
    const exact = spec.log ? spec.low * (spec.high / spec.low) ** share : spec.low + (spec.high - spec.low) * share;
    return spec.whole ? Math.round(exact) : Number(exact.toPrecision(3));
  };
  const range = h("input", { type: "range", min: 0, max: spec.infinity ? steps + 10 : steps, step: "any", "aria-label": spec.label });
  const box = h("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": `${spec.label}, as a number` });
  const told = (/** @type {number} */ x) => (Number.isFinite(x) ? (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential() : String(x).length > 7 ? String(Number(x.toPrecision(4))) : String(x)) : "∞");
  const show = (/** @type {number} */ x) => {
    if (document.activeElement !== range) range.value = String(place(x));
    if (document.activeElement !== box) box.value = told(x);
    range.setAttribute("aria-valuetext", told(x));
  };
  range.addEventListener("input", () => ((box.value = told(value(Number(range.value)))), spec.changed(value(Number(range.value)), false)));
  range.addEventListener("change", () => spec.changed(value(Number(range.value)), true));
  box.addEventListener("change", () => {
    const typed = /^\s*(∞|inf(inity)?)\s*$/i.test(box.value) ? Infinity : Number(box.value.replace(",", "."));
    if (box.value.trim() && !Number.isNaN(typed)) spec.changed(typed, true);
    else box.value = told(value(Number(range.value)));
  });
  const node = h("div", { class: "field slider", title: spec.title ?? null }, h("span", { class: "name" }, spec.label), h("div", { class: "pair" }, range, box));
  node.show = show;
  show(spec.value);
  return node;
}
