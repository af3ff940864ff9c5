"""What goes wrong on the page, in a real browser: it says so in a sentence, and goes on."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, solve
from tests.studio.browser import chromium, opened, serving_studio, until
from tests.studio.test_browser import assert_certified, count, proved, state

#: A browser that shares two cores with other tests may miss a tap: it gets a second chance.
pytestmark = [pytest.mark.compiled, pytest.mark.flaky(reruns=2)]

GARBAGE = ("1,2\n3\n", "}{", "a,b,y\n1,x,0\n", "\x00\x01\x02", "y\n1\n2\n", "<script>alert(1)</script>")
SAID = "document.querySelector('.said').textContent"


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def studio():
    with serving_studio() as address:
        yield address


def pasted(page, rows):
    page.evaluate("document.querySelector('.said').textContent = ''")
    page.get_by_label("rows to paste").fill(rows)
    page.get_by_role("button", name="Use these rows").click()
    until(page, f"{SAID} !== ''")
    return page.evaluate(SAID)


def test_rows_that_are_none_and_undo_after_rows_that_are(browser, studio):
    with opened(browser, studio) as page:
        proved(page)
        page.get_by_text("Your own data").click()
        n, before = count(page), state(page, "[...s.points.xy, s.window.x0, s.window.y1]")
        for rows in GARBAGE:
            assert len(pasted(page, rows)) > 20
        assert count(page) == n
        pasted(page, "first,second,class\n" + "".join(f"{1000 + 10 * i},{-i},{i % 2}\n" for i in range(12)))
        until(page, "window.studio.store.get().problem?.n === 12")
        assert page.get_by_label("toy set").input_value() == ""
        page.get_by_role("button", name="Undo").click()
        proved(page)
        assert state(page, "[...s.points.xy, s.window.x0, s.window.y1]") == pytest.approx(before)
        assert page.get_by_label("toy set").input_value() == "clouds"
        assert_certified(page)


def test_the_features_of_a_file_are_chosen_and_given_back(browser, studio):
    rows = "a,b,c,class\n" + "".join(f"{i},{i * i % 7},{i % 5},{i % 2}\n" for i in range(20))
    with opened(browser, studio) as page:
        page.get_by_text("Your own data").click()
        pasted(page, rows)
        page.get_by_label("across").select_option("c")
        page.get_by_label("upwards").select_option("b")
        until(page, "window.studio.store.get().points.shown?.join() === '2,1'")
        assert state(page, "[...s.points.xy.slice(2, 4)]") == [1.0, 1.0]
        assert page.get_by_label("across").input_value() == "2"
        page.get_by_label("upwards").select_option("principal plane")
        until(page, "window.studio.store.get().points.shown === null")


def test_each_class_has_its_weight(browser, studio):
    with opened(browser, studio) as page:
        proved(page)
        page.get_by_label("class weights").select_option("own")
        page.get_by_label("weight of class 0, as a number").fill("5")
        page.get_by_label("weight of class 0, as a number").press("Enter")
        until(page, "window.studio.store.get().problem?.arrays.weight.includes(5)")
        weights = state(page, "Array.from(s.problem.arrays.weight, (w, i) => [s.points.y[i], w])")
        assert all(weight == (1 if y else 5) for y, weight in weights)
        proved(page)
        page.get_by_label("toy set").select_option("iris")  # other classes: a weight of those that there are
        until(page, "window.studio.store.get().problem?.n === 150")
        proved(page)
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Undo").click()
        until(page, "window.studio.store.get().settings.classWeight === null")


def test_one_class_no_line_and_nothing_at_all(browser, studio):
    with opened(browser, studio) as page:
        proved(page)
        page.evaluate(
            "(p => window.studio.edit({...p, y: new Float64Array(p.y.length)}))(window.studio.store.get().points)"
        )
        until(page, "document.querySelector('.problem .refusal').textContent.includes('class')")
        page.get_by_role("button", name="Undo").click()
        proved(page)
        page.get_by_label("toy set").select_option("overlap")
        until(page, "window.studio.store.get().problem?.n === 80")
        page.get_by_label("C, as a number").fill("inf")
        page.get_by_label("C, as a number").press("Enter")
        until(page, "document.querySelector('.verdict').textContent.startsWith('Proved: no hyperplane')")
        page.get_by_role("button", name="To the end").click()
        until(page, "window.studio.store.get().runs[0].ended")
        page.get_by_role("button", name="Clear").click()
        until(page, "document.querySelector('.verdict').textContent.includes('no points')")
        page.get_by_role("button", name="Undo").click()
        until(page, "window.studio.store.get().problem?.n === 80")


def test_two_tabs_know_nothing_of_each_other(browser, studio):
    with opened(browser, studio) as one, opened(browser, studio) as other:
        proved(one)
        one.get_by_label("kernel").select_option("rbf")
        one.get_by_role("button", name="To the end").click()
        other.get_by_role("button", name="One step", exact=True).click()
        until(one, "window.studio.store.get().runs[0].ended")
        until(other, "window.studio.store.get().runs[0].recorded === 1")
        assert state(other, "s.problem.kernel.name") == "linear"


def test_a_page_whose_studio_has_ended_says_so(browser):
    with serving_studio() as address:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(address)
        until(page, "window.studio?.store?.get().problem")
        proved(page)
    until(page, f"{SAID}.includes('has ended')")
    page.locator("canvas.plane").click(position={"x": 30, "y": 30})  # it still draws, and does not hang
    page.get_by_role("button", name="One step", exact=True).click()
    assert "NaN" not in page.locator("body").inner_text()
    context.close()


def test_an_idle_tab_is_told_why_it_was_closed(browser):
    with serving_studio(idle=1.5) as address:
        page = browser.new_page()
        page.goto(address)
        until(page, f"document.querySelector('.said') && {SAID}.includes('reload the page')")
        page.close()


def test_addresses_of_many_points_and_of_nonsense(browser, studio):
    with opened(browser, studio) as page:
        proved(page)
        page.evaluate(
            """async () => { const s = window.studio, points = await s.request('toy', {name: 'moons', n: 5000});
            const {X, y} = points.arrays;
            s.setPoints({...s.store.get().points, xy: Float64Array.from(X), y: Float64Array.from(y)}); }"""
        )
        proved(page)
        address = page.evaluate("window.studio.address()")
        told = state(page, "[f.certificate.primal, f.certificate.dual]")
    with opened(browser, address) as page:
        proved(page)
        assert count(page) == 5000 and state(page, "[f.certificate.primal, f.certificate.dual]") == told
    problem = "%7B%22loss%22%3A%22hinge%22%2C%22kernel%22%3A%22rbf%22%7D"
    nonsense = f"#problem={problem}&shown=-3&machine=9&solvers=[[%22smo%22,null]]&at=-1&lesson=margin"
    with opened(browser, studio + nonsense) as page:
        proved(page)


def test_a_run_from_a_start_of_its_own_comes_back_with_its_address(browser, studio):
    with opened(browser, studio) as page:
        page.get_by_label("solver", exact=True).select_option("subgradient")
        page.get_by_text("its knobs").click()
        page.get_by_label("or from w₁, w₂, b").fill("1 2 0.5")
        page.get_by_label("or from w₁, w₂, b").press("Enter")
        page.get_by_role("button", name="One step", exact=True).click()
        until(page, "window.studio.store.get().runs[0].recorded === 1 && !window.studio.engine.working")
        told = state(page, "[f.certificate.primal, ...f.arrays.w]")
        address = page.evaluate("window.studio.address()")
    with opened(browser, address) as page:
        until(page, "window.studio.store.get().runs[0].frame?.index === 0")
        assert state(page, "[f.certificate.primal, ...f.arrays.w]") == told


def test_the_report_plays_its_run(browser, tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2, "</script><img src=x onerror=alert(1)>", "b")
    problem = Problem(rng.normal(size=(30, 2)) + 2.0 * (np.arange(30) % 2)[:, None], y, kernel="rbf")
    result = solve(problem, "smo", grain=1, every=1, snapshots=True)
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(result.report(tmp_path / "fit.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="To the end").click()
    frame.locator(".told", has_text=f"frame {len(result.trace)} of {len(result.trace)}").wait_for()
    gap = frame.locator("table.certificate tr", has_text="relative gap").locator("td")
    assert float(gap.get_attribute("data-value")) <= result.tol
    assert frame.locator("li.ran").count() > 0 and frame.locator("img").count() == 0 and not wrong
    context.close()
