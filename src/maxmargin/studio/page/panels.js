// The panels beside the plane: what is proved, how the algorithm goes, and the buttons of a run.

import { formula, h, text } from "./dom.js";
import { accuracyOf } from "./points.js";
import { written } from "./views/chart.js";

/** @typedef {import("./types.js").State} State */

/**
 * The certificate of the shown point.
 * @param {HTMLElement} el
 * @param {*} _app
 */
export function mountCertificate(el, _app) {
  const verdict = h("p", { class: "verdict" });
  const bar = h("div", { class: "gapbar", role: "img" }, h("span", { class: "from" }), h("span", { class: "to" }));
  const cells = /** @type {Record<string, HTMLElement>} */ ({});
  const rows = [["primal", "P(w, b), from above"], ["dual", "D(β), from below"], ["gap", "P − D"], ["relative gap", "gap / max(|P|, |D|)"], ["KKT violation", "LIBSVM's measure"], ["support vectors", "free on the margin, bound inside it"], ["margin", "2 / ‖w‖"], ["accuracy", "on the samples of the shown machine"]];
  const table = h("table", { class: "certificate" }, h("tbody", {}, ...rows.map(([name, doc]) => h("tr", {}, h("th", { scope: "row", title: doc }, name), (cells[name] = h("td", {}))))));
  const remark = h("p", { class: "note" });
  el.append(h("h2", {}, "Certificate"), verdict, bar, table, remark);
  /** @param {State} state */
  const update = (state) => {
    const frame = state.runs[state.shown]?.frame;
    if (!frame) {
      text(verdict, state.problemError || state.runs[state.shown]?.error || "Nothing is computed yet.");
      verdict.className = "verdict";
      table.hidden = bar.hidden = true;
      text(remark, "");
      return;
    }
    const { certificate: proof } = frame;
    table.hidden = bar.hidden = false;
    const never = frame.inseparable?.proved;
    text(verdict, never ? "Proved: no hyperplane separates these classes." : powers(proof.verdict));
    verdict.className = `verdict ${proof.holds || never ? "good" : frame.ended ? "bad" : ""}`;
    const closed = Number.isFinite(proof.relative_gap) ? Math.max(0, Math.min(1, -Math.log10(Math.max(proof.relative_gap, 1e-12)) / -Math.log10(Math.max(state.tol, 1e-12)))) : 0;
    /** @type {HTMLElement} */ (bar.firstElementChild).style.width = `${50 * closed}%`;
    /** @type {HTMLElement} */ (bar.lastElementChild).style.width = `${50 * closed}%`;
    bar.setAttribute("aria-label", `the gap is closed to ${Math.round(100 * closed)} percent of the way to the tolerance, on a logarithmic scale`);
    const { counts } = proof;
    const show = (/** @type {string} */ name, /** @type {string} */ value, /** @type {number} */ exact = NaN) => {
      text(cells[name], value);
      if (!Number.isNaN(exact)) cells[name].title = cells[name].dataset.value = String(exact);
    };
    show("primal", written(proof.primal, 6), proof.primal);
    show("dual", written(proof.dual, 6), proof.dual);
    show("gap", written(proof.gap, 3), proof.gap);
    show("relative gap", written(proof.relative_gap, 3), proof.relative_gap);
    show("KKT violation", written(proof.kkt_violation, 3), proof.kkt_violation);
    show("support vectors", `${counts.free + counts.bound} (${counts.free} free, ${counts.bound} bound)`);
    show("margin", written(frame.margin, 4));
    const accuracy = accuracyOf(state, frame);
    cells.margin.parentElement?.toggleAttribute("hidden", state.points.task !== "classification" || Number.isNaN(frame.margin));
    cells.accuracy.parentElement?.toggleAttribute("hidden", accuracy === null);
    show("accuracy", accuracy === null ? "–" : `${(100 * accuracy).toFixed(1)} %`);
    const related = Object.entries(frame.related ?? {}).map(([name, one]) => `Of ${name}: gap ${written(one.relative_gap, 3)}.`).join(" ");
    const own = state.runs[state.shown].solver;
    const solved = frame.solved ? `Solved at once${frame.solver === own ? "" : ` by ${frame.solver}`}; press play to watch ${own} get there.` : "";
    const said = [frame.inseparable?.text ?? proof.remark, related, frame.inseparable || proof.holds ? "" : frame.status?.text, solved];
    text(remark, said.filter(Boolean).map((one) => powers(sentence(String(one)))).join(" "));
  };
  return { update, destroy: () => el.replaceChildren() };
}

/** 2.0e-13 as the table writes it, 2·10⁻¹³, and a number together with its per cent. @param {string} said */
const powers = (said) => said.replace(/\d+(\.\d+)?e[-+]?\d+/g, (number) => written(Number(number), 2)).replace(/ %/g, "\u00a0%");

/** With a capital and a full stop. @param {string} said */
const sentence = (said) => said[0].toUpperCase() + said.slice(1) + (/[.!?]$/.test(said) ? "" : ".");

/**
 * The numbered lines of the algorithm; those that just ran are marked.
 * @param {HTMLElement} el
 * @param {*} _app
 */
export function mountPseudocode(el, _app) {
  const title = h("h2", {});
  const problem = h("p", { class: "formula" });
  const list = h("ol", { class: "pseudocode" });
  const paper = h("p", { class: "note" });
  el.append(title, problem, list, paper);
  let shape = "";
  /** @param {State} state */
  const update = (state) => {
    const run = state.runs[state.shown];
    const info = state.hello?.solvers.find((one) => one.name === run?.solver);
    const lines = run?.algorithm ?? info;
    el.hidden = !lines?.pseudocode.length;
    if (!info || !lines) return;
    if (shape !== info.name + lines.problem) {
      shape = info.name + lines.problem;
      text(title, `${info.title}, line by line`);
      problem.replaceChildren(...formula(lines.problem ?? ""));
      text(paper, info.paper ?? "");
      list.replaceChildren(...lines.pseudocode.map((line) => h("li", { value: line.number, "data-line": line.number }, ...formula(line.text))));
    }
    const ran = new Set(run.frame && !run.frame.solved ? run.frame.lines : []);
    for (const node of /** @type {HTMLCollectionOf<HTMLElement>} */ (list.children)) {
      const now = ran.has(Number(node.dataset.line));
      node.classList.toggle("ran", now);
      if (now) node.setAttribute("aria-current", "step");
      else node.removeAttribute("aria-current");
    }
  };
  return { update, destroy: () => el.replaceChildren() };
}

const SPEEDS = [1, 3, 10, 30, 100, Infinity];

/**
 * Play, pause, step, back, scrub, speed.
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountTransport(el, app) {
  const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ action) => h("button", { type: "button", class: "transport", "aria-label": name, title: name, onclick: action }, sign);
  const play = button("▶", "Play", () => app.play());
  const back = button("◀︎❙", "One step back", () => app.step(-1));
  const scrub = h("input", { type: "range", min: 0, step: 1, "aria-label": "recorded frames", class: "scrub", oninput: () => app.seek(Number(scrub.value)) });
  const told = h("span", { class: "told" });
  const speed = h("select", { "aria-label": "speed", onchange: () => app.store.set({ speed: Number(speed.value) }) }, ...SPEEDS.map((one) => h("option", { value: String(one) }, Number.isFinite(one) ? `${one} a second` : "as fast as it goes")));
  const machine = h("select", { "aria-label": "machine", onchange: () => (app.store.set({ machine: Number(machine.value) }), app.wake()) });
  el.append(h("div", { class: "row buttons" }, button("❙◀◀", "To the start", () => app.restart()), back, play, button("❙▶︎", "One step", () => app.step(1)), button("▶▶❙", "To the end", () => app.finish()), speed, machine), h("div", { class: "row" }, scrub, told));
  let names = "";
  /** @param {State} state */
  const update = (state) => {
    const run = state.runs[state.shown];
    text(play, state.playing ? "❙❙" : "▶");
    const label = state.playing ? "Pause" : "Play";
    if (play.getAttribute("aria-label") !== label) play.setAttribute("aria-label", label), (play.title = label);
    const last = Math.max(0, run.recorded - 1);
    scrub.max = String(last);
    scrub.disabled = run.recorded < 2;
    const at = state.cursor ?? last;
    if (Number(scrub.value) !== at) scrub.value = String(at);
    back.disabled = run.recorded < 2 || at === 0;
    const frame = run.frame;
    const clock = frame && !frame.solved ? { iteration: `k = ${frame.k}`, seconds: `${written(frame.seconds, 3)} s`, work: `${written(frame.work, 3)} multiply-adds` }[state.clock] : "";
    text(told, run.recorded ? `frame ${at + 1} of ${run.recorded}${run.ended ? "" : " so far"}, ${clock}` : frame?.solved ? "the optimum" : "not begun");
    scrub.setAttribute("aria-valuetext", told.textContent ?? "");
    if (speed.value !== String(state.speed)) speed.value = String(state.speed);
    const machines = state.problem?.machines ?? [];
    const now = machines.map((one) => one.name).join();
    machine.hidden = machines.length < 2;
    if (now !== names) {
      names = now;
      machine.replaceChildren(...machines.map((one, i) => h("option", { value: i }, one.name)));
    }
    if (machine.value !== String(state.machine)) machine.value = String(state.machine);
  };
  return { update, destroy: () => el.replaceChildren() };
}

/**
 * How the runs compare: one line each.
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountRace(el, app) {
  const body = h("tbody", {});
  el.append(h("h2", {}, "Side by side"), h("table", { class: "race" }, h("thead", {}, h("tr", {}, h("td", {}), ...["solver", "k", "seconds", "work", "gap"].map((name) => h("th", { scope: "col" }, name)))), body));
  /** @param {State} state */
  const update = (state) => {
    el.hidden = state.runs.length < 2;
    if (el.hidden) return;
    while (body.children.length > state.runs.length) body.lastElementChild?.remove();
    state.runs.forEach((run, i) => {
      const row = body.children[i] ?? body.appendChild(h("tr", { onclick: () => app.show(i) }, ...Array.from({ length: 6 }, () => h("td", {}))));
      row.className = `run-${i}${i === state.shown ? " shown" : ""}`;
      const frame = run.frame?.solved ? null : run.frame;
      const gap = frame ? written(frame.certificate.relative_gap, 3) : "–";
      const status = run.error ? "refused" : run.ended ? frame?.status?.reason ?? "ended" : "";
      [["●", run.solver, frame ? String(frame.k) : "–", frame ? written(frame.seconds, 3) : "–", frame ? written(frame.work, 3) : "–", status ? `${gap} (${status})` : gap]].flat().forEach((value, j) => text(/** @type {HTMLElement} */ (row.children[j]), value));
    });
  };
  return { update, destroy: () => el.replaceChildren() };
}
