// The plane's geometry.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inside, joined, levelLine, linearField, nearest, nearestOn, shaped, windowOf, zoomed } from "../../../src/maxmargin/studio/page/geometry.js";
import { rgb } from "../../../src/maxmargin/studio/page/shading.js";

test("a window holds all points and has the plane's shape", () => {
  for (const xy of [[0, 0, 10, 1], [5, 5], [], [-1, -100, 1, 100]]) {
    const { x0, x1, y0, y1 } = windowOf(Float64Array.from(xy), 300, 200);
    for (let i = 0; i < xy.length; i += 2) assert.ok(xy[i] > x0 && xy[i] < x1 && xy[i + 1] > y0 && xy[i + 1] < y1);
    assert.ok(Math.abs((x1 - x0) / (y1 - y0) - 1.5) < 1e-12);
  }
});

test("zooming keeps the point below the pointer", () => {
  const window = { x0: 0, x1: 10, y0: 0, y1: 10, nx: 10, ny: 10 };
  const closer = zoomed(window, 0.5, 2, 8);
  assert.deepEqual([closer.x0, closer.x1, closer.y0, closer.y1], [1, 6, 4, 9]);
  assert.equal(shaped(window, 2).y1 - shaped(window, 2).y0, 10);
});

test("the level line of a plane is straight, and of one piece", () => {
  const window = { x0: -1, x1: 1, y0: -1, y1: 1, nx: 41, ny: 31 };
  const field = linearField([2, -1], 0.25, window);
  const segments = levelLine(field, 41, 31, 0);
  for (let i = 0; i < segments.length; i += 2) {
    const [x, y] = [-1 + segments[i] / 20, -1 + segments[i + 1] / 15];
    assert.ok(Math.abs(2 * x - y + 0.25) < 1e-6);
  }
  const line = joined(segments);
  assert.equal(line.filter(Number.isNaN).length, 2);
  assert.equal(line.length, segments.length / 2 + 2 + 2);
});

test("the level line of a circle is closed", () => {
  const n = 50;
  const grid = Float64Array.from({ length: n * n }, (_, k) => Math.hypot((k % n) - 24.5, Math.floor(k / n) - 24.5) - 15);
  const line = joined(levelLine(grid, n, n, 0));
  assert.equal(line.filter(Number.isNaN).length, 2);
  assert.ok(Math.hypot(line[0] - line[line.length - 4], line[1] - line[line.length - 3]) < 1e-6);
  for (let i = 0; i + 3 < line.length; i += 2) assert.ok(Math.abs(Math.hypot(line[i] - 24.5, line[i + 1] - 24.5) - 15) < 0.05);
});

test("the nearest sample is found within reach only", () => {
  const xy = Float64Array.of(0, 0, 10, 0, 10, 4);
  const same = (x) => x;
  assert.equal(nearest(xy, same, same, 9, 1, 5), 1);
  assert.equal(nearest(xy, same, same, 50, 50, 5), null);
  assert.deepEqual(inside(xy, same, same, { x0: 11, y0: 5, x1: 5, y1: -1 }), [1, 2]);
});

test("colours are read", () => {
  assert.deepEqual(rgb("#ff8000"), [255, 128, 0]);
  assert.deepEqual(rgb("rgb(1, 2, 3)"), [1, 2, 3]);
});

test("the nearest point of a margin is on it, and for a straight one it is the foot of the perpendicular", () => {
  assert.equal(nearestOn([], 0, 0), null);
  assert.deepEqual(nearestOn([0, 0, 4, 0], 1, 3), [1, 0]);
  assert.deepEqual(nearestOn([0, 0, 4, 0, 9, 9, 9, 9], 7, 1), [4, 0]);
  const window = { x0: -1, x1: 1, y0: -1, y1: 1, nx: 41, ny: 41 };
  const [w, b] = [[2, -1], 0.25];
  const segments = levelLine(linearField(w, b, window), 41, 41, 1).map((at) => -1 + at / 20);
  const slack = 1 - (w[0] * 0.1 + w[1] * 0.2 + b);
  const foot = nearestOn(segments, 0.1, 0.2);
  assert.ok(Math.hypot(foot[0] - (0.1 + (slack * w[0]) / 5), foot[1] - (0.2 + (slack * w[1]) / 5)) < 1e-6);
});
