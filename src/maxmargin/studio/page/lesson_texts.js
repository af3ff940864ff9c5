// The words and tasks of the tours. A `check` sees the state now and the state when the step began.

import { accuracyOf } from "./points.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Lesson} Lesson */

const frameOf = (/** @type {State} */ s) => s.runs[s.shown]?.frame ?? null;
const own = (/** @type {State} */ s) => (frameOf(s) && !frameOf(s)?.solved ? frameOf(s) : null);
const count = (/** @type {State} */ s) => s.points.xy.length / 2;
const current = (/** @type {State} */ s) => frameOf(s)?.arrays.beta.length === count(s) && s.problem?.n === count(s);
const support = (/** @type {State} */ s) => { const c = frameOf(s)?.certificate.counts; return c ? c.free + c.bound : 0; };
const gap = (/** @type {State} */ s) => own(s)?.certificate.relative_gap ?? Infinity;
const proved = (/** @type {State} */ s) => Boolean(current(s) && frameOf(s)?.certificate.holds);
const ran = (/** @type {State} */ s) => Boolean(current(s) && own(s)?.certificate.holds);
const optionOf = (/** @type {State} */ s, /** @type {string} */ name) => s.runs[s.shown]?.options[name];
const pressed = "Press play and watch.";
const clouds = { name: "clouds", n: 40, noise: 0.8, classes: 2, seed: 0 };
const overlap = { name: "overlap", n: 40, seed: 1 };
const augmented = { bias: "augmented" };

/** @type {Lesson[]} */
export const lessons = [
  {
    name: "margin", title: "The margin and its support vectors", steps: [
      { title: "The widest street", set: { toy: clouds, settings: { C: 100 }, solvers: [["smo", {}]], live: true, tool: "points", views: ["duals"] },
        text: "The black line separates two classes. The dashed lines are its margins: the street between them is as wide as can be.\nFilled samples hold it in place: the support vectors. Their size shows their multiplier α.",
        task: "Move a support vector, and see the margin answer.", hint: "Drag a filled sample. With the keyboard: N goes to the next sample, the arrows move it.",
        check: (s, b) => proved(s) && s.points !== b?.points && count(s) === count(/** @type {State} */ (b)), done: "The margin answered at once, and the verdict says that it is proved." },
      { title: "The others do not matter", set: { toy: clouds, settings: { C: 100 }, live: true, views: ["duals"] },
        text: "A hollow sample has α = 0: it is not part of the solution.",
        task: "Delete a sample that is not a support vector: nothing moves.", hint: "Choose Erase above the plane and click a hollow sample far from the street.",
        check: (s, b) => proved(s) && b !== null && count(s) < count(b) && Math.abs((frameOf(s)?.certificate.primal ?? 0) - (frameOf(b)?.certificate.primal ?? 1)) < 1e-3 * Math.abs(frameOf(b)?.certificate.primal ?? 1), done: "The objective is the same as before. This is what leave-one-out bounds rest on." },
      { title: "Exactly three", text: "In the plane, a street in general position is held by two or three samples.",
        set: { toy: overlap, settings: { C: 1 }, live: true, views: ["duals"] },
        task: "Leave exactly 3 support vectors: change C, move or delete samples.", hint: "A larger C tolerates fewer samples inside the street. Delete those that lie on the wrong side.",
        check: (s) => proved(s) && support(s) === 3, done: "Three support vectors, and the proof beside them." },
    ],
  },
  {
    name: "gap", title: "Primal, dual and the gap between them", solver: "smo", steps: [
      { title: "Two curves that close in", set: { toy: overlap, settings: { C: 1 }, solvers: [["smo", {}]], single: true, live: false, views: ["curves", "gaps"], speed: 10, play: true },
        text: "The dual value rises and never lies above the optimum. The primal value never lies below it. So their difference, the gap, bounds how far either can be off. No other knowledge is needed: this is the proof.",
        task: "Let it run until the gap is below the tolerance.", hint: "The button at the far right of the row under the plane runs to the end.", check: ran, done: "P and D agree to a millionth: nobody can do better, whatever the method." },
      { title: "Stop earlier", set: { toy: overlap, settings: { C: 1 }, solvers: [["smo", {}]], live: false, views: ["curves"] },
        text: "A gap of one per cent is often enough to predict with.", task: "Find the first recorded frame whose relative gap is below 0.01, and stay there.",
        hint: "Run to the end, then scrub back with the slider or the step buttons.", check: (s) => !s.playing && gap(s) < 0.01 && (s.runs[s.shown].trace[(own(s)?.index ?? 0) - 1]?.relative_gap ?? 1) >= 0.01 && (own(s)?.index ?? 0) > 0,
        done: "From here on, each further digit costs more updates and changes the line less." },
    ],
  },
  {
    name: "subgradient", title: "Sub-gradient descent (source 000, algorithm 1)", solver: "subgradient", steps: [
      { title: "Downhill on a landscape with edges", set: { toy: clouds, settings: augmented, solvers: [["subgradient", { step: "1/t", rate: 0.5 }]], live: false, speed: 30, views: ["curves", "landscape"], play: true },
        text: "The primal is convex, but has edges where a sample meets its margin. A sub-gradient need not point downhill: the primal curve is not monotone, and the gap closes slowly.", task: pressed, check: (s) => (own(s)?.index ?? 0) >= 25 && gap(s) < 0.5, hint: "Press play; let 25 iterates go by.", done: "It gets near quickly, and then takes its time." },
      { title: "A constant step", set: { toy: clouds, settings: augmented, solvers: [["subgradient", { step: "constant", rate: 0.1 }]], live: false, speed: 30, views: ["curves", "landscape"] },
        text: "With a constant step it never settles: it jumps about the optimum, at a distance that the step sets.", task: "Choose a rate of 0.01 or less, and get below a relative gap of 0.2.",
        hint: "Open “its knobs”, write 0.01 for the rate, and run to the end.", check: (s) => Number(optionOf(s, "rate")) <= 0.01 && gap(s) < 0.2, done: "Smaller steps end nearer, and take longer to get there." },
    ],
  },
  {
    name: "projected", title: "Projected gradient ascent (source 000, algorithm 2)", solver: "projected-gradient", steps: [
      { title: "Up the dual, back into the box", set: { toy: clouds, settings: augmented, solvers: [["projected-gradient", {}]], live: false, speed: 30, views: ["curves", "duals"], play: true },
        text: "The dual is smooth; its constraints are a box. Each step follows the gradient and clips to the box. The step 1/λmax(K) always works.", task: "Run to the proof.", check: ran, done: "The dual never fell." },
      { title: "Too long a step", set: { toy: clouds, settings: augmented, solvers: [["projected-gradient", { step: 0.1 }]], live: false, speed: 10, views: ["curves", "duals"], play: true },
        text: "Past 2/λmax the step overshoots, and the iterates jump to and fro between corners of the box. The certificate shows it, and the status says what to do.",
        task: "Find a long step that still converges: at least 0.015.", hint: "Below 2/λmax = 0.0124 it must converge; the box lets it be somewhat longer. Try 0.02.", check: (s) => ran(s) && Number(optionOf(s, "step")) >= 0.015, done: "Long steps converge in fewer iterates, until they do not." },
    ],
  },
  {
    name: "coordinate", title: "Coordinate ascent (source 000, algorithm 3)", solver: "coordinate-ascent", steps: [
      { title: "One variable at a time", set: { toy: clouds, settings: augmented, solvers: [["coordinate-ascent", { order: "cyclic" }]], single: true, live: false, speed: 10, views: ["update", "duals"], play: true },
        text: "Along one dual variable the objective is a parabola: its top is known, and is clipped to [0, C]. Violet rings show the sample whose variable has moved; the view draws its parabola.",
        task: "Step to an update that was clipped.", hint: "Use the single-step button until “The update” shows a top outside the box.",
        check: (s) => { const e = own(s)?.event; return Boolean(e && !s.playing && Math.abs(e.unclipped) > Math.abs(e.after[0] - e.before[0]) + 1e-9 && Math.abs(e.after[0] - e.before[0]) > 1e-12); }, done: "It wanted to go further than the box allows: the sample is bound, or is none of the support vectors." },
      { title: "To the proof", text: "An update touches one row of the data. An epoch costs as much as one gradient, and does far more.", task: "Run to the proof.", check: ran, done: "No step size had to be chosen." },
    ],
  },
  {
    name: "dual-ascent", title: "Stochastic ascent on the dual (source 001)", solver: "stochastic-ascent", steps: [
      { title: "Small steps, random order", set: { toy: clouds, settings: augmented, solvers: [["stochastic-ascent", { step: 0.01 }]], single: false, live: false, speed: 30, views: ["curves", "duals"], play: true },
        text: "Instead of the exact step, source 001 goes a fixed part η of the gradient of one α, and clips it. Every epoch visits the samples in random order.", task: "Find a step with which it is proved in 400 epochs or fewer.", hint: "0.01 takes 2,800 epochs. Try ten times more.", check: (s) => ran(s) && (own(s)?.k ?? 1e9) <= 400, done: "The exact step of coordinate ascent needs no such search." },
      { title: "Too much", set: { toy: clouds, settings: augmented, solvers: [["stochastic-ascent", { step: 3 }]], single: false, live: false, speed: 30, views: ["curves", "duals"], play: true }, text: "A step of 3 overshoots with every sample.", task: "Let it run until it is told that it diverges.", hint: "Run to the end.", check: (s) => own(s)?.status?.reason === "diverged", done: "The sentence under the certificate names a step that works." },
    ],
  },
  {
    name: "penalty", title: "The penalty method (source 002)", solver: "penalty", steps: [
      { title: "Σλy = 0, nearly", set: { toy: clouds, solvers: [["penalty", { c: 0.1 }]], live: false, speed: 100, views: ["curves", "duals"], tol: 1e-3, play: true },
        text: "With a free bias the dual has an equation: Σλy = 0. The penalty method replaces it by a term c(Σλy)² that makes violations expensive. What it finds solves another problem: its own λ violate the equation. The curves show Σβ of the method's own point.",
        task: "Make |Σλy| smaller than 0.02 by choosing c.", hint: "The violation goes like 1/c. Set c to 10 or more and run to the end.", check: (s) => current(s) && (own(s)?.index ?? 0) > 5 && Math.abs(own(s)?.beta_sum ?? 1) < 0.02 && Number(optionOf(s, "c")) > 0.1, done: "Ten times the weight, a tenth of the violation; and a worse conditioned problem." },
      { title: "Let it choose", set: { toy: clouds, solvers: [["penalty", {}]], live: false, speed: 100, views: ["curves"], tol: 1e-3, play: true }, text: "Left to itself, the method raises c as it goes.", task: "Run to the proof.", check: ran, done: "Proved for the problem itself, not for the penalised one." },
    ],
  },
  {
    name: "kinds", title: "Three kinds of vectors, and a fourth (source 003)", steps: [
      { title: "Outside, free, bound", set: { toy: overlap, settings: { C: 1 }, solvers: [["smo", {}]], live: true, views: ["duals", "conditions"] },
        text: "Outside the street α = 0. On its edge 0 < α < C: free. Inside it α = C: bound. α is the slope of the loss: 0 where the hinge is flat, C where it rises, anything between at the kink.",
        task: "Find a C with which at least 30 samples are bound.", hint: "A smaller C makes the street wider.", check: (s) => proved(s) && (frameOf(s)?.certificate.counts.bound ?? 0) >= 30, done: "A wide street through the middle of the clouds: nearly every sample has a say." },
      { title: "Candidates", set: { toy: { name: "columns" }, settings: { C: 10 }, solvers: [["smo", {}]], live: true, views: ["duals", "hulls"] },
        text: "A sample may lie exactly on the edge and yet have α = 0: the line does not need it. Here two columns of three samples stand face to face.", task: "See a candidate: a sample on the margin that is not a support vector.",
        hint: "Run smo from the start, or move one sample a little away and back (Undo).", check: (s) => proved(s) && (frameOf(s)?.certificate.counts.candidate ?? 0) > 0, done: "Another solver may choose other multipliers: w is unique, α is not." },
    ],
  },
  {
    name: "race", title: "Stochastic descent against ascent (source 003)", solver: "sgd", steps: [
      { title: "Two algorithms on one clock", set: { toy: overlap, settings: augmented, solvers: [["coordinate-ascent", {}], ["sgd", {}], ["pegasos", {}]], single: false, clock: "work", live: false, speed: 10, views: ["curves"], play: true },
        text: "Three methods that look at one sample at a time: exact ascent on the dual, sub-gradient descent on the primal, and its averaged form. The clock is counted work.", task: "Let the first of them reach its proof.", check: (s) => s.runs[0]?.ended && (s.runs[0].frame?.certificate.holds ?? false), done: "On the logarithmic axis ascent falls along a line, descent along a curve that flattens." },
      { title: "Which is ahead early?", text: "Descent may lead during the first epochs.", task: "Click the second solver in the table, and scrub to its first frame.", hint: "Under the buttons there is a table of the solvers: click a row, then move the slider to the left.", check: (s) => s.shown === 1 && s.cursor === 0, done: "Compare the gaps of the table at this early moment." },
    ],
  },
  {
    name: "hard", title: "The hard margin, and when there is none (source 004)", solver: "qp", steps: [
      { title: "The dual as a quadratic program", set: { toy: clouds, settings: { C: Infinity }, solvers: [["qp", {}]], live: true, views: ["hulls", "conditions"] },
        text: "With C = ∞ no sample may be inside the street. The dual looks for the nearest points of the two convex hulls: the street is perpendicular to the segment between them.", task: "Solve it with the quadratic program: press play.", check: ran, done: "One dense solve. For 30,000 samples its matrix would have 7 GB: that is why the other methods exist." },
      { title: "No line at all", set: { toy: clouds, settings: { C: Infinity }, solvers: [["smo", {}]], live: true, views: ["hulls"] },
        text: "Where the hulls overlap no line separates the classes. Then there is a common point of both hulls: its weights are a proof, which anybody can check by adding up.", task: "Break separability: move a sample into the other class.",
        hint: "Drag one sample of one class into the midst of the other.", check: (s) => Boolean(current(s) && (frameOf(s)?.inseparable || /separa/.test(s.problemError))), done: "The common point of the hulls is drawn; its weights are the certificate." },
    ],
  },
  {
    name: "perceptron", title: "The perceptron (source 004)", solver: "perceptron", steps: [
      { title: "Correct a mistake, go on", set: { toy: { ...clouds, noise: 0.6 }, settings: { C: Infinity }, solvers: [["perceptron", {}], ["smo", {}]], single: true, live: false, speed: 3, views: ["duals"], play: true },
        text: "Rosenblatt's rule adds a misclassified sample to w. On separable classes it makes finitely many mistakes, and stops at some line: not at the one with the widest street. α counts the corrections of each sample.",
        task: "Let it end, and compare its line with that of smo.", hint: "Run to the end. The dotted line is the other solver's.", check: (s) => s.runs.length > 1 && s.runs.every((run) => run.ended), done: "Both lines separate; only one is in the middle. Novikoff's theorem bounds the mistakes by (R/margin)²." },
    ],
  },
  {
    name: "smo", title: "SMO: two variables at a time", solver: "smo", steps: [
      { title: "The violating pair", set: { toy: overlap, settings: { C: 1 }, solvers: [["smo", {}]], single: true, live: false, speed: 3, views: ["update", "duals"], play: true },
        text: "With a free bias Σβ must stay what it is, so one variable alone cannot move. SMO takes the pair that violates its conditions most, and finds the top of the parabola along the line on which the sum stays. The numbered lines below the plane show where it is.",
        task: "Run to the proof, one update at a time.", check: (s) => ran(s) && s.single, done: "Now scrub back, and look at the first updates again." },
      { title: "First or second order", set: { toy: overlap, settings: { C: 100 }, solvers: [["smo", { selection: "first-order" }], ["smo", {}]], single: true, live: false, speed: 100, views: ["curves"], play: true },
        text: "The maximal violating pair is the steepest choice; the second-order choice takes the partner with which the exact step gains most.", task: "Let both reach the proof.", check: (s) => s.runs.length > 1 && s.runs.every((run) => run.ended && run.frame?.certificate.holds), done: "Compare their numbers of updates in the table." },
    ],
  },
  {
    name: "kernels", title: "Kernels: a line in another space", steps: [
      { title: "No line will do", set: { toy: { name: "rings", n: 80, seed: 0 }, settings: { C: 1 }, solvers: [["smo", {}]], live: true, views: ["kernel"] },
        text: "A disc inside a ring: no line separates them. A kernel measures likeness in another space, where a hyperplane does.", task: "Reach an accuracy of 100 %.", hint: "Choose the RBF kernel, or the polynomial one of degree 2.", check: (s) => proved(s) && accuracyOf(s, frameOf(s)) === 1, done: "The boundary is curved here, and flat there." },
      { title: "Too narrow", text: "γ sets how far a sample's influence reaches.", set: { toy: { name: "moons", n: 80, noise: 0.25, seed: 0 }, settings: { kernel: "rbf", kernelFields: { gamma: 1 }, C: 1 }, live: true, views: ["kernel"] },
        task: "Make every sample a support vector.", hint: "Move γ far to the right: then each sample knows only itself.", check: (s) => proved(s) && support(s) === count(s), done: "It has learned all by heart: K is nearly the identity." },
    ],
  },
  {
    name: "regression", title: "Regression: a tube, and one class", steps: [
      { title: "The tube", set: { toy: { name: "sine" }, settings: { loss: "epsilon-insensitive", lossFields: { epsilon: 0.2 }, kernel: "rbf", C: 10 }, solvers: [["smo", {}]], live: true, views: ["duals"] },
        text: "Errors up to ε cost nothing. Only samples on or outside the tube are support vectors.", task: "Choose ε so that at most 8 support vectors are left.", hint: "A wider tube needs fewer.", check: (s) => proved(s) && support(s) <= 8 && support(s) > 0, done: "A wide tube: a simple function." },
      { title: "One class", set: { toy: { name: "cloud" }, settings: { loss: "one-class", lossFields: { nu: 0.1 }, kernel: "rbf" }, live: true, views: ["duals"] },
        text: "With one class, the boundary encloses most samples; ν bounds the share outside.", task: "Leave at least 40 % of the samples outside.", hint: "Move ν to 0.5.", check: (s) => { const f = frameOf(s); return Boolean(proved(s) && f && f.arrays.z.filter((z) => z < -1e-9).length >= 0.4 * count(s)); }, done: "ν is a bound on the share of outliers, and the least share of support vectors." },
    ],
  },
];
