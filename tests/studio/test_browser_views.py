"""The linked views and the tape in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studio.browser import chromium, opened, serving_studio, until
from tests.studio.conftest import Asker, posed, recorded

#: A browser that shares two cores with other tests may miss a tap: it gets a second chance.
pytestmark = [pytest.mark.compiled, pytest.mark.flaky(reruns=2)]

ALL = ["curves", "duals", "update", "landscape", "hulls", "gaps", "conditions", "path", "kernel"]
#: Pixels of a canvas that differ from its first one.
PAINTED = """node => { const c = node.getContext('2d'); const p = c.getImageData(0, 0, node.width, node.height).data;
  let n = 0; for (let k = 4; k < p.length; k += 4) if (p[k] !== p[0] || p[k + 3] !== p[3]) n++; return n; }"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def studio():
    with serving_studio() as address:
        yield address


def state(page, what):
    return page.evaluate(
        f"(() => {{ const s = window.studio.store.get(); const f = s.runs[s.shown].frame; return {what}; }})()"
    )


def run_to_the_end(page):
    page.evaluate("window.studio.finish()")
    until(page, "window.studio.store.get().runs.every(r => r.ended && r.recorded)")


def show(page, *views):
    page.evaluate("views => window.studio.store.set({views})", list(views))
    page.wait_for_timeout(100)


def figures(page, view):
    return page.locator(f"[data-view={view}] canvas.figure")


@pytest.mark.parametrize(("width", "touch", "theme"), [(1280, False, "light"), (390, True, "dark")])
def test_every_view_draws_what_it_tells(browser, studio, width, touch, theme):
    with opened(browser, studio, width=width, touch=touch, theme=theme) as page:
        run_to_the_end(page)
        show(page, *ALL)
        until(page, "!document.querySelector('[data-view] canvas[aria-label*=\"nothing\"]')")
        for view in ALL:
            for figure in figures(page, view).all():
                assert figure.evaluate(PAINTED) > 500, view
                label = figure.get_attribute("aria-label")
                assert label and "yet" not in label and "NaN" not in label and "undefined" not in label, label
                box = figure.bounding_box()
                assert box["x"] >= 0 and box["x"] + box["width"] <= width, f"{view} is wider than the screen"
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_sample_that_is_pointed_at_lights_up_everywhere(browser, studio):
    with opened(browser, studio) as page:
        run_to_the_end(page)
        show(page, "duals", "gaps", "conditions", "kernel")
        bars = figures(page, "duals")
        bars.scroll_into_view_if_needed()
        bars.hover(position={"x": 60, "y": 120})
        until(page, "window.studio.store.get().hover !== null")
        sample = state(page, "s.hover")
        for view in ("duals", "gaps", "conditions"):
            said = page.locator(f"[data-view={view}] .view-said").last
            until(page, "([node, n]) => node.textContent.includes(`Sample ${n}`)", arg=[said.element_handle(), sample])
        # The keyboard does the same.
        bars.focus()
        page.keyboard.press("ArrowRight")
        until(page, "n => window.studio.store.get().hover !== n", arg=sample)
        page.keyboard.press("Escape")
        until(page, "window.studio.store.get().hover === null")


def test_the_curves_are_a_scrubber(browser, studio):
    with opened(browser, studio) as page:
        run_to_the_end(page)
        show(page, "curves")
        frames = state(page, "s.runs[0].recorded")
        assert frames > 5
        curves = figures(page, "curves")
        box = curves.bounding_box()
        curves.click(position={"x": 55, "y": 60})
        until(page, "window.studio.store.get().runs[0].frame.index === 0")
        page.keyboard.press("ArrowRight")
        until(page, "window.studio.store.get().runs[0].frame.index === 1")
        curves.click(position={"x": box["width"] - 14, "y": 60})
        until(page, "n => window.studio.store.get().runs[0].frame.index === n - 1", arg=frames)
        gap = state(page, "f.best.relative_gap")
        assert 0 <= gap <= state(page, "s.tol")
        page.locator("[data-view=curves] select").first.select_option("beta_sum")
        page.locator("[data-view=curves] select").nth(1).select_option("work")
        assert state(page, "s.clock") == "work"


def test_the_update_tells_what_the_step_gained(browser, studio):
    with opened(browser, studio) as page:
        show(page, "update")
        for _ in range(3):
            page.evaluate("window.studio.step(1)")
            page.wait_for_timeout(150)
        until(page, "document.querySelector('[data-view=update] .view-said')?.textContent.includes('the dual gains')")
        event = state(page, "f.event")
        said = page.locator("[data-view=update] .view-said").text_content()
        shown = float(
            said.rsplit("the dual gains ", 1)[1]
            .rstrip(".")
            .replace("·10", "e")
            .translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        )
        assert shown == pytest.approx(event["gain"], rel=6e-3)
        assert len(event["indices"]) == 2


def test_the_path_is_proved_at_each_stop_and_gives_its_c(browser, studio):
    with opened(browser, studio) as page:
        show(page, "path")
        slider = page.locator("[data-view=path] input[type=range]")
        said = page.locator("[data-view=path] output")
        until(page, "document.querySelector('[data-view=path] output').textContent.includes('proved to')")
        assert said.text_content().startswith("C = 1:")
        slider.focus()
        page.keyboard.press("Home")
        until(page, "document.querySelector('[data-view=path] output').textContent.startsWith('C = 0.001:')")
        page.keyboard.press("ArrowRight")
        page.locator("[data-view=path] button").click()
        until(page, "window.studio.store.get().problem?.C < 0.01")


def test_hulls_that_meet_are_a_proof(browser, studio):
    with opened(browser, studio) as page:
        page.evaluate(
            """() => { const app = window.studio, p = app.store.get().points;
            app.setPoints({...p, xy: Float64Array.of(0, 0, 2, 2, 2, 0, 0, 2), y: Float64Array.of(0, 0, 1, 1)});
            app.change({C: Infinity}); }"""
        )
        show(page, "hulls")
        until(
            page,
            "document.querySelector('[data-view=hulls] .view-said')?.textContent.includes('No hyperplane separates')",
        )
        page.evaluate(
            "window.studio.edit({...window.studio.store.get().points, xy: Float64Array.of(0, 0, 0, 2, 2, 0, 2, 2)})"
        )
        until(page, "document.querySelector('[data-view=hulls] .view-said')?.textContent.includes('|p − q| = 2')")


def tape_of(path, runs, **problem):
    ask = Asker()
    command = posed(n=40, **problem)
    handle = ask("problem", **command)[0]["problem"]
    made, frames = [], []
    for solver, options in runs:
        made.append(ask("run", problem=handle, solver=solver, options=options)[0]["run"])
        ask("step", run=made[-1], k=40, seconds=5)
        frames.append(ask("frame", run=made[-1], index=-1))
    _, arrays = ask("export", run=made[0], others=made[1:], format="tape", title="<b>A & B</b>")
    path.write_bytes(arrays["file"].tobytes())
    return frames


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        ([("smo", {"grain": 1})], {}),
        ([("subgradient", {}), ("coordinate-ascent", {})], {"bias": "augmented"}),
        ([("smo", {})], {"name": "rings", "kernel": {"name": "rbf", "gamma": 1.0}}),
    ],
    ids=["smo", "race", "rbf"],
)
def test_a_tape_plays_without_anything_behind_it(browser, tmp_path, runs, problem):
    file = tmp_path / "tape.html"
    frames = tape_of(file, runs, **problem)
    with opened(browser, file.as_uri(), still=False) as page:
        assert page.locator("h1").text_content() == "<b>A & B</b>"
        page.evaluate("window.studio.store.set({speed: Infinity})")  # it plays by itself
        until(page, "window.studio.store.get().runs.every(r => r.ended)")
        until(page, "!window.studio.store.get().playing")
        for k, (header, arrays) in enumerate(frames):
            assert state(page, f"s.runs[{k}].recorded") == header["frames"]
            for name in ("primal", "dual", "gap", "relative_gap"):
                assert state(page, f"s.runs[{k}].frame.certificate.{name}") == header["certificate"][name]
            np.testing.assert_allclose(
                state(page, f"Array.from(s.runs[{k}].frame.arrays.beta)"), arrays["beta"], atol=1e-6
            )
        assert state(page, "Boolean(f.arrays.field) !== Boolean(f.arrays.w)"), "the page or the tape has the field"
        show(page, *ALL)
        until(page, "!document.querySelector('[data-view] canvas[aria-label*=\"nothing\"]')")
        assert "not recorded" not in page.locator("body").inner_text()
        # Back to the first frame, and one step on.
        page.evaluate("window.studio.seek(0)")
        until(page, "window.studio.store.get().runs[0].frame.index === 0")
        page.evaluate("window.studio.step(1)")
        until(page, "window.studio.store.get().runs[0].frame.index === 1")


def test_what_a_tape_cannot_do_it_says(browser, tmp_path):
    file = tmp_path / "tape.html"
    tape_of(file, [("smo", {})])
    with opened(browser, file.as_uri()) as page:
        said = page.evaluate("window.studio.request('toy', {name: 'moons'}).catch(error => error.message)")
        assert said == "A tape has no Python behind it: it shows what was recorded."
        assert page.locator("[data-part=data]").is_hidden()


def test_the_recorded_views_are_those_of_the_host():
    """A tape's views are the answers that a host gives."""
    ask = Asker()
    handle = ask("problem", **posed(n=20))[0]["problem"]
    run = ask("run", problem=handle, solver="smo", options={"grain": 1})[0]["run"]
    ask("step", run=run, k=5, seconds=5)
    _, arrays = ask("export", run=run, format="tape")
    tape, _ = recorded(arrays["file"].tobytes().decode())
    (played,) = tape["runs"]
    assert [one["index"] for one in played["views"] if one["name"] == "hulls"] == list(range(len(played["frames"])))
    for one in played["views"]:
        if one["name"] in ("hulls", "step") and "error" not in one:
            header, _ = ask("view", run=run, index=one["index"], name=one["name"])
            assert {name: one[name] for name in header if name not in ("id", "ok")} == {
                name: value for name, value in header.items() if name not in ("id", "ok")
            }
    assert {one["name"] for one in tape["views"]} == {"kernel", "landscape", "path"}
