// The state of the page: one object that is replaced, never changed; and its history.

/**
 * @param {import("./types.js").State} first
 * @param {(call: () => void) => void} [later] when subscribers are told; by default before the next picture
 * @returns {import("./types.js").Store}
 */
export function createStore(first, later = (call) => void requestAnimationFrame(call)) {
  let state = first;
  let waiting = false;
  /** @type {Set<(state: import("./types.js").State) => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    set(patch) {
      state = { ...state, ...patch };
      if (waiting) return;
      waiting = true;
      later(() => {
        waiting = false;
        for (const listener of [...listeners]) listener(state);
      });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * What undo brings back: a list of what was, and of what was undone. Changes of one gesture (the same `key`, within
 * `MERGED` milliseconds) are one step.
 * @template T
 */
export class History {
  /** @param {number} [most] */
  constructor(most = 200) {
    /** @type {T[]} */ this.past = [];
    /** @type {T[]} */ this.future = [];
    this.most = most;
    this.key = "";
    this.time = -Infinity;
  }

  /**
   * Remember what is about to be changed.
   * @param {T} before
   * @param {string} [key] of the gesture; "" is never merged
   * @param {number} [now] milliseconds
   */
  push(before, key = "", now = Date.now()) {
    const merged = key !== "" && key === this.key && now - this.time < MERGED;
    [this.key, this.time] = [key, now];
    this.future = [];
    if (merged) return;
    this.past.push(before);
    if (this.past.length > this.most) this.past.shift();
  }

  /** @param {T} present @returns {T|null} what to show instead */
  undo(present) {
    return this.#move(this.past, this.future, present);
  }

  /** @param {T} present @returns {T|null} */
  redo(present) {
    return this.#move(this.future, this.past, present);
  }

  /** @param {T[]} from @param {T[]} to @param {T} present */
  #move(from, to, present) {
    const other = from.pop();
    if (other === undefined) return null;
    to.push(present);
    this.key = "";
    return other;
  }
}

/** Changes of one gesture that follow one another within so many milliseconds are one step of undo. */
export const MERGED = 700;
