// The state in the address: `#p=...&C=1&...`. What is as at the beginning is left out. Points that are whole thousandths,
// as all are that are drawn here, take about five bytes each; others are kept as float64.

import { base64, bytesOf, count } from "./points.js";

/** @typedef {import("./types.js").State} State */

/** Settings of the state that are numbers or words, by their name in the address. @type {Record<string, string>} */
const PLAIN = { seed: "seed", tol: "tol", clock: "clock", shown: "shown", machine: "machine", cursor: "frame", lesson: "lesson", lessonStep: "at", theme: "theme", speed: "speed", every: "every" };
const NUMBERS = new Set(["seed", "tol", "shown", "machine", "cursor", "lessonStep", "speed", "every"]);

/** Those that count something, and the words of the others. */
const COUNTS = new Set(["seed", "shown", "machine", "cursor", "lessonStep", "every"]);
/** @type {Record<string, string[]>} */ const WORDS = { clock: ["iteration", "seconds", "work"], theme: ["light", "dark"] };
/** Classes that an address may name. */
const MOST_CLASSES = 100;

/** @param {any} value */
const isFields = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** What can be used of settings that somebody else wrote. @param {any} read @returns {Partial<import("./types.js").Settings>} */
function settingsOf(read) {
  const { loss, kernel, bias, regularizer, scheme, lossFields, kernelFields, C, nu, classWeight } = read;
  const texts = Object.entries({ loss, kernel, bias, regularizer, scheme }).filter(([, value]) => typeof value === "string");
  const fields = Object.entries({ lossFields, kernelFields }).filter(([, value]) => isFields(value));
  const weights = classWeight === "balanced" || (isFields(classWeight) && Object.values(classWeight).every(Number.isFinite)) ? { classWeight } : { classWeight: null };
  return { ...Object.fromEntries([...texts, ...fields]), ...weights, ...(Number.isNaN(Number(C)) ? {} : { C: Number(C) }), nu: Number.isFinite(nu) ? nu : null };
}

/**
 * @param {State} state
 * @param {State} first the state at the beginning
 * @returns {string} without the "#"
 */
export function toAddress(state, first) {
  const said = new URLSearchParams();
  const { points, settings } = state;
  said.set("task", points.task);
  said.set("p", packed(points));
  if (points.task === "classification") said.set("labels", JSON.stringify(points.labels));
  if (points.note) said.set("note", points.note);
  if (points.toy) said.set("toy", JSON.stringify(points.toy));
  said.set("problem", JSON.stringify({ ...settings, C: Number.isFinite(settings.C) ? settings.C : "Infinity" }));
  said.set("solvers", JSON.stringify(state.runs.map((run) => [run.solver, run.options, ...(run.start ? [run.start] : [])])));
  if (state.single !== first.single) said.set("single", state.single ? "1" : "0");
  if (state.live !== first.live) said.set("live", state.live ? "1" : "0");
  if (state.views.join() !== first.views.join()) said.set("views", state.views.join(","));
  if (state.hide.length) said.set("hide", state.hide.join(","));
  for (const [name, short] of Object.entries(PLAIN)) {
    const [now, then] = [/** @type {any} */ (state)[name], /** @type {any} */ (first)[name]];
    if (now !== then && now !== null) said.set(short, String(now));
  }
  const shown = state.runs[state.shown]?.frame;
  if (shown && !shown.solved) said.set("frame", String(shown.index));
  return said.toString();
}

/**
 * What an address says, as a patch of the state; `runs` as solver and options only. Parts that cannot be read are left out.
 * @param {string} text with or without "#"
 * @returns {Partial<State> & {solvers?: [string, Record<string, *>][]}}
 */
export function fromAddress(text) {
  const said = new URLSearchParams(text.replace(/^#/, ""));
  /** @type {any} */
  const patch = {};
  const attempt = (/** @type {string} */ name, /** @type {(value: string) => void} */ read) => {
    const value = said.get(name);
    if (value === null) return;
    try {
      read(value);
    } catch {
      // an address that was cut off or edited: what can be read is used
    }
  };
  const task = said.get("task") ?? "classification";
  attempt("p", (value) => {
    const { xy, y } = unpacked(value);
    if (!["classification", "regression", "novelty"].includes(task)) return;
    const labels = JSON.parse(said.get("labels") ?? "null");
    const most = Math.max(1, ...y);
    if (!(most < MOST_CLASSES)) return;
    const named = Array.isArray(labels) && labels.length > most ? labels.map(String) : Array.from({ length: most + 1 }, (_, i) => String(i));
    patch.points = { task, xy, y, labels: named, note: said.get("note") ?? "", file: null };
  });
  attempt("toy", (value) => {
    const { name, ...numbers } = JSON.parse(value);
    const sizes = Object.entries(numbers).filter(([part, one]) => ["n", "noise", "classes", "seed"].includes(part) && Number.isFinite(one));
    if (patch.points && typeof name === "string") patch.points.toy = { name, ...Object.fromEntries(sizes) };
  });
  attempt("problem", (value) => {
    const read = JSON.parse(value);
    if (read && typeof read.loss === "string" && typeof read.kernel === "string") patch.settings = settingsOf(read);
  });
  attempt("solvers", (value) => {
    const read = JSON.parse(value);
    patch.solvers = read.filter((/** @type {any} */ one) => typeof one[0] === "string" && isFields(one[1]) && (one[2] === undefined || isFields(one[2]))).slice(0, 4);
  });
  attempt("single", (value) => (patch.single = value === "1"));
  attempt("live", (value) => (patch.live = value === "1"));
  attempt("views", (value) => (patch.views = value ? value.split(",") : []));
  attempt("hide", (value) => (patch.hide = value.split(",")));
  for (const [name, short] of Object.entries(PLAIN))
    attempt(short, (value) => {
      const read = NUMBERS.has(name) ? Number(value) : value;
      const known = COUNTS.has(name) ? Number.isInteger(read) && Number(read) >= 0 : WORDS[name]?.includes(value) ?? !Number.isNaN(read);
      if (known && !(name === "speed" && Number(read) <= 0)) patch[name] = read;
    });
  return patch;
}

/**
 * Points as text: "i" and the thousandths and classes as variable-length integers, or "f" and float64.
 * @param {import("./types.js").Points} points
 * @returns {string}
 */
export function packed(points) {
  const { xy, y } = points;
  const whole = xy.every((x) => Math.abs(x) < 1e6 && Math.round(x * 1000) / 1000 === x && !Object.is(x, -0));
  if (!whole) return "f" + urlSafe(base64(new Uint8Array(Float64Array.of(...xy, ...y).buffer)));
  /** @type {number[]} */
  const bytes = [];
  const write = (/** @type {number} */ value) => {
    while (value >= 128) {
      bytes.push((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    bytes.push(value);
  };
  const zigzag = (/** @type {number} */ value) => (value < 0 ? -2 * value - 1 : 2 * value);
  for (let i = 0; i < count(points); i++) {
    write(zigzag(Math.round(xy[2 * i] * 1000)));
    write(zigzag(Math.round(xy[2 * i + 1] * 1000)));
    write(y[i]);
  }
  return "i" + urlSafe(base64(Uint8Array.from(bytes)));
}

/**
 * @param {string} text
 * @returns {{xy: Float64Array, y: Float64Array}}
 */
export function unpacked(text) {
  const bytes = bytesOf(text.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
  if (text[0] === "f") {
    const all = new Float64Array(bytes.buffer);
    const n = Math.floor(all.length / 3);
    return { xy: all.slice(0, 2 * n), y: all.slice(2 * n, 3 * n) };
  }
  /** @type {number[]} */ const xy = [];
  /** @type {number[]} */ const y = [];
  let at = 0;
  const read = () => {
    let value = 0;
    for (let weight = 1; at < bytes.length; weight *= 128) {
      const byte = bytes[at++];
      value += (byte % 128) * weight;
      if (byte < 128) break;
    }
    return value;
  };
  const signed = (/** @type {number} */ value) => (value % 2 ? -(value + 1) / 2 : value / 2) / 1000;
  while (at < bytes.length) {
    xy.push(signed(read()), signed(read()));
    y.push(read());
  }
  return { xy: Float64Array.from(xy), y: Float64Array.from(y) };
}

/** @param {string} text */
const urlSafe = (text) => text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
