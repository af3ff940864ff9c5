// The types of the page, for the checker and the reader; nothing here runs.
//
// The page has one state object. It is never changed in place: `app.store.set({...})` makes the next one, and every
// subscriber is called once per animation frame with the newest. Panels and views get it through `update(state)`.

/**
 * A field of a loss, kernel or solver, as the registry knows it.
 * @typedef {Object} Field
 * @property {string} name
 * @property {"number"|"whole"|"text"|"flag"|"choice"} type
 * @property {*} default
 * @property {string[]|null} choices
 * @property {boolean} optional
 * @property {string} doc
 */

/** @typedef {{name: string, title: string, doc: string, tasks: string[], fields: Field[], hard_margin: boolean, margin: boolean}} LossInfo */
/** @typedef {{name: string, title: string, doc: string, fields: Field[], linear: boolean}} KernelInfo */
/** @typedef {{name: string, title: string, paper: string, doc: string, fields: Field[], starts: string[], pseudocode: {number: number, text: string}[], problem: string, grain: boolean, step: boolean}} SolverInfo */
/** @typedef {{name: string, title: string, task: string, classes: number[], n: number, noise: number, doc: string}} ToyInfo */

/**
 * The answer to `hello`.
 * @typedef {Object} Hello
 * @property {string} version
 * @property {LossInfo[]} losses
 * @property {KernelInfo[]} kernels
 * @property {{name: string, title: string}[]} biases
 * @property {{name: string, title: string}[]} regularizers
 * @property {SolverInfo[]} solvers
 * @property {ToyInfo[]} toys
 * @property {{name: string, title: string}[]} schemes
 * @property {string[]} formats
 * @property {Record<string, number>} limits
 * @property {{points: *, problem: *}|null} [given]
 */

/** @typedef {Float64Array|Float32Array|Int32Array|Uint8Array} Numbers */
/** @typedef {Numbers & {shape: number[]}} NumberArray  a typed array that carries its shape */

/**
 * An answer: the header's fields, and the arrays by name.
 * @typedef {Object} Answer
 * @property {number} id
 * @property {boolean} ok
 * @property {string} [error]
 * @property {string} [kind]
 * @property {Record<string, NumberArray>} arrays
 */

/** @typedef {"classification"|"regression"|"novelty"} Task */
/** @typedef {{name: string, n?: number, noise?: number, classes?: number, seed?: number}} ToyChoice  the command `toy` */

/**
 * The samples, as the page draws them. `xy` are coordinates in the plane. For a regression the second coordinate is
 * the target, and the problem's X is the first alone; otherwise X is `xy` and `y` holds the index of the label
 * (0 everywhere for novelty).
 * @typedef {Object} Points
 * @property {Task} task
 * @property {Float64Array} xy 2n numbers: x0, y0, x1, y1, ...
 * @property {Float64Array} y n numbers
 * @property {string[]} labels names of the classes, by index
 * @property {string} note what the plane is, if it is not the data itself
 * @property {string[]} [columns] names of all features of an imported file
 * @property {number[]|null} [shown] which of them are shown; null for the principal plane
 * @property {{name: string, data: string}|null} [file] the file that they came from (its bytes in base64)
 * @property {ToyChoice|null} [toy] the toy set that they were drawn from
 */

/**
 * The settings of the problem: what the user chose, as it is sent.
 * @typedef {Object} Settings
 * @property {string} loss
 * @property {Record<string, *>} lossFields fields of the loss that were set (epsilon, nu)
 * @property {string} kernel
 * @property {Record<string, *>} kernelFields fields of the kernel that were set (gamma, degree, coef0)
 * @property {string} bias
 * @property {string} regularizer "l2", or "l1" for few weights
 * @property {number} C Infinity for the hard margin
 * @property {number|null} nu replaces C (hinge) or epsilon
 * @property {"balanced"|Record<string, number>|null} classWeight
 * @property {string} scheme
 */

/**
 * The problem as the host made it (the header of the answer to `problem`), with its arrays.
 * @typedef {Object} Problem
 * @property {string} problem the handle
 * @property {number} n
 * @property {number} d
 * @property {Task} task
 * @property {string[]} labels
 * @property {{name: string, rows: number, positive: *, negative: *, together: boolean}[]} machines
 * @property {Record<string, string|null>} accepts the refusal of each solver, or null
 * @property {string} auto
 * @property {Record<string, *> & {name: string}} kernel with its fitted fields
 * @property {Record<string, *> & {name: string}} loss
 * @property {string} bias
 * @property {number} C Infinity for the hard margin
 * @property {string} note
 * @property {{lower: NumberArray, upper: NumberArray, target: NumberArray, weight: NumberArray}} arrays each [machines, n], flat
 */

/**
 * The certificate of the shown point. Numbers are numbers here: the page reads "Infinity" before it hands them on.
 * @typedef {Object} Certificate
 * @property {number} primal
 * @property {number} dual
 * @property {number} gap
 * @property {number} relative_gap
 * @property {number} rounding
 * @property {number} infeasibility
 * @property {number} kkt_violation
 * @property {string} precision
 * @property {string} remark
 * @property {boolean} holds
 * @property {string} verdict
 * @property {{outside: number, candidate: number, free: number, bound: number}} counts
 * @property {boolean} fresh
 */

/** @typedef {{indices: number[], before: number[], after: number[], unclipped: number, gain: number}} Event */
/** @typedef {{x0: number, x1: number, y0: number, y1: number, nx: number, ny: number}} Window */

/**
 * A frame: where a solver stands. Per-sample arrays have the n rows of the points.
 * @typedef {Object} Frame
 * @property {string} run the handle
 * @property {string} solver
 * @property {number} index
 * @property {number} frames recorded so far
 * @property {number} machine
 * @property {number} k
 * @property {number} seconds
 * @property {number} work
 * @property {boolean} ended
 * @property {{reason: string, text: string}|null} status
 * @property {Certificate} certificate
 * @property {{primal: number, dual: number, gap: number, relative_gap: number}} best
 * @property {number} tol
 * @property {number} accuracy
 * @property {number} beta_sum
 * @property {number|null} b
 * @property {number} norm
 * @property {number} margin
 * @property {{name: string, formula: string, residual: number, worst: number|null}[]} conditions
 * @property {Event|null} event
 * @property {number[]} lines
 * @property {{k: number, ended: boolean, relative_gap: number, primal: number, dual: number}[]} machines
 * @property {Record<string, {primal: number, dual: number, relative_gap: number}>} [related]
 * @property {{text: string, proved: boolean}|null} inseparable
 * @property {Window|null} window of the field, as it was asked for
 * @property {boolean} [solved] whether it is the optimum that was asked for at once, not a frame of the run
 * @property {number} [first]
 * @property {{beta: NumberArray, alpha: NumberArray, raw?: NumberArray, z: NumberArray, kinds: NumberArray, gaps: NumberArray, slack: NumberArray, w?: NumberArray, field?: NumberArray, classes?: NumberArray}} arrays
 */

/**
 * One row of a trace.
 * @typedef {{iteration: number, seconds: number, work: number, primal: number, dual: number, relative_gap: number, beta_sum: number, support: number}} Row
 */

/**
 * A run: one solver on the problem. The first is the main one: the plane's colours and the views show `runs[state.shown]`.
 * @typedef {Object} Run
 * @property {string} key a name that stays when the run is started anew ("a", "b", "c", "d")
 * @property {string} solver
 * @property {Record<string, *>} options
 * @property {string|null} handle null until the host has it
 * @property {Frame|null} frame the shown frame
 * @property {number} recorded frames that the host has
 * @property {boolean} ended
 * @property {Row[]} trace rows 0 .. recorded - 1 (one per recorded frame, of the shown machine)
 * @property {{problem: string, pseudocode: {number: number, text: string}[]}|null} [algorithm] what really runs, once it does
 * @property {string} error the library's sentence, or ""
 * @property {*} start where it starts: null, or as the command `run` takes it
 */

/**
 * The state of the page.
 * @typedef {Object} State
 * @property {Hello|null} hello
 * @property {Points} points
 * @property {Settings} settings
 * @property {Problem|null} problem null while it is being made, and where it was refused
 * @property {string} problemError the library's sentence, or ""
 * @property {Run[]} runs 1 to 4
 * @property {number} shown index into runs: whose frame the views show
 * @property {number} machine which of the problem's machines the frames are of
 * @property {number|null} cursor index of the shown frame; null: the newest
 * @property {boolean} live whether a change of the points or the problem is answered at once with the optimum
 * @property {boolean} playing
 * @property {number} speed iterates per second; Infinity: as many as fit
 * @property {"iteration"|"seconds"|"work"} clock the horizontal axis of comparisons
 * @property {number} tol
 * @property {number} every which iterates are recorded: each, every second, ...
 * @property {number} seed
 * @property {boolean} single one update at a time, where the solver can
 * @property {number|null} hover index of a sample, or null
 * @property {number[]} selection indices of samples, sorted
 * @property {"points"|"select"|"brush"|"erase"} tool
 * @property {number} brush the class that is painted
 * @property {"light"|"dark"} theme
 * @property {string|null} lesson name of the open lesson, or null
 * @property {number} lessonStep
 * @property {string[]} views ids of the open views
 * @property {string[]} hide parts that a teacher hides
 * @property {"server"|"widget"|"tape"} host
 * @property {Window} window the shown part of the plane
 */

/**
 * What views and panels are given.
 * @typedef {Object} App
 * @property {Store} store
 * @property {(i: number|null) => void} hover light up a sample everywhere
 * @property {(indices: number[]) => void} select
 * @property {(op: string, args?: Record<string, *>) => Promise<*>} request send a command; resolves with the answer (numbers read, arrays typed, see Answer), rejects with an Error whose message is the library's sentence and whose `kind` is the protocol's
 * @property {(index: number|null) => void} seek show a recorded frame of all runs
 * @property {(patch: Partial<Settings>) => void} change change the problem
 * @property {(patch: Partial<Run>, key?: string) => void} changeRun change solver, options of a run (of the shown run); {run: start} starts it anew
 * @property {() => void} restart start all runs anew
 * @property {(sentence: string) => void} say tell the user something, also to a screen reader
 */

/**
 * @typedef {Object} Store
 * @property {() => State} get
 * @property {(patch: Partial<State>) => void} set
 * @property {(fn: (state: State) => void) => () => void} subscribe returns the function that ends it
 */

/**
 * A linked view. `applies` is cheap and pure: false hides the view and its tab; a sentence says why it is not there.
 * `mount` builds it inside `el` (which has the heading already). The owner calls `update` at most once per animation
 * frame, and only while the view is open; the view asks the host itself (`app.request("view", ...)`) and drops answers
 * that are no longer of the shown frame. Its own size is `el.clientWidth`; `update` is called again when it changes.
 * @typedef {Object} View
 * @property {string} id
 * @property {string} title
 * @property {string} doc one sentence: what is to be seen
 * @property {(state: State) => boolean|string} applies
 * @property {(el: HTMLElement, app: App) => Mounted} mount
 */

/** @typedef {{update: (state: State) => void, destroy: () => void}} Mounted */

/**
 * A lesson: a guided tour with tasks that the page checks.
 * @typedef {Object} Lesson
 * @property {string} name
 * @property {string} title
 * @property {string} [solver]
 * @property {LessonStep[]} steps
 */

/**
 * @typedef {Object} LessonStep
 * @property {string} title
 * @property {string} text
 * @property {*} [set] what the step sets up (see lessons.js)
 * @property {string} [task] what is asked; then `check` says whether it is done
 * @property {(state: State, before: State|null) => boolean} [check]
 * @property {string} [hint]
 * @property {string} [done] what is said once it is done
 */

//   --ground --panel --ink --quiet --line --accent --focus
//   --class-0 ... --class-9   marks of the classes (AA against --ground)
//   --shade-0 ... --shade-9   the same, faint, for areas
//   --primal --dual --gap --good --bad --tolerance
//   --run-0 ... --run-3       curves of the runs
//   --kind-outside --kind-candidate --kind-free --kind-bound
// `views/chart.js` has what views and the plane share: figures, axes, marks; dom.js has `h(tag, attributes, ...children)`.
// `views/index.js` exports `views`, the list of all View objects in the order of their tabs.

export {};
