// The page of the server: a channel over its WebSocket.

import { open } from "./app.js";
import { socketChannel } from "./channel.js";
import { h } from "./dom.js";

/** @type {any} */
let app = null;
const el = /** @type {HTMLElement} */ (document.getElementById("studio"));

async function start() {
  try {
    const channel = await socketChannel(new URL("ws", location.href.replace(/^http/, "ws")).href, (sentence) => app?.say(sentence));
    el.replaceChildren();
    app = (await open(el, channel, "server")).app;
    /** @type {any} */ (window).studio = app; // for the console: studio.store.get()
  } catch (error) {
    el.replaceChildren(h("p", { class: "refusal", role: "alert" }, /** @type {Error} */ (error).message));
  }
}

start();
