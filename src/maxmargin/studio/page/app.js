// The page: its state, what can be done to it, and where each panel is.

import { fromAddress, toAddress } from "./address.js";
import { mountData, mountProblem, settingsFor } from "./controls.js";
import { h, isDark, text } from "./dom.js";
import { again, Engine, fresh } from "./engine.js";
import { shaped, windowOf } from "./geometry.js";
import { listen } from "./gestures.js";
import { lessonNamed, mountLessons } from "./lessons.js";
import { mountCertificate, mountPseudocode, mountRace, mountTransport } from "./panels.js";
import { mountPlane } from "./plane.js";
import { base64, count, pointsOf, relabelled, removed } from "./points.js";
import { download, mountSharing } from "./sharing.js";
import { mountSolvers } from "./solvers.js";
import { createStore, History } from "./store.js";
import { mountKeys, mountLegend, mountToolbar } from "./toolbar.js";
import { views } from "./views/index.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Points} Points */

const EMPTY = { task: /** @type {const} */ ("classification"), xy: new Float64Array(0), y: new Float64Array(0), labels: ["−1", "+1"], note: "" };

/** The state at the beginning. @param {"server"|"widget"|"tape"} host @param {"light"|"dark"} theme @returns {State} */
export function firstState(host, theme) {
  return {
    hello: null, points: EMPTY, settings: settingsFor("classification"), problem: null, problemError: "", runs: [fresh("a", "smo")], shown: 0, machine: 0,
    cursor: null, live: true, playing: false, speed: 10, clock: "iteration", tol: 1e-6, seed: 0, every: 1, single: true, hover: null, selection: [], tool: "points", brush: 1,
    theme, lesson: null, lessonStep: 0, views: ["curves", "duals"], hide: [], host, window: { x0: -4, x1: 4, y0: -3, y1: 3, nx: 800, ny: 600 },
  };
}

let pages = 0;

/**
 * Build the page inside an element.
 * @param {HTMLElement} el
 * @param {import("./channel.js").Channel} channel
 * @param {"server"|"widget"|"tape"} host
 * @returns {Promise<{destroy: () => void, app: any}>}
 */
export async function open(el, channel, host) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const hello = await channel.request("hello"); // before anything else: by then a notebook has put the element in its place
  const first = firstState(host, isDark(el) ? "dark" : "light");
  const store = createStore(first);
  const app = actions(store, channel, ++pages);
  store.set({ hello });
  const said = channel.said ?? (host === "server" ? fromAddress(location.hash) : {});
  const page = layout(el, /** @type {any} */ (app));
  await begin(app, said, hello, still);
  const addressed = host === "server" ? address(store, first) : () => {};
  return { app, destroy: () => (addressed(), page(), (app.engine.dead = true), channel.close()) };
}

/** The points and problem that the page begins with. @param {any} app @param {any} said @param {any} hello @param {boolean} still */
async function begin(app, said, hello, still) {
  const { solvers, cursor, lesson, lessonStep, ...patch } = said;
  const runs = solvers?.length ? solvers.map((/** @type {any} */ [name, options, start], /** @type {number} */ i) => fresh("abcd"[i], name, options, start)) : [fresh("a", "smo")];
  let points = patch.points;
  if (!points && hello.given) {
    points = pointsOf({ points: hello.given.points, arrays: hello.arrays });
    Object.assign(patch, givenSettings(hello.given.problem, points.task));
    if (hello.given.problem?.solver) runs[0].solver = hello.given.problem.solver;
  }
  const toy = { name: "clouds", n: 60, noise: 0.8, classes: 2, seed: 0 };
  points ??= pointsOf(await app.request("toy", toy), null, toy);
  patch.settings = { ...settingsFor(points.task), ...patch.settings };
  app.store.set({ ...patch, points, runs, shown: Math.min(patch.shown ?? 0, runs.length - 1) });
  app.fit();
  if (lesson && lessonNamed(lesson)) app.lesson(lesson, lessonStep ?? 0);
  else if (cursor !== undefined && cursor !== null) app.reach(cursor);
  else if (!still && !said.points) app.store.set({ playing: true });
  app.wake();
}

/** A notebook's problem as settings. @param {any} problem @param {import("./types.js").Task} task */
function givenSettings(problem, task) {
  if (!problem) return {};
  const base = settingsFor(task);
  const { name: loss, ...lossFields } = typeof problem.loss === "object" ? problem.loss : { name: problem.loss ?? base.loss };
  const { name: kernel, ...kernelFields } = typeof problem.kernel === "object" ? problem.kernel : { name: problem.kernel ?? base.kernel };
  return { settings: { ...base, loss, lossFields, kernel, kernelFields, bias: problem.bias ?? base.bias, regularizer: problem.regularizer ?? base.regularizer, C: Number(problem.C ?? base.C), nu: problem.nu ?? null } };
}

/** Keep the address in step with the state, a moment after it has changed. @param {import("./types.js").Store} store @param {State} first */
function address(store, first) {
  let timer = 0;
  const write = () => history.replaceState(null, "", `#${toAddress(store.get(), first)}`);
  const end = store.subscribe((state) => {
    clearTimeout(timer);
    if (!state.playing) timer = window.setTimeout(write, 400);
  });
  return () => (clearTimeout(timer), end());
}

/**
 * What can be done.
 * @param {import("./types.js").Store} store
 * @param {import("./channel.js").Channel} channel
 * @param {number} id
 */
function actions(store, channel, id) {
  /** @type {History<Partial<State>>} */
  const past = new History();
  const get = store.get;
  const kept = () => ({ points: get().points, settings: get().settings, runs: get().runs.map(again), tol: get().tol, seed: get().seed, every: get().every, single: get().single });
  const framed = () => ({ ...kept(), window: get().window }); // where the plane is another afterwards
  const remember = (/** @type {string} */ key = "", was = kept()) => past.push(was, key);
  const back = (/** @type {any} */ was) => {
    if (!was) return;
    const { window, points: { task } } = get();
    const shown = was.window ? shaped({ ...was.window, nx: window.nx, ny: window.ny }, window.nx / window.ny, task !== "regression") : window;
    store.set({ ...was, window: shown, runs: JSON.stringify(was.runs) === JSON.stringify(kept().runs) ? get().runs : was.runs, shown: Math.min(get().shown, was.runs.length - 1), selection: [], playing: false });
    app.wake();
  };
  /** @type {any} */
  const app = {
    id, store,
    /** A command; where its answer takes long, the page says so. @param {string} op @param {Record<string, *>} [args] */
    request(op, args) {
      const timers = [
        setTimeout(() => app.busy?.(1), 500),
        setTimeout(() => app.say("This takes long. At the first use on a machine the solvers are compiled; that is once."), 5000),
      ];
      return channel.request(op, args).finally(() => (timers.forEach(clearTimeout), app.busy?.(0)));
    },
    say: (/** @type {string} */ sentence) => app.told?.(sentence),
    hover: (/** @type {number|null} */ hover) => hover !== get().hover && store.set({ hover }),
    select: (/** @type {number[]} */ selection) => store.set({ selection }),
    wake: () => app.engine.wake(),
    past: () => past.past.length, future: () => past.future.length,
    undo: () => back(past.undo(framed())), redo: () => back(past.redo(framed())),
    drag: (/** @type {boolean} */ on) => {
      if (app.engine.dragging && !on) app.engine.answered = false; // once more, finely
      app.engine.dragging = on;
      app.wake();
    },
    /** Change the samples. @param {Points} points @param {string} [key] of the gesture */
    edit(points, key = "") {
      remember(key);
      const gone = count(points) < count(get().points) ? { selection: [], hover: null } : {};
      store.set({ points: { ...points, file: null }, playing: false, cursor: null, ...gone });
      app.wake();
    },
    /** Other samples altogether. @param {Points} points */
    setPoints(points) {
      remember("", framed());
      const task = points.task !== get().points.task ? { settings: settingsFor(points.task) } : {};
      const many = points.labels.length > 2 ? { brush: 0 } : { brush: 1 };
      store.set({ points, ...task, ...many, runs: get().runs.map((run) => ({ ...run, frame: null })), playing: false, cursor: null, selection: [], hover: null, machine: 0 });
      app.fit();
      app.wake();
    },
    clear: () => app.setPoints({ ...EMPTY, toy: get().points.toy, task: get().points.task, labels: get().points.task === "classification" ? EMPTY.labels : ["0"] }),
    /** A file of this machine. @param {File} file */
    async readFile(file) {
      const most = get().hello?.limits.file ?? Infinity;
      if (file.size > most) return app.say(`${file.name} is too large for the studio: at most ${most / 1e6} MB.`);
      try {
        await app.importFile(file.name, base64(new Uint8Array(await file.arrayBuffer())));
      } catch {
        app.say(`${file.name} cannot be read: is it a folder?`);
      }
    },
    /** Samples of a file. @param {string} name @param {string} data base64 @param {number[]} [columns] */
    async importFile(name, data, columns) {
      try {
        const answer = await app.request("import", { name, data, columns });
        app.setPoints(pointsOf(answer, { name, data }));
        app.say(`${count(get().points)} samples of ${name}. ${get().points.note}`);
      } catch (error) {
        app.say(/** @type {Error} */ (error).message);
      }
    },
    removeSelected: () => (app.edit(removed(get().points, get().selection)), app.select([])),
    setClass(/** @type {number} */ index) {
      const { points, selection } = get();
      if (points.task !== "classification" || index >= points.labels.length) return;
      if (selection.length) app.edit(relabelled(points, selection, index));
      store.set({ brush: index });
    },
    addClass() {
      const { points } = get();
      const names = points.labels.join() === EMPTY.labels.join() ? ["0", "1"] : points.labels;
      remember();
      store.set({ points: { ...points, labels: [...names, String(names.length)] }, brush: names.length });
      app.wake();
    },
    fit() {
      const { points, window: { nx, ny } } = get();
      store.set({ window: windowOf(points.xy, nx, ny, points.task !== "regression") });
      app.wake();
    },
    change(/** @type {Partial<import("./types.js").Settings>} */ patch, /** @type {string} */ key = "") {
      remember(key);
      store.set({ settings: { ...get().settings, ...patch }, playing: false, cursor: null });
      app.wake();
    },
    changeRun(/** @type {any} */ patch, /** @type {string} */ key = get().runs[get().shown].key) {
      remember();
      store.set({ runs: get().runs.map((run) => (run.key === key ? { ...run, ...patch, error: "" } : run)) });
      app.engine.restart(key);
    },
    addRun() {
      const { runs, problem, hello } = get();
      const used = runs.map((run) => run.solver);
      const key = [..."abcd"].find((one) => !runs.some((run) => run.key === one)) ?? "d";
      const wish = ["coordinate-ascent", "projected-gradient", "subgradient", "smo", ...(hello?.solvers ?? []).map((one) => one.name)];
      const solver = wish.find((one) => !used.includes(one) && !problem?.accepts[one]) ?? "smo";
      remember();
      store.set({ runs: [...runs, fresh(key, solver)] });
      app.engine.restart();
    },
    removeRun(/** @type {string} */ key) {
      remember();
      const run = get().runs.find((one) => one.key === key);
      if (run?.handle) channel.request("drop", { run: run.handle }).catch(() => {});
      store.set({ runs: get().runs.filter((one) => one.key !== key), shown: 0 });
      app.engine.restart();
    },
    show: (/** @type {number} */ shown) => (store.set({ shown }), app.wake()),
    again(/** @type {Partial<State>} */ patch) {
      remember();
      store.set(patch);
      app.engine.restart();
    },
    shownStart() {
      const { runs, shown } = get();
      const frame = runs[shown].frame;
      return frame ? { beta: Array.from(frame.arrays.beta, (one) => (Number.isNaN(one) ? 0 : one)) } : null;
    },
    play: () => (app.engine.play(), app.wake()),
    step: (/** @type {number} */ by) => app.engine.step(by),
    finish: () => app.engine.finish(),
    restart: () => app.engine.restart(),
    reach: (/** @type {number} */ index) => ((app.engine.target = index), app.wake()),
    seek(/** @type {number|null} */ index) {
      const last = get().runs[get().shown].recorded - 1;
      store.set({ cursor: index === null || index >= last ? null : Math.max(0, index), playing: false });
      app.wake();
    },
    /** What brings this back; without some parts of the page, if a teacher wants that. */
    address: (hide = get().hide) => `${location.href.split("#")[0]}#${toAddress({ ...get(), hide }, firstState(get().host, get().theme))}`,
    /** The run and the frame that are shown, to be written to a file. */
    runToExport() {
      const { runs, shown, cursor } = get();
      const { handle, recorded, frame } = runs[shown];
      if (handle && recorded) return { handle, index: cursor ?? recorded - 1 };
      if (frame) return { handle: frame.run, index: 0 };
      app.say("There is nothing to take away yet: press play first.");
      return null;
    },
    lesson: (/** @type {string|null} */ name, step = 0) => store.set({ lesson: name, lessonStep: step }),
    toggleView(/** @type {string} */ name) {
      const open = get().views;
      store.set({ views: open.includes(name) ? open.filter((one) => one !== name) : [...open, name] });
    },
  };
  app.engine = new Engine(app);
  return app;
}

/**
 * The panels in their places.
 * @param {HTMLElement} el
 * @param {any} app
 */
function layout(el, app) {
  const { store } = app;
  const live = h("p", { class: "said", role: "status", "aria-live": "polite" });
  let timer = 0;
  app.told = (/** @type {string} */ sentence) => {
    text(live, sentence);
    live.classList.add("on");
    clearTimeout(timer);
    timer = window.setTimeout(() => live.classList.remove("on"), 3000 + 60 * sentence.length);
  };
  /** @type {{update: (state: State) => void, destroy: () => void}[]} */
  const mounted = [];
  const panel = (/** @type {string} */ name, /** @type {(el: HTMLElement, app: any) => any} */ mount, /** @type {string} */ label = "") => {
    const node = h("section", { class: `panel ${name}`, "data-part": name, "aria-label": label || null });
    mounted.push(mount(node, app));
    return node;
  };
  const theme = h("button", { type: "button", onclick: () => store.set({ theme: store.get().theme === "dark" ? "light" : "dark" }) }, "Dark");
  const root = h("div", { class: "studio" }, h("div", { class: "room" },
    h("header", {}, h("h1", {}, "maxmargin studio"), h("p", { class: "motto" }, "Support vector machines with proof: move a point, watch the margin answer."), h("div", { class: "row" }, h("span", { class: "busy" }, "computing…"), panel("lessons-button", lessonsButton), theme)),
    h("div", { class: "columns" },
      h("div", { class: "left" }, panel("data", mountData, "data"), panel("problem", mountProblem, "problem"), panel("solvers", mountSolvers, "solvers"), panel("sharing", mountSharing, "sharing")),
      h("div", { class: "centre" }, panel("toolbar", mountToolbar, "tools"), panel("plane-panel", planePanel, "plane"), panel("legend", mountLegend, "kinds of samples"), panel("transport-panel", mountTransport, "run"), panel("keys-panel", mountKeys, "mouse, touch and keyboard"), panel("race-panel", mountRace, "comparison"), panel("pseudocode-panel", mountPseudocode, "algorithm"), h("div", { class: "places more", "data-part": "views" })),
      h("div", { class: "right" }, panel("lesson", mountLessons, "lesson"), panel("certificate-panel", mountCertificate, "certificate"), panel("views", mountViews, "views")))),
    live);
  el.append(root);
  app.busy = (/** @type {number} */ on) => root.toggleAttribute("data-busy", Boolean(on));
  const keys = (/** @type {KeyboardEvent} */ event) => shortcut(event, app);
  root.addEventListener("keydown", keys);
  root.addEventListener("dragover", (/** @type {DragEvent} */ event) => event.preventDefault());
  root.addEventListener("drop", async (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) app.readFile(file);
  });
  const update = (/** @type {State} */ state) => {
    root.dataset.theme = state.theme;
    text(theme, state.theme === "dark" ? "Light" : "Dark");
    for (const node of root.querySelectorAll("[data-part]")) if (state.hide.includes(/** @type {HTMLElement} */ (node).dataset.part ?? "")) node.classList.add("hidden");
    for (const one of mounted) one.update(state);
    app.wake();
  };
  update(store.get());
  const end = store.subscribe(update);
  return () => {
    end();
    for (const one of mounted) one.destroy();
    root.remove();
  };
}

/** @param {HTMLElement} el @param {any} app */
function planePanel(el, app) {
  const plane = mountPlane(el, app);
  listen(plane, app);
  app.picture = () => plane.node.toBlob((blob) => blob && download("studio.png", blob));
  app.drawing = () => download("studio.svg", new Blob([plane.svg()], { type: "image/svg+xml" }));
  return plane;
}

/** @param {HTMLElement} el @param {any} app */
function lessonsButton(el, app) {
  const button = h("button", { type: "button", class: "primary", onclick: () => app.lesson(app.store.get().lesson === null ? "" : null) }, "Lessons");
  el.append(button);
  return { update: (/** @type {State} */ state) => button.setAttribute("aria-expanded", String(state.lesson !== null)), destroy: () => button.remove() };
}

/** Keys that mean the same everywhere but in a text. @param {KeyboardEvent} event @param {any} app */
function shortcut(event, app) {
  const target = /** @type {HTMLElement} */ (event.target);
  const typing = target.matches("textarea, select") || (target.matches("input") && !target.matches("[type=range], [type=checkbox], [type=radio]"));
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) (event.shiftKey ? app.redo() : app.undo());
  else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === ".") app.step(1);
  else if (event.key === ",") app.step(-1);
  else if (event.key === " " && !target.matches("button, summary, label, input")) app.play();
  else return;
  event.preventDefault();
}

/**
 * The linked views, each of which can be opened and closed.
 * @param {HTMLElement} el
 * @param {any} app
 */
function mountViews(el, app) {
  const bar = h("div", { class: "group tabs", role: "group", "aria-label": "views" });
  const places = h("div", { class: "places" });
  el.append(h("h2", {}, "Views"), bar, places);
  /** @type {Map<string, {node: HTMLElement, mounted: any}>} */
  const open = new Map();
  /** Two views beside the plane, the others below it, as long as there is more room. */
  const free = () => {
    const below = /** @type {HTMLElement|null} */ (el.closest(".studio")?.querySelector(".places.more"));
    return below && places.children.length >= 2 && below.children.length < places.children.length ? below : places;
  };
  const buttons = new Map(views.map((view) => [view.id, h("button", { type: "button", title: view.doc, onclick: () => app.toggleView(view.id) }, view.title)]));
  bar.append(...buttons.values());
  /** @param {State} state */
  const update = (state) => {
    for (const view of views) {
      const applies = view.applies(state);
      const button = /** @type {HTMLElement} */ (buttons.get(view.id));
      button.hidden = applies === false || state.hide.includes(view.id);
      const wanted = state.views.includes(view.id) && applies !== false;
      button.setAttribute("aria-pressed", String(wanted));
      button.classList.toggle("on", wanted);
      let place = open.get(view.id);
      if (wanted && typeof applies === "string") {
        place?.mounted?.destroy();
        const node = h("figure", { class: "view" }, h("h3", {}, view.title), h("p", { class: "note" }, applies));
        if (place) place.node.replaceWith(node);
        else free().append(node);
        open.set(view.id, { node, mounted: null });
      } else if (wanted && !place?.mounted) {
        const node = h("figure", { class: "view", "data-view": view.id }, h("h3", {}, view.title));
        const inner = h("div", {});
        node.append(inner, h("figcaption", {}, view.doc));
        if (place) place.node.replaceWith(node);
        else free().append(node);
        place = { node, mounted: view.mount(inner, app) };
        open.set(view.id, place);
      } else if (!wanted && place) {
        place.mounted?.destroy();
        place.node.remove();
        open.delete(view.id);
      }
      open.get(view.id)?.mounted?.update(state);
    }
  };
  return { update, destroy: () => open.forEach((one) => one.mounted?.destroy()) };
}
