// The page as a front-end module of anywidget: the host calls `render` with a model and an element.

import { open } from "./app.js";
import { modelChannel } from "./channel.js";

/** @param {{model: any, el: HTMLElement}} host */
async function render({ model, el }) {
  const page = await open(el, modelChannel(model), "widget");
  return page.destroy;
}

export default { render };
