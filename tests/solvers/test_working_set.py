"""The working-set solver: what it is made of, its scores, small caps and long rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from maxmargin import Problem, solve
from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.cached_rows import whole_rows
from maxmargin.kernels import RBF
from maxmargin.result import Iterate, Reason
from maxmargin.solvers.kernel import working_set, working_set_scores
from maxmargin.solvers.kernel.working_set import WorkingSet, _Run
from maxmargin.solvers.kernel.working_set_choice import middle, violation
from maxmargin.solvers.kernel.working_set_scores import Scores
from maxmargin.solvers.kernel.working_set_steps import ranges, submatrix
from maxmargin.solvers.textbook.smo import pair_steps
from tests.solvers.problems import noisy

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("bias", ["free", "none"])
def test_working_set_takes_turns_under_a_small_cap(bias):
    X, y = noisy(1500, 5)
    roomy = solve(Problem(X, y, kernel="rbf", C=10.0, bias=bias), "working-set", tol=1e-6)
    small = solve(Problem(X, y, kernel="rbf", C=10.0, bias=bias, cache_bytes=700_000.0), "working-set", tol=1e-6)
    assert small.certificate.holds(1e-6)
    assert small.certificate.primal == pytest.approx(roomy.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("bias", ["free", "augmented"])
@pytest.mark.parametrize("cache_bytes", [2.0**30, 2.0**26])
def test_working_set_where_nearly_all_are_support_vectors(bias, cache_bytes):
    X, y = noisy(4500, 6)
    problem = Problem(X, y, kernel=RBF(3.0), C=10.0, bias=bias, cache_bytes=cache_bytes)
    result = solve(problem, "working-set", tol=1e-7)
    assert result.certificate.holds(1e-7) and np.count_nonzero(result.beta) > 0.7 * problem.n


@pytest.mark.parametrize("start", [0, 5])
def test_the_matrix_of_a_working_set_is_symmetric_and_whole(start):
    K = np.random.default_rng(0).normal(size=(30, 30))
    K += K.T
    chosen, out = np.array([2, 3, 5, 7, 11, 13, 17, 19]), np.zeros((8, 8))
    for first, last in ((0, start), (start, 8)):
        submatrix(K, chosen, first, last, out)
    np.testing.assert_array_equal(out, K[np.ix_(chosen, chosen)])


@pytest.mark.parametrize("enough", [0.5, 0.01])
def test_pair_steps_end_as_soon_as_the_violation_is_small_enough(enough):
    X, y = noisy(100, 4)
    problem = Problem(X, y, kernel=RBF(gamma=0.3), C=1.0)
    form, K, n = problem.form, RBF(gamma=0.3).block(X, X), problem.n

    def left_after(steps: int) -> tuple[int, float]:
        beta, g = np.zeros(n), form.target.copy()
        done, missing = pair_steps(whole_rows(K), 0, steps, True, enough, np.ones(n), form.arrays, beta, g)
        assert missing == -1
        return done, violation(*ranges(form.tube, form.lower, form.upper, beta, g), True)

    done, left = left_after(10_000)
    assert 0 < done < 10_000 and left <= enough < left_after(done - 1)[1]


@pytest.mark.parametrize("let_go", [0, 3])
def test_new_samples_are_scored_against_all_support_vectors_also_those_let_go(let_go):
    X, y = noisy(60, 4)
    problem = Problem(X, y, kernel=RBF(gamma=0.3), C=1.0)
    run = _Run(problem, Iterate(0), np.random.default_rng(0), 16)
    seen, new = np.arange(40), np.arange(40, 60)
    run.beta[seen] = 0.5 * problem.target[seen]
    run.square.extend(seen)
    run.square.keep(seen >= let_go)
    run.all_active = True
    run._see(new)
    np.testing.assert_allclose(run.scores.values[new], problem.space.scores(run.beta)[new], rtol=1e-12)


def test_a_long_round_can_be_ended_within_it():
    X, y = noisy(1800, 5)
    problem = Problem(X, y, kernel="rbf", C=1e4)
    ended = solve(problem, WorkingSet(size=16), tol=1e-12, max_iter=100)
    assert ended.status.reason is Reason.MAX_ITER and ended.iterations < 100 + 2 * working_set.settings.working_sets
    assert problem.is_feasible(ended.beta) and np.isfinite(ended.certificate.gap)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_float32_rows_do_not_limit_the_gap(C):
    X, y = noisy(5000, 8)
    result = solve(Problem(X, y, kernel="rbf", C=C), "working-set", tol=1e-9)
    assert result.certificate.holds(1e-9)
    theirs = SVC(C=C, gamma="scale", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(result.decision_function(X[:500]), theirs.decision_function(X[:500]), atol=1e-3)


def test_of_very_many_violators_the_worst_become_active(monkeypatch):
    X, y = noisy(300, 4)
    problem = Problem(X, y, kernel=RBF(gamma=0.3), C=1.0)
    monkeypatch.setattr(working_set, "settings", replace(working_set.settings, most_entering=40))
    run = _Run(problem, Iterate(0), np.random.default_rng(0), 16)
    run.beta[:20] = 0.5 * problem.target[:20]
    run.scores.see(np.arange(300), run.beta)
    run.square.extend(np.arange(20))
    others = np.arange(20, 300)
    excess = run._excess(others, middle(*run._ranges(np.arange(20)), True))
    assert np.count_nonzero(excess > 0.1) > 60
    run._choose_active(np.arange(300), 0.1)
    taken = run.square.index[run.square.index >= 20]
    assert run.crowded and taken.size == 60  # 40 and as many as there are support vectors
    assert excess[taken - 20].min() >= np.delete(excess, taken - 20).max()
    run._choose_active(np.arange(300), 10.0)
    assert not run.crowded
    assert solve(problem, WorkingSet(), tol=1e-8).certificate.holds(1e-8)


@pytest.fixture
def kept():
    """Scores of 60 samples for a β whose first 20 are not 0, and a β that differs in the first five."""
    X, y = noisy(60, 4)
    problem = Problem(X, y, kernel=RBF(gamma=0.3))
    scores = Scores(problem.space, ActiveSquare(problem.kernel, problem.X, 0.0, 2.0**30))
    before = np.where(np.arange(60) < 20, 0.5 * problem.target, 0.0)
    scores.see(np.arange(60), before)
    after = before.copy()
    after[:5] *= 1.5
    return scores, before, after


def test_samples_far_from_violating_are_late_until_the_active_scores_have_moved_too_far(kept):
    scores, before, after = kept
    exact_before, exact_after = (scores.space.scores(beta) for beta in (before, after))
    others, slack = np.arange(10, 60), np.where(np.arange(10, 60) < 25, 0.1, 5.0)
    slack[0] = 5.0  # far, but a support vector: its score counts in the dual
    scores.follow(others, before, after, slack, moved=1.0)
    late = np.flatnonzero(scores.late)
    np.testing.assert_array_equal(late, np.arange(25, 60))
    np.testing.assert_allclose(scores.values[25:], exact_before[25:], rtol=1e-12)
    np.testing.assert_allclose(scores.values[10:25], exact_after[10:25], rtol=1e-12)
    # Another round: they have to move 2 · (1 + 2) before they could violate, and only the last ten are so far.
    last = after.copy()
    last[5:10] = 0.0
    slack = np.where(others < 50, 5.0, 7.0)
    scores.follow(others, after, last, slack, moved=2.0)
    np.testing.assert_array_equal(np.flatnonzero(scores.late), np.arange(50, 60))
    np.testing.assert_allclose(scores.values[10:50], scores.space.scores(last)[10:50], rtol=1e-12)
    scores.catch_all_up(last)
    assert not scores.late.any()
    np.testing.assert_allclose(scores.values[10:], scores.space.scores(last)[10:], rtol=1e-12)


def test_a_few_far_samples_are_not_left_behind(kept):
    scores, before, after = kept
    scores.follow(np.arange(10, 60), before, after, np.where(np.arange(10, 60) < 50, 0.1, 5.0), moved=1.0)
    assert not scores.late.any()
    np.testing.assert_allclose(scores.values[10:], scores.space.scores(after)[10:], rtol=1e-12)


@pytest.mark.parametrize("off, mended", [(1e-12, False), (1e-9, True)])
def test_scores_are_recomputed_where_a_few_show_that_they_are_off(kept, off, mended, monkeypatch):
    scores, beta, _ = kept
    monkeypatch.setattr(working_set_scores, "settings", replace(working_set_scores.settings, near=np.inf))
    exact = scores.space.scores(beta)
    scores.values = exact + off
    scores.late[:3] = True
    scores.mend(beta, 1e-10, np.random.default_rng(0))
    np.testing.assert_array_equal(scores.values, exact if mended else exact + off)
    assert scores.late.any() != mended


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_late_scores_change_nothing_but_the_work(C, monkeypatch):
    """Whoever is late, the fit is within its gap; and late samples are there to be tested with."""
    X, y = noisy(3000, 5)
    ever = []
    follow = Scores.follow

    def watched(self, *args, **kwargs):
        follow(self, *args, **kwargs)
        ever.append(self.late.any())

    monkeypatch.setattr(Scores, "follow", watched)
    problem = Problem(X, y, kernel=RBF(gamma=0.1), C=C)
    fits = [solve(problem, WorkingSet(), tol=1e-9)]
    assert any(ever)
    monkeypatch.setattr(working_set_scores, "settings", replace(working_set_scores.settings, far=np.inf))
    fits.append(solve(problem, WorkingSet(), tol=1e-9))
    assert all(fit.status.reason is Reason.CONVERGED for fit in fits)
    assert fits[0].certificate.dual == pytest.approx(fits[1].certificate.dual, rel=2e-9)
