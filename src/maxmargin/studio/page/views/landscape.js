// The primal over the plane of w (with the best bias for each), its contours, and where the runs went on it.

import { levelLine } from "../geometry.js";
import { asker, axes, choice, figure, frameOf, label, linear, notice, outline, part, stroke, written } from "./chart.js";

/** @typedef {import("../types.js").State} State */

const DASHES = [[], [7, 3], [2, 3], [8, 3, 2, 3]];
const LEVELS = 12;

/** Heights of contours, closer together near the least value, where a quadratic is flat. @param {number} least @param {number} most */
export function levelsOf(least, most) {
  return Array.from({ length: LEVELS }, (_, k) => least + (most - least) * ((k + 1) / (LEVELS + 1)) ** 2);
}

/** @type {import("../types.js").View} */
export const landscape = {
  id: "landscape",
  title: "Landscape",
  doc: "The primal over (w₁, w₂), each with its best bias, and the path of each run towards its lowest point.",
  applies(state) {
    if (state.settings.kernel !== "linear") return "The landscape is the plane of w: it needs the linear kernel.";
    if (!Number.isFinite(state.settings.C)) return "The primal of a hard margin is infinite wherever a constraint is violated: choose a finite C.";
    return true;
  },
  mount(el, app) {
    let reach = "1";
    const bar = part(el, "div", "", "view-bar");
    choice(bar, "Show:", { 0.4: "close", 1: "with the origin", 4: "far" }, reach, (value) => {
      reach = value;
      shown.update(app.store.get());
    });
    const said = part(bar, "output", "", "view-said");
    const again = () => shown.update(app.store.get());
    const asked = asker(app, again, 150);
    /** @type {ReturnType<typeof tracker>[]} */ const tracks = Array.from({ length: 4 }, () => tracker(app, again));
    /** @type {any} */ let answer = null;
    /** @type {{key: any, image: HTMLCanvasElement}|null} */ let kept = null;
    const shown = figure(el, app, {
      height: (width) => Math.min(440, Math.max(300, width * 0.75)),
      draw(pen, state) {
        if (!state.problem) return notice(pen, state.problemError || "There is no problem yet.");
        const got = asked.get(`${state.problem.problem}/${state.machine}/${reach}`, {
          problem: state.problem.problem, machine: state.machine, name: "landscape", reach: Number(reach),
        });
        if (got.error) return notice(pen, (said.textContent = got.error));
        answer = got.answer;
        if (!answer) return notice(pen, "…");
        const box = { left: 52, right: pen.width - 14, top: 22, bottom: pen.height - 40 };
        const x = linear(answer.x0, answer.x1, box.left, box.right);
        const y = linear(answer.y0, answer.y1, box.bottom, box.top);
        if (!kept || kept.key !== answer || kept.image.dataset.theme !== state.theme) kept = { key: answer, image: shaded(pen, answer, state.theme) };
        pen.ctx.imageSmoothingEnabled = true;
        pen.ctx.drawImage(kept.image, box.left, box.top, box.right - box.left, box.bottom - box.top);
        contours(pen, box, answer);
        axes(pen, box, { x, y, xName: answer.axes[0], yName: answer.axes[1] + (answer.bias ? "   (b at its best for each w)" : "") });
        pen.ctx.save();
        pen.ctx.beginPath();
        pen.ctx.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
        pen.ctx.clip();
        state.runs.forEach((run, r) => drawTrack(pen, x, y, tracks[r].points(run.frame), r, state));
        const [bx, by] = [x(answer.arrays.best[0]), y(answer.arrays.best[1])];
        star(pen, bx, by);
        pen.ctx.restore();
        label(pen, `★ least: ${written(answer.least, 5)}`, box.left + 8, box.bottom - 14);
        said.textContent = words(state, tracks, answer);
      },
      tell: (state) => (answer ? `Landscape of the primal, its least value is ${written(answer.least, 5)}. ${words(state, tracks, answer)}` : "Landscape: nothing yet."),
    });
    return shown;
  },
};

/** Where a run went: asked for as it grows, what is new alone. @param {import("../types.js").App} app @param {() => void} ready */
function tracker(app, ready) {
  let run = "";
  /** @type {number[]} */ let places = [];
  let busy = false;
  return {
    /** @param {import("../types.js").Frame|null} frame @returns {number[]} */
    points(frame) {
      if (!frame?.run) return [];
      const key = `${frame.run}/${frame.machine}`;
      if (key !== run) [run, places] = [key, []];
      const had = places.length / 2;
      if (frame.index >= had && !busy) {
        busy = true;
        app
          .request("view", { run: frame.run, index: frame.index, machine: frame.machine, name: "track", first: had })
          .then((answer) => {
            if (key === run && places.length / 2 === answer.first) places.push(...answer.arrays.points);
            busy = false;
            if (answer.arrays.points.length) ready();
          })
          .catch(() => (busy = false));
      }
      return places.slice(0, 2 * (frame.index + 1));
    },
  };
}

/** @param {import("./chart.js").Pen} pen @param {any} answer @param {string} theme */
function shaded(pen, answer, theme) {
  const [ny, nx] = answer.arrays.values.shape;
  const image = document.createElement("canvas");
  [image.width, image.height] = [nx, ny];
  image.dataset.theme = theme;
  const ctx = /** @type {CanvasRenderingContext2D} */ (image.getContext("2d"));
  const values = answer.arrays.values;
  const most = Math.max(...values);
  const pixels = ctx.createImageData(nx, ny);
  const dark = theme === "dark";
  for (let j = 0; j < ny; j++)
    for (let i = 0; i < nx; i++) {
      const share = Math.sqrt(Math.max(0, (values[j * nx + i] - answer.least) / (most - answer.least || 1)));
      const at = 4 * ((ny - 1 - j) * nx + i);
      const grey = dark ? 110 - 85 * share : 255 - 95 * share;
      pixels.data.set([grey * (dark ? 0.75 : 0.95), grey, dark ? grey * 1.1 : grey, 255], at);
    }
  ctx.putImageData(pixels, 0, 0);
  return image;
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Box} box @param {any} answer */
function contours({ ctx, ink }, box, answer) {
  const [ny, nx] = answer.arrays.values.shape;
  const most = Math.max(...answer.arrays.values);
  const x = (/** @type {number} */ i) => box.left + (i / (nx - 1)) * (box.right - box.left);
  const y = (/** @type {number} */ j) => box.bottom - (j / (ny - 1)) * (box.bottom - box.top);
  for (const level of levelsOf(answer.least, most)) {
    const parts = levelLine(answer.arrays.values, nx, ny, level);
    ctx.beginPath();
    for (let k = 0; k < parts.length; k += 4) {
      ctx.moveTo(x(parts[k]), y(parts[k + 1]));
      ctx.lineTo(x(parts[k + 2]), y(parts[k + 3]));
    }
    ctx.strokeStyle = ink("quiet");
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
}

/** @param {import("./chart.js").Pen} pen @param {import("./chart.js").Scale} x @param {import("./chart.js").Scale} y @param {number[]} points @param {number} r @param {State} state */
function drawTrack({ ctx, ink }, x, y, points, r, state) {
  if (!points.length) return;
  const colour = ink(state.runs.length === 1 ? "accent" : `run-${r}`);
  // A run that diverges leaves for numbers that no canvas can hold.
  const tame = (/** @type {number} */ at) => Math.min(Math.max(at, -1e5), 1e5);
  const places = points.map((value, k) => tame(k % 2 ? y(value) : x(value)));
  stroke(ctx, colour, places, 2, DASHES[r]);
  if (points.length <= 160) {
    ctx.fillStyle = colour;
    for (let k = 0; k < places.length; k += 2) ctx.fillRect(places[k] - 1.5, places[k + 1] - 1.5, 3, 3);
  }
  outline(ctx, places[places.length - 2], places[places.length - 1], 5.5, 0);
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.strokeStyle = ink("panel");
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

/** @param {import("./chart.js").Pen} pen @param {number} x @param {number} y */
function star({ ctx, ink }, x, y) {
  ctx.beginPath();
  for (let k = 0; k < 10; k++) {
    const r = k % 2 ? 4 : 9;
    ctx.lineTo(x + r * Math.sin((k * Math.PI) / 5), y - r * Math.cos((k * Math.PI) / 5));
  }
  ctx.closePath();
  ctx.fillStyle = ink("ink");
  ctx.fill();
  ctx.strokeStyle = ink("panel");
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

/** @param {State} state @param {ReturnType<typeof tracker>[]} tracks @param {any} answer */
function words(state, tracks, answer) {
  const points = tracks[state.shown]?.points(frameOf(state)) ?? [];
  if (!points.length) return "";
  const [a, b] = points.slice(-2);
  const outside = a < answer.x0 || a > answer.x1 || b < answer.y0 || b > answer.y1;
  const at = `${answer.axes[0]} = ${written(a)}, ${answer.axes[1]} = ${written(b)}`;
  return `${points.length / 2} steps; now ${at}${outside ? ", outside the picture" : ""}`;
}
