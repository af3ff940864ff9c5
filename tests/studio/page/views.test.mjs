// The pure functions of the linked views: node --test tests/studio/page

import assert from "node:assert/strict";
import { test } from "node:test";
import { asker, linear, logTicks, logarithmic, ticks, written } from "../../../src/maxmargin/studio/page/views/chart.js";
import { checksOf } from "../../../src/maxmargin/studio/page/views/conditions.js";
import { gapReach, reachOf, rowAt } from "../../../src/maxmargin/studio/page/views/curves.js";
import { barOf, ordered } from "../../../src/maxmargin/studio/page/views/duals.js";
import { debtors } from "../../../src/maxmargin/studio/page/views/gaps.js";
import { views } from "../../../src/maxmargin/studio/page/views/index.js";
import { heat } from "../../../src/maxmargin/studio/page/views/kernel.js";
import { levelsOf } from "../../../src/maxmargin/studio/page/views/landscape.js";
import { planeOf } from "../../../src/maxmargin/studio/page/views/plane.js";
import { clipped, gainAt, stepsShown } from "../../../src/maxmargin/studio/page/views/update.js";

const row = (iteration, primal, dual, gap) => ({ iteration, seconds: 0.1 * iteration, work: 100 * iteration, primal, dual, relative_gap: gap, beta_sum: 0, support: 2 });

function state(more = {}) {
  const frame = {
    run: "r1", index: 0, machine: 0, certificate: { primal: 4, dual: 3 }, conditions: [],
    arrays: {
      beta: Float64Array.of(-0.5, 1, 0, -0.5), alpha: Float64Array.of(0.5, 1, 0, 0.5), z: Float64Array.of(-1, 0.2, 3, -1.5),
      kinds: Uint8Array.of(2, 3, 0, 2), slack: Float64Array.of(0, 0.8, 0, 0), gaps: Float64Array.of(0, 0, 0, 0.25),
    },
  };
  const arrays = { lower: Float64Array.of(-1, 0, 0, -1), upper: Float64Array.of(0, 1, 1, 0), target: Float64Array.of(-1, 1, 1, -1), weight: Float64Array.of(1, 1, 1, 1) };
  return {
    points: { task: "classification", y: Float64Array.of(0, 1, 1, 0), labels: ["a", "b"], xy: Float64Array.of(0, 0, 1, 0, 2, 1, 0, 1) },
    settings: { loss: "hinge", kernel: "linear", bias: "free", C: 1 }, problem: { n: 4, arrays }, machine: 0, shown: 0, runs: [{ frame, trace: [] }], tol: 1e-6, ...more,
  };
}

test("scales and their inverses", () => {
  for (const scale of [linear(-2, 5, 40, 400), logarithmic(1e-6, 10, 300, 20)]) {
    for (const value of [scale.low, 1, 2.5, scale.high]) assert.ok(Math.abs(scale.invert(scale(value)) - value) < 1e-9 * Math.abs(value) + 1e-9);
  }
  assert.equal(logarithmic(1e-6, 1, 100, 0)(0), 100, "what is not above 0 is at the low end");
  assert.ok(Number.isFinite(linear(3, 3, 0, 10)(3)), "a range of one value is still a scale");
});

test("ticks are round, inside and not many", () => {
  for (const [low, high] of [[0, 1], [-3.2, 17], [1e-5, 2e-5], [1e6, 3e6], [-1e-9, 1e-9]]) {
    const found = ticks(low, high, 5);
    assert.ok(found.length >= 2 && found.length <= 12, `${low} ${high}: ${found}`);
    assert.ok(found.every((one) => one >= low - 1e-12 * Math.abs(low) - 1e-18 && one <= high + 1e-9 * Math.abs(high)));
  }
  assert.deepEqual(ticks(2, 2, 5), [2]);
  assert.deepEqual(ticks(0, Infinity, 5), [0]);
  assert.ok(logTicks(1e-17, 1e3, 4).length <= 5);
  assert.deepEqual(logTicks(0, 1, 4), []);
});

test("numbers are written for people", () => {
  assert.deepEqual([0, 1, -2.5, 1234.5678, 1e-6, -3.2e-9, 1e7, NaN, Infinity, null].map((one) => written(one)), ["0", "1", "−2.5", "1235", "10⁻⁶", "−3.2·10⁻⁹", "10⁷", "–", "∞", "–"]);
});

test("the objectives' axis holds both ends and is not flattened by a bad start", () => {
  const [low, high] = reachOf([[row(0, 1e6, 0, 1), row(1, 5, 3, 0.4), row(2, 4, 3.9, 0.02)]]);
  assert.ok(low < 3.9 && high > 4 && high < 20);
  assert.deepEqual(reachOf([[row(0, NaN, NaN, NaN)]]), [0, 1]);
  const [bottom, top] = reachOf([[row(0, Infinity, 2, Infinity)]]);
  assert.ok(bottom < 2 && top > 2 && Number.isFinite(top));
});

test("the gap's axis holds the tolerance", () => {
  const [low, high] = gapReach([[row(0, 1, 0, 3), row(1, 1, 1, 1e-12), row(2, 1, 1, 0)]], 1e-6);
  assert.ok(low < 1e-12 && low > 1e-18 && high >= 3);
  assert.ok(gapReach([[]], 1e-4)[0] < 1e-4);
});

test("a place on the clock is the nearest row", () => {
  const trace = [row(0, 1, 0, 1), row(5, 1, 0, 1), row(9, 1, 0, 1)];
  assert.deepEqual([-3, 2, 3, 6, 100].map((at) => rowAt(trace, "iteration", at)), [0, 0, 1, 1, 2]);
  assert.equal(rowAt(trace, "seconds", 0.6), 1);
});

test("bars by class, size and row; a machine's missing samples are left out", () => {
  assert.deepEqual(ordered(state(), "class"), [0, 3, 1, 2]);
  assert.deepEqual(ordered(state(), "size"), [1, 0, 3, 2]);
  const some = state();
  some.runs[0].frame.arrays.kinds[1] = 255;
  assert.deepEqual(ordered(some, "row"), [0, 2, 3]);
  assert.deepEqual(barOf(state(), 3), { value: 0.5, low: 0, high: 1 });
  const regression = state();
  regression.points = { ...regression.points, task: "regression" };
  assert.deepEqual(barOf(regression, 3), { value: -0.5, low: -1, high: 0 });
});

test("who owes the gap, the largest first", () => {
  assert.deepEqual(debtors([0, 0.5, NaN, 2, -1, 0.5]).map(({ i }) => i), [3, 1, 5]);
});

test("the conditions of one sample", () => {
  assert.deepEqual(checksOf(state(), 0).map((one) => one.holds), [true, true, true]);
  assert.deepEqual(checksOf(state(), 3).map((one) => one.holds), [true, true, false], "α > 0 beyond the margin is not slackness");
  const hard = state();
  hard.problem.arrays.upper = Float64Array.of(0, Infinity, Infinity, 0);
  hard.problem.arrays.lower = Float64Array.of(-Infinity, 0, 0, -Infinity);
  assert.equal(checksOf(hard, 1)[0].holds, false, "inside a hard margin");
  assert.deepEqual(checksOf(state(), 99), []);
});

test("the line of an update: the parabola, the tube's kinks and the clip", () => {
  const line = { indices: [0, 1], before: [0.2, 0.3], after: [0.5, 0], unclipped: 1, slope: 2, curvature: 2, lower: [0, 0], upper: [1, 1], tube: [0, 0], signs: [1, 1], low: -0.2, high: 0.3 };
  assert.ok(Math.abs(gainAt(line, 0.3) - (0.6 - 0.09)) < 1e-12);
  assert.ok(clipped(line) && !clipped({ ...line, unclipped: 0.3 }));
  assert.ok(Math.abs(gainAt({ ...line, tube: [1, 1] }, 0.3) - (0.51 - 0.3 + 0.3)) < 1e-12);
  const [first, last] = stepsShown(line);
  assert.ok(first < 0 && last > 1);
  assert.ok(stepsShown({ ...line, unclipped: 1e9 }).every(Number.isFinite));
  assert.ok(stepsShown({ ...line, unclipped: 1e9 })[1] < 100, "a step that was cut very short can still be seen");
});

test("contours are closer together near the optimum", () => {
  const levels = levelsOf(1, 10);
  const steps = levels.slice(1).map((level, k) => level - levels[k]);
  assert.ok(levels[0] > 1 && levels.at(-1) < 10 && steps.every((step, k) => k === 0 || step > steps[k - 1]));
});

test("the plane has one scale and holds all points, even one", () => {
  for (const xy of [[0, 0, 4, 1], [2, 2], [1e-9, 0, 2e-9, 0], []]) {
    const { x, y } = planeOf({ left: 0, right: 300, top: 0, bottom: 200 }, { points: { xy: Float64Array.from(xy) } });
    for (let k = 0; k < xy.length; k += 2) assert.ok(x(xy[k]) >= -1e-6 && x(xy[k]) <= 300.000001 && y(xy[k + 1]) >= -1e-6 && y(xy[k + 1]) <= 200.000001);
    assert.ok(Math.abs((x.high - x.low) / 300 - (y.high - y.low) / 200) < 1e-9 * (x.high - x.low));
  }
});

test("heat is the ground at 0 and differs by sign", () => {
  for (const dark of [true, false]) {
    assert.deepEqual(heat(0, dark), heat(-0, dark));
    assert.notDeepEqual(heat(1, dark), heat(-1, dark));
    assert.deepEqual(heat(5, dark), heat(1, dark));
  }
});

test("a view asks one question at a time, and only the newest of those that wait", async () => {
  const asked = [];
  /** @type {((value: any) => void)[]} */ const open = [];
  let ready = 0;
  const questions = asker({ request: (_, args) => new Promise((resolve) => (asked.push(args.k), open.push(resolve))) }, () => ready++);
  assert.equal(questions.get("a", { k: "a" }).answer, null);
  questions.get("b", { k: "b" });
  questions.get("c", { k: "c" });
  assert.deepEqual(asked, ["a"]);
  open[0]("A");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(asked, ["a", "c"]);
  assert.deepEqual(questions.get("c", { k: "c" }), { answer: "A", error: "", current: false });
  open[1]("C");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(questions.get("c", { k: "c" }), { answer: "C", error: "", current: true });
  assert.equal(ready, 2);
  const failing = asker({ request: () => Promise.reject(new Error("the library's sentence")) }, () => undefined);
  failing.get("x", {});
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(failing.get("x", {}).error, "the library's sentence");
});

test("each view says what it is, and whether it applies", () => {
  assert.equal(new Set(views.map((view) => view.id)).size, views.length);
  for (const view of views) {
    assert.ok(view.title && view.doc.endsWith(".") && typeof view.mount === "function");
    const answer = view.applies(state());
    assert.ok(answer === true || answer === false || String(answer).length > 10);
  }
});
