// What mouse, touch and keyboard do to the points of the plane.

import { inside, nearest, shaped, windowOf, zoomed } from "./geometry.js";
import { added, count, moved, relabelled, removed } from "./points.js";

/** @typedef {import("./types.js").State} State */

/**
 * @param {import("./plane.js").Plane} plane
 * @param {import("./types.js").App & {edit: (points: import("./types.js").Points, key?: string) => void, drag: (on: boolean) => void, undo: () => void}} app
 */
export function listen(plane, app) {
  const { node } = plane;
  const state = () => app.store.get();
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  /** @type {{kind: string, x: number, y: number, far: boolean, indices: number[], last: [number, number], key: string, hit: number|null}|null} */
  let gesture = null;
  let serial = 0;

  const place = (/** @type {PointerEvent|MouseEvent|WheelEvent} */ event) => {
    const box = node.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const found = (/** @type {{x: number, y: number}} */ at, /** @type {string} */ pointer) => nearest(state().points.xy, plane.toX, plane.toY, at.x, at.y, pointer === "touch" ? 22 : 12);
  const next = (/** @type {number} */ label) => (label + 1) % Math.max(2, state().points.labels.length);
  const show = () => plane.update(state());

  node.addEventListener("contextmenu", (event) => event.preventDefault());
  node.addEventListener("pointerdown", (event) => {
    if (state().host === "tape" || event.button === 1) return;
    const at = place(event);
    node.focus({ preventScroll: true });
    try { node.setPointerCapture(event.pointerId); } catch { /* a pointer that a test made */ }
    fingers.set(event.pointerId, at);
    plane.crosshair = null;
    if (fingers.size === 2) {
      if (gesture?.kind === "drag" && gesture.hit === null && !gesture.far) app.undo(); // the first finger has added a sample
      gesture = begun("pinch", at);
      return;
    }
    const hit = found(at, event.pointerType);
    const { tool, points, selection, brush } = state();
    gesture = { ...begun(tool, at), hit };
    if (event.button === 2) {
      gesture.kind = "none";
      if (hit !== null) app.edit(relabelled(points, [hit], next));
      else app.edit(added(points, plane.fromX(at.x), plane.fromY(at.y), next(brush)));
    } else if (tool === "points") {
      if (hit === null) {
        app.edit(added(points, plane.fromX(at.x), plane.fromY(at.y), event.shiftKey ? next(brush) : brush), gesture.key);
        gesture.indices = [count(points)];
        gesture.kind = "drag";
        app.select([]);
      } else {
        gesture.kind = "drag";
        gesture.indices = selection.includes(hit) ? selection : [hit];
      }
      app.drag(true);
    } else if (tool === "erase" && hit !== null) app.edit(removed(points, [hit]), gesture.key), app.select([]);
    else if (tool === "brush") paint(at, gesture.key);
    else if (tool === "select") {
      if (hit !== null && selection.includes(hit)) [gesture.kind, gesture.indices] = ["drag", selection];
      else plane.box = { x0: at.x, y0: at.y, x1: at.x, y1: at.y };
    }
  });

  /** @param {string} kind @param {{x: number, y: number}} at */
  function begun(kind, at) {
    return { kind, x: at.x, y: at.y, far: false, indices: /** @type {number[]} */ ([]), last: /** @type {[number, number]} */ ([plane.fromX(at.x), plane.fromY(at.y)]), key: `gesture ${++serial}`, hit: /** @type {number|null} */ (null) };
  }

  node.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = fingers.get(event.pointerId);
    if (before) fingers.set(event.pointerId, at);
    if (!gesture || !before) {
      const hit = event.pointerType === "touch" ? null : found(at, event.pointerType);
      if (hit !== state().hover) app.hover(hit);
      return;
    }
    gesture.far ||= Math.hypot(at.x - gesture.x, at.y - gesture.y) > 4;
    if (gesture.kind === "pinch") return pinch(event.pointerId, before, at);
    if (!gesture.far) return;
    if (gesture.kind === "drag") {
      const [x, y] = [plane.fromX(at.x), plane.fromY(at.y)];
      app.edit(moved(state().points, gesture.indices, x - gesture.last[0], y - gesture.last[1]), gesture.key);
      gesture.last = [x, y];
    } else if (gesture.kind === "erase") {
      const hit = found(at, event.pointerType);
      if (hit !== null) app.edit(removed(state().points, [hit]), gesture.key);
    } else if (gesture.kind === "brush" && Math.hypot(at.x - gesture.x, at.y - gesture.y) > 14) {
      [gesture.x, gesture.y] = [at.x, at.y];
      paint(at, gesture.key);
    } else if (gesture.kind === "select" && plane.box) {
      Object.assign(plane.box, { x1: at.x, y1: at.y });
      show();
    }
  });

  /** A few points round the pointer. @param {{x: number, y: number}} at @param {string} key */
  function paint(at, key) {
    let { points } = state();
    for (let i = 0; i < 3; i++) {
      const [angle, r] = [2 * Math.PI * Math.random(), 22 * Math.sqrt(Math.random())];
      points = added(points, plane.fromX(at.x + r * Math.cos(angle)), plane.fromY(at.y + r * Math.sin(angle)), state().brush);
    }
    app.edit(points, key);
  }

  /** @param {number} id @param {{x: number, y: number}} before @param {{x: number, y: number}} at */
  function pinch(id, before, at) {
    const other = [...fingers].find(([one]) => one !== id)?.[1];
    if (!other) return;
    const factor = Math.hypot(before.x - other.x, before.y - other.y) / Math.max(20, Math.hypot(at.x - other.x, at.y - other.y));
    const [dx, dy] = [(plane.fromX(before.x) - plane.fromX(at.x)) / 2, (plane.fromY(before.y) - plane.fromY(at.y)) / 2];
    const { window } = state();
    const shifted = { ...window, x0: window.x0 + dx, x1: window.x1 + dx, y0: window.y0 + dy, y1: window.y1 + dy };
    app.store.set({ window: zoomed(shifted, factor, plane.fromX((at.x + other.x) / 2), plane.fromY((at.y + other.y) / 2)) });
  }

  const ended = (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    if (!gesture) return;
    const { kind, far, hit } = gesture;
    const { selection } = state();
    if (kind === "drag" && !far && hit !== null) app.select(event.shiftKey ? toggled(selection, hit) : selection.length === 1 && selection[0] === hit ? [] : [hit]);
    if (kind === "select" && plane.box) {
      const boxed = far ? inside(state().points.xy, plane.toX, plane.toY, plane.box) : hit === null ? [] : [hit];
      app.select(event.shiftKey ? [...new Set([...selection, ...boxed])] : boxed);
    }
    if (kind === "pinch" && fingers.size) return;
    plane.box = null;
    gesture = null;
    app.drag(false);
    show();
  };
  node.addEventListener("pointerup", ended);
  node.addEventListener("pointercancel", ended);
  node.addEventListener("pointerleave", () => gesture || app.hover(null));
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = place(event);
    app.store.set({ window: zoomed(state().window, Math.exp(event.deltaY * 0.002), plane.fromX(at.x), plane.fromY(at.y)) });
  }, { passive: false });
  node.addEventListener("keydown", (event) => keyed(event, plane, app) && (event.preventDefault(), event.stopPropagation()));
  node.addEventListener("blur", show);
}

/**
 * One key; whether it meant something here.
 * @param {KeyboardEvent} event
 * @param {import("./plane.js").Plane} plane
 * @param {*} app
 * @returns {boolean}
 */
function keyed(event, plane, app) {
  /** @type {State} */
  const { points, selection, window, brush, hover, host } = app.store.get();
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const n = count(points);
  const key = event.key;
  const step = ((window.x1 - window.x0) / 100) * (event.shiftKey ? 5 : 1);
  const towards = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] })[key];
  const cross = plane.crosshair ?? { x: (window.x0 + window.x1) / 2, y: (window.y0 + window.y1) / 2 };
  const editable = host !== "tape";
  if (towards && selection.length && editable) app.edit(moved(points, selection, step * towards[0], step * towards[1]), "keys");
  else if (towards) plane.crosshair = { x: cross.x + 2 * step * towards[0], y: cross.y + 2 * step * towards[1] };
  else if (key === "Enter" && editable) {
    if (!plane.crosshair) plane.crosshair = cross;
    app.edit(added(points, cross.x, cross.y, brush));
  } else if ((key === "n" || key === "p") && n) {
    const now = selection[0] ?? hover ?? (key === "n" ? -1 : 0);
    const next = (now + (key === "n" ? 1 : -1) + n) % n;
    app.select([next]);
    app.hover(next);
    app.say(`sample ${next}, class ${points.labels[points.y[next]] ?? ""}, at ${points.xy[2 * next].toPrecision(3)}, ${points.xy[2 * next + 1].toPrecision(3)}`);
  } else if ((key === "Delete" || key === "Backspace") && selection.length && editable) app.removeSelected();
  else if (/^[1-9]$/.test(key) && editable) app.setClass(Number(key) - 1);
  else if (key === "a") app.select(Array.from({ length: n }, (_, i) => i));
  else if (key === "Escape") {
    plane.crosshair = null;
    app.select([]);
    app.hover(null);
  } else if (key === "+" || key === "=") app.store.set({ window: zoomed(window, 0.8, cross.x, cross.y) });
  else if (key === "-") app.store.set({ window: zoomed(window, 1.25, cross.x, cross.y) });
  else if (key === "0") app.store.set({ window: shaped(windowOf(points.xy, window.nx, window.ny, points.task !== "regression"), window.nx / window.ny, points.task !== "regression") });
  else return false;
  plane.update(app.store.get());
  return true;
}

/** @param {number[]} list @param {number} one */
const toggled = (list, one) => (list.includes(one) ? list.filter((i) => i !== one) : [...list, one].sort((a, b) => a - b));
