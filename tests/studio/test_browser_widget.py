"""The widget in a browser: its one script after the front-end contract of anywidget, with Python behind the model."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from maxmargin import Problem
from tests.studio.browser import chromium, until

pytest.importorskip("anywidget")
#: A browser that shares two cores with other tests may miss a tap: it gets a second chance.
pytestmark = [pytest.mark.compiled, pytest.mark.flaky(reruns=2)]

from maxmargin.studio import Widget  # noqa: E402 (it needs its extra)

#: A notebook's side of the contract: a model that sends and hears, and a module that is loaded from its text.
RENDER = """async ([text, style]) => {
  const heard = new Set();
  const model = {
    on: (name, call) => name === "msg:custom" && heard.add(call),
    off: (name, call) => heard.delete(call),
    get: () => undefined, set: () => {}, save_changes: () => {},
    send: async (content) => {
      const [told, buffer] = JSON.parse(await window.python(JSON.stringify(content)));
      const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
      for (const call of heard) call(told, [new DataView(bytes.buffer)]);
    },
  };
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  window.ended = await module.default.render({ model, el });
}"""


def test_the_widget_shows_the_problem_and_hands_the_result_to_python():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2, 1, -1)
    problem = Problem(rng.normal(size=(30, 2)) + y[:, None], y, C=2.0)
    widget = Widget(problem)
    got = []
    widget.send = lambda content, buffers=None: got.append((content, base64.b64encode(buffers[0]).decode()))

    def python(text):
        widget._handle_custom_msg(json.loads(text), [])
        return json.dumps(got.pop())

    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.expose_function("python", python)
        page.evaluate("document.body.style.background = 'lab(10 0 0)'")  # a notebook's own dark theme
        page.evaluate(RENDER, [widget._esm, widget._css])
        until(page, "document.querySelector('canvas') !== null && document.body.innerText.includes('Proved optimal')")
        said = page.evaluate("document.body.innerText")
        for room in (1200, 900, 600, 380):  # a notebook's cell is narrower than its window
            page.evaluate("room => document.querySelector('.studio').style.width = `${room}px`", room)
            assert page.evaluate("document.querySelector('.columns').scrollWidth") <= room, room
        assert page.get_by_role("button", name="Copy the address").is_hidden()  # it would be the notebook's
        assert "Certificate" in said and "SMO" in said
        assert page.locator(".studio").get_attribute("data-theme") == "dark"
        page.get_by_role("button", name="Python", exact=False).first.click()
        page.wait_for_timeout(500)
        assert widget.result is not None and widget.result.certificate.holds(1e-5)
        np.testing.assert_allclose(widget.X, problem.X, atol=1e-3)
        page.evaluate("window.ended && window.ended()")
        assert not wrong, wrong
