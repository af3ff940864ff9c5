"""The lessons in a real browser: each step sets itself up, is not done yet, and can be done."""

from __future__ import annotations

import pytest

from tests.studio.browser import chromium, opened, serving_studio
from tests.studio.test_browser import until

#: A browser that shares two cores with other tests may miss a tap: it gets a second chance.
pytestmark = [pytest.mark.compiled, pytest.mark.flaky(reruns=2)]

END = "s.finish()"
SHOWN = "const run = s.store.get().runs[0], f = run.frame, p = s.store.get().points;"
#: What a person does in each step that has a task, in order: as the page's own actions.
DONE = {
    "margin": [
        SHOWN + "s.edit({...p, xy: p.xy.map((x, i) => i >> 1 === f.arrays.kinds.indexOf(2) ? x * 0.9 : x)})",
        SHOWN + "s.select([f.arrays.alpha.indexOf(0)]); s.removeSelected()",
        SHOWN
        + "s.edit({...p, xy: Float64Array.of(0, 0, 0, 2, 3, 1), y: Float64Array.of(0, 0, 1)}); s.change({C: 100})",
    ],
    "gap": [END, "FIRST_BELOW"],
    "subgradient": [END, "s.changeRun({options: {step: 'constant', rate: 0.005}}); s.finish()"],
    "projected": [END, "s.changeRun({options: {step: 0.02}}); s.finish()"],
    "coordinate": ["UNTIL_CLIPPED", END],
    "dual-ascent": ["s.changeRun({options: {step: 0.2}}); s.finish()", END],
    "penalty": ["s.changeRun({options: {c: 100}}); s.finish()", END],
    "kinds": ["s.change({C: 0.01})", "s.again({seed: 1}); s.finish()"],
    "race": [END, "s.show(1); s.seek(0)"],
    "hard": [END, "BREAK"],
    "perceptron": [END],
    "smo": [END, END],
    "kernels": ["s.change({kernel: 'rbf'})", "s.change({kernelFields: {gamma: 1e4}, C: 1})"],
    "regression": ["s.change({lossFields: {epsilon: 0.9}})", "s.change({lossFields: {nu: 0.6}})"],
}
#: Actions that need more than one look.
LONGER = {
    "FIRST_BELOW": """s.finish(); await over();
        s.seek(s.store.get().runs[0].trace.findIndex(r => r.relative_gap < 0.01))""",
    "UNTIL_CLIPPED": """for (let i = 0; i < 200 && !document.querySelector('.lesson-step.done'); i++) {
        const at = s.store.get().runs[0].recorded; s.step(1);
        for (let k = 0; k < 200 && s.store.get().runs[0].recorded === at; k++) await wait(10); await wait(40); }""",
    "BREAK": """const p = s.store.get().points, xy = p.xy.slice(), other = p.y.findIndex(y => y !== p.y[0]);
        const mean = k => p.xy.filter((_, i) => i % 2 === k && p.y[i >> 1] === p.y[other]).reduce((a, b) => a + b)
          / p.y.filter(y => y === p.y[other]).length;
        xy[0] = mean(0); xy[1] = mean(1); s.edit({...p, xy})""",
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def studio():
    with serving_studio() as address:
        yield address


def action(name):
    wait = "const s = window.studio, wait = ms => new Promise(r => setTimeout(r, ms));"
    over = "const over = async () => { while (!s.store.get().runs.every(r => r.ended && r.recorded)) await wait(20); };"
    return f"async () => {{ {wait} {over} {LONGER.get(name, name)} }}"


#: These say whether lessons work at all; the others are run apart.
SHORT = ("margin", "hard", "perceptron")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in SHORT else pytest.mark.slow) for name in DONE])
def test_each_task_can_be_done(browser, studio, name):
    with opened(browser, studio) as page:
        page.evaluate("name => window.studio.lesson(name, 0)", name)
        for k, solution in enumerate(DONE[name]):
            until(page, f"document.querySelector('.lesson-step progress')?.value === {k + 1}")
            until(page, "document.querySelector('.lesson-step').getAttribute('aria-busy') === 'false'")
            page.evaluate("window.studio.store.set({playing: false})")
            until(page, "!window.studio.engine.working && window.studio.store.get().problem")
            assert page.locator(".lesson-step.done").count() == 0, f"step {k + 1} is done before it began"
            page.evaluate(action(solution))
            page.locator(".lesson-step.done").wait_for(timeout=30_000)
            assert page.locator(".lesson-step .verdict").inner_text()
            page.get_by_role("button", name="Next").or_(page.get_by_role("button", name="All lessons")).click()
        until(page, f"document.querySelectorAll('.lesson-list li').length === {len(DONE)}")
