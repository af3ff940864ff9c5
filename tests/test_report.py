"""The report of a fit says what the certificate says, in one file that needs nothing else, whatever the fit."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from html import escape, unescape
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, confusion_matrix, mean_absolute_error, r2_score

import maxmargin
from maxmargin import SVC, LinearSVC, Problem, solve
from maxmargin.errors import InvalidInput, MissingExtra
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.one_class import OneClass
from maxmargin.page import write
from maxmargin.result import Reason, Status

pytest.importorskip("matplotlib")

from maxmargin.report import report
from maxmargin.report.advice import things_to_do
from maxmargin.report.fit import Fit
from maxmargin.report.proof import verdict
from maxmargin.report.reproduce import snippet
from maxmargin.report.words import percent
from tests.studio.conftest import recorded


def clouds(shift, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n // 2)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


@cache
def fit(name):
    """One small fit of each kind."""
    X, y = clouds(1.0)
    wave = np.linspace(-3.0, 3.0, 40)[:, None]
    noise = 0.3 * np.random.default_rng(1).normal(size=40)
    makers = {
        "linear": lambda: solve(Problem(X, y)),
        "kernel": lambda: solve(Problem(X, y, kernel="rbf", C=10.0), tol=1e-8),
        "augmented": lambda: solve(
            Problem(X, y, bias="augmented", bias_scale=2.0, class_weight={1.0: 3.0}), "coordinate-ascent"
        ),
        "sparse": lambda: solve(Problem(sp.csr_array(X.astype(np.float32)), y, bias="none")),
        "hard": lambda: solve(Problem(*clouds(4.0), C=np.inf)),
        "inseparable": lambda: solve(Problem(X, y, C=np.inf)),
        "indefinite": lambda: solve(Problem(X, y, kernel="sigmoid")),
        "unchecked": lambda: solve(Problem(X @ X.T, y, kernel="precomputed"), "qp"),
        "own kernel": lambda: solve(Problem(X, y, kernel=lambda A, B: (A @ B.T + 1.0) ** 2)),
        "transform": lambda: solve(Problem(X, y, transform=lambda Z: np.c_[Z, Z**2])),
        "unfinished": lambda: solve(Problem(X, y), "projected-gradient", max_iter=8, tol=1e-9, every=1),
        "interrupted": lambda: solve(Problem(X, y), "projected-gradient", callbacks=[lambda look: True]),
        "perceptron": lambda: solve(Problem(*clouds(4.0)), "perceptron"),
        "penalty": lambda: solve(Problem(X, y), "penalty", tol=1e-2),
        "logistic": lambda: solve(Problem(X, y, loss="logistic"), tol=1e-2),
        "regression": lambda: solve(Problem(wave, np.sin(wave[:, 0]) + noise, EpsilonInsensitive(0.2), "rbf")),
        "least squares": lambda: solve(Problem(wave, np.sin(wave[:, 0]), loss="least-squares", bias="none")),
        "one-class": lambda: solve(Problem(X, loss=OneClass(0.1), kernel="rbf")),
        "three": lambda: solve(Problem([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], ["a", "b", "b"])),
    }
    return makers[name]()


FITS = (
    *("linear", "kernel", "augmented", "sparse", "hard", "inseparable", "indefinite", "unchecked", "own kernel"),
    *("transform", "unfinished", "interrupted", "perceptron", "penalty", "logistic", "regression", "least squares"),
    *("one-class", "three"),
)


def page_of(result, folder, figures=False):
    """The page of a fit; its figures take a second and are not what most tests are about."""
    with nullcontext() if figures else mock.patch.object(Fit, "drawn", lambda self, name: f"<p>{name}</p>"):
        return report(result, folder / "fit.html").read_text(encoding="utf-8")


def without_pictures(page):
    """The page without its embedded figures, whose letters are random."""
    return re.sub(r'src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"', 'src="data:"', page)


def rows_of(page):
    """The lines of all tables of facts: name to value and sentence."""
    found = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>(?:<td class="soft">(.*?)</td>)?', page)
    return {unescape(name): (unescape(value), unescape(words)) for name, value, words in found}


def check_whole(page, result):
    page = without_pictures(page)
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert page.count("<h2>") == 8
    for outside in ("http", "<script", "url(", "@import"):
        assert outside not in page
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) <= {"data:", "data:,"}
    assert f">{verdict(result)[1]}</p>" in page


@pytest.mark.parametrize("name", FITS)
def test_every_kind_of_fit_makes_a_whole_page_that_needs_nothing_else(name, tmp_path):
    check_whole(page_of(fit(name), tmp_path), fit(name))


@pytest.mark.parametrize("name", ["kernel", "inseparable", "unfinished", "regression", "one-class", "three"])
def test_the_figures_are_inside(name, tmp_path):
    page = page_of(fit(name), tmp_path, figures=True)
    check_whole(page, fit(name))
    looks = len(fit(name).trace)
    assert page.count("<img ") == (3 if looks >= 3 else 2)  # one or two looks make no curve
    assert len(page) < 1e6


def test_a_figure_that_cannot_be_is_explained(tmp_path):
    page = page_of(fit("unchecked"), tmp_path, figures=True)
    assert "<p>No figure: a precomputed kernel has no features to draw.</p>" in page and "<p>No curves: " in page


@pytest.mark.parametrize("name", ["linear", "kernel", "unfinished", "regression", "one-class", "indefinite"])
def test_the_numbers_are_those_of_the_certificate(name, tmp_path):
    result = fit(name)
    page = page_of(result, tmp_path)
    certificate, rows = result.certificate, rows_of(page)
    assert rows["Primal"][0] == f"{certificate.primal:.10g}"
    assert rows["Dual"][0] == f"{certificate.dual:.10g}"
    assert rows["Gap"][0] == f"{certificate.gap:.3g}"
    assert rows["Relative gap"][0] == f"{certificate.relative_gap:.3g}"
    assert rows["KKT violation"][0] == f"{certificate.kkt_violation:.3g}"
    for condition in result.kkt.conditions:  # the checklist
        assert f"<td>{escape(condition.name)}</td>" in page
    assert rows["Infeasibility"][0] == f"{certificate.infeasibility:.3g}"
    for kind, many in certificate.kinds.counts.items():
        assert rows[kind.capitalize()][0].startswith(f"{many:,} (")
    assert rows["Iterations"][0] == f"{result.iterations:,}"


def test_problem_and_solver_are_described(tmp_path):
    rows = rows_of(page_of(fit("augmented"), tmp_path))
    assert rows["Samples"] == ("60", "30 labelled -1.0, 30 labelled 1.0.")
    assert rows["C"][0] == "1 to 3"
    assert rows["Bias"] == (f"augmented, b = {fit('augmented').b:.6g}", rows["Bias"][1])
    assert rows["Algorithm"][0] == "coordinate-ascent, order = shuffled"
    assert "ICML 2008" in rows["Paper"][1]
    rows = rows_of(page_of(fit("sparse"), tmp_path))
    assert rows["Features"][1].startswith("Sparse, float32, 120 values that are not 0 (100%)")
    rows = rows_of(page_of(fit("kernel"), tmp_path))
    assert rows["Kernel"] == (f"rbf, gamma = {fit('kernel').problem.kernel.gamma:.6g}", "exp(−γ‖a − b‖²)")
    assert "Features" not in rows_of(page_of(fit("unchecked"), tmp_path))
    assert "Related gap" in rows_of(page_of(fit("penalty"), tmp_path))


# The verdict


def with_gap(result, primal, dual, reason=Reason.CONVERGED):
    """The same fit with another certificate."""
    certificate = replace(result.certificate, primal=primal, dual=dual, rounding=0.0)
    return replace(result, certificate=certificate, status=Status(reason, "relative gap, asked for 0.1; go on"))


@pytest.mark.parametrize(
    ("dual", "words"),
    [
        (0.9999, "Proved optimal to 1 part in 10,000: no other hyperplane has an objective more than 0.01% lower."),
        (
            1 - 3.4e-5,
            "Proved optimal to 1 part in 29,000: no other hyperplane has an objective more than 0.0034% lower.",
        ),
        (0.958, "Proved optimal to within 4.2%: no other hyperplane has an objective more than 4.2% lower."),
        (
            1 - 2.0**-30,
            "Proved optimal to 1 part in 1,000,000,000: no other hyperplane has a noticeably lower objective.",
        ),
        (1.0, "Proved optimal up to rounding: no other hyperplane has a noticeably lower objective."),
    ],
)
def test_the_verdict_of_a_converged_fit_claims_no_more_than_is_proved(dual, words):
    assert verdict(with_gap(fit("linear"), 1.0, dual)) == ("good", words)


def test_the_verdict_of_other_fits():
    assert verdict(with_gap(fit("linear"), 1.0, 0.88, Reason.MAX_TIME)) == (
        "bad",
        "Not yet: the objective may still fall by up to 12%.",
    )
    # An objective that cannot be negative cannot fall by more than all of it.
    assert "up to 100%." in verdict(with_gap(fit("linear"), 1.0, -3.0, Reason.STALLED))[1]
    assert verdict(fit("unfinished"))[1].startswith("Not yet: the objective may still fall by up to ")
    assert verdict(fit("interrupted"))[1].startswith("Not yet: ")
    assert verdict(fit("perceptron"))[1].startswith("Not proved optimal: another hyperplane may have")
    assert verdict(fit("inseparable")) == ("bad", "Not separable: no hyperplane has each class on a side of its own.")
    assert verdict(with_gap(fit("linear"), np.inf, 3.0, Reason.MAX_ITER))[1].startswith("Open: ")
    tone, words = verdict(fit("indefinite"))
    assert tone == "bad" and words.startswith("A stationary point, not a proved optimum: the kernel is indefinite")
    tone, words = verdict(fit("unchecked"))
    assert tone == "good" and "provided that the kernel is positive semi-definite (not checked)" in words
    assert "no other function of this kind" in verdict(fit("regression"))[1]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (1e-4, "0.01%"),
        (0.1234, "13%"),
        (1.0, "100%"),
        (0.0123, "1.3%"),
        (12.5, "1,250%"),
        (3e-8, "0.000003%"),
    ],
)
def test_percent_is_rounded_up(share, text):
    assert percent(share) == text


def test_a_proof_of_non_separability_is_shown(tmp_path):
    proof = fit("inseparable").certificate.inseparable
    page = page_of(fit("inseparable"), tmp_path)
    rows = rows_of(page)
    assert rows["Primal"][0] == rows["Gap"][0] == "∞"
    assert rows["Distance"][0] == f"{proof.distance:.3g}"
    assert rows["Widest margin"][0] == f"{proof.margin_bound:.3g}"
    heaviest = int(proof.alpha.argmax())
    assert f"<tr><td>{heaviest}</td>" in page and f"<td>{proof.alpha[heaviest]:.4g}</td></tr>" in page
    assert "<li>Use a finite C.</li>" in page


# The samples


def test_scores_of_a_classification(tmp_path):
    result = fit("kernel")
    predicted, y = result.predict(result.problem.X), result.problem.target
    page = page_of(result, tmp_path)
    assert f"Accuracy {accuracy_score(y, predicted):.2%};" in page
    confusion = confusion_matrix(y, predicted)
    for row, label in zip(confusion, (-1.0, 1.0), strict=True):
        recall = row[int(label > 0)] / row.sum()
        assert f"<tr><td>{label}</td><td>{row[0]}</td><td>{row[1]}</td><td>{recall:.1%}</td></tr>" in page
    precision = [f"<td>{confusion[k, k] / confusion[:, k].sum():.1%}</td>" for k in (0, 1)]
    assert f"<tr><td>precision</td>{precision[0]}{precision[1]}" in page


def test_samples_of_weight_0_do_not_count(tmp_path):
    X, y = clouds(1.0)
    weight = np.r_[np.zeros(10), np.ones(50)]
    page = page_of(solve(Problem(X, y, sample_weight=weight)), tmp_path)
    assert "10 samples of weight 0 left out." in page
    counted = re.findall(r"<tr><td>-?1\.0</td><td>(\d+)</td><td>(\d+)</td><td>[\d.]+%</td></tr>", page)
    assert sum(int(many) for row in counted for many in row) == 50


def test_scores_of_a_regression(tmp_path):
    result = fit("regression")
    t, z = result.problem.target, result.predict(result.problem.X)
    rows = rows_of(page_of(result, tmp_path))
    assert rows["R²"][0] == f"{r2_score(t, z):.4g}"
    assert rows["Mean error"][0] == f"{mean_absolute_error(t, z):.4g}"
    assert rows["Inside the tube"][0] == f"{1 - len(result.certificate.kinds.bound) / 40:.1%}"
    assert "Inside the tube" not in rows_of(page_of(fit("least squares"), tmp_path))


def test_scores_of_a_one_class_model(tmp_path):
    result = fit("one-class")
    novel = int(np.count_nonzero(result.predict(result.problem.X) < 0))
    page = page_of(result, tmp_path)
    assert f"<tr><td>Novel (−1)</td><td>{novel}</td>" in page and "ν = 0.1" in page


def test_the_most_influential_samples_are_the_ones_with_the_largest_beta(tmp_path):
    result = fit("regression")
    page = page_of(result, tmp_path)
    shown = re.findall(
        r"<tr><td>(\d+)</td><td>[-\d.e]+</td><td>([\d.e-]+)</td><td>([-\d.e]+)</td><td>\w+</td></tr>", page
    )
    assert len(shown) == 10
    error = result.decision_function(result.problem.X) - result.problem.target
    for index, beta, off in shown:
        assert beta == f"{abs(result.beta[int(index)]):.4g}" and off == f"{error[int(index)]:.4g}"
    assert float(shown[0][1]) == pytest.approx(np.abs(result.beta).max(), rel=1e-3)


# What to do next


def advice_on(result):
    return " ".join(things_to_do(Fit(result)))


def test_advice():
    X, y = clouds(1.0)
    rng = np.random.default_rng(0)
    assert "score the fit on data that it has not seen" in advice_on(fit("kernel"))
    assert "standardise them" in advice_on(solve(Problem(X * [1.0, 1e5], y), "projected-gradient", max_iter=3))
    assert "start=result" in advice_on(fit("interrupted"))
    assert "for a smaller gap try another solver" in advice_on(fit("perceptron"))
    assert "positive semi-definite kernel" in advice_on(fit("indefinite"))
    assert "eigvalsh" in advice_on(fit("unchecked"))
    assert "leave-one-out" in advice_on(fit("three"))
    assert "as many features as samples" in advice_on(
        solve(Problem(rng.normal(size=(40, 80)), y[:40] * rng.permutation(y[10:50])))
    )
    rare = np.where(np.arange(60) < 57, "usual", "rare")
    assert "only 3 of 60 samples are labelled rare" in advice_on(solve(Problem(X, rare)))
    assert "always answering usual" in advice_on(solve(Problem(X, rare, C=1e-3)))
    weighted = solve(Problem(X, rare, class_weight="balanced"))
    assert "labelled rare" not in advice_on(weighted)
    noise = solve(Problem(X, rng.permutation(y), kernel="rbf", C=0.1))
    assert "samples are support vectors, which is many: try better features, a smaller gamma" in advice_on(noise)
    assert "which is many" not in advice_on(fit("logistic"))  # all samples are, by the nature of that loss
    bound = solve(Problem([[-1.0], [1.0]] * 20, [-1.0, 1.0] * 20, C=1e-3))
    assert "all support vectors are at their limit C" in advice_on(bound)


def test_the_pace_of_an_unfinished_run():
    assert "closing in on each other" in advice_on(fit("unfinished"))
    stuck = fit("unfinished")
    rows = [stuck.trace.rows[-1]] * 8
    assert "hardly moved" in advice_on(replace(stuck, trace=replace(stuck.trace, rows=rows)))


# How to reproduce it


@pytest.mark.parametrize(
    "name", ["linear", "kernel", "augmented", "hard", "regression", "one-class", "unfinished", "unchecked"]
)
def test_the_code_gives_the_same_fit(name):
    result = fit(name)
    X, y = result.problem.X, result.problem.target
    scope = {"X": X, "K": X, "y": y, "my_weights": result.problem.C, "print": lambda *texts: None}
    exec(snippet(result), scope)
    again = scope["result"]
    assert again.certificate.primal == pytest.approx(result.certificate.primal, rel=1e-12)
    assert again.iterations == result.iterations and again.solver == result.solver


def test_the_code_names_what_it_cannot_write():
    assert "kernel=my_kernel" in snippet(fit("own kernel"))
    assert "transform=my_transform" in snippet(fit("transform"))
    assert "sample_weight=my_weights" in snippet(fit("augmented"))
    assert "bias_scale=2.0" in snippet(fit("augmented"))
    assert "max_iter=8" in snippet(fit("unfinished"))


# The file


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$\\frac{"])
def test_labels_are_text(label, tmp_path):
    X, y = clouds(1.0)
    page = page_of(solve(Problem(X, np.where(y > 0, label, "other"))), tmp_path, figures=True)
    assert "<script" not in page and "onerror=alert(1)>" not in page
    if label.startswith("<"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_half_a_letter_is_no_reason_to_fail(tmp_path):
    assert write(tmp_path / "fit.html", "\ud800").read_text() == "&#55296;"


def test_a_long_label_is_cut(tmp_path):
    X, y = clouds(1.0)
    assert "x" * 50 not in page_of(solve(Problem(X, np.where(y > 0, "x" * 500, "y"))), tmp_path)


def test_the_method_of_a_result(tmp_path):
    written = fit("linear").report(str(tmp_path / "fit.html"))
    assert written == tmp_path / "fit.html" and written.stat().st_size > 10_000
    assert [file.name for file in tmp_path.iterdir()] == ["fit.html"]


def test_a_failing_write_keeps_the_old_file(tmp_path, monkeypatch):
    old = tmp_path / "fit.html"
    old.write_text("old")

    def fail(*paths):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InvalidInput, match=r"cannot write .*fit\.html: No space left on device"):
        report(fit("linear"), old)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_a_place_that_cannot_be_written_to_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.report._page", lambda fit: pytest.fail("the figures were drawn for nothing"))
    with pytest.raises(InvalidInput, match="there is no folder"):
        report(fit("linear"), tmp_path / "missing" / "fit.html")
    with pytest.raises(InvalidInput, match="is a folder; give the name of a file"):
        report(fit("linear"), tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidInput, match="is not writable"):
        report(fit("linear"), tmp_path / "fit.html")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    report(fit("linear"), tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "real.html").is_file()


def test_a_run_that_was_recorded_can_be_played_in_the_page(tmp_path):
    X, y = clouds(1.0)
    problem = Problem(X, np.where(y > 0, "</iframe>", "<b>"))
    result = solve(problem, "smo", grain=1, every=1, snapshots=True)
    page = page_of(result, tmp_path, figures=True)
    (tape,) = re.findall(r'<iframe title="[^"]*" sandbox="allow-scripts" loading="lazy" srcdoc="([^"]*)">', page)
    header, array = recorded(unescape(tape))
    (run,) = header["runs"]
    assert header["problem"]["labels"] == ["</iframe>", "<b>"] and run["options"] == {"grain": 1}
    np.testing.assert_allclose(array(run["frames"][-1]["arrays"]["beta"]), result.trace.snapshots[-1].beta, atol=1e-6)
    assert run["frames"][-1]["certificate"]["gap"] == pytest.approx(result.certificate.gap, abs=1e-9)
    assert len(page) < 1e6
    plain = solve(problem, "smo", grain=1, every=1)
    wide = solve(Problem(np.c_[X, X[:, 0]], y), "smo", every=1, snapshots=True)
    large = solve(Problem(*clouds(1.0, n=502)), "smo", every=1, snapshots=True)
    assert not any("<iframe" in page_of(one, tmp_path) for one in (plain, wide, large))


def test_missing_matplotlib_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "maxmargin.plots", raising=False)
    monkeypatch.delattr(maxmargin, "plots", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'maxmargin\[plot\]'"):
        fit("linear").report(tmp_path / "fit.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.compiled
def test_the_file_does_not_grow_with_the_samples(tmp_path):
    result = solve(Problem(*clouds(1.0, 100_000), bias="augmented"), max_iter=3)
    assert report(result, tmp_path / "fit.html").stat().st_size < 2e6


def test_an_estimator_of_several_classes(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 3
    X[:, 0] += 2.0 * y
    for estimator in (SVC(solver="smo"), LinearSVC(), SVC(max_iter=1, solver="frank-wolfe")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(X, y)
        text = report(estimator, tmp_path / "fit.html", X, y).read_text()
        for one in estimator.certificate_.values():
            assert f"{one.primal:.10g}" in text and f"{one.relative_gap:.3g}" in text
        proved = estimator.certificate_.holds(estimator.tol)
        assert ("Proved optimal" in text, "Not yet" in text) == (proved, not proved)
        wrong = float(np.mean(estimator.predict(X) != y))
        assert f"{percent(wrong)} of 90 rows" in text
    with pytest.raises(InvalidInput, match="give X and y, or neither"):
        report(estimator, tmp_path / "fit.html", X)
