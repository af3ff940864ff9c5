// What the plane and the views share: canvases, axes, marks of samples, and numbers as text.

/**
 * A canvas that fills the width of an element, in CSS pixels whatever the screen's density.
 * @param {HTMLElement} el
 * @param {number|((width: number) => number)} height
 * @param {(ctx: CanvasRenderingContext2D, width: number, height: number) => void} draw
 * @param {string} [label] what a screen reader says of it
 * @returns {{node: HTMLCanvasElement, redraw: () => void, destroy: () => void}}
 */
export function canvas(el, height, draw, label) {
  const node = document.createElement("canvas");
  node.setAttribute("role", "img");
  if (label) node.setAttribute("aria-label", label);
  el.append(node);
  const ctx = /** @type {CanvasRenderingContext2D} */ (node.getContext("2d"));
  const redraw = () => {
    const width = el.clientWidth;
    if (!width) return;
    const tall = typeof height === "function" ? height(width) : height;
    const density = window.devicePixelRatio || 1;
    if (node.width !== Math.round(width * density) || node.height !== Math.round(tall * density)) {
      node.width = Math.round(width * density);
      node.height = Math.round(tall * density);
      node.style.width = `${width}px`;
      node.style.height = `${tall}px`;
    }
    ctx.setTransform(density, 0, 0, density, 0, 0);
    ctx.clearRect(0, 0, width, tall);
    draw(ctx, width, tall);
  };
  let before = 0;
  const observer = new ResizeObserver(() => {
    if (el.clientWidth !== before) requestAnimationFrame(redraw);
    before = el.clientWidth;
  });
  observer.observe(el);
  return { node, redraw, destroy: () => (observer.disconnect(), node.remove()) };
}

/**
 * A linear or logarithmic map from values to pixels, with its inverse.
 * @param {number} low
 * @param {number} high
 * @param {number} from the pixel of `low`
 * @param {number} to the pixel of `high`
 * @param {boolean} [log]
 * @returns {((value: number) => number) & {inverse: (pixel: number) => number, low: number, high: number, log: boolean}}
 */
export function scale(low, high, from, to, log = false) {
  const f = log ? (/** @type {number} */ x) => Math.log(Math.max(x, 1e-300)) : (/** @type {number} */ x) => x;
  const [a, b] = [f(low), f(high) === f(low) ? f(low) + 1 : f(high)];
  const map = (/** @type {number} */ x) => from + ((f(x) - a) / (b - a)) * (to - from);
  const inverse = (/** @type {number} */ pixel) => {
    const at = a + ((pixel - from) / (to - from)) * (b - a);
    return log ? Math.exp(at) : at;
  };
  return Object.assign(map, { inverse, low, high, log });
}

/**
 * About `count` round numbers between low and high.
 * @param {number} low
 * @param {number} high
 * @param {number} [count]
 * @returns {number[]}
 */
export function ticks(low, high, count = 5) {
  if (!(high > low) || !Number.isFinite(high - low)) return Number.isFinite(low) ? [low] : [];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((one) => one * power >= raw * 0.999) ?? 10) * power;
  const made = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) made.push(Number((i * step).toPrecision(12)));
  return made;
}

/**
 * Powers of ten between low and high, thinned to about `count`.
 * @param {number} low
 * @param {number} high
 * @param {number} [count]
 * @returns {number[]}
 */
export function logTicks(low, high, count = 6) {
  if (!(low > 0) || !(high >= low)) return [];
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.max(1, Math.ceil((to - from + 1) / count));
  const made = [];
  for (let i = from; i <= to; i += stride) made.push(10 ** i);
  return made.length ? made : [low];
}

/**
 * Draw an axis with ticks, labels and faint grid lines; the scale's own `log` decides the ticks.
 * @param {CanvasRenderingContext2D} ctx
 * @param {ReturnType<typeof scale>} map
 * @param {{side: "bottom"|"left"|"right", at: number, across: [number, number], colours: Record<string, string>, label?: string, count?: number, grid?: boolean}} where
 *   `at`: the pixel of the axis line; `across`: the pixels that grid lines span
 */
export function axis(ctx, map, where) {
  const { side, at, across, colours } = where;
  const values = map.log ? logTicks(map.low, map.high, where.count) : ticks(map.low, map.high, where.count);
  ctx.save();
  ctx.font = "11px system-ui, sans-serif";
  ctx.lineWidth = 1;
  ctx.textAlign = side === "bottom" ? "center" : side === "left" ? "right" : "left";
  ctx.textBaseline = side === "bottom" ? "top" : "middle";
  for (const value of values) {
    const pixel = Math.round(map(value)) + 0.5;
    ctx.beginPath();
    if (where.grid !== false) {
      ctx.strokeStyle = colours.line;
      ctx.moveTo(side === "bottom" ? pixel : across[0], side === "bottom" ? across[0] : pixel);
      ctx.lineTo(side === "bottom" ? pixel : across[1], side === "bottom" ? across[1] : pixel);
      ctx.stroke();
    }
    ctx.fillStyle = colours.quiet;
    if (side === "bottom") ctx.fillText(format(value), pixel, at + 4);
    else ctx.fillText(format(value), side === "left" ? at - 5 : at + 5, pixel);
  }
  if (where.label) {
    ctx.fillStyle = colours.quiet;
    if (side === "bottom") {
      ctx.textAlign = "right";
      ctx.fillText(where.label, Math.max(map(map.low), map(map.high)), at + 17);
    } else {
      ctx.textAlign = side === "left" ? "left" : "right";
      ctx.textBaseline = "bottom";
      ctx.fillText(where.label, side === "left" ? 2 : at + 40, Math.min(map(map.low), map(map.high)) - 3);
    }
  }
  ctx.restore();
}

/** The names of the kinds, by the number that a frame has for them. */
export const KINDS = ["outside", "candidate", "free", "bound"];

/**
 * The outline of a class's mark: classes differ by shape besides colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} index of the class
 */
export function outline(ctx, x, y, r, index) {
  ctx.beginPath();
  if (index % 5 === 0) return ctx.arc(x, y, r, 0, 2 * Math.PI);
  if (index % 5 === 1) return ctx.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  const corners = [0, 0, 3, 4, 5][index % 5];
  const big = [0, 0, 1.35, 1.25, 1.15][index % 5] * r;
  for (let i = 0; i < corners; i++) {
    const angle = (2 * Math.PI * i) / corners - Math.PI / 2;
    ctx[i ? "lineTo" : "moveTo"](x + big * Math.cos(angle), y + big * Math.sin(angle));
  }
  ctx.closePath();
}

/**
 * The mark of one sample: the class by shape and colour, the kind by its filling. Outside: hollow. Candidate: hollow with
 * a dot. Free: full, with a ring. Bound: full, with a thick dark edge.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} size the radius in pixels
 * @param {number} classIndex
 * @param {number|null} kind 0 outside, 1 candidate, 2 free, 3 bound; null or 255: not known
 * @param {Record<string, string>} colours
 */
export function marker(ctx, x, y, size, classIndex, kind, colours) {
  const colour = colours[`class-${classIndex % 10}`];
  outline(ctx, x, y, size, classIndex);
  ctx.lineWidth = 1.6;
  ctx.strokeStyle = colour;
  ctx.fillStyle = kind === 0 || kind === 1 ? colours.ground : colour;
  if (kind === null || kind === 255) ctx.globalAlpha = 0.75;
  ctx.fill();
  ctx.globalAlpha = 1;
  if (kind === 3) {
    ctx.lineWidth = 2.2;
    ctx.strokeStyle = colours.ink;
  }
  ctx.stroke();
  if (kind === 1) {
    ctx.beginPath();
    ctx.arc(x, y, Math.max(1.2, size * 0.3), 0, 2 * Math.PI);
    ctx.fillStyle = colour;
    ctx.fill();
  }
  if (kind === 2) {
    outline(ctx, x, y, size + 3, classIndex);
    ctx.lineWidth = 1.4;
    ctx.strokeStyle = colours.ink;
    ctx.stroke();
  }
}

/**
 * A number as a person reads it: four digits, powers of ten where it is very small or large.
 * @param {number|null|undefined} value
 * @param {number} [digits]
 * @returns {string}
 */
export function format(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const plain = size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(digits))) : power(value, digits);
  return plain.replace("-", "−");
}

/**
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
function power(value, digits) {
  const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
  const raised = String(Number(exponent)).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)] ?? "⁻");
  const short = String(Number(mantissa));
  return short === "1" ? `10${raised}` : `${short}·10${raised}`;
}
