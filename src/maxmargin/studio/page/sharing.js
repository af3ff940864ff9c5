// Taking away: the address, code, files and pictures.

import { rowsOf } from "./points.js";
import { h } from "./dom.js";

/** What the host can write, and what it is called. */
const FORMATS = [["python", "Python"], ["notebook", "Notebook"], ["svmlight", "svmlight"], ["mm", "Model (.mm)"], ["report", "Report"], ["gif", "GIF"], ["tape", "Tape"]];

/** What an address can hide, besides single views by their names. */
const PARTS = [["data", "the data"], ["problem", "the problem"], ["solvers", "the solvers"], ["toolbar", "the tools"], ["certificate-panel", "the certificate"], ["pseudocode-panel", "the algorithm"], ["views", "the views"], ["lessons-button", "the lessons"], ["sharing", "this panel"]];

/**
 * @param {HTMLElement} el
 * @param {any} app
 */
export function mountSharing(el, app) {
  const copy = async (/** @type {string} */ value, /** @type {string} */ said) => {
    try {
      await navigator.clipboard.writeText(value);
      app.say(said);
    } catch {
      shown.hidden = false;
      shown.value = value;
      shown.select();
      app.say("The browser does not let the page copy: here it is, marked, to be copied by hand.");
    }
  };
  const shown = h("textarea", { rows: 5, hidden: true, readonly: true, "aria-label": "text to copy" });
  const exported = async (/** @type {string} */ format) => {
    const run = await app.runToExport();
    if (!run) return null;
    const answer = await app.request("export", { run: run.handle, format, index: run.index, machine: app.store.get().machine, others: app.store.get().runs.filter((/** @type {any} */ one) => one.handle && one.handle !== run.handle && one.recorded).map((/** @type {any} */ one) => one.handle), field: { ...app.store.get().window, nx: 48, ny: 36 } });
    return { name: answer.name, type: answer.type, file: answer.arrays.file };
  };
  const attempt = (/** @type {() => Promise<void>} */ what) => async () => {
    try {
      await what();
    } catch (error) {
      app.say(/** @type {Error} */ (error).message);
    }
  };
  const python = attempt(async () => {
    const made = await exported("python");
    if (made) await copy(new TextDecoder().decode(made.file), "The Python code is copied: it reproduces this certificate.");
  });
  const hidden = PARTS.map(([part, title]) => /** @type {[string, HTMLInputElement, string]} */ ([part, h("input", { type: "checkbox" }), title]));
  const address = attempt(async () => copy(app.address(hidden.filter(([, box]) => box.checked).map(([part]) => part)), "The address is copied: whoever opens it in a studio sees this."));
  const save = (/** @type {string} */ format) => attempt(async () => {
    app.say(`Writing the ${format}…`);
    const made = await exported(format);
    if (!made) return;
    download(made.name, new Blob([made.file], { type: made.type }));
    app.say(`${made.name} is written.`);
  });
  const give = attempt(async () => {
    const run = await app.runToExport();
    if (!run) return;
    await app.request("give", { points: { ...rowsOf(app.store.get().points) }, run: run.handle });
    app.say("The points and the result are in Python: see widget.X, widget.y and widget.result.");
  });
  const given = h("button", { type: "button", class: "primary", onclick: give }, "Hand to Python");
  const addressed = [
    h("button", { type: "button", onclick: address, "data-key": "share" }, "Copy the address"),
    h("details", {}, h("summary", {}, "For a class: an address without some parts"), ...hidden.map(([, box, title]) => h("label", { class: "field tick" }, box, `hide ${title}`)),
      h("button", { type: "button", onclick: address }, "Copy this address")),
  ];
  el.append(h("h2", {}, "Take away"),
    h("div", { class: "row" }, given, ...addressed.slice(0, 1), h("button", { type: "button", onclick: python }, "Copy as Python")),
    h("details", {}, h("summary", {}, "Files"), h("div", { class: "row" }, ...FORMATS.map(([format, title]) => h("button", { type: "button", "data-format": format, onclick: save(format) }, title)),
      h("button", { type: "button", "data-format": "png", onclick: () => app.picture() }, "PNG"), h("button", { type: "button", "data-format": "svg", onclick: () => app.drawing() }, "SVG"))),
    addressed[1], shown);
  const update = (/** @type {import("./types.js").State} */ { host }) => {
    given.hidden = host !== "widget";
    for (const one of addressed) one.hidden = host !== "server"; // a notebook's address is not the studio's
  };
  return { update, destroy: () => el.replaceChildren() };
}

/** @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

