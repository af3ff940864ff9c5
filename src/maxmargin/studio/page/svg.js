// A context that writes SVG: as much of a canvas's context as the plane uses, so that both draw with the same code.

/** A text as XML. @param {string} value */
const escaped = (value) => value.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const short = (/** @type {number} */ x) => String(Math.round(x * 100) / 100);

export class SvgContext {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    /** @type {string[]} */ this.parts = [];
    this.path = "";
    /** @type {number[]} */ this.dashes = [];
    this.fillStyle = this.strokeStyle = "#000";
    this.lineWidth = this.globalAlpha = 1;
    this.font = "12px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.imageSmoothingEnabled = true;
    /** @type {*[]} */ this.stack = [];
  }

  beginPath() { this.path = ""; }
  closePath() { this.path += "Z"; }
  /** @param {number} x @param {number} y */
  moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
  /** @param {number} x @param {number} y */
  lineTo(x, y) { this.path += `${this.path && !this.path.endsWith("Z") ? "L" : "M"}${short(x)} ${short(y)}`; }
  /** A whole circle. @param {number} x @param {number} y @param {number} r */
  arc(x, y, r) { this.path += `M${short(x - r)} ${short(y)}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0Z`; }
  /** @param {number[]} dashes */
  setLineDash(dashes) { this.dashes = dashes; }
  save() { this.stack.push([this.fillStyle, this.strokeStyle, this.lineWidth, this.globalAlpha, this.font, this.textAlign, this.textBaseline]); }
  restore() { [this.fillStyle, this.strokeStyle, this.lineWidth, this.globalAlpha, this.font, this.textAlign, this.textBaseline] = this.stack.pop(); }
  clearRect() {}
  fill() { if (this.path) this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}" opacity="${this.globalAlpha}"/>`); }
  stroke() {
    if (!this.path) return;
    const dash = this.dashes.length ? ` stroke-dasharray="${this.dashes.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" opacity="${this.globalAlpha}"${dash}/>`);
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) { this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${this.fillStyle}"/>`); }
  strokeRect() {}
  /** @param {string} words @param {number} x @param {number} y */
  fillText(words, x, y) {
    const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] ?? "start";
    const base = { middle: "central", top: "hanging" }[this.textBaseline] ?? "auto";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${this.fillStyle}" font-size="12" font-family="sans-serif" text-anchor="${anchor}" dominant-baseline="${base}">${escaped(words)}</text>`);
  }
  /** @param {string} words */
  measureText(words) { return { width: 6.5 * words.length }; }
  /** @param {HTMLCanvasElement} image @param {number} x @param {number} y @param {number} w @param {number} h */
  drawImage(image, x, y, w, h) {
    this.parts.push(`<image x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" preserveAspectRatio="none" href="${image.toDataURL()}"/>`);
  }

  toString() {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n<clipPath id="plane"><rect width="${width}" height="${height}"/></clipPath>\n<g clip-path="url(#plane)">\n${this.parts.join("\n")}\n</g>\n</svg>\n`;
  }
}
