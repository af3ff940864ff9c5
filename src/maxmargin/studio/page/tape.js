// The page of a tape: recorded answers in the place of a host. It plays, steps, scrubs and shows all views of what was
// recorded, and says so where something else is asked for.

import { open } from "./app.js";
import { arraysOf, opened, read, Refused } from "./channel.js";
import { h, text } from "./dom.js";

/** Frames that one command may bring, so that playing as fast as possible can still be seen. */
const MOST = 12;
/** The parts of the page that need Python. */
const NEED_PYTHON = ["data", "problem", "solvers", "sharing", "toolbar", "lessons-button"];
const COLUMNS = 8;

/**
 * A channel that answers from a tape (see PROTOCOL.md).
 * @param {any} tape its header
 * @param {ArrayBuffer} bytes in which its arrays are
 * @param {number} start of them
 * @returns {import("./channel.js").Channel & {said: any}}
 */
export function tapeChannel(tape, bytes, start) {
  const whole = (/** @type {any} */ header) => ({ ...read(header), arrays: arraysOf(header.arrays ?? {}, bytes, start) });
  const trace = tape.runs.map((/** @type {any} */ run) => arraysOf({ trace: run.trace }, bytes, start).trace);
  const reached = tape.runs.map(() => -1);
  /** @param {any} args @returns {number} which run a handle is of */
  const runOf = (args) => {
    const which = Number(String(args.run).slice(1));
    if (!tape.runs[which]) throw new Refused("The tape has no such run.", "input");
    return which;
  };
  /** @param {number} which @param {number} index @param {number} first */
  const frame = (which, index, first) => {
    const run = tape.runs[which];
    const header = whole(run.frames[index]);
    const rows = run.places.slice(first, index + 1);
    const values = new Float64Array(rows.length * COLUMNS);
    rows.forEach((/** @type {number} */ row, /** @type {number} */ k) => values.set(trace[which].subarray(row * COLUMNS, (row + 1) * COLUMNS), k * COLUMNS));
    header.arrays.trace = Object.assign(values, { shape: [rows.length, COLUMNS] });
    const last = index === run.frames.length - 1;
    return { ...header, run: `r${which}`, index, first, frames: reached[which] + 1, ended: last, window: tape.window };
  };
  /** @param {any} args */
  const view = (args) => {
    const which = args.run === undefined || args.run === null ? 0 : runOf(args);
    const ofRun = tape.runs[which].views.filter((/** @type {any} */ one) => one.name === args.name);
    const found = ofRun.find((/** @type {any} */ one) => one.index === undefined || one.index === args.index) ?? tape.views.find((/** @type {any} */ one) => one.name === args.name);
    if (!found) throw new Refused("This was not recorded on the tape.", "input");
    if (found.error) throw new Refused(found.error, "input");
    const answer = whole(found);
    if (args.name !== "track") return answer;
    const { points } = answer.arrays;
    return { ...answer, first: args.first, arrays: { points: Object.assign(points.subarray(2 * args.first, 2 * (args.index + 1)), { shape: [args.index + 1 - args.first, 2] }) } };
  };
  let handed = 0;
  /** @type {Record<string, (args: any) => any>} */
  const answers = {
    hello() {
      const { arrays, ...header } = whole(tape.problem);
      return { ...read(tape.hello), given: { points: tape.points, problem: { ...header, nu: null } }, arrays };
    },
    problem: () => ({ ...whole(tape.problem), problem: "p0" }),
    run(args) {
      const same = (/** @type {any} */ run) => run.solver === args.solver && JSON.stringify(run.options) === JSON.stringify(args.options);
      const alike = tape.runs.map((/** @type {any} */ run, /** @type {number} */ k) => (same(run) ? k : -1)).filter((/** @type {number} */ k) => k >= 0);
      if (!alike.length) throw new Refused("This run was not recorded on the tape.", "input");
      const which = alike[handed++ % alike.length];
      reached[which] = -1;
      return { run: `r${which}`, solver: args.solver, options: args.options, problem: "p0", frames: 0, algorithm: tape.runs[which].algorithm };
    },
    step(args) {
      const which = runOf(args);
      const first = reached[which] + 1;
      reached[which] = Math.min(reached[which] + Math.min(args.k ?? 1, MOST), tape.runs[which].frames.length - 1);
      return frame(which, reached[which], Math.min(first, reached[which]));
    },
    frame(args) {
      const which = runOf(args);
      const index = args.index < 0 ? reached[which] + 1 + args.index : args.index;
      return frame(which, Math.min(Math.max(index, 0), reached[which]), 0);
    },
    view,
    drop: () => ({ arrays: {} }),
  };
  const solvers = tape.runs.map((/** @type {any} */ run) => [run.solver, run.options]);
  return {
    said: { solvers, live: false, single: false, hide: NEED_PYTHON, machine: tape.machine ?? 0, views: ["curves", "duals", "conditions"] },
    async request(op, args = {}) {
      if (!answers[op]) throw new Refused("A tape has no Python behind it: it shows what was recorded.", "input");
      return answers[op](args);
    },
    close: () => undefined,
  };
}

async function start() {
  const el = document.getElementById("studio");
  const { recorded } = /** @type {any} */ (window);
  if (!el || !recorded) return;
  try {
    const { header: tape, start } = opened(recorded);
    const { app } = await open(el, tapeChannel(tape, recorded, start), "tape");
    el.querySelector(".studio")?.classList.add("tape", ...(window === window.parent ? [] : ["embedded"]));
    text(/** @type {HTMLElement} */ (el.querySelector("h1")), tape.title);
    text(/** @type {HTMLElement} */ (el.querySelector(".motto")), "A recorded run of maxmargin: play it, step through it, point at a sample.");
    /** @type {any} */ (window).studio = app;
  } catch (error) {
    el.replaceChildren(h("p", { class: "refusal", role: "alert" }, /** @type {Error} */ (error).message));
  }
}

if (typeof document !== "undefined") start();
