"""The course is whole: every item of the sources, every link, every piece of code, and what it says is true."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("qpsolvers")

from maxmargin.data import toys
from maxmargin.errors import MissingExtra
from maxmargin.lesson import course, fits, sources, twins
from maxmargin.lesson.build import section
from maxmargin.lesson.exercises import PRELUDE
from maxmargin.lesson.mathml import math
from maxmargin.lesson.part import Picture
from maxmargin.lesson.prose import inline, python, rich_table
from maxmargin.lesson.source000 import RIGHT, last_hyperplane, objectives
from maxmargin.lesson.source000_ascent import SHARES, updates_table
from maxmargin.lesson.source002 import penalty_run, weights
from maxmargin.lesson.source003_race import duel
from maxmargin.lesson.source004 import candidate_run, hard_run, inseparable
from maxmargin.lesson.source004_messages import perceptrons, refusal
from maxmargin.lesson.style import STYLE

pytestmark = pytest.mark.compiled


def texts(part):
    """All prose of a part."""
    return [*part.idea, *part.notice, *part.misprints, *(line.words for line in part.formulas)]


# What is there


def test_the_order_is_that_of_the_sources():
    assert [part.source for part in course.PARTS] == sorted(part.source for part in course.PARTS)
    assert len({part.key for part in course.PARTS}) == len(course.PARTS) == 20
    names = [shown.name for part in course.PARTS for shown in part.shown if hasattr(shown, "name")]
    assert len(names) == len(set(names))


def test_the_map_of_the_sources_has_every_numbered_item():
    listed = " ".join(f"{item.source} {item.item};" for item in sources.ITEMS)
    figures: set[int] = set()
    for item in sources.ITEMS:
        if item.source == "000" and item.item.startswith("figure"):
            numbers = [int(number) for number in re.findall(r"\d+", item.item.partition(":")[0])]
            figures |= set(range(min(numbers), max(numbers) + 1))
    assert figures == set(range(1, 17))
    for wanted in ("algorithm 1", "algorithm 2", "algorithm 3"):
        assert wanted in listed
    for step in range(1, 5):
        assert f"001 step {step}" in listed
    for wanted in ("penalty", "gradient; clipping", "kernel-matrix form", "3 support vectors", "extra term d"):
        assert wanted in listed
    for wanted in ("hinge, MSE and logistic", "G(w, α)", "min and max", "kinds", "random coordinates", "SGD"):
        assert wanted in listed
    for wanted in ("regression", "several classes", "where support vectors lie"):
        assert f"question: {wanted}" in listed
    for wanted in ("primal QP", "two inequalities", "KKT", "b from any", "candidates", "PLA", "Φ", "30,000", "d̃"):
        assert wanted in listed
    assert {item.part for item in sources.ITEMS} <= set(course.NUMBERS)


def test_every_algorithm_of_the_sources_is_printed():
    printed = {name for part in course.PARTS for name in part.twins}
    assert printed == {twin.function.__name__ for twin in twins.TWINS.values()}


def test_links_lead_somewhere():
    exercises = {f"{part.key}.{k}" for part in course.PARTS for k in range(1, len(part.exercises) + 1)}
    written = [text for part in course.PARTS for text in texts(part)] + [item.call for item in sources.ITEMS]
    for key in re.findall(r"\[\[([a-z]+(?:\.\d)?)\]\]", " ".join(written)):
        assert key in course.NUMBERS or key in exercises, key


@pytest.mark.parametrize("part", course.PARTS, ids=lambda part: part.key)
def test_text_and_formulas_of_a_part(part):
    values = {**course.NUMBERS, **part.facts()}
    for text in texts(part):
        html = inline(text, values)
        ElementTree.fromstring(f"<p>{html}</p>")
        assert "<<" not in html and "$" not in html and "[[" not in html and "`" not in html
    for line in part.formulas:
        ElementTree.fromstring(math(line.formula, display=True))
    assert part.idea and part.notice and part.formulas and part.shown
    assert any(isinstance(shown, Picture) for shown in part.shown)


@pytest.mark.parametrize("part", course.PARTS, ids=lambda part: part.key)
def test_the_call_of_a_part_runs_as_it_is_printed(part):
    scope: dict = {}
    exec(PRELUDE, scope)
    exec(part.call, scope)


#: What a native reader stumbles over, and what is not true.
AVOIDED = ("too right", "number a sample", "crumb", "crisp", "factor an epoch", "are no support vectors", "stay there")


def test_words():
    written = " ".join(text for part in course.PARTS for text in texts(part)).lower()
    for words in AVOIDED:
        assert words not in written, words


def test_no_words_about_sides():
    """On a phone the panels of a figure and the pieces of a formula stand below each other."""
    captions = [shown.caption for part in course.PARTS for shown in part.shown]
    written = " ".join([*captions, *(text for part in course.PARTS for text in texts(part))]).lower()
    for words in ("on the left", "on the right", "left:", "right:"):
        assert words not in written, words


def test_words_in_tables_and_formulas_stay_whole():
    """A narrow page once broke the heads of tables letter by letter, and cut the names of the KKT conditions."""
    assert "mtext { white-space: nowrap; }" in STYLE
    assert ".wide { overflow-wrap: normal; }" in STYLE


# What the marks of the text become


def test_marks():
    html = inline("*one* `a < b` $x_i$, <<n>> [[margin]] and [[margin.2]] & (<) ($y$)", {"n": 3, "margin": 1})
    assert "<em>one</em>" in html and "<code>a &lt; b</code>" in html and ">3 " not in html
    assert '<a href="#margin">part 1</a>' in html and '<a href="#margin-2">exercise 1.2</a>' in html
    assert '<span class="unbroken"><math>' in html and "&amp; (&lt;)" in html
    assert re.search(r'<span class="unbroken">\(<math>.*</math>\)</span>$', html)
    with pytest.raises(KeyError):
        inline("<<nothing>>", {})


def test_code_is_escaped_and_whole():
    code = 'def f(x):\n    """Less < more."""\n    return x < 1  # why & how\n'
    html = python(code)
    assert "&lt;" in html and '<span class="comment"># why &amp; how</span>' in html
    assert '<span class="keyword">return</span>' in html
    text = re.sub(r"<[^>]*>", "", html)
    assert text.replace("&lt;", "<").replace("&amp;", "&").replace("&quot;", '"') == code.strip("\n")


def test_a_column_of_sentences_is_text():
    html = rich_table(("a", "b"), [("1", "a long sentence that says how the run ended, and why")])
    assert html.count('class="text"') == 2


def test_numbers_in_words():
    assert [fits.short(value) for value in (0.063, 1.0, 1e-8, 2.4e-5)] == ["0.063", "1", "10⁻⁸", "2·10⁻⁵"]
    assert fits.signed(-1e-9) == "0.0000" and fits.signed(-0.25, 2) == "−0.25"


def test_a_part_whose_library_is_missing_says_so(tmp_path):
    def missing():
        raise MissingExtra("qpsolvers is not installed; pip install 'maxmargin[qp]'")

    part = replace(course.PARTS[0], facts=missing)
    html = section(part, course.NUMBERS, tmp_path)
    assert "cannot be computed here" in html and "maxmargin[qp]" in html and html.endswith("</section>")


# What it says is true


def test_the_penalty_method_ends_with_three_support_vectors():
    run = penalty_run()
    assert run.converged and len(run.support) == 3
    assert next(part for part in course.PARTS if part.key == "penalty").facts()["early"] == 4
    assert set(run.support) == set(fits.exact(toys.separable, np.inf).support)


def test_the_imbalance_falls_like_one_over_c():
    sums = np.array([run.raw_beta.sum() for run in weights().values()])
    assert np.allclose(sums[:-1] / sums[1:], 10.0, rtol=0.01)


def test_multipliers_that_reach_zero_may_leave_it():
    """An older lesson said that they stay there."""
    part = next(part for part in course.PARTS if part.key == "projected")
    assert part.facts()["left"] > 0


def test_the_primal_method_marks_no_support_vectors():
    from maxmargin import plots

    display = plots.boundary(*last_hyperplane(RIGHT))
    assert set(display.kinds) <= {"sample"}
    assert len(fits.exact(toys.overlapping).support) == 33


def test_learning_rates_of_algorithm_1():
    small, right, large, wild = (objectives(eta) for eta in (0.0002, RIGHT, 0.05, 0.25))
    best = right.min()
    assert small.min() > 1.05 * best and large[-1] > 1.02 * best and wild[-1] > 1e6
    assert "diverged" in str(fits.subgradient(0.25).status)
    assert "use step=" in str(fits.subgradient(0.25).status)


def test_learning_rates_of_algorithm_2():
    slow, right, wild = (fits.projected(share * fits.stable_step()) for share in SHARES)
    assert right.converged and not slow.converged and "diverged" in str(wild.status)


def test_initial_weights_are_honoured():
    first = fits.subgradient(RIGHT).trace.snapshots[0].w
    X, y = toys.overlapping()
    again = twins.subgradient_descent(X, y, fits.REGULARISER, RIGHT, 1, np.array(fits.START))[-1]
    assert np.allclose(first, again, atol=1e-12)


def test_single_updates_of_the_table_gain():
    _, rows = updates_table()
    assert len(rows) == 10 and all(float(row[-1].replace("−", "-")) >= 0 for row in rows)


def test_sdca_is_ahead_of_sgd_by_far():
    gaps = {name: run.certificate.relative_gap for name, run in duel().items()}
    sdca, *others = gaps.values()
    assert all(sdca < 0.01 * other for other in others)


def test_perceptrons_are_drawn_with_their_counts():
    from maxmargin import plots

    first = perceptrons()["perceptron, in order"]
    assert np.array_equal(first.coef, np.round(first.coef)) and np.count_nonzero(first.coef) == 8
    display = plots.boundary(first)
    assert len(display.kinds["corrected"]) == 8


def test_candidates_conditions_and_proofs():
    counts = candidate_run().certificate.kinds.counts
    assert counts["free"] == 2 and counts["candidate"] == 4
    assert all(condition.residual <= 1e-6 for condition in hard_run().kkt.conditions)
    assert np.ptp(hard_run().support_biases) < 1e-6
    assert inseparable().certificate.inseparable is not None


def test_the_refusal_names_memory_and_a_solver():
    assert "7.2 GB" in refusal() and "smo" in refusal()
