// The guided tours: each step says something, may set something up, and may ask for something that the page checks.

import { fresh } from "./engine.js";
import { lessons } from "./lesson_texts.js";
import { h, text } from "./dom.js";
import { pointsOf } from "./points.js";
import { settingsFor } from "./controls.js";

/** @typedef {import("./types.js").State} State */

/** @param {string|null} name */
export const lessonNamed = (name) => lessons.find((one) => one.name === name) ?? null;

/**
 * Bring about what a step begins with: `toy` or `points`, `settings`, `solvers` (name and options), and any plain
 * part of the state (single, live, tol, views, tool, ...); `play` starts it.
 * @param {any} app
 * @param {any} wish
 */
export async function prepare(app, wish) {
  if (!wish) return;
  const { toy, points, settings, solvers, play, ...plain } = wish;
  const now = app.store.get();
  const set = points ?? (toy ? pointsOf(await app.request("toy", toy), null, toy) : now.points);
  const base = toy || points || set.task !== now.points.task ? settingsFor(set.task) : now.settings;
  app.store.set({
    ...(toy || points ? { tol: 1e-6, clock: "iteration", single: true } : {}), ...plain, points: set, settings: { ...base, ...settings }, playing: false, cursor: null, selection: [], hover: null, shown: 0, machine: 0,
    ...(solvers ? { runs: solvers.map((/** @type {any} */ [name, options], /** @type {number} */ i) => fresh("abcd"[i], name, options)) } : {}),
  });
  if (set !== now.points) app.fit();
  app.engine.restart();
  if (play) app.play();
}

/**
 * The open lesson, or the list of all.
 * @param {HTMLElement} el
 * @param {any} app
 */
export function mountLessons(el, app) {
  let shape = "";
  let done = false;
  /** @type {State|null} */
  let before = null;
  const verdict = h("p", { class: "verdict good", role: "status", hidden: true });
  /** @type {HTMLElement|null} */ let box = null;
  /** @type {HTMLButtonElement|null} */ let next = null;

  /** @param {State} state */
  const update = (state) => {
    const lesson = lessonNamed(state.lesson);
    const now = state.lesson === null ? "" : `${state.lesson}/${state.lessonStep}`;
    if (now !== shape) {
      shape = now;
      [done, before, box] = [false, null, null];
      el.replaceChildren();
      if (state.lesson !== null) lesson ? step(lesson, Math.min(state.lessonStep, lesson.steps.length - 1)) : list();
      return;
    }
    const check = lesson?.steps[state.lessonStep]?.check;
    if (!lesson || !check || done || !ready) return;
    const frame = state.runs[state.shown]?.frame; // "before" is once the optimum of what was set up is there
    if (!before && state.live && frame?.arrays.beta.length !== state.points.y.length && !state.problemError) return;
    before ??= state;
    if (!check(state, before)) return;
    done = true;
    text(verdict, lesson.steps[state.lessonStep].done ?? "Done.");
    verdict.hidden = false;
    box?.classList.add("done");
    next?.classList.add("primary");
  };
  let ready = false;

  function list() {
    el.append(h("div", { class: "head" }, h("h2", {}, "Lessons"), h("button", { type: "button", class: "small", onclick: () => app.lesson(null) }, "Close")),
      h("p", { class: "note" }, "Short tours with tasks; the page sees when a task is done."),
      h("ol", { class: "lesson-list" }, ...lessons.map((one) => h("li", {}, h("button", { type: "button", onclick: () => app.lesson(one.name, 0) }, one.title)))));
    app.store.set({});
  }

  /** @param {import("./types.js").Lesson} lesson @param {number} at */
  function step(lesson, at) {
    const one = lesson.steps[at];
    const last = at === lesson.steps.length - 1;
    next = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: one.task ? "" : "primary", onclick: () => (last ? app.lesson("") : app.lesson(lesson.name, at + 1)) }, last ? "All lessons" : "Next"));
    verdict.hidden = true;
    box = h("div", { class: "lesson-step" },
      h("div", { class: "head" }, h("h2", {}, lesson.title), h("button", { type: "button", class: "small", onclick: () => app.lesson(null), "aria-label": "Close the lesson" }, "Close")),
      h("progress", { max: lesson.steps.length, value: at + 1, "aria-label": `step ${at + 1} of ${lesson.steps.length}` }),
      h("h3", {}, one.title), ...one.text.split("\n").map((part) => h("p", {}, part)),
      one.task && h("p", { class: "task" }, `Task: ${one.task}`), verdict,
      one.hint && h("details", {}, h("summary", {}, "A hint"), h("p", {}, one.hint)),
      h("div", { class: "row" }, at > 0 && h("button", { type: "button", onclick: () => app.lesson(lesson.name, at - 1) }, "Back"),
        one.set && h("button", { type: "button", onclick: () => ((shape = ""), app.store.set({})) }, "Set up again"), next));
    el.append(/** @type {HTMLElement} */ (box));
    const made = /** @type {HTMLElement} */ (box);
    made.setAttribute("aria-busy", "true");
    ready = false;
    prepare(app, one.set).catch((error) => app.say(error.message)).finally(() => ((ready = true), made.setAttribute("aria-busy", "false"), app.store.set({})));
  }
  return { update, destroy: () => el.replaceChildren() };
}
