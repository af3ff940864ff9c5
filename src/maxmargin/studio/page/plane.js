// The plane: points, shading, boundary, margins; classes and kinds by shape and colour, size by α, slack as lines.

import { axes, inksOf, linear, mark, outline, ring, stroke, ticks } from "./views/chart.js";
import { h } from "./dom.js";
import { isLinear } from "./engine.js";
import { joined, nearestOn, shaped } from "./geometry.js";
import { count } from "./points.js";
import { borders, fieldOf, image, levelIn } from "./shading.js";
import { SvgContext } from "./svg.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").App} App */

/**
 * @typedef {Object} Plane
 * @property {HTMLCanvasElement} node
 * @property {(x: number) => number} toX
 * @property {(y: number) => number} toY
 * @property {(px: number) => number} fromX
 * @property {(py: number) => number} fromY
 * @property {{x: number, y: number}|null} crosshair of the keyboard, in the plane
 * @property {{x0: number, y0: number, x1: number, y1: number}|null} box of a selection, in pixels
 * @property {() => string} svg the picture as SVG
 * @property {(state: State) => void} update
 * @property {() => void} destroy
 */

/**
 * @param {HTMLElement} el
 * @param {App} app
 * @returns {Plane}
 */
export function mountPlane(el, app) {
  const node = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "plane", tabindex: 0, role: "application", "aria-roledescription": "plane of samples" }));
  el.append(node);
  const style = getComputedStyle(node);
  const inks = inksOf(style);
  const ink = inks.of;
  const screen = /** @type {CanvasRenderingContext2D} */ (node.getContext("2d"));
  let ctx = screen;
  let [width, height] = [0, 0];
  /** @type {{frame: Frame|null, window: *, theme: string, made: HTMLCanvasElement|null, field: *}} */
  let cache = { frame: null, window: null, theme: "", made: null, field: null };

  const measure = () => {
    const wide = Math.floor(el.clientWidth);
    const tall = Math.round(Math.min(wide * (wide < 500 ? 0.95 : 0.78), Math.max(300, innerHeight - 250)));
    if (wide < 50 || (wide === width && tall === height)) return;
    [width, height] = [wide, tall];
    const density = Math.min(3, devicePixelRatio || 1);
    [node.width, node.height] = [Math.round(width * density), Math.round(height * density)];
    screen.setTransform(density, 0, 0, density, 0, 0);
    const { window, points } = app.store.get();
    app.store.set({ window: shaped({ ...window, nx: width, ny: height }, width / height, points.task !== "regression") });
  };
  const observer = new ResizeObserver(() => measure());
  observer.observe(el);

  /** @type {Plane} */
  const plane = {
    node, crosshair: null, box: null,
    toX: (x) => { const { x0, x1 } = app.store.get().window; return ((x - x0) / (x1 - x0)) * width; },
    toY: (y) => { const { y0, y1 } = app.store.get().window; return height - ((y - y0) / (y1 - y0)) * height; },
    fromX: (px) => { const { x0, x1 } = app.store.get().window; return x0 + (px / width) * (x1 - x0); },
    fromY: (py) => { const { y0, y1 } = app.store.get().window; return y0 + ((height - py) / height) * (y1 - y0); },
    svg: () => {
      const made = new SvgContext(width, height);
      ctx = /** @type {any} */ (made);
      try {
        update(app.store.get());
      } finally {
        ctx = screen;
      }
      return made.toString();
    },
    update,
    destroy: () => (observer.disconnect(), node.remove()),
  };

  /** @param {State} state */
  function update(state) {
    if (!width) measure();
    if (!width) return;
    inks.fresh(state.theme);
    ctx.clearRect(0, 0, width, height);
    ctx.fillStyle = ink("ground");
    ctx.fillRect(0, 0, width, height);
    const run = state.runs[state.shown];
    const frame = run?.frame ?? null;
    const pen = { ctx, width, height, ink };
    if (frame) drawField(state, frame);
    const box = { left: 0, right: width, top: 0, bottom: height - 18 };
    const { x0, x1, y0, y1 } = state.window;
    axes(pen, box, { x: linear(x0, x1, 0, width), xTicks: ticks(x0, x1, width / 70).filter((x) => linear(x0, x1, 0, width)(x) > 16) });
    if (state.points.task === "regression") axes(pen, { left: 34, right: 34, top: 0, bottom: height - 18 }, { y: linear(y0, y1, height, 0) });
    state.runs.forEach((other, i) => i !== state.shown && other.frame && drawOther(state, other.frame, i));
    if (frame) drawLines(state, frame);
    drawPoints(state, frame);
    if (plane.box) {
      ctx.setLineDash([5, 4]);
      ctx.strokeStyle = ink("ink");
      ctx.strokeRect(plane.box.x0, plane.box.y0, plane.box.x1 - plane.box.x0, plane.box.y1 - plane.box.y0);
      ctx.setLineDash([]);
    }
    if (plane.crosshair && document.activeElement === node) {
      const [x, y] = [plane.toX(plane.crosshair.x), plane.toY(plane.crosshair.y)];
      stroke(ctx, ink("focus"), [x - 12, y, x + 12, y, NaN, NaN, x, y - 12, x, y + 12], 2);
    }
    const words = told(state, frame);
    if (node.getAttribute("aria-label") !== words) node.setAttribute("aria-label", words);
  }

  /** @param {State} state @param {Frame} frame */
  function drawField(state, frame) {
    if (cache.frame !== frame || cache.theme !== state.theme || (cache.window !== state.window && isLinear(frame, state))) {
      const field = state.points.task === "regression" ? null : fieldOf(frame, state);
      cache = { frame, window: state.window, theme: state.theme, field, made: field ? image(field, ink, state.points.task === "novelty") : null };
    }
    if (!cache.made || !cache.field) return;
    const { x0, x1, y0, y1, nx, ny } = cache.field.window;
    const [dx, dy] = [(x1 - x0) / (nx - 1) / 2, (y1 - y0) / (ny - 1) / 2]; // a grid point is the middle of its pixel
    ctx.imageSmoothingEnabled = true;
    const [left, top] = [plane.toX(x0 - dx), plane.toY(y1 + dy)];
    ctx.drawImage(cache.made, left, top, plane.toX(x1 + dx) - left, plane.toY(y0 - dy) - top);
  }

  /** @param {number[]} places */
  const pixels = (places) => places.map((at, i) => (i % 2 ? plane.toY(at) : plane.toX(at)));
  /** A level line of the field, in pixels. @param {*} field @param {number} level */
  const level = (field, level) => pixels(joined(levelIn(field, level)));
  /** Segments with the pen lifted between them. @param {number[]} places */
  const apart = (places) => {
    /** @type {number[]} */ const made = [];
    for (let i = 0; i < places.length; i += 4) made.push(places[i], places[i + 1], places[i + 2], places[i + 3], NaN, NaN);
    return made;
  };

  /** @param {State} state @param {Frame} frame */
  function drawLines(state, frame) {
    if (state.points.task === "regression") return drawTube(state, frame, "ink", true);
    const field = cache.field;
    if (!field) return;
    if (field.classes) return stroke(ctx, ink("ink"), pixels(joined(borders(field))), 1.5);
    stroke(ctx, ink("ink"), level(field, 0), 2.5);
    const loss = state.hello?.losses.find((one) => one.name === state.settings.loss);
    if (!loss?.margin) return;
    stroke(ctx, ink("class-0"), level(field, -1), 1.6, [6, 4]);
    stroke(ctx, ink("class-1"), level(field, 1), 1.6, [6, 4]);
  }

  /** The function of a regression and its tube. @param {State} state @param {Frame} frame @param {string} colour @param {boolean} tube */
  function drawTube(state, frame, colour, tube) {
    const { field } = frame.arrays;
    if (!field || !frame.window) return;
    const epsilon = Number(state.problem?.loss.epsilon ?? 0);
    const { x0, x1 } = frame.window;
    const line = (/** @type {number} */ shift) => pixels(Array.from({ length: 2 * field.length }, (_, i) => (i % 2 ? field[i >> 1] + shift : x0 + ((x1 - x0) * (i >> 1)) / (field.length - 1))));
    if (tube && epsilon) {
      const [upper, lower] = [line(epsilon), line(-epsilon)];
      ctx.beginPath();
      for (let i = 0; i < upper.length; i += 2) ctx.lineTo(upper[i], upper[i + 1]);
      for (let i = lower.length - 2; i >= 0; i -= 2) ctx.lineTo(lower[i], lower[i + 1]);
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = ink("class-1");
      ctx.fill();
      ctx.globalAlpha = 1;
      stroke(ctx, ink("class-1"), upper, 1.4, [6, 4]);
      stroke(ctx, ink("class-1"), lower, 1.4, [6, 4]);
    }
    stroke(ctx, ink(colour), line(0), 2.5);
  }

  /** The boundary of a run beside the shown one. @param {State} state @param {Frame} frame @param {number} i */
  function drawOther(state, frame, i) {
    if (state.points.task === "regression") return drawTube(state, frame, `run-${i}`, false);
    const field = fieldOf(frame, state);
    if (field) stroke(ctx, ink(`run-${i}`), field.classes ? pixels(joined(borders(field))) : level(field, 0), 2, [2, 3]);
  }

  /** @param {State} state @param {Frame|null} frame */
  function drawPoints(state, frame) {
    const { points, hover, selection } = state;
    const n = count(points);
    const known = frame && frame.arrays.beta.length === n ? frame : null;
    let most = 1e-12;
    for (const alpha of known?.arrays.alpha ?? []) if (alpha > most) most = alpha;
    const small = n > 1200 ? 2.4 : n > 400 ? 3.4 : 4.6;
    const pen = { ctx, width, height, ink };
    const radius = (/** @type {number} */ i) => small + (known ? (small + 1) * (Math.max(0, known.arrays.alpha[i] || 0) / most) : 0);
    if (known && n <= 1500) drawSlack(state, known);
    const chosen = new Set(selection);
    for (let i = 0; i < n; i++) {
      const [x, y] = [plane.toX(points.xy[2 * i]), plane.toY(points.xy[2 * i + 1])];
      if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
      mark(pen, x, y, radius(i), points.task === "classification" ? points.y[i] : points.task === "novelty" ? 0 : 1, known ? known.arrays.kinds[i] : 3);
      if (chosen.has(i)) {
        ctx.strokeStyle = ink("focus");
        ctx.lineWidth = 2;
        ctx.setLineDash([3, 2]);
        outline(ctx, x, y, radius(i) + 6, 2);
        ctx.stroke();
        ctx.setLineDash([]);
      }
    }
    for (const i of known?.event?.indices ?? []) {
      ctx.beginPath();
      ctx.arc(plane.toX(points.xy[2 * i]), plane.toY(points.xy[2 * i + 1]), radius(i) + 5, 0, 2 * Math.PI);
      ctx.strokeStyle = ink("accent");
      ctx.lineWidth = 2.5;
      ctx.stroke();
    }
    if (hover !== null && hover < n) ring(pen, plane.toX(points.xy[2 * hover]), plane.toY(points.xy[2 * hover + 1]), radius(hover) + 8);
  }

  /** From each sample on the wrong side of its margin to the nearest point of that margin, or up to the tube. @param {State} state @param {Frame} frame */
  function drawSlack(state, frame) {
    const { points } = state;
    const { slack, z, w } = frame.arrays;
    const regression = points.task === "regression";
    const flat = isLinear(frame, state) ? w : undefined;
    if (!regression && !flat && (!cache.field || cache.field.classes)) return;
    const square = flat ? flat[0] * flat[0] + flat[1] * flat[1] : 1;
    /** @type {Record<number, number[]>} */ const margins = {};
    /** @type {number[]} */ const lines = [];
    for (let i = 0; i < slack.length; i++) {
      if (!(slack[i] > 1e-6)) continue;
      const [x, y] = [points.xy[2 * i], points.xy[2 * i + 1]];
      const sign = points.task === "classification" ? (points.y[i] ? 1 : -1) : 1;
      const side = points.task === "novelty" ? 0 : sign;
      const end = regression ? [x, y + Math.sign(z[i] - y) * slack[i]]
        : flat ? [x + (sign * slack[i] * flat[0]) / square, y + (sign * slack[i] * flat[1]) / square]
          : nearestOn((margins[side] ??= levelIn(cache.field, side)), x, y);
      if (end) lines.push(plane.toX(x), plane.toY(y), plane.toX(end[0]), plane.toY(end[1]));
    }
    ctx.globalAlpha = 0.55;
    stroke(ctx, ink("bad"), apart(lines), 1.2);
    ctx.globalAlpha = 1;
  }
  return plane;
}

/** The plane in words. @param {State} state @param {Frame|null} frame */
function told(state, frame) {
  const { points } = state;
  const n = count(points);
  const parts = points.task === "classification" ? points.labels.map((label, k) => `${points.y.filter((y) => y === k).length} of class ${label}`).join(", ") : "";
  const vectors = frame ? ` ${frame.certificate.counts.free + frame.certificate.counts.bound} support vectors.` : "";
  return `${n} samples${parts ? `: ${parts}` : ""}.${vectors} Arrow keys move a crosshair, Enter adds a sample, N and P go through the samples, Delete removes, digits change the class.`;
}
