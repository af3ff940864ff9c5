// Commands out, answers in: over a WebSocket, a notebook's widget model, or from the recorded answers of a tape.

/** @typedef {import("./types.js").Answer} Answer */

const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array };
/** Parts of a header that are texts, whatever they say. */
const TEXTS = new Set(["labels", "text", "error", "doc", "note", "title", "columns", "choices", "name", "names", "positive", "negative"]);

/**
 * The header of an answer as it was sent, and where its arrays begin.
 * @param {ArrayBuffer} buffer
 * @returns {{header: any, start: number}}
 */
export function opened(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { header, start: Math.ceil((4 + length) / 8) * 8 };
}

/**
 * An answer from its bytes.
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function decoded(buffer) {
  const { header, start } = opened(buffer);
  return { ...read(header), arrays: arraysOf(header.arrays ?? {}, buffer, start) };
}

/**
 * The arrays of a header, each with its shape.
 * @param {Record<string, {dtype: string, shape: number[], offset: number}>} described
 * @param {ArrayBuffer} buffer
 * @param {number} start of the payload
 * @returns {any}
 */
export function arraysOf(described, buffer, start) {
  /** @type {any} */
  const made = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(described)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const kind = /** @type {any} */ (TYPES)[dtype];
    made[name] = Object.assign(new kind(buffer, start + offset, size), { shape });
  }
  return made;
}

/**
 * A header with the texts "Infinity", "-Infinity" and "NaN" as the numbers that they stand for.
 * @param {any} value
 * @returns {any}
 */
export function read(value) {
  if (value === "Infinity") return Infinity;
  if (value === "-Infinity") return -Infinity;
  if (value === "NaN") return NaN;
  if (Array.isArray(value)) return value.map(read);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, TEXTS.has(name) ? one : read(one)]));
  return value;
}

/**
 * A command as JSON can carry it.
 * @param {any} value
 * @returns {any}
 */
export function written(value) {
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (Array.isArray(value)) return value.map(written);
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, written(one)]));
  return value;
}

/** What went wrong with a command: the library's sentence, and the protocol's kind of failure. */
export class Refused extends Error {
  /** @param {string} sentence @param {string} kind */
  constructor(sentence, kind) {
    super(sentence);
    this.kind = kind;
  }
}

/**
 * Matches answers with commands.
 * @param {(command: any) => void} send
 * @param {number} [last] the number before the first one
 */
function desk(send, last = 0) {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  return {
    /** @param {string} op @param {Record<string, *>} [args] @returns {Promise<any>} */
    request(op, args = {}) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send(written({ id, op, ...args }));
      });
    },
    /** @param {ArrayBuffer} buffer */
    receive(buffer) {
      const answer = decoded(buffer);
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (answer.ok) one?.resolve(answer);
      else one?.reject(new Refused(answer.error, answer.kind));
    },
    /** @param {string} sentence */
    fail(sentence) {
      for (const one of waiting.values()) one.reject(new Refused(sentence, "closed"));
      waiting.clear();
    },
  };
}

/**
 * @typedef {Object} Channel
 * @property {(op: string, args?: Record<string, *>) => Promise<any>} request
 * @property {() => void} close
 * @property {any} [said] what the page begins with, as an address would say it
 */

/**
 * A channel to the server that the page came from.
 * @param {string} address of the WebSocket
 * @param {(sentence: string) => void} closed
 * @returns {Promise<Channel>}
 */
export function socketChannel(address, closed) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    const post = desk((command) => socket.send(JSON.stringify(command)));
    let ended = "The studio cannot be reached: it has ended (start it again with `maxmargin studio`), or too many of its tabs are open.";
    socket.onopen = () => {
      ended = "The studio has ended: start it again with `maxmargin studio` and reload this page.";
      resolve({
        request: (op, args) => (socket.readyState === WebSocket.OPEN ? post.request(op, args) : Promise.reject(new Refused(ended, "closed"))),
        close: () => ((socket.onclose = null), socket.close()),
      });
    };
    socket.onmessage = (event) => post.receive(event.data);
    socket.onclose = (event) => {
      if (event.reason) ended = `The studio has closed this page: ${event.reason}.`;
      post.fail(ended);
      closed(ended);
      reject(new Refused(ended, "closed"));
    };
  });
}

/**
 * A channel through the model of a notebook's widget.
 * @param {any} model
 * @returns {Channel}
 */
export function modelChannel(model) {
  // A widget that is shown twice hears the answers to both of its pages: their numbers must differ.
  const post = desk((command) => model.send(command), Math.floor(Math.random() * 2 ** 40));
  const heard = (/** @type {any} */ _content, /** @type {DataView[]} */ buffers) => {
    const view = buffers[0];
    post.receive(/** @type {ArrayBuffer} */ (view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)));
  };
  model.on("msg:custom", heard);
  return { request: post.request, close: () => model.off("msg:custom", heard) };
}
