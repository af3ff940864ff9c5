"""What a screen reader meets on the page, by axe-core; many rows; and texts of others that are only texts."""

from __future__ import annotations

import pytest

from tests.studio.browser import chromium, serving_studio
from tests.studio.test_browser import count, pixel, proved, until
from tests.studio.test_page import HERE, needs

#: A browser that shares two cores with other tests may miss a tap: it gets a second chance.
pytestmark = [pytest.mark.compiled, pytest.mark.flaky(reruns=2)]
ALL = ["curves", "duals", "update", "landscape", "hulls", "gaps", "conditions", "path", "kernel"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def studio():
    with serving_studio() as address:
        yield address


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(browser, studio, width, theme):
    script = HERE / "node_modules" / "axe-core" / "axe.min.js"
    needs(script.exists(), f"axe-core is not installed: run npm install in {HERE}")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    page.goto(studio)
    until(page, "window.studio?.store?.get().problem")
    page.evaluate("views => { window.studio.lesson('margin', 0); window.studio.store.set({views}); }", ALL)
    page.get_by_role("button", name="Add a solver beside it").click()
    proved(page)
    page.evaluate(script.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")["violations"]
    serious = [
        (one["id"], one["impact"], one["nodes"][0]["html"])
        for one in found
        if one["impact"] in ("serious", "critical", "moderate")
    ]
    context.close()
    assert not serious, serious


def test_5000_rows_stay_usable(browser, studio):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(studio)
    until(page, "window.studio?.store?.get().problem")
    page.evaluate(
        """async () => { const s = window.studio, {X, y} = (await s.request('toy', {name: 'moons', n: 4999})).arrays;
        const points = {...s.store.get().points, xy: Float64Array.from(X), y: Float64Array.from(y)};
        s.setPoints({...points, labels: ['0', '1']}); }"""
    )
    page.get_by_label("kernel").select_option("rbf")
    proved(page)
    page.locator("canvas.plane").click(position={"x": 40, "y": 40})
    assert count(page) == 5000
    proved(page)
    page.get_by_role("button", name="One step", exact=True).click()
    until(page, "window.studio.store.get().runs[0].recorded === 1")
    context.close()


def test_two_fingers_and_one(browser, studio):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(studio)
    until(page, "window.studio?.store?.get().problem")
    proved(page)
    touch = context.new_cdp_session(page)

    def fingers(kind, *places):
        told = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    n, wide = count(page), page.evaluate("(w => w.x1 - w.x0)(window.studio.store.get().window)")
    box = page.locator("canvas.plane").bounding_box()
    x, y = box["x"] + 40, box["y"] + 25
    fingers("touchStart", (x, y))
    fingers("touchStart", (x, y), (x + 80, y))
    for k in range(1, 6):
        fingers("touchMove", (x, y), (x + 80 + 16 * k, y))
    fingers("touchEnd")
    until(page, f"(w => w.x1 - w.x0 < {0.8 * wide})(window.studio.store.get().window)")
    assert count(page) == n
    page.wait_for_timeout(500)  # the browser takes a tap right after two fingers for a part of their gesture
    page.get_by_role("button", name="Fit").click()
    until(page, f"(w => w.x1 - w.x0 > {0.8 * wide})(window.studio.store.get().window)")
    proved(page)
    page.locator("canvas.plane").scroll_into_view_if_needed()
    x, y = pixel(page, 0)
    before = page.evaluate("[...window.studio.store.get().points.xy.slice(0, 2)]")
    fingers("touchStart", (x, y))
    for k in range(1, 6):
        fingers("touchMove", (x + 6 * k, y + 5 * k))
    fingers("touchEnd")
    moved = "([x, y]) => (p => p[0] > x && p[1] < y)(window.studio.store.get().points.xy)"
    until(page, moved, before)
    proved(page)
    context.close()
