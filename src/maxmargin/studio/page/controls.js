// The data and the problem: menus and sliders from the registry, and the library's own sentences where it refuses.

import { fieldControl, rebuilt } from "./fields.js";
import { h, labelled, menu, slider, text } from "./dom.js";
import { base64, count, forTask, pointsOf } from "./points.js";

/** @typedef {import("./types.js").State} State */

/** Settings for a task, as it begins. @param {import("./types.js").Task} task @returns {import("./types.js").Settings} */
export function settingsFor(task) {
  const loss = { classification: "hinge", regression: "epsilon-insensitive", novelty: "one-class" }[task];
  const kernel = task === "classification" ? "linear" : "rbf";
  const lossFields = task === "novelty" ? { nu: 0.1 } : {};
  return { loss, lossFields, kernel, kernelFields: {}, bias: "free", regularizer: "l2", C: task === "regression" ? 10 : 1, nu: null, classWeight: null, scheme: "ovo" };
}

/**
 * The data: toy sets and files.
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountData(el, app) {
  let shape = "";
  const note = h("p", { class: "note" });
  const load = async (/** @type {import("./types.js").ToyChoice} */ toy) => {
    try {
      app.setPoints(pointsOf(await app.request("toy", toy), null, toy));
    } catch (error) {
      app.say(/** @type {Error} */ (error).message);
    }
  };
  const file = h("input", { type: "file", class: "hidden", onchange: () => file.files?.[0] && app.readFile(file.files[0]) });
  const paste = h("textarea", { rows: 3, "data-key": "paste", placeholder: "x,y,class\n1.2,0.5,a\n…", "aria-label": "rows to paste: CSV with a header, or svmlight" });
  const use = () => {
    const typed = paste.value;
    if (!typed.trim()) return app.say("Paste some rows first: CSV with a header line, or svmlight.");
    const svmlight = /^\s*[-+\w.]+(\s+\d+:[-+\d.eE]+)+\s*$/m.test(typed.split("\n")[0]);
    app.importFile(svmlight ? "pasted.svmlight" : typed.includes("\t") ? "pasted.tsv" : "pasted.csv", base64(new TextEncoder().encode(typed)));
  };


  /** @param {State} state */
  const update = (state) => {
    const { hello, points } = state;
    text(note, `${count(points)} samples. ${points.note}`);
    const toy = points.toy ?? null;
    const now = JSON.stringify([hello?.version, toy, points.columns, points.shown, Boolean(points.file), points.task]);
    if (!hello || now === shape) return;
    shape = now;
    const info = hello.toys.find((one) => one.name === toy?.name);
    const change = (/** @type {Partial<import("./types.js").ToyChoice>} */ patch) => load({ ...(toy ?? { name: "clouds" }), ...patch });
    const pick = menu([...(info ? [] : [{ name: "", title: "own points" }]), ...hello.toys.map((one) => ({ name: one.name, title: `${one.title}${one.task === "classification" ? "" : ` (${one.task})`}` }))], info?.name ?? "", (name) => {
      const chosen = hello.toys.find((one) => one.name === name);
      if (chosen) load({ name, n: chosen.n, noise: chosen.noise, classes: chosen.classes[0], seed: toy?.seed ?? 0 });
    }, { "data-key": "toy" });
    const free = info && !(/** @type {any} */ (info).fixed);
    rebuilt(el, [
      h("h2", {}, "Data"),
      labelled("toy set", pick, info?.doc),
      free && slider({ label: "samples", low: 4, high: 1000, log: true, whole: true, value: toy?.n ?? info.n, changed: (n, final) => final && change({ n }) }),
      free && slider({ label: "noise", low: 0, high: 2, value: toy?.noise ?? info.noise, changed: (noise, final) => final && change({ noise }) }),
      info && info.classes[1] > info.classes[0] && slider({ label: "classes", low: info.classes[0], high: info.classes[1], whole: true, value: toy?.classes ?? info.classes[0], changed: (classes, final) => final && change({ classes }) }),
      h("div", { class: "row" },
        info && h("button", { type: "button", "data-key": "draw", onclick: () => change({ seed: (toy?.seed ?? 0) + 1 }) }, "Draw anew"),
        h("button", { type: "button", "data-key": "clear", onclick: () => app.clear() }, "Clear")),
      labelled("task", menu([{ name: "classification", title: "classes" }, { name: "regression", title: "regression: height is the target" }, { name: "novelty", title: "one class" }], points.task, (task) => app.setPoints(forTask(points, /** @type {any} */ (task))), { "data-key": "task" })),
      note,
      points.file && points.columns && points.columns.length > 2 && points.task !== "regression" && columnsMenu(points, app),
      h("details", {}, h("summary", {}, "Your own data"),
        h("p", { class: "note" }, `Drop a file here, choose one, or paste rows (${hello.formats.join(" ")}).`),
        file, h("button", { type: "button", "data-key": "file", onclick: () => file.click() }, "Choose a file"), paste,
        h("button", { type: "button", "data-key": "use", onclick: use }, "Use these rows")),
    ]);
  };
  return { update, destroy: () => el.replaceChildren() };
}

/** Which two features of a file are shown. @param {import("./types.js").Points} points @param {*} app */
function columnsMenu(points, app) {
  const { file, shown } = points;
  const names = [{ name: "", title: "principal plane" }, ...(points.columns ?? []).map((one, i) => ({ name: String(i), title: one }))];
  const choose = (/** @type {HTMLSelectElement} */ one, /** @type {HTMLSelectElement} */ other) => {
    if (!one.value) other.value = "";
    if (Boolean(one.value) === Boolean(other.value) && (!one.value || one.value !== other.value) && file) app.importFile(file.name, file.data, one.value ? [Number(first.value), Number(second.value)] : undefined);
  };
  /** @type {HTMLSelectElement} */ const first = menu(names, String(shown?.[0] ?? ""), () => choose(first, second), { "data-key": "first feature" });
  /** @type {HTMLSelectElement} */ const second = menu(names, String(shown?.[1] ?? ""), () => choose(second, first), { "data-key": "second feature" });
  return h("div", {}, labelled("across", first), labelled("upwards", second));
}

/**
 * The problem: loss, kernel, bias, C and what else there is.
 * @param {HTMLElement} el
 * @param {*} app
 */
export function mountProblem(el, app) {
  let shape = "";
  /** @type {{show: (value: number) => void}|null} */
  let C = null;
  const refusal = h("p", { class: "refusal", role: "alert" });
  const told = h("p", { class: "note" });

  /** @param {State} state */
  const update = (state) => {
    const { hello, settings, points, problem } = state;
    text(refusal, state.problemError);
    refusal.hidden = !state.problemError;
    text(told, problem ? `${problem.n} samples, ${problem.machines.length === 1 ? "one machine" : `${problem.machines.length} machines`}${problem.note ? `. ${problem.note}` : ""}` : "");
    C?.show(settings.C);
    const fitted = problem?.kernel.name === settings.kernel ? Number(problem.kernel.gamma).toPrecision(3) : "";
    const now = JSON.stringify([hello?.version, points.task, points.labels, settings.loss, settings.kernel, settings.bias, settings.regularizer, settings.nu !== null, settings.scheme, settings.classWeight, Object.values(settings.lossFields), Object.values(settings.kernelFields).map((one) => typeof one === "number" || one), fitted]);
    if (!hello || now === shape || (shape && el.querySelector("input[type=range]:active"))) return;
    shape = now;
    const loss = hello.losses.find((one) => one.name === settings.loss);
    const kernel = hello.kernels.find((one) => one.name === settings.kernel);
    const costly = !(settings.loss === "one-class");
    C = costly && settings.nu === null ? slider({ label: "C", low: 1e-3, high: 1e4, log: true, infinity: Boolean(loss?.hard_margin), value: settings.C, title: "How much an error costs; ∞ is the hard margin.", changed: (value, final) => app.change({ C: value }, final ? "" : "C") }) : null;
    rebuilt(el, [
      h("h2", {}, "Problem"), refusal,
      labelled("loss", menu(hello.losses.filter((one) => one.tasks.includes(points.task)), settings.loss, (name) => app.change({ loss: name, lossFields: {}, nu: null, C: Number.isFinite(settings.C) || hello.losses.find((one) => one.name === name)?.hard_margin ? settings.C : 1 }), { "data-key": "loss" }), loss?.doc),
      ...(loss?.fields ?? []).map((field) => fieldControl(field, settings.lossFields[field.name], (value, final) => app.change({ lossFields: { ...app.store.get().settings.lossFields, [field.name]: value } }, final ? "" : field.name))),
      labelled("kernel", menu(hello.kernels, settings.kernel, (name) => app.change({ kernel: name, kernelFields: {} }), { "data-key": "kernel" }), kernel?.doc),
      ...(kernel?.fields ?? []).map((field) => fieldControl(field, settings.kernelFields[field.name], (value, final) => app.change({ kernelFields: { ...app.store.get().settings.kernelFields, [field.name]: value } }, final ? "" : field.name), Number(problem?.kernel[field.name]))),
      /** @type {any} */ (C),
      ["hinge", "epsilon-insensitive"].includes(settings.loss) && nuControl(settings, app),
      labelled("bias", menu(hello.biases, settings.bias, (bias) => app.change({ bias }), { "data-key": "bias" })),
      (settings.kernel === "linear" || settings.regularizer !== "l2") && points.task !== "novelty" && labelled("regulariser", menu(hello.regularizers, settings.regularizer ?? "l2", (regularizer) => app.change({ regularizer }), { "data-key": "regularizer" })),
      ...(points.task === "classification" ? weightControls(settings, points.labels, app) : []),
      points.labels.length > 2 && points.task === "classification" && labelled("classes", menu(hello.schemes, settings.scheme, (scheme) => app.change({ scheme }), { "data-key": "scheme" })),
      told,
    ]);
  };
  return { update, destroy: () => el.replaceChildren() };
}

/** ν in the place of C, or of ε. @param {import("./types.js").Settings} settings @param {*} app */
function nuControl(settings, app) {
  const box = h("input", { type: "checkbox", checked: settings.nu !== null, "data-key": "nu on", onchange: () => app.change({ nu: box.checked ? 0.3 : null }) });
  const tick = h("label", { class: "field tick" }, box, settings.loss === "hinge" ? "ν in the place of C" : "ν in the place of ε");
  return h("div", {}, tick, settings.nu !== null && slider({ label: "ν (nu)", low: 0.01, high: 1, value: settings.nu, changed: (nu, final) => app.change({ nu }, final ? "" : "nu") }));
}

/** What the errors of each class cost, beside C. @param {import("./types.js").Settings} settings @param {string[]} labels @param {*} app */
function weightControls({ classWeight: now }, labels, app) {
  const own = typeof now === "object" ? now : null;
  const set = (/** @type {string} */ label, /** @type {number} */ weight, /** @type {boolean} */ final) => app.change({ classWeight: { ...app.store.get().settings.classWeight, [label]: weight } }, final ? "" : `weight ${label}`);
  const kinds = { "": null, balanced: "balanced", own: Object.fromEntries(labels.map((label) => [label, 1])) };
  return [
    labelled("class weights", menu([{ name: "", title: "equal" }, { name: "balanced", title: "balanced" }, { name: "own", title: "own" }], own ? "own" : now ? "balanced" : "", (value) => app.change({ classWeight: /** @type {any} */ (kinds)[value] }), { "data-key": "weights" }), "C is multiplied by the weight of the sample's class."),
    ...(own ? labels.map((label) => slider({ label: `weight of class ${label}`, low: 0.01, high: 100, log: true, value: own[label] ?? 1, changed: (weight, final) => set(label, weight, final) })) : []),
  ];
}
