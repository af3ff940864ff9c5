"""What notebooks show: small, escaped, without scripts or addresses, and the same numbers as the text."""

from __future__ import annotations

import html
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from maxmargin import SVC, SVCCV, SVR, C_path, LinearSVC, Problem, model_of, solve
from maxmargin.errors import MissingExtra
from maxmargin.estimators import html_repr
from maxmargin.page import Page

EVIL = "<script>alert(1)</script>"

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
two = np.where(X[:, 0] > 0, EVIL, "plain")
three = np.array([EVIL, "b", "c"])[rng.integers(0, 3, 60)]

pytestmark = pytest.mark.compiled


class Balanced(HTMLParser):
    """Counts the tags that are open, and collects what is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.addresses = [], set(), []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href") and value]
        if tag not in ("br", "img", "input", "meta", "link", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "polyline":
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown():
    result = solve(Problem(X, two, kernel="rbf"), "smo", every=1)
    several = SVC().fit(X, three)
    return {
        "certificate": result.certificate,
        "result": result,
        "problem": result.problem,
        "trace": result.trace,
        "model": model_of(result),
        "pairs": several.model_,
        "summary": several.certificate_,
        "path": C_path(X, two, [0.1, 1.0]),
        "inseparable": solve(Problem(X, three == EVIL, C=np.inf), "smo", max_time=20).certificate,
    }


def test_everything_shown_is_safe_and_small(shown):
    for name, thing in shown.items():
        text = thing._repr_html_()
        page = Balanced(text)
        assert not page.seen & {"script", "iframe", "link", "img"} and not page.addresses, name
        assert len(text) < 12_000, (name, len(text))
        assert "#fff" not in text and "background: white" not in text, name  # a dark theme stays dark


def test_labels_are_escaped(shown):
    for name in ("problem", "model", "pairs", "summary"):
        text = shown[name]._repr_html_()
        assert html.escape(EVIL) in text and EVIL not in text, name


def test_the_numbers_are_those_of_the_text(shown):
    text = shown["certificate"]._repr_html_()
    for line in str(shown["certificate"]).splitlines():
        assert html.escape(line[13:].strip()) in text
    assert "✓" in text and "✓" not in shown["inseparable"]._repr_html_()
    assert str(len(shown["trace"])) in shown["trace"]._repr_html_()


def test_long_things_are_cut():
    labels = np.arange(30).repeat(4)
    summary = LinearSVC().fit(rng.normal(size=(120, 3)), labels).certificate_
    assert "and 20 more" in summary._repr_html_()
    many = solve(Problem(X, two, kernel="rbf", C=100.0), "smo", every=1, tol=1e-10, grain=1).trace
    assert len(many) > 50 and len(many._repr_html_()) < 12_000


def test_a_trace_is_a_table(shown, monkeypatch):
    frame = shown["trace"].to_frame()
    assert frame["gap"].to_numpy() == pytest.approx(shown["trace"]["gap"], nan_ok=True)
    assert frame["iteration"].dtype == np.int64 and len(frame) == len(shown["trace"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        shown["trace"].to_frame()


def test_a_report_without_a_path_is_shown_inline(shown, tmp_path):
    for page in (shown["result"].report(), shown["pairs"].report()):
        assert isinstance(page, Page)
        frame = page._repr_html_()
        (inside,) = re.findall(r'srcdoc="([^"]*)"', frame)
        assert html.unescape(inside) == page.html and 'sandbox=""' in frame
        assert page.save(tmp_path / "fit.html").read_text(encoding="utf-8") == page.html


@pytest.mark.parametrize("estimator", [SVC(), SVC(C=10), SVR(), SVCCV(Cs=[0.1, 1], cv=2)], ids=str)
def test_estimators_show_their_certificate(estimator):
    before = estimator._repr_html_()
    y = X[:, 0] if isinstance(estimator, SVR) else two
    after = estimator.fit(X, y)._repr_html_()
    assert 'class="maxmargin"' not in before and 'class="maxmargin"' in after and EVIL not in after
    assert estimator._repr_mimebundle_()["text/html"].count('class="maxmargin"') == 1
    gap = (
        f"{estimator.worst_gap_:.2g}" if isinstance(estimator, SVCCV) else f"{estimator.certificate_.relative_gap:.2g}"
    )
    assert gap in after


def test_the_link_to_the_documentation_is_that_of_the_package(monkeypatch):
    assert "scikit-learn.org" not in SVC()._get_doc_link()
    monkeypatch.setattr(html_repr, "documentation", lambda: "https://docs.example/stable")
    assert SVC()._get_doc_link() == "https://docs.example/stable/generated/maxmargin.SVC.html"


def test_progress_in_a_real_notebook_needs_no_widgets():
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    code = """
import numpy as np
from maxmargin import Problem, solve
X = np.random.default_rng(0).normal(size=(200, 3))
"""
    more = """
result = solve(Problem(X, X[:, 0] > 0, bias="none"), "subgradient", max_iter=300, tol=1e-12, progress=True)
result
"""
    first = (
        code + "solve(Problem(X, X[:, 0] > 0, bias='none'), 'subgradient', max_iter=300)"
    )  # may tell that it compiles
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in (first, more)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[1].outputs
    assert not [one for one in outputs if one.output_type == "stream"]  # rich would ask for ipywidgets
    line, result = outputs
    assert "subgradient 300" in line["data"]["text/html"]
    assert 'class="maxmargin"' in result["data"]["text/html"]
