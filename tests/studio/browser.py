"""A real browser for the studio's tests: Debian's Chromium under Playwright; never skipped in CI (``CI=true``)."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import contextmanager

import pytest

from maxmargin.studio import server as serving

TOKEN = "a-token-for-tests"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()


def missing():
    """Why there is no browser here, or nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed (pip install playwright)"
    return "" if os.path.exists(CHROMIUM) else "Chromium is not installed (apt-get install chromium)"


def needed():
    """Skip, and say why, where there is no browser; in CI that is an error."""
    why = missing()
    if why and os.environ.get("CI") == "true":
        raise RuntimeError(f"the tests in the browser are never skipped in CI: {why}")
    if why:
        pytest.skip(why)


@contextmanager
def chromium():
    """The browser."""
    needed()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def serving_studio(idle=600.0):
    """A server of the studio in a thread of its own; gives the address of its page."""
    made = serving.server(TOKEN, idle)
    with serving.open_socket(None) as listening:
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not made.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/{TOKEN}/"
        made.should_exit = True
        thread.join(10)


def until(page, expression, arg=None, seconds=60.0):
    """Wait until an expression is true (or a function of `arg`); the page's own policy forbids waiting inside it."""
    ends = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < ends, f"this did not come true: {expression}"
        page.wait_for_timeout(30)


@contextmanager
def opened(browser, address, width=1280, height=900, touch=False, theme="light", still=True):
    """A page at an address; at its end nothing may have gone wrong, and nothing may have left this machine."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=touch,
        color_scheme=theme,
        reduced_motion="reduce" if still else "no-preference",
        accept_downloads=True,
    )
    page = context.new_page()
    wrong, away = [], []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    local = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:", "about:")
    page.on("request", lambda one: None if one.url.startswith(local) else away.append(one.url))
    page.on("websocket", lambda one: None if one.url.startswith(local) else away.append(one.url))
    page.set_default_timeout(60_000)
    page.goto(address)
    until(page, "window.studio?.store?.get().problem")  # before that it is the element of this id
    yield page
    assert not wrong, wrong
    assert not away, f"requests left this machine: {away}"
    context.close()
