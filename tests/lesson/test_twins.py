"""Each plain twin beside the solver that does the same steps: all iterates are equal to 1e-12."""

import ast
import inspect

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.lesson import twins
from maxmargin.lesson.twins import TWINS
from maxmargin.solvers import (
    SGD,
    SMO,
    CoordinateAscent,
    DualQP,
    GradientAscent,
    Penalty,
    Perceptron,
    ProjectedGradient,
    StochasticAscent,
    Subgradient,
)

SEEDS = range(3)


def clouds(seed, n=24, d=3, apart=0.8):
    """Two clouds of points, overlapping unless they are far apart."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, d)) + apart * y[:, None] + 0.3, y


def snapshots(problem, solver, steps, seed=0, start=None):
    """What the loop kept of the first steps of a run, one by one."""
    result = solve(problem, solver, tol=0, max_iter=steps, every=1, snapshots=True, random_state=seed, start=start)
    assert [shot.iteration for shot in result.trace.snapshots] == list(range(1, steps + 1))
    return result.trace.snapshots


def assert_same(theirs, ours):
    """All iterates, relative to the largest entry of each; the first of a twin is its start."""
    theirs = theirs[1:]
    assert len(theirs) == len(ours) > 0
    for step, (one, other) in enumerate(zip(theirs, ours, strict=True), 1):
        assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max(), step


def epochs(kind, n, count, seed):
    """The order in which the solvers take the samples."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        return np.concatenate([rng.integers(0, n, n, dtype=np.uint32) for _ in range(count)])
    turns = [np.arange(n, dtype=np.uint32) for _ in range(count)]
    if kind == "shuffled":
        for turn in turns:
            rng.shuffle(turn)
    return np.concatenate(turns)


ORDERS = ("random", "shuffled", "cyclic")


# The twins themselves


@pytest.mark.parametrize("name", TWINS)
def test_at_most_fifteen_lines(name):
    function = TWINS[name].function
    (definition,) = ast.parse(inspect.getsource(function)).body
    docstring, *body = definition.body
    assert isinstance(docstring, ast.Expr) and docstring.lineno == docstring.end_lineno  # one line, on top
    source = inspect.getsource(function).splitlines()[docstring.end_lineno :]
    lines = [line for line in source if line.strip()]
    assert body and 1 <= len(lines) <= 15
    assert max(map(len, lines)) <= 120


def test_every_function_of_the_module_is_listed_once():
    functions = {one for _, one in inspect.getmembers(twins, inspect.isfunction) if one.__module__ == twins.__name__}
    assert {twin.function for twin in TWINS.values()} == functions and len(TWINS) == len(functions)
    assert {twin.source for twin in TWINS.values()} == {"000", "001", "002", "003", "004"}


def test_they_need_numpy_only():
    names = set()
    for node in ast.walk(ast.parse(inspect.getsource(twins))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    assert names == {"__future__", "collections.abc", "typing", "numpy", "qpsolvers"}


def test_each_correction_is_marked_on_its_line():
    remarks = {"000": 5, "001": 4, "002": 1, "003": 3, "004": 2}
    for source, least in remarks.items():
        functions = [twin.function for twin in TWINS.values() if twin.source == source]
        lines = [line for one in functions for line in inspect.getsource(one).splitlines()]
        assert sum(f"source {source}" in line.partition("#")[2] for line in lines) >= least, source


# Source 000


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bias", ["none", "augmented"])
def test_subgradient_descent(seed, bias):
    X, y = clouds(seed)
    c, eta, steps = 0.5, 0.02, 100
    rows = X if bias == "none" else np.c_[X, np.ones(len(y))]  # the source's constant feature
    a = np.random.default_rng(seed + 10).normal(size=rows.shape[1])
    start = (a, 0.0) if bias == "none" else (a[:-1], a[-1])
    shots = snapshots(Problem(X, y, lam=c, bias=bias), Subgradient(step=eta, objective="lam"), steps, start=start)
    ours = [shot.w if bias == "none" else np.r_[shot.w, shot.b] for shot in shots]
    assert_same(twins.subgradient_descent(rows, y, c, eta, steps, a), ours)


def test_subgradient_descent_in_our_scale():
    X, y = clouds(0)
    c, eta = 0.5, 0.02
    theirs = twins.subgradient_descent(X, y, c, eta, 100, np.zeros(3))
    shots = snapshots(Problem(X, y, lam=c, bias="none"), Subgradient(step=c * eta), 100)
    assert_same(theirs, [shot.w for shot in shots])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("eta", [0.001, 0.01])
def test_projected_gradient_ascent(seed, eta):
    X, y = clouds(seed)
    c, steps = 0.5, 100
    shots = snapshots(Problem(X, y, lam=c, bias="none"), ProjectedGradient(step=eta, objective="lam"), steps)
    theirs = twins.projected_gradient_ascent(X, y, c, eta, steps)
    assert_same([lam for lam, _ in theirs], [-y * shot.beta * c for shot in shots])
    assert_same([a for _, a in theirs], [shot.w for shot in shots])
    shots = snapshots(Problem(X, y, lam=c, bias="none"), ProjectedGradient(step=eta / c), steps)
    assert_same([a for _, a in theirs], [shot.w for shot in shots])


@pytest.mark.parametrize("seed", SEEDS)
def test_box_constrained_ascent(seed):
    X, y = clouds(seed)
    c, n_epochs, n = 0.5, 10, len(y)
    problem = Problem(X, y, lam=c, bias="none")
    theirs = twins.box_constrained_ascent(X, y, c, n_epochs)
    shots = snapshots(problem, CoordinateAscent(order="cyclic", grain=1), n_epochs * n)
    assert_same([lam for lam, _ in theirs], [-y * shot.beta * c for shot in shots])
    assert_same([a for _, a in theirs], [shot.w for shot in shots])
    shots = snapshots(problem, CoordinateAscent(order="cyclic"), n_epochs)  # whole epochs
    assert_same([a for _, a in theirs[::n]], [shot.w for shot in shots])


# Source 001


def decreasing(t):
    return 0.02 / np.sqrt(t)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("eta", [0.01, decreasing], ids=["constant", "decreasing"])
def test_gradient_ascent(seed, eta):
    X, y = clouds(seed)
    C, steps = 0.7, 100
    problem = Problem(X, y, C=C, bias="augmented")
    theirs = twins.gradient_ascent(X, y, C, eta if callable(eta) else lambda t: eta, steps)
    assert_same(theirs, [y * shot.beta for shot in snapshots(problem, GradientAscent(step=eta), steps)])
    assert_same(theirs, [y * shot.beta for shot in snapshots(problem, ProjectedGradient(step=eta), steps)])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("eta", [0.05, decreasing], ids=["constant", "decreasing"])
def test_stochastic_gradient_ascent(seed, order, eta):
    X, y = clouds(seed)
    C, n, count = 0.7, len(y), 5
    # The solver's t counts epochs, so that one step size holds for n updates.
    of_update = (lambda t: eta((t - 1) // n + 1)) if callable(eta) else (lambda t: eta)
    theirs = twins.stochastic_gradient_ascent(X, y, C, of_update, epochs(order, n, count, seed))
    solver = StochasticAscent(step=eta, order=order, grain=1)
    shots = snapshots(Problem(X, y, C=C, bias="augmented"), solver, n * count, seed)
    assert_same(theirs, [y * shot.beta for shot in shots])


# Source 002


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("C", [np.inf, 0.7])
@pytest.mark.parametrize("c", [1.0, 20.0])
def test_penalty_descent(seed, C, c):
    X, y = clouds(seed, apart=2.5 if np.isinf(C) else 0.8)
    K, eta, steps = X @ X.T, 0.5 / (np.linalg.eigvalsh(X @ X.T)[-1] + c * len(y)), 100
    theirs = twins.penalty_descent(K, y, c, eta, steps, C)
    shots = snapshots(Problem(X, y, C=C), Penalty(c=c, step=eta, momentum=False), steps)
    assert_same(theirs, [y * shot.raw_beta for shot in shots])


@pytest.mark.parametrize("seed", SEEDS)
def test_penalty_descent_on_any_kernel_matrix(seed):
    X, y = clouds(seed)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    theirs = twins.penalty_descent(K, y, 2.0, 0.01, 100, 0.7)
    shots = snapshots(Problem(K, y, C=0.7, kernel="precomputed"), Penalty(c=2.0, step=0.01, momentum=False), 100)
    assert_same(theirs, [y * shot.raw_beta for shot in shots])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("d", [0.5, 5.0])
def test_penalty_descent_with_d(seed, d):
    X, y = clouds(seed, apart=2.5)
    c = 1.0
    K, eta, steps = X @ X.T, 0.5 / (np.linalg.eigvalsh(X @ X.T)[-1] + c * len(y)), 60
    theirs = twins.penalty_descent_with_d(K, y, c, d, eta, steps)
    assert min(lam.min() for lam in theirs) < 0  # the term with d is at work
    shots = snapshots(Problem(X, y, C=np.inf), Penalty(c=c, d=d, step=eta, momentum=False), steps)
    assert_same(theirs, [y * shot.raw_beta for shot in shots])


def violators(alpha, K, y, C):
    """The slopes, and those among which SMO looks for the variable that rises and for the one that falls."""
    g = y - K @ (alpha * y)
    up, low = np.where(y > 0, alpha < C, alpha > 0), np.where(y > 0, alpha > 0, alpha < C)
    return g, np.sort(g[up])[::-1], np.sort(g[low])


def steps_without_ties(theirs, K, y, C):
    """An exact step leaves its two samples with equal slopes; where both violate most, rounding chooses."""
    for k, alpha in enumerate(theirs[1:-1], 1):
        _, rising, falling = violators(alpha, K, y, C)
        if min(rising[0] - rising[1], falling[1] - falling[0], rising[0] - falling[0]) < 1e-9:
            return k
    return len(theirs) - 1


@pytest.mark.parametrize("C", [np.inf, 0.7, 0.05])
def test_smo(C):
    compared = 0
    for seed in range(8):
        X, y = clouds(seed, apart=1.5 if np.isinf(C) else 0.8)
        theirs = twins.smo(X @ X.T, y, C, 60)
        steps = steps_without_ties(theirs, X @ X.T, y, C)
        shots = snapshots(Problem(X, y, C=C), SMO(selection="first-order", grain=1), steps)
        moved = [set(np.flatnonzero(move)) for move in np.diff(theirs, axis=0)]
        assert [set(shot.event.indices) for shot in shots] == moved[:steps]
        assert_same(theirs[: steps + 1], [y * shot.raw_beta for shot in shots])
        compared += steps
    assert compared > 30


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("C", [0.7, 0.05])
def test_smo_with_ties(seed, C):
    """Each step of the solver is one of the twin's: the pair violates most, up to rounding, and the step is exact."""
    X, y = clouds(seed)
    K = X @ X.T
    run = solve(Problem(X, y, C=C), SMO(selection="first-order", grain=1), tol=1e-9, every=1, snapshots=True)
    alpha, shots = np.zeros(len(y)), [shot for shot in run.trace.snapshots if shot.event is not None]
    assert run.converged and len(shots) > 10
    for shot in shots:
        g, rising, falling = violators(alpha, K, y, C)
        i, j = shot.event.indices
        assert g[i] >= rising[0] - 1e-10 and g[j] <= falling[0] + 1e-10
        t = (g[i] - g[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        room = (C - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else C - alpha[j])
        alpha[[i, j]] += min(t, *room) * y[[i, j]] * (1, -1)
        np.testing.assert_allclose(y * shot.raw_beta, alpha, atol=1e-12 * C)
        alpha = y * shot.raw_beta


# Source 003


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", ORDERS)
def test_coordinate_ascent(seed, order):
    X, y = clouds(seed)
    lam, n, count = 0.5, len(y), 5
    theirs = twins.coordinate_ascent(X, y, lam, epochs(order, n, count, seed))
    solver = CoordinateAscent(order=order, grain=1)
    shots = snapshots(Problem(X, y, lam=lam, bias="none"), solver, n * count, seed)
    assert_same([alpha for alpha, _ in theirs], [y * shot.beta * lam for shot in shots])
    assert_same([w for _, w in theirs], [shot.w for shot in shots])
    drawn = [shot.event.indices for shot in shots]
    assert drawn == [(i,) for i in epochs(order, n, count, seed)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", ["1/t", "function"])
def test_sgd(seed, order, step):
    X, y = clouds(seed)
    lam, n, count = 0.5, len(y), 5
    theirs = twins.sgd(X, y, lam, epochs(order, n, count, seed))
    eta = step if step == "1/t" else lambda t: 1 / (lam * t)
    solver = SGD(step=eta, order=order, objective="lam", grain=1)
    shots = snapshots(Problem(X, y, lam=lam, bias="none"), solver, n * count, seed)
    assert_same(theirs, [shot.w for shot in shots])


@pytest.mark.parametrize("seed", SEEDS)
def test_saddle(seed):
    from maxmargin import Saddle

    X, y = clouds(seed)
    rng = np.random.default_rng(seed + 10)
    lam, w, alpha = 0.5, rng.normal(size=3), rng.random(len(y))
    G = Saddle(Problem(X, y, lam=lam, bias="none"), objective="lam")
    assert G(w, alpha) == pytest.approx(twins.saddle(w, alpha, X, y, lam), rel=1e-12)
    least, most = G.best_w(alpha), G.best_alpha(w)
    for _ in range(50):
        assert twins.saddle(rng.normal(size=3), alpha, X, y, lam) >= twins.saddle(least, alpha, X, y, lam)
        assert twins.saddle(w, rng.random(len(y)), X, y, lam) <= twins.saddle(w, most, X, y, lam)


# Source 004


@pytest.mark.parametrize("seed", SEEDS)
def test_quadratic_programs(seed):
    from maxmargin import dual_qp, primal_qp

    Z, y = clouds(seed, apart=2.5)
    problem = Problem(Z, y, C=np.inf)
    for ours, theirs in ((primal_qp(problem), twins.primal_qp(Z, y)), (dual_qp(problem), twins.dual_qp(Z, y))):
        for name, matrix in zip("QpAc", theirs, strict=True):
            np.testing.assert_allclose(np.asarray(getattr(ours, name)), matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_dual_program_as_a_solver(seed):
    pytest.importorskip("qpsolvers")
    from maxmargin import dual_qp

    Z, y = clouds(seed, apart=2.5)
    problem = Problem(Z, y, C=np.inf)
    alpha = twins.qp(*twins.dual_qp(Z, y))
    result = solve(problem, DualQP(hard="multipliers"), tol=1e-9)
    assert result.converged
    for equality in ("two inequalities", "one equality"):
        program = dual_qp(problem, equality)
        assert program.value(alpha) == pytest.approx(-result.certificate.dual, rel=1e-8)
        assert program.violation(alpha) <= 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_optimal_hyperplane_and_kkt(seed):
    pytest.importorskip("qpsolvers")
    Z, y = clouds(seed, apart=2.5)
    result = solve(Problem(Z, y, C=np.inf), "qp", tol=1e-9)
    alpha = twins.qp(*twins.dual_qp(Z, y))
    w, b = twins.hyperplane(alpha, Z, y)
    np.testing.assert_allclose(np.r_[b, w], np.r_[result.b, result.w], atol=1e-6)
    np.testing.assert_allclose(twins.qp(*twins.primal_qp(Z, y)), np.r_[b, w], atol=1e-6)
    # The certified point satisfies the four conditions, by the twin's count and by the library's.
    own = np.array(twins.kkt(result.alpha, result.b, result.w, Z, y))
    assert own.shape == (4,) and own.max() <= 1e-8 and result.kkt.largest <= 1e-8
    # A point that does not shows which ones it misses.
    assert twins.kkt(result.alpha, result.b + 0.1, result.w, Z, y)[0] == pytest.approx(0.1)
    assert twins.kkt(-result.alpha, result.b, result.w, Z, y)[1] == pytest.approx(result.alpha.max())
    assert twins.kkt(0 * result.alpha, result.b, result.w, Z, y)[2] == pytest.approx(np.abs(result.w).max())
    assert twins.kkt(result.alpha + 1, result.b, result.w, Z, y)[3] > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_pla(seed):
    for C, apart in ((np.inf, 1.8), (1.0, 1.8), (1.0, 1.0)):  # the last clouds overlap
        X, y = clouds(seed, n=40, d=2, apart=apart)
        X = X + 3.0  # so that the bias matters
        theirs = twins.pla(X, y, 20)
        corrections = len(theirs) - 1
        assert corrections >= 10
        result = solve(Problem(X, y, C=C), Perceptron(passes=20, grain=1), tol=0, every=1, snapshots=True)
        shots = result.trace.snapshots[:corrections]
        assert_same([w for w, _, _ in theirs], [shot.w for shot in shots])
        assert_same([np.array([b]) for _, b, _ in theirs], [np.array([shot.b]) for shot in shots])
        assert_same([beta for _, _, beta in theirs], [y * shot.raw_beta for shot in shots])
        np.testing.assert_array_equal(result.coef, y * theirs[-1][2])


# Steps that are too long: the solvers diverge as the sources' algorithms do


def test_steps_that_are_too_long():
    X, y = clouds(0)
    c, steps = 0.5, 30
    problem = Problem(X, y, lam=c, bias="none")
    theirs = twins.subgradient_descent(X, y, c, 10.0, steps, np.zeros(3))
    assert np.abs(theirs[-1]).max() > 1e6
    shots = snapshots(problem, Subgradient(step=10.0, objective="lam"), steps)
    assert_same(theirs, [shot.w for shot in shots])
    eta = 20 * c / np.linalg.eigvalsh(X @ X.T)[-1]
    theirs = [lam for lam, _ in twins.projected_gradient_ascent(X, y, c, eta, steps)]
    shots = snapshots(problem, ProjectedGradient(step=eta, objective="lam"), steps)
    assert np.abs(theirs[-1] - theirs[-2]).max() > 0.5  # it swings from one bound to the other
    assert_same(theirs, [-y * shot.beta * c for shot in shots])
    X, y = clouds(0, apart=2.5)
    theirs = twins.penalty_descent(X @ X.T, y, 1.0, 0.1, steps)
    shots = snapshots(Problem(X, y, C=np.inf), Penalty(c=1.0, step=0.1, momentum=False), steps)
    assert np.abs(theirs[-1] - theirs[-2]).max() > 0.05  # to 0 and back
    assert_same(theirs, [y * shot.raw_beta for shot in shots])
