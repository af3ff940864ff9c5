// The solvers: one to four on the same points, each with its own knobs.

import { fieldControl, rebuilt } from "./fields.js";
import { h, labelled, menu, slider, text } from "./dom.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Run} Run */

/**
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountSolvers(el, app) {
  let shape = "";
  /** @type {Map<string, HTMLElement>} */
  const errors = new Map();

  /** @param {State} state */
  const update = (state) => {
    rebuild(state);
    for (const run of state.runs) {
      const refused = state.problem?.accepts[run.solver];
      const node = errors.get(run.key);
      if (node) {
        text(node, run.error || (refused ? `${run.solver} refuses this problem: ${refused}` : ""));
        node.hidden = !node.textContent;
      }
    }
  };

  /** @param {State} state */
  const rebuild = (state) => {
    const { hello } = state;
    const now = JSON.stringify([hello?.version, state.runs.map((run) => [run.key, run.solver, Object.keys(run.options), Boolean(run.start)]), state.problem?.accepts, state.shown, state.single, state.clock, state.live, state.seed, state.every]);
    if (!hello || now === shape || el.querySelector("input[type=range]:active")) return;
    shape = now;
    errors.clear();
    rebuilt(el, [
      h("h2", {}, "Solvers"),
      ...state.runs.map((run, i) => card(state, run, i)),
      state.runs.length < 4 && h("button", { type: "button", "data-key": "add solver", onclick: () => app.addRun() }, "Add a solver beside it"),
      state.runs.length > 1 && labelled("compare by", menu([{ name: "iteration", title: "iterations" }, { name: "seconds", title: "seconds" }, { name: "work", title: "counted work" }], state.clock, (clock) => app.store.set({ clock }), { "data-key": "clock" })),
      slider({ label: "tolerance (relative gap)", low: 1e-10, high: 0.1, log: true, value: state.tol, changed: (tol, final) => final && app.again({ tol }) }),
      labelled("seed", h("input", { type: "number", min: 0, step: 1, value: String(state.seed), "data-key": "seed", onchange: (/** @type {Event} */ e) => app.again({ seed: Math.max(0, Math.floor(Number(/** @type {HTMLInputElement} */ (e.target).value) || 0)) }) })),
      labelled("record every … iterate", h("input", { type: "number", min: 1, step: 1, value: String(state.every), "data-key": "every", onchange: (/** @type {Event} */ e) => app.again({ every: Math.max(1, Math.floor(Number(/** @type {HTMLInputElement} */ (e.target).value) || 1)) }) }), "Of long runs with many samples every iterate may not fit into memory."),
      tick("one update at a time, where it can", state.single, (single) => app.again({ single })),
      tick("answer changes at once with the optimum", state.live, (live) => (app.store.set({ live }), app.wake())),
    ]);
  };

  /** @param {State} state @param {Run} run @param {number} i */
  function card(state, run, i) {
    const info = state.hello?.solvers.find((one) => one.name === run.solver);
    const options = (state.hello?.solvers ?? []).map((one) => ({ name: one.name, title: one.title, refused: state.problem?.accepts[one.name] }));
    const error = h("p", { class: "refusal", role: "alert", hidden: true });
    errors.set(run.key, error);
    const set = (/** @type {string} */ name, /** @type {*} */ value) => {
      const { [name]: _, ...rest } = app.store.get().runs.find((/** @type {Run} */ one) => one.key === run.key)?.options ?? {};
      app.changeRun({ options: value === info?.fields.find((one) => one.name === name)?.default ? rest : { ...rest, [name]: value } }, run.key);
    };
    const fields = (info?.fields ?? []).filter((field) => field.name !== "grain");
    const several = state.runs.length > 1;
    return h("fieldset", { class: `solver run-${i}` },
      h("legend", {}, several ? h("label", { class: "tick" }, h("input", { type: "radio", name: `shown-${app.id}`, "data-key": `show ${run.key}`, checked: state.shown === i, onchange: () => app.show(i) }), `${i + 1}`) : "", several && h("button", { type: "button", class: "small", "aria-label": `Remove solver ${i + 1}`, onclick: () => app.removeRun(run.key) }, "×")),
      menu(options, run.solver, (solver) => app.changeRun({ solver, options: {} }, run.key), { "data-key": `solver ${run.key}`, "aria-label": several ? `solver ${i + 1}` : "solver" }),
      info && h("p", { class: "note" }, info.doc.split("\n")[0]), error,
      h("details", { open: fields.some((field) => field.name in run.options) },
        h("summary", {}, fields.length ? "its knobs" : "where it starts"),
        ...fields.map((field) => fieldControl(field, run.options[field.name], (value, final) => final && set(field.name, value))),
        startControl(state, run)));
  }

  /** @param {State} state @param {Run} run */
  function startControl(state, run) {
    const flat = state.problem?.kernel.name === "linear" && state.problem.d === 2;
    const own = run.start?.w ? `${run.start.w.join(" ")} ${run.start.b}` : "";
    const box = h("input", { type: "text", "data-key": `start ${run.key}`, value: own, placeholder: "w₁ w₂ b", onchange: () => {
      const numbers = box.value.trim().split(/[\s,;]+/).map(Number);
      if (!box.value.trim()) return app.changeRun({ start: null }, run.key);
      if (numbers.length !== 3 || numbers.some(Number.isNaN)) return app.say("Give three numbers: w₁, w₂ and b.");
      app.changeRun({ start: { w: numbers.slice(0, 2), b: numbers[2] } }, run.key);
    } });
    return h("div", {},
      labelled("starts from", menu([{ name: "", title: "its own start" }, { name: "shown", title: "the shown point" }, ...(run.start?.w ? [{ name: "own", title: "own w, b" }] : [])], run.start?.w ? "own" : run.start ? "shown" : "", (one) => app.changeRun({ start: one === "shown" ? app.shownStart() : null }, run.key), { "data-key": `starts ${run.key}` })),
      flat && labelled("or from w₁, w₂, b", box));
  }
  return { update, destroy: () => el.replaceChildren() };
}

/** @param {string} label @param {boolean} on @param {(on: boolean) => void} changed */
function tick(label, on, changed) {
  const box = h("input", { type: "checkbox", checked: on, "data-key": label, onchange: () => changed(box.checked) });
  return h("label", { class: "field tick" }, box, label);
}
