// Keeps the host's problem and runs in step with the state: one command at a time, the newest wish first. Nothing is
// asked ahead, so pausing is immediate.

import { count, rowsOf } from "./points.js";
import { Refused } from "./channel.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Row} Row */

const COLUMNS = ["iteration", "seconds", "work", "primal", "dual", "relative_gap", "beta_sum", "support"];

/** The same run before it has begun. @param {Run} run @returns {Run} */
export const again = ({ key, solver, options, start }) => fresh(key, solver, options, start);

/** What a run is before it has begun. @param {string} key @param {string} solver @param {Record<string, *>} [options] @param {*} [start] @returns {Run} */
export const fresh = (key, solver, options = {}, start = null) => ({ key, solver, options, start, handle: null, frame: null, recorded: 0, ended: false, trace: [], error: "" });

/**
 * The command `problem` that the state stands for.
 * @param {State} state
 */
export function problemCommand({ points, settings: said }) {
  return {
    ...rowsOf(points),
    labels: points.task === "classification" ? points.labels : undefined,
    task: points.task,
    loss: { name: said.loss, ...said.lossFields },
    kernel: { name: said.kernel, ...said.kernelFields },
    bias: said.bias,
    regularizer: said.regularizer,
    C: said.C,
    nu: said.nu ?? undefined,
    class_weight: points.task === "classification" ? weightsOf(said.classWeight, points.labels) : undefined,
    scheme: said.scheme || undefined,
  };
}

/** The weights of those classes that there are. @param {import("./types.js").Settings["classWeight"]} said @param {string[]} labels */
function weightsOf(said, labels) {
  return said !== null && typeof said === "object" ? Object.fromEntries(labels.map((label) => [label, said[label] ?? 1])) : said ?? undefined;
}

/**
 * Whether the page can shade the plane itself: one hyperplane, whose w is in the frame.
 * @param {Frame|null} frame
 * @param {State} state
 */
export const isLinear = (frame, state) => Boolean(frame?.arrays.w && frame.arrays.w.length === 2 && (state.problem?.machines.length ?? 1) === 1);

/**
 * The rows of a trace, added to those that are there.
 * @param {Row[]} rows
 * @param {*} answer
 * @returns {Row[]}
 */
export function traced(rows, answer) {
  const values = answer.arrays.trace;
  if (!values) return rows;
  const [m, width] = values.shape;
  const made = rows.slice(0, answer.first ?? 0);
  for (let i = 0; i < m; i++) made.push(/** @type {any} */ (Object.fromEntries(COLUMNS.map((name, j) => [name, values[i * width + j]]))));
  return made;
}

/**
 * Which recorded frame each run shows, when the shown one shows `index`: the same index, or the last that was there at
 * the same second or amount of work.
 * @param {Run[]} runs
 * @param {number} shown
 * @param {number} index
 * @param {"iteration"|"seconds"|"work"} clock
 * @returns {number[]}
 */
export function together(runs, shown, index, clock) {
  const now = runs[shown]?.trace[index]?.[clock];
  return runs.map((run, i) => {
    const last = Math.max(run.recorded - 1, 0);
    if (clock === "iteration" || now === undefined || i === shown) return Math.min(index, last);
    let at = 0;
    while (at < last && (run.trace[at + 1]?.[clock] ?? Infinity) <= now) at++;
    return at;
  });
}

export class Engine {
  /** @param {import("./types.js").App} app */
  constructor(app) {
    this.app = app;
    this.posed = /** @type {State|null} */ (null); // the state whose points and settings the host's problem is of
    this.answered = false; // whether the optimum of that problem has been shown
    this.showing = /** @type {any} */ ({}); // what the shown frames are of: cursor, machine, window
    this.steps = 0; // iterates that were asked for by hand
    this.toEnd = false;
    this.target = /** @type {number|null} */ (null); // a frame that an address asks for
    this.last = /** @type {string|null} */ (null); // the run of the optimum that is shown
    this.old = /** @type {Record<string, string>[]} */ ([]); // handles that are no longer needed
    this.dragging = false;
    this.working = false;
    this.dead = false;
    this.time = 0; // of the last step while playing
    this.credit = 0;
  }

  /** Look whether there is something to do. */
  wake() {
    if (this.working || this.dead) return;
    this.working = true;
    this.#work().finally(() => (this.working = false));
  }

  async #work() {
    while (!this.dead) {
      try {
        if (!(await this.#next())) return;
      } catch (error) {
        const sentence = error instanceof Error ? error.message : String(error);
        if (error instanceof Refused && error.kind === "closed") this.dead = true;
        if (error instanceof Refused && error.kind === "missing" && this.posed) this.posed = null; // the host has dropped it: again
        else if (!(error instanceof Refused)) console.error(error);
        this.#stop();
        this.app.say(sentence);
        if (this.dead) return;
      }
    }
  }

  /** One thing; false when there is nothing to do. @returns {Promise<boolean>} */
  async #next() {
    const state = this.app.store.get();
    if (!this.posed || this.posed.points !== state.points || this.posed.settings !== state.settings) return this.#pose(state);
    if (!state.problem) return false;
    if (!state.playing) this.toEnd = false; // whoever pauses, seeks or edits has something else in mind
    const wanted = this.steps > 0 || this.toEnd || this.target !== null || (state.playing && state.cursor === null);
    if (state.live && !this.answered && !wanted && !state.runs.some((run) => run.handle)) return this.#answer(state);
    if (wanted && state.runs.some((run) => !run.handle && !run.error)) return this.#start(state);
    if (this.target !== null) return this.#reach(state, this.target);
    if (wanted) return this.#advance(state);
    if (state.playing && state.cursor !== null) return this.#replay(state);
    return this.#show(state);
  }

  /** @param {State} state */
  async #pose(state) {
    this.posed = state;
    this.answered = false;
    const before = state.problem?.problem;
    if (!count(state.points)) return this.#unposed("There are no points yet: click into the plane to add some.");
    let answer;
    try {
      answer = await this.app.request("problem", problemCommand(state));
    } catch (error) {
      if (!(error instanceof Refused) || error.kind === "closed") throw error;
      return this.#unposed(error.message);
    }
    if (before) this.old.push({ problem: before });
    const now = this.app.store.get();
    const machine = Math.min(now.machine, answer.machines.length - 1);
    this.app.store.set({ problem: answer, problemError: "", machine, cursor: null, runs: now.runs.map((run) => ({ ...again(run), start: run.start?.beta && run.start.beta.length !== answer.n ? null : run.start, frame: sized(run.frame, answer.n) })) });
    for (const run of now.runs) if (run.handle) this.old.push({ run: run.handle });
    return true;
  }

  /** @param {string} sentence */
  #unposed(sentence) {
    const { runs } = this.app.store.get();
    this.app.store.set({ problem: null, problemError: sentence, playing: false, runs: runs.map(again) });
    this.#stop();
    return true;
  }

  /** The optimum, at once. @param {State} state */
  async #answer(state) {
    this.answered = true;
    const asked = this.#field(state, true);
    const answer = await this.app.request("solve", { problem: state.problem?.problem, tol: Math.min(state.tol, 1e-4), seconds: this.dragging ? 0.3 : 4, machine: state.machine, field: asked, seed: state.seed });
    const now = this.app.store.get();
    this.showing = { cursor: null, machine: state.machine, window: state.window, shown: state.shown };
    const frame = { ...answer, window: asked ?? state.window, solved: true };
    this.app.store.set({ runs: now.runs.map((run, i) => (i === now.shown && !run.handle ? { ...run, frame } : run)) });
    if (this.last) this.old.push({ run: this.last });
    this.last = answer.run;
    return true;
  }

  /** @param {State} state */
  async #start(state) {
    for (const run of state.runs) {
      if (run.handle || run.error) continue;
      const info = state.hello?.solvers.find((one) => one.name === run.solver);
      const options = { ...run.options, ...(state.single && info?.grain && !state.problem?.machines[0].together ? { grain: 1 } : {}) };
      const start = run.start ?? undefined;
      try {
        const answer = await this.app.request("run", { problem: state.problem?.problem, solver: run.solver, options, seed: state.seed, tol: state.tol, every: state.every, start });
        this.#patch(run.key, { handle: answer.run, algorithm: answer.algorithm ?? null, frame: null, trace: [], recorded: 0, ended: false });
      } catch (error) {
        if (!(error instanceof Refused) || ["closed", "missing"].includes(error.kind)) throw error;
        this.#patch(run.key, { error: error.message, ended: true, frame: null });
      }
    }
    if (this.app.store.get().runs.every((run) => run.error)) this.#stop();
    this.credit = 1; // the first frame is there at once
    this.time = performance.now();
    return true;
  }

  /** Ask the host for more iterates: by hand, to the end, or at the speed of playing. @param {State} state */
  async #advance(state) {
    const going = state.runs.filter((run) => run.handle && !run.ended);
    if (!going.length) return this.#stop(), this.#show(state);
    let k = this.steps || 10000;
    let seconds = this.toEnd ? 0.12 : 1;
    if (!this.steps && !this.toEnd) {
      const now = performance.now();
      this.credit += Number.isFinite(state.speed) ? ((now - this.time) / 1000) * state.speed : 0;
      this.time = now;
      k = Number.isFinite(state.speed) ? Math.min(10000, Math.floor(this.credit)) : 10000;
      seconds = 0.04;
      if (k < 1) return picture();
      this.credit = Math.min(this.credit - k, 1);
    }
    this.steps = 0;
    const clock = state.clock;
    const at = (/** @type {Run} */ run) => run.trace.at(-1)?.[clock] ?? 0;
    const leader = Math.max(...going.map(at));
    const behind = clock === "iteration" ? going : going.filter((run) => at(run) < leader);
    this.app.store.set({ cursor: null });
    for (const run of behind.length ? behind : going) await this.#step(state, run, k, seconds / going.length);
    this.showing = { cursor: null, machine: state.machine, window: state.window, shown: state.shown };
    const { runs } = this.app.store.get();
    if (runs.every((run) => run.ended)) this.#stop();
    return picture();
  }

  /** @param {State} state @param {Run} run @param {number} k @param {number} seconds */
  async #step(state, run, k, seconds) {
    const field = this.#field(state, false, run);
    try {
      const answer = await this.app.request("step", { run: run.handle, k, seconds, machine: state.machine, field });
      const now = this.app.store.get().runs.find((one) => one.key === run.key);
      if (now?.handle !== run.handle) return;
      this.#patch(run.key, { frame: { ...answer, window: answer.window ?? field ?? state.window }, recorded: answer.frames, ended: answer.ended, trace: traced(now?.trace ?? [], answer) });
    } catch (error) {
      if (!(error instanceof Refused) || ["closed", "missing"].includes(error.kind)) throw error;
      this.#patch(run.key, { error: error.message, ended: true });
    }
  }

  /** Record up to the frame that an address asks for, and show it. @param {State} state @param {number} target */
  async #reach(state, target) {
    const run = state.runs[state.shown];
    if (run.error || run.ended || run.recorded > target) {
      this.target = null;
      this.app.store.set({ cursor: Math.min(target, Math.max(run.recorded - 1, 0)) });
      return true;
    }
    for (const one of state.runs) if (one.handle && !one.ended && one.recorded <= target) await this.#step(state, one, target + 1 - one.recorded, 1);
    return true;
  }

  /** Play what is recorded, then go on. @param {State} state */
  async #replay(state) {
    const now = performance.now();
    const speed = Number.isFinite(state.speed) ? state.speed : 400;
    if (now - this.time < 1000 / speed) return picture();
    const by = Math.max(1, Math.min(200, Math.floor(((now - this.time) / 1000) * speed)));
    this.time = now - this.time > 500 ? now : this.time + (by * 1000) / speed;
    const last = state.runs[state.shown].recorded - 1;
    const next = (state.cursor ?? last) + by;
    if (next >= last) {
      this.app.store.set({ cursor: null });
      if (state.runs.every((run) => run.ended || run.error)) this.#stop();
    } else this.app.store.set({ cursor: next });
    await this.#show(this.app.store.get());
    return picture();
  }

  /** Fetch the frames that are to be shown, where others are. @param {State} state */
  async #show(state) {
    const wish = { cursor: state.cursor, machine: state.machine, window: state.window, shown: state.shown };
    const same = Object.entries(wish).every(([name, value]) => this.showing[name] === value);
    if (same) return this.#tidy();
    const other = this.showing.machine !== state.machine;
    this.showing = wish;
    const shown = state.runs[state.shown];
    if (!state.runs.some((run) => run.handle)) {
      this.answered = false; // there is only the optimum: of another window or machine
      return state.live;
    }
    const places = together(state.runs, state.shown, state.cursor ?? Math.max(shown.recorded - 1, 0), state.clock);
    for (const [i, run] of state.runs.entries()) {
      if (!run.handle || !run.recorded) continue;
      const index = state.cursor === null ? run.recorded - 1 : places[i];
      const field = this.#field(state, !state.playing, run);
      const answer = await this.app.request("frame", { run: run.handle, index, machine: state.machine, field, want: other ? undefined : ["conditions", "gaps"] });
      const now = this.app.store.get().runs.find((one) => one.key === run.key);
      if (now?.handle === run.handle) this.#patch(run.key, { frame: { ...answer, window: answer.window ?? field ?? state.window }, ...(other ? { trace: traced([], answer) } : {}) });
    }
    return true;
  }

  /** Nothing else is to be done: now the host can forget what is no longer shown. */
  #tidy() {
    for (const one of this.old.splice(0)) this.app.request("drop", one).catch(() => {});
    return false;
  }

  /** The grid to ask for: fine when all is still, coarse while something moves. @param {State} state @param {boolean} still @param {Run} [run] */
  #field(state, still, run = state.runs[state.shown]) {
    const { window, problem } = state;
    if (!problem) return null;
    if (problem.kernel.name === "linear" && problem.machines.length === 1 && !problem.machines[0].together && problem.d === 2) return null;
    const many = problem.n * problem.machines.length > 1500;
    const main = run === state.runs[state.shown] || run?.key === state.runs[state.shown]?.key;
    const most = this.dragging || !main ? (many ? 36 : 48) : still ? (many ? 72 : 128) : many ? 40 : 64;
    if (problem.d === 1) return { ...window, nx: 160, ny: 2 };
    const aspect = window.nx / window.ny;
    return { ...window, nx: Math.round(aspect >= 1 ? most : most * aspect), ny: Math.round(aspect >= 1 ? most / aspect : most) };
  }

  /** @param {string} key @param {Partial<Run>} patch */
  #patch(key, patch) {
    const { runs } = this.app.store.get();
    this.app.store.set({ runs: runs.map((run) => (run.key === key ? { ...run, ...patch } : run)) });
  }

  #stop() {
    [this.steps, this.toEnd, this.target] = [0, false, null];
    if (this.app.store.get().playing) this.app.store.set({ playing: false });
  }

  // What the buttons do

  play() {
    const state = this.app.store.get();
    if (state.playing) return this.app.store.set({ playing: false });
    const over = state.runs.every((run) => run.handle && (run.ended || run.error));
    const last = (state.runs[state.shown]?.recorded ?? 0) - 1;
    if (over && (state.cursor === null || state.cursor >= last)) this.app.store.set({ cursor: 0 });
    this.time = performance.now();
    this.credit = 1;
    this.app.store.set({ playing: true });
  }

  /** @param {number} by frames; negative is back */
  step(by) {
    const state = this.app.store.get();
    const run = state.runs[state.shown];
    const last = (run?.recorded ?? 0) - 1;
    const at = state.cursor ?? last;
    this.app.store.set({ playing: false });
    this.toEnd = false;
    if (by < 0 || at < last) {
      if (last < 0) return;
      const next = Math.max(0, at + by);
      this.app.store.set({ cursor: next >= last ? null : next });
    } else this.steps += by;
    this.wake();
  }

  finish() {
    this.app.store.set({ playing: true, cursor: null });
    this.toEnd = true;
    this.wake();
  }

  /** Start all runs anew. @param {string} [key] only this one */
  restart(key) {
    const { runs } = this.app.store.get();
    const gone = runs.filter((run) => (key === undefined || run.key === key) && run.handle);
    this.app.store.set({ cursor: null, runs: runs.map((run) => (key === undefined || run.key === key ? again(run) : run)) });
    this.answered = false;
    for (const run of gone) this.app.request("drop", { run: run.handle }).catch(() => {});
    this.#stop();
    this.wake();
  }
}

/** Wait for the next picture (a hidden tab draws none: then a moment). @returns {Promise<boolean>} */
function picture() {
  return new Promise((resolve) => {
    const done = () => (clearTimeout(timer), resolve(true));
    const timer = setTimeout(done, 250);
    requestAnimationFrame(done);
  });
}

/** A frame of the points before is shown until there is another, unless their number differs. @param {Frame|null} frame @param {number} n */
const sized = (frame, n) => (frame && frame.arrays.beta.length === n ? frame : null);

