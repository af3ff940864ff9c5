// What the linked views share: a canvas that fits its place, scales, axes, and the marks of samples.

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Mounted} Mounted */
/** @typedef {((value: number) => number) & {invert: (place: number) => number, low: number, high: number, log: boolean}} Scale */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */
/** @typedef {{ctx: CanvasRenderingContext2D, width: number, height: number, ink: (name: string) => string}} Pen */

/**
 * A straight scale from low..high to from..to.
 * @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale}
 */
export function linear(low, high, from, to) {
  if (!(high > low)) [low, high] = [low - 0.5 || -0.5, low + 0.5 || 0.5];
  const scale = (/** @type {number} */ value) => from + ((value - low) / (high - low)) * (to - from);
  return Object.assign(scale, { invert: (/** @type {number} */ place) => low + ((place - from) / (to - from)) * (high - low), low, high, log: false });
}

/**
 * A logarithmic scale; what is not above 0 is drawn at its low end.
 * @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale}
 */
export function logarithmic(low, high, from, to) {
  const inner = linear(Math.log10(low), Math.log10(high), from, to);
  const scale = (/** @type {number} */ value) => inner(Math.log10(Math.max(value, low)));
  return Object.assign(scale, { invert: (/** @type {number} */ place) => 10 ** inner.invert(place), low, high, log: true });
}

/**
 * Round numbers between low and high, about `count` of them.
 * @param {number} low @param {number} high @param {number} count @returns {number[]}
 */
export function ticks(low, high, count) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low].filter(Number.isFinite);
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough * 0.999) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/**
 * Powers of ten between low and high, at most about `count` of them.
 * @param {number} low @param {number} high @param {number} count @returns {number[]}
 */
export function logTicks(low, high, count) {
  if (!(low > 0) || !(high >= low)) return [];
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
  const found = [];
  for (let k = last; k >= first; k -= every) found.unshift(10 ** k);
  return found;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10 to a power, as it is written. @param {number} power */
export function powerOfTen(power) {
  return "10" + String(power).replace(/[-0-9]/g, (sign) => (sign === "-" ? "⁻" : RAISED[Number(sign)]));
}

/**
 * A number for people: three or so digits, and powers of ten where they are easier to read.
 * @param {number|null|undefined} value @param {number} [digits]
 */
export function written(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [front, power] = value.toExponential(Math.max(0, digits - 1)).split("e");
    const plain = String(Number(front)).replace("-", "−");
    return plain === "1" ? powerOfTen(Number(power)) : `${plain}·${powerOfTen(Number(power))}`;
  }
  return String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size)))))).replace("-", "−");
}

/** @typedef {(x: number, y: number, pen: Pen, state: State) => number|null} Hit */

/**
 * A canvas as wide as its place. `draw` gets a pen and the state; `hit` finds the sample under the pointer, which then
 * lights up everywhere; `needs` is all that the picture depends on, where it is not to be drawn anew each time; `order` are the samples that the arrow keys go through; `tell` is the picture in words.
 * @param {HTMLElement} el @param {App} app
 * @param {{height: number | ((width: number) => number), draw: (pen: Pen, state: State) => void, hit?: Hit, order?: (state: State) => ArrayLike<number>,
 *          tell: (state: State) => string, needs?: (state: State) => any[], press?: (x: number, y: number, pen: Pen, state: State, kind: "down"|"move"|"up") => boolean}} parts
 * @returns {Mounted & {canvas: HTMLCanvasElement}}
 */
export function figure(el, app, parts) {
  const canvas = el.ownerDocument.createElement("canvas");
  canvas.className = "figure";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.style.cssText = "display:block;width:100%;touch-action:pan-y";
  el.append(canvas);
  const style = getComputedStyle(canvas);
  const inks = inksOf(style);
  const ink = inks.of;
  /** @type {Pen|null} */
  let pen = null;
  let told = "";
  let pressed = false;
  /** @type {any[]} */ let drawn = [];

  const update = (/** @type {State} */ state) => {
    const width = Math.floor(el.clientWidth);
    if (width < 40) return;
    const height = typeof parts.height === "function" ? parts.height(width) : parts.height;
    if (parts.needs) {
      const now = [width, height, state.theme, ...parts.needs(state)];
      if (now.length === drawn.length && now.every((one, k) => one === drawn[k])) return;
      drawn = now;
    }
    const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    const ctx = canvas.getContext("2d");
    if (!ctx) return;
    inks.fresh(state.theme);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.font = FONT;
    ctx.lineJoin = "round";
    pen = { ctx, width, height, ink };
    parts.draw(pen, state);
    const words = parts.tell(state);
    if (words !== told) canvas.setAttribute("aria-label", (told = words));
  };
  const place = (/** @type {PointerEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const handle = (/** @type {PointerEvent} */ event, /** @type {"down"|"move"|"up"} */ kind) => {
    if (!pen) return;
    const [x, y] = place(event);
    const state = app.store.get();
    if (parts.press && (kind === "down" || pressed)) {
      const taken = parts.press(x, y, pen, state, kind);
      if (kind === "down" && taken) {
        pressed = true;
        canvas.setPointerCapture?.(event.pointerId);
        canvas.focus({ preventScroll: true });
        event.preventDefault();
      }
      if (kind === "up") pressed = false;
      if (taken) return;
    }
    if (parts.hit && kind !== "up") {
      const sample = parts.hit(x, y, pen, state);
      if (sample !== state.hover) app.hover(sample);
    }
  };
  canvas.addEventListener("pointerdown", (event) => handle(event, "down"));
  canvas.addEventListener("pointermove", (event) => handle(event, "move"));
  canvas.addEventListener("pointerup", (event) => handle(event, "up"));
  canvas.addEventListener("pointercancel", (event) => handle(event, "up"));
  // A finger that is lifted leaves, too; what it touched stays lit.
  canvas.addEventListener("pointerleave", (event) => parts.hit && event.pointerType !== "touch" && app.hover(null));
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const state = app.store.get();
    const order = Array.from(parts.order?.(state) ?? []);
    if (event.key === "Escape") app.hover(null);
    if (by === undefined || !order.length) return;
    const now = state.hover === null ? -1 : order.indexOf(state.hover);
    app.hover(order[now < 0 ? (by > 0 ? 0 : order.length - 1) : (now + by + order.length) % order.length]);
    event.preventDefault();
    event.stopPropagation();
  });
  return { canvas, update, destroy: () => canvas.remove() };
}

/** The colours of an element by their names, read once for each theme: reading a style is slow. @param {CSSStyleDeclaration} style */
export function inksOf(style) {
  /** @type {Map<string, string>} */ const known = new Map();
  let theme = "";
  return {
    fresh(/** @type {string} */ now) {
      if (now !== theme) known.clear();
      theme = now;
    },
    of(/** @type {string} */ name) {
      const read = known.get(name) ?? (style.getPropertyValue(`--${name}`).trim() || style.color);
      known.set(name, read);
      return read;
    },
  };
}

export const FONT = "12px system-ui, sans-serif";

/** Axes in a box: faint lines at the ticks, their numbers outside, names at the ends.
 * @param {Pen} pen @param {Box} box @param {{x?: Scale|null, y?: Scale|null, xName?: string, yName?: string, whole?: boolean, xTicks?: number[]}} parts
 */
export function axes({ ctx, ink, width }, box, { x = null, y = null, xName = "", yName = "", whole = false, xTicks }) {
  ctx.save();
  ctx.font = FONT;
  ctx.lineWidth = 1;
  if (y) {
    const count = Math.max(3, (box.bottom - box.top) / 45);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const value of y.log ? logTicks(y.low, y.high, count) : ticks(y.low, y.high, count)) {
      const at = Math.round(y(value)) + 0.5;
      stroke(ctx, ink("line"), [box.left, at, box.right, at]);
      ctx.fillStyle = ink("quiet");
      ctx.fillText(written(value), box.left - 5, at);
    }
  }
  if (x) {
    const count = Math.max(2, (box.right - box.left) / 70);
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const found = xTicks ?? (x.log ? logTicks(x.low, x.high, count) : ticks(x.low, x.high, count));
    for (const value of found) {
      if (whole && !x.log && !Number.isInteger(value)) continue;
      const at = Math.round(x(value)) + 0.5;
      stroke(ctx, ink("line"), [at, box.bottom, at, box.bottom + 4]);
      ctx.fillStyle = ink("quiet");
      const text = written(value);
      const half = ctx.measureText(text).width / 2 + 1;
      ctx.fillText(text, Math.min(Math.max(at, half), width - half), box.bottom + 6);
    }
  }
  stroke(ctx, ink("quiet"), [box.left, box.bottom + 0.5, box.right, box.bottom + 0.5]);
  ctx.fillStyle = ink("ink");
  if (xName) {
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.fillText(xName, box.right, box.bottom + 34);
  }
  if (yName) {
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.fillText(yName, Math.max(2, box.left - 40), box.top - 6);
  }
  ctx.restore();
}

/** A line through points x0, y0, x1, y1, ...; NaN lifts the pen.
 * @param {CanvasRenderingContext2D} ctx @param {string} colour @param {ArrayLike<number>} places @param {number} [width] @param {number[]} [dashes]
 */
export function stroke(ctx, colour, places, width = 1, dashes = []) {
  ctx.beginPath();
  let down = false;
  for (let k = 0; k + 1 < places.length; k += 2) {
    if (!Number.isFinite(places[k]) || !Number.isFinite(places[k + 1])) down = false;
    else if (down) ctx.lineTo(places[k], places[k + 1]);
    else {
      ctx.moveTo(places[k], places[k + 1]);
      down = true;
    }
  }
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dashes);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Samples of the kinds, as the certificate numbers them. */
export const OUTSIDE = 0, CANDIDATE = 1, FREE = 2, BOUND = 3;

/** The outline of a class's mark around a place: circle, triangle, square, diamond, ...
 * @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} r @param {number} shape
 */
export function outline(ctx, x, y, r, shape) {
  ctx.beginPath();
  const corners = [0, 3, 4, 4, 3, 5, 6, 3, 8, 5][shape % 10];
  if (!corners) {
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    return;
  }
  const turn = [0, -0.5, -0.25, 0, 0.5, -0.5, 0, 0, 0.125, 0.5][shape % 10] * Math.PI;
  const size = r * [1, 1.3, 1.2, 1.3, 1.3, 1.15, 1.1, 1.3, 1.05, 1.15][shape % 10];
  for (let k = 0; k < corners; k++) {
    const angle = turn + (2 * Math.PI * k) / corners;
    ctx.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
  }
  ctx.closePath();
}

/** A sample: its class by shape and colour, its kind by fill (a support vector) and a dark edge (on the margin).
 * @param {{ctx: CanvasRenderingContext2D, ink: (name: string) => string}} pen @param {number} x @param {number} y @param {number} r @param {number} shape @param {number|null} kind
 */
export function mark({ ctx, ink }, x, y, r, shape, kind) {
  const colour = ink(`class-${shape % 10}`);
  const support = kind === FREE || kind === BOUND;
  const edged = kind === FREE || kind === CANDIDATE;
  outline(ctx, x, y, r, shape);
  ctx.fillStyle = support ? colour : ink("panel");
  ctx.globalAlpha = support ? 1 : 0.8;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = edged ? ink("ink") : colour;
  ctx.lineWidth = edged ? 2 : 1.5;
  ctx.stroke();
}

/** A ring around what is pointed at, in a figure. @param {Pen} pen @param {number} x @param {number} y @param {number} [r] */
export function ring({ ctx, ink }, x, y, r = 11) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.strokeStyle = ink("focus");
  ctx.lineWidth = 3;
  ctx.stroke();
}

/** Words in the middle of an empty figure, in lines that fit. @param {Pen} pen @param {string} words */
export function notice({ ctx, width, height, ink }, words) {
  ctx.font = "14px system-ui, sans-serif";
  ctx.fillStyle = ink("quiet");
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (ctx.measureText(longer).width > width - 30) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  lines.forEach((line, k) => ctx.fillText(line, width / 2, height / 2 + 20 * (k - (lines.length - 1) / 2)));
  ctx.font = FONT;
}

/** Words with a shade of the ground behind them, so that they can be read over a picture.
 * @param {Pen} pen @param {string} words @param {number} x @param {number} y @param {CanvasTextAlign} [align] @param {string} [colour]
 */
export function label({ ctx, ink, width }, words, x, y, align = "left", colour = "ink") {
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const wide = ctx.measureText(words).width;
  const start = Math.min(Math.max(2, x - (align === "center" ? wide / 2 : align === "right" ? wide : 0)), width - wide - 2);
  ctx.globalAlpha = 0.8;
  ctx.fillStyle = ink("panel");
  ctx.fillRect(start - 2, y - 8, wide + 4, 16);
  ctx.globalAlpha = 1;
  ctx.fillStyle = ink(colour);
  ctx.fillText(words, start, y);
}

/** An element with text. @param {HTMLElement} parent @param {string} tag @param {string} [text] @param {string} [name] a class */
export function part(parent, tag, text = "", name = "") {
  const made = parent.ownerDocument.createElement(tag);
  if (text) made.textContent = text;
  if (name) made.className = name;
  parent.append(made);
  return made;
}

/** A row of exclusive choices. @param {HTMLElement} parent @param {string} title @param {Record<string, string>} choices by value
 * @param {string} chosen @param {(value: string) => void} change */
export function choice(parent, title, choices, chosen, change) {
  const row = part(parent, "label", `${title} `, "view-choice");
  const select = /** @type {HTMLSelectElement} */ (part(row, "select"));
  for (const [value, name] of Object.entries(choices)) {
    const option = /** @type {HTMLOptionElement} */ (part(select, "option", name));
    option.value = value;
  }
  select.value = chosen;
  select.addEventListener("change", () => change(select.value));
  return select;
}

/** The shown frame. @param {State} state */
export function frameOf(state) {
  return state.runs[state.shown]?.frame ?? null;
}

/** The class (by index of its label) of a sample, for its shape and colour, which the plane gives to the others, too. @param {State} state @param {number} i */
export function classOf(state, i) {
  return state.points.task === "classification" ? state.points.y[i] : state.points.task === "regression" ? 1 : 0;
}

/** The classes of the shown machine's negative and positive side, by their numbers. @param {State} state @returns {[number, number]} */
export function sidesOf(state) {
  const machine = state.problem?.machines[state.machine];
  const positive = machine?.positive ?? 1;
  return [machine?.negative ?? (positive === 0 ? 1 : 0), positive]; // against all others: one of them
}

/** The part of a problem's array that belongs to the shown machine. @param {State} state @param {"lower"|"upper"|"target"|"weight"} name */
export function ofMachine(state, name) {
  const problem = state.problem;
  if (!problem) return null;
  return problem.arrays[name]?.subarray(state.machine * problem.n, (state.machine + 1) * problem.n) ?? null;
}

/** The item nearest to a place, within a reach. @param {ArrayLike<number>} xs @param {ArrayLike<number>} ys @param {number} x @param {number} y @param {number} [reach] */
export function nearest(xs, ys, x, y, reach = 18) {
  let best = -1;
  let least = reach * reach;
  for (let k = 0; k < xs.length; k++) {
    const apart = (xs[k] - x) ** 2 + (ys[k] - y) ** 2;
    if (apart <= least) [best, least] = [k, apart];
  }
  return best;
}

/**
 * Asks the host for a view, one question at a time; while it is busy only the newest question is kept. An answer is
 * kept by its key until another key is asked for.
 * @param {App} app @param {() => void} ready called when an answer is there
 * @param {number} [patience] milliseconds without a newer question before one is asked: for answers that take long
 */
export function asker(app, ready, patience = 0) {
  /** @type {string} */ let having = "";
  /** @type {any} */ let answer = null;
  let error = "";
  let busy = false;
  let newest = "";
  let timer = 0;
  /** @type {[string, Record<string, any>]|null} */ let waiting = null;
  const ask = async (/** @type {string} */ key, /** @type {Record<string, any>} */ args) => {
    busy = true;
    try {
      const got = await app.request("view", args);
      [having, answer, error] = [key, got, ""];
    } catch (wrong) {
      [having, answer, error] = [key, null, wrong instanceof Error ? wrong.message : String(wrong)];
    }
    busy = false;
    const next = waiting;
    waiting = null;
    if (next && next[0] !== having) ask(...next);
    ready();
  };
  return {
    /** The newest answer, perhaps of an older question. @param {string} key @param {Record<string, any>} args */
    get(key, args) {
      if (key !== having && busy) waiting = [key, args];
      else if (key !== having && !patience) ask(key, args);
      else if (key !== having && key !== newest) {
        clearTimeout(timer);
        timer = window.setTimeout(() => key === newest && key !== having && !busy && ask(key, args), patience);
      }
      newest = key;
      return { answer, error: key === having ? error : "", current: key === having };
    },
  };
}
