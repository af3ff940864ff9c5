"""What a screen reader meets on the page, by axe-core; many rows; and texts of others that are only texts."""

from __future__ import annotations

import pytest

from tests.studio.browser import chromium, serving_studio
from tests.studio.test_browser import count, proved, until
from tests.studio.test_page import HERE, needs

pytestmark = pytest.mark.compiled
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
