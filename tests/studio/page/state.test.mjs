// What the page is made of: the state and its history, the address, the channel, the engine's choices.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fromAddress, packed, toAddress, unpacked } from "../../../src/maxmargin/studio/page/address.js";
import { firstState } from "../../../src/maxmargin/studio/page/app.js";
import { decoded, read, written } from "../../../src/maxmargin/studio/page/channel.js";
import { fresh, problemCommand, together, traced } from "../../../src/maxmargin/studio/page/engine.js";
import { lessons } from "../../../src/maxmargin/studio/page/lesson_texts.js";
import { accuracyOf, added, bytesOf, forTask, moved, pointsOf, relabelled, removed, rowsOf } from "../../../src/maxmargin/studio/page/points.js";
import { createStore, History } from "../../../src/maxmargin/studio/page/store.js";
import { SvgContext } from "../../../src/maxmargin/studio/page/svg.js";

const points = { task: "classification", xy: Float64Array.of(1, 2, -3.5, 4.125, 0, 0), y: Float64Array.of(0, 1, 2), labels: ["a", "<b>", "c"], note: "", file: null };

/** Numbers that look random and are always the same. */
function numbers(seed) {
  return () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
}

test("a store tells its listeners once, of the newest state", () => {
  const calls = [];
  const waiting = [];
  const store = createStore({ a: 1 }, (call) => waiting.push(call));
  const end = store.subscribe((state) => calls.push(state.a));
  const before = store.get();
  store.set({ a: 2 });
  store.set({ a: 3 });
  waiting.splice(0).forEach((call) => call());
  assert.deepEqual(calls, [3]);
  assert.equal(before.a, 1);
  end();
  store.set({ a: 4 });
  waiting.forEach((call) => call());
  assert.deepEqual(calls, [3]);
});

test("undo and redo go back and forth, and one gesture is one step", () => {
  const history = new History();
  history.push("a", "drag", 0);
  history.push("b", "drag", 100);
  history.push("c", "other", 150);
  assert.equal(history.undo("d"), "c");
  assert.equal(history.undo("c"), "a");
  assert.equal(history.undo("a"), null);
  assert.equal(history.redo("a"), "c");
  assert.equal(history.redo("c"), "d");
  history.push("d", "drag", 200);
  assert.equal(history.redo("e"), null);
});

test("changes of points give new points", () => {
  assert.deepEqual([...added(points, 0.12345, 1, 1).xy.slice(-2)], [0.123, 1]);
  assert.deepEqual([...moved(points, [0, 2], 1, -1).xy], [2, 1, -3.5, 4.125, 1, -1]);
  assert.deepEqual([...removed(points, [1]).xy], [1, 2, 0, 0]);
  assert.deepEqual([...removed(points, [1]).y], [0, 2]);
  assert.deepEqual([...relabelled(points, [0, 1], (k) => (k + 1) % 3).y], [1, 2, 2]);
  assert.deepEqual([...points.xy], [1, 2, -3.5, 4.125, 0, 0]);
  assert.equal(forTask(points, "classification"), points);
  assert.deepEqual([...forTask(points, "novelty").y], [0, 0, 0]);
});

test("a regression's height is its target", () => {
  const line = pointsOf({ points: { task: "regression", labels: [], note: "" }, arrays: { X: [1, 2], y: [10, 20] } });
  assert.deepEqual([...line.xy], [1, 10, 2, 20]);
  const { X, y } = rowsOf(line);
  assert.deepEqual(X.shape, [2, 1]);
  assert.deepEqual([...new Float64Array(bytesOf(X.data).buffer)], [1, 2]);
  assert.deepEqual([...new Float64Array(bytesOf(y.data).buffer)], [10, 20]);
});

test("packed points come back bit for bit", () => {
  const next = numbers(7);
  for (let round = 0; round < 200; round++) {
    const n = Math.floor(next() * 30);
    const whole = round % 2 === 0;
    const xy = Float64Array.from({ length: 2 * n }, () => (whole ? Math.round((next() - 0.5) * 1e5) / 1000 : (next() - 0.5) * 10 ** (10 * next())));
    const y = Float64Array.from({ length: n }, () => Math.floor(3 * next()));
    const back = unpacked(packed({ ...points, xy, y }));
    assert.deepEqual([...back.xy], [...xy].map((x) => x + 0));
    assert.deepEqual([...back.y], [...y]);
  }
});

test("200 points take at most 2 kB of an address", () => {
  const next = numbers(3);
  const xy = Float64Array.from({ length: 400 }, () => Math.round((next() - 0.5) * 8000) / 1000);
  const state = { ...firstState("server", "light"), points: { ...points, labels: ["0", "1"], xy, y: Float64Array.from({ length: 200 }, (_, i) => i % 2) } };
  assert.ok(toAddress(state, firstState("server", "light")).length <= 2048, String(toAddress(state, firstState("server", "light")).length));
});

test("an address brings the state back", () => {
  const first = firstState("server", "light");
  const state = { ...first, points, settings: { ...first.settings, C: Infinity, kernel: "rbf", kernelFields: { gamma: 0.5 } }, runs: [fresh("a", "sgd", { step: 0.1 }), fresh("b", "smo")], seed: 5, single: false, live: false, views: ["hulls"], hide: ["sharing"], cursor: 12, theme: "dark", speed: Infinity };
  const back = fromAddress(`#${toAddress(state, first)}`);
  assert.deepEqual(back.points, points);
  assert.deepEqual(back.settings, state.settings);
  assert.deepEqual(back.solvers, [["sgd", { step: 0.1 }], ["smo", {}]]);
  for (const name of ["seed", "single", "live", "views", "hide", "cursor", "theme", "speed"]) assert.deepEqual(back[name], state[name], name);
});

test("a damaged address does no harm", () => {
  const next = numbers(11);
  const good = toAddress({ ...firstState("server", "light"), points }, firstState("server", "light"));
  for (let round = 0; round < 500; round++) {
    const at = Math.floor(next() * good.length);
    const broken = good.slice(0, at) + String.fromCharCode(33 + Math.floor(90 * next())) + good.slice(at + (round % 3));
    fromAddress(broken);
  }
  assert.deepEqual(fromAddress(""), {});
});

test("an address keeps the start of a run and the toy set", () => {
  const first = firstState("server", "light");
  const start = { w: [1, -2], b: 0.5 };
  const state = { ...first, points: { ...points, toy: { name: "moons", n: 3, noise: 0.5, seed: 2 } }, runs: [fresh("a", "sgd", {}, start)], every: 5 };
  const back = fromAddress(toAddress(state, first));
  assert.deepEqual(back.solvers, [["sgd", {}, start]]);
  assert.deepEqual(back.points.toy, state.points.toy);
  assert.equal(back.every, 5);
});

test("what an address says and no page can have is left out", () => {
  const packedPoints = packed(points);
  const said = (more) => fromAddress(new URLSearchParams({ p: packedPoints, ...more }).toString());
  for (const [name, short] of [["cursor", "frame"], ["shown", "shown"], ["machine", "machine"], ["lessonStep", "at"], ["seed", "seed"]])
    for (const value of ["-1", "0.5", "NaN", "Infinity", "x"]) assert.equal(said({ [short]: value })[name], undefined, `${short}=${value}`);
  assert.equal(said({ theme: "red" }).theme, undefined);
  assert.equal(said({ clock: "toString" }).clock, undefined);
  assert.equal(said({ speed: "0" }).speed, undefined);
  assert.deepEqual(said({ solvers: '[["smo",null],["smo",{},3],["sgd",{}]]' }).solvers, [["sgd", {}]]);
  const { settings } = said({ problem: '{"loss":"hinge","kernel":"rbf","C":"x","kernelFields":null,"lossFields":[1],"classWeight":{"0":"x"},"nu":"y","other":1}' });
  assert.deepEqual(settings, { loss: "hinge", kernel: "rbf", classWeight: null, nu: null });
  assert.equal(fromAddress(`p=${packed({ ...points, y: Float64Array.of(0, 1, 1e9) })}`).points, undefined, "no page has a thousand million classes");
});

test("numbers that JSON has not are written as texts and read as numbers, labels stay texts", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(written({ C: Infinity, a: [-Infinity, NaN, 1] }))), { C: "Infinity", a: ["-Infinity", "NaN", 1] });
  assert.deepEqual(read({ C: "Infinity", a: ["-Infinity", 1], labels: ["NaN"] }), { C: Infinity, a: [-Infinity, 1], labels: ["NaN"] });
});

test("an answer is decoded into its header and arrays", () => {
  const header = new TextEncoder().encode(JSON.stringify({ id: 1, ok: true, gap: "Infinity", arrays: { beta: { dtype: "f8", shape: [2], offset: 0 }, kinds: { dtype: "u1", shape: [3], offset: 16 } } }));
  const start = Math.ceil((4 + header.length) / 8) * 8;
  const bytes = new Uint8Array(start + 24);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  bytes.set(new Uint8Array(Float64Array.of(1.5, -2).buffer), start);
  bytes.set([1, 2, 3], start + 16);
  const answer = decoded(bytes.buffer);
  assert.equal(answer.gap, Infinity);
  assert.deepEqual([...answer.arrays.beta], [1.5, -2]);
  assert.deepEqual([...answer.arrays.kinds], [1, 2, 3]);
  assert.deepEqual(answer.arrays.kinds.shape, [3]);
});

test("rows of a trace follow those that are there", () => {
  const values = Object.assign(Float64Array.from({ length: 16 }, (_, i) => i), { shape: [2, 8] });
  const rows = traced([{ iteration: 99 }], { first: 1, arrays: { trace: values } });
  assert.equal(rows.length, 3);
  assert.equal(rows[1].iteration, 0);
  assert.equal(rows[2].support, 15);
  assert.equal(traced(rows, { first: 0, arrays: { trace: values } }).length, 2);
});

test("runs are compared at the same iterate, second or work", () => {
  const run = (seconds) => ({ recorded: seconds.length, trace: seconds.map((s) => ({ seconds: s })) });
  const runs = [run([1, 2, 3, 4]), run([1, 1.5, 1.9, 2, 2.5, 9])];
  assert.deepEqual(together(runs, 0, 1, "iteration"), [1, 1]);
  assert.deepEqual(together(runs, 0, 1, "seconds"), [1, 3]);
  assert.deepEqual(together(runs, 0, 9, "iteration"), [3, 5]);
});

test("the problem's command has the settings of its task", () => {
  const state = { ...firstState("server", "light"), points };
  const command = problemCommand(state);
  assert.equal(command.loss.name, "hinge");
  assert.deepEqual(command.labels, points.labels);
  assert.deepEqual(command.X.shape, [3, 2]);
});

test("accuracy counts signs, and a sample on the boundary is on no side", () => {
  const state = { points, machine: 1, problem: { n: 3, arrays: { target: Float64Array.of(1, 1, 1, -1, 1, NaN) } } };
  assert.equal(accuracyOf({ ...state, machine: 0 }, { arrays: { z: Float64Array.of(-1, 2, 0) } }), 1 / 3);
  assert.equal(accuracyOf(state, { arrays: { z: Float64Array.of(-1, 2, NaN) } }), 1, "of the machine's own samples");
  assert.equal(accuracyOf(state, { arrays: { z: Float64Array.of(-1, 2) } }), null);
});

test("a drawing holds labels as text only", () => {
  const drawing = new SvgContext(10, 10);
  drawing.fillText('<script>"&', 1, 2);
  assert.ok(drawing.toString().includes("&#60;script&#62;&#34;&#38;"));
});

test("each lesson has a name of its own, and each task a check, a hint or an end", () => {
  assert.equal(new Set(lessons.map((one) => one.name)).size, lessons.length);
  assert.ok(lessons.length >= 12);
  for (const lesson of lessons) for (const step of lesson.steps) assert.equal(Boolean(step.task), Boolean(step.check), `${lesson.name}: ${step.title}`);
});
