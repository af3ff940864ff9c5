"""Laws of every solver, on every loss, kernel and bias that it accepts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.errors import InvalidInput, MaxMarginError, Refused
from maxmargin.losses import list_losses
from maxmargin.solvers.base import registry

SMALL = os.environ.get("MAXMARGIN_TEST_SIZE") == "small"
ROWS = 16 if SMALL else 40
OPTIMISERS = [name for name in registry.names() if name != "perceptron"]

rng = np.random.default_rng(1)
X = rng.normal(size=(ROWS, 3)) + 0.5
labels = np.where(X[:, 0] - X[:, 1] + 0.8 * rng.normal(size=ROWS) > 0, "b", "a")
values = X[:, 0] + 0.3 * rng.normal(size=ROWS)


def make(loss, kernel="linear", bias="free", rows=X, **options):
    y = labels if loss in ("hinge", "squared-hinge", "logistic") else values
    y = options.pop("y", y)
    try:
        return Problem(rows, None if loss == "one-class" else y, loss=loss, kernel=kernel, bias=bias, **options)
    except MaxMarginError:
        return None


def accepted(solver, p):
    return p is not None and registry[solver].accepts(p) is None


def exact(p):
    return solve(p, solver="smo" if p.bias == "free" else "coordinate-ascent", tol=1e-10, max_time=30)


@pytest.mark.parametrize("solver", OPTIMISERS)
@pytest.mark.parametrize("loss", list_losses())
def test_every_loss_and_bias_is_solved(solver, loss):
    for kernel in ("linear", "rbf", "laplacian"):
        for bias in ("none", "augmented", "free"):
            p = make(loss, kernel, bias)
            if not accepted(solver, p) or (loss == "one-class" and kernel == "linear"):
                continue  # a linear one-class problem around the origin has the optimum 0: no relative gap
            result = solve(p, solver=solver, tol=1e-3, max_time=60)
            assert result.converged, f"{p!r}: {result.status}"
            assert result.certificate.infeasibility <= 1e-10 * (1 + np.abs(result.beta).sum())
            if p.form is not None:
                best = exact(p).certificate
                allowed = result.certificate.gap + best.gap + 1e-12 * abs(best.primal)
                assert abs(result.certificate.primal - best.primal) <= allowed


@pytest.mark.parametrize("solver", registry.names())
def test_dense_sparse_and_both_precisions_agree(solver):
    for bias in ("augmented", "free"):
        p = make("hinge", bias=bias)
        if not accepted(solver, p):
            continue
        tol = 1e-3 if solver == "perceptron" else 1e-5
        dense = solve(p, solver=solver, tol=tol, max_time=60)
        for rows in (sp.csr_array(X), sp.csr_matrix(X), sp.coo_array(X), X.astype(np.float32), np.asfortranarray(X)):
            other = solve(make("hinge", bias=bias, rows=rows), solver=solver, tol=tol, max_time=60)
            allowed = dense.certificate.gap + other.certificate.gap + 1e-5 * dense.certificate.primal
            assert abs(dense.certificate.primal - other.certificate.primal) <= allowed


@pytest.mark.parametrize("solver", OPTIMISERS)
def test_weights_equal_repetition(solver):
    times = rng.integers(1, 4, ROWS)
    for loss in ("hinge", "squared-hinge", "epsilon-insensitive"):
        for bias in ("augmented", "free"):
            weighted = make(loss, bias=bias, sample_weight=times)
            if not accepted(solver, weighted):
                continue
            y = np.repeat(labels if loss != "epsilon-insensitive" else values, times)
            repeated = make(loss, bias=bias, rows=np.repeat(X, times, axis=0), y=y)
            one, other = (solve(p, solver=solver, tol=1e-4, max_time=60) for p in (weighted, repeated))
            allowed = one.certificate.gap + other.certificate.gap + 1e-12 * one.certificate.primal
            assert abs(one.certificate.primal - other.certificate.primal) <= allowed + 1e-9


def test_balanced_weights_equal_repetition():
    times = rng.integers(1, 4, ROWS)
    weighted = make("hinge", sample_weight=times, class_weight="balanced")
    repeated = make("hinge", rows=np.repeat(X, times, axis=0), y=np.repeat(labels, times), class_weight="balanced")
    np.testing.assert_allclose(weighted.C, np.add.reduceat(repeated.C, np.r_[0, np.cumsum(times)[:-1]]))


@pytest.mark.parametrize("solver", OPTIMISERS)
def test_weight_zero_equals_leaving_out(solver):
    weight = np.ones(ROWS)
    weight[::4] = 0.0
    kept = weight > 0
    for loss in ("hinge", "squared-hinge", "logistic"):
        for bias in ("augmented", "free"):
            p = make(loss, bias=bias, sample_weight=weight)
            if not accepted(solver, p):
                continue
            without = make(loss, bias=bias, rows=X[kept], y=labels[kept])
            one, other = (solve(q, solver=solver, tol=1e-4, max_time=60) for q in (p, without))
            allowed = one.certificate.gap + other.certificate.gap + 1e-12 * one.certificate.primal
            assert abs(one.certificate.primal - other.certificate.primal) <= allowed
            assert (one.beta[~kept] == 0).all()


@pytest.mark.parametrize("solver", registry.names())
def test_same_seed_same_bits(solver):
    for kernel in ("linear", "rbf"):
        for bias in ("augmented", "free"):
            p = make("hinge", kernel, bias)
            if accepted(solver, p):
                one, other = (solve(p, solver=solver, tol=1e-3, random_state=7, max_iter=500) for _ in range(2))
                assert one.beta.tobytes() == other.beta.tobytes()
                assert one.iterations == other.iterations


@pytest.mark.compiled
def test_same_bits_in_another_process_with_another_number_of_threads():
    """Large enough that threads are used; BLAS would sum in another order if it were let."""
    program = """
import hashlib, numpy as np
from maxmargin import Problem, solve
rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 20)); y = np.sign(X[:, 0] + rng.normal(size=6000))
digest = hashlib.sha256()
for solver, options in [
    ("coordinate-ascent", dict(bias="augmented")), ("accelerated-gradient", dict(bias="free")),
    ("smo", dict(kernel="rbf", cache_bytes=5e7)), ("subgradient", dict(bias="none")),
    ("truncated-newton", dict(loss="logistic")), ("truncated-newton", dict(loss="squared-hinge", kernel="rbf")),
]:
    result = solve(Problem(X, y, C=0.1, **options), solver=solver, tol=1e-2, max_iter=2000)
    digest.update(result.beta.tobytes() + np.float64(result.certificate.gap).tobytes())
print(digest.hexdigest())
"""
    answers = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "MAXMARGIN_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        answers.add(done.stdout.strip())
    assert len(answers) == 1 and len(answers.pop()) == hashlib.sha256().digest_size * 2


@pytest.mark.parametrize("solver", OPTIMISERS)
def test_a_warm_start_at_the_optimum_stays_there(solver):
    for bias in ("augmented", "free"):
        p = make("hinge", bias=bias)
        if accepted(solver, p):
            best = exact(p)
            if not registry[solver].starts:
                with pytest.raises(Refused, match="takes none"):
                    solve(p, solver=solver, start=best)
                continue
            result = solve(p, solver=solver, tol=1e-3, start=best, max_time=60)
            assert result.converged
            assert result.certificate.primal <= best.certificate.primal * (1 + 2e-3)


@pytest.mark.parametrize("solver", registry.names())
def test_a_start_is_honoured_or_refused(solver):
    """Two starts lead to two different first iterates, or the solver says that it does not take them."""
    for loss in ("hinge", "squared-hinge"):
        for bias in ("augmented", "free"):
            p = make(loss, bias=bias)
            if not accepted(solver, p):
                continue
            starts = {"w": [(np.full(3, 5.0), 1.0), (np.full(3, -5.0), 1.0)]}
            starts["beta"] = [p.feasible(0.7 * p.target), p.feasible(0.1 * p.target)]
            for kind, pair in starts.items():
                if kind not in registry[solver].starts:
                    with pytest.raises(Refused, match=r"start"):
                        solve(p, solver=solver, start=pair[0])
                    continue
                firsts = []
                for start in pair:
                    made = registry[solver]
                    # The first step 1/t of plain SGD is 1, and forgets whatever it began with.
                    made = replace(made, step=0.1) if solver == "sgd" else made
                    seen = solve(p, made, tol=0, start=start, max_iter=1, every=1, snapshots=True).trace.snapshots[0]
                    firsts.append(np.r_[seen.w, seen.beta])
                assert not np.allclose(*firsts), f"{solver}: {kind} was not honoured on {p!r}"


@pytest.mark.parametrize("solver", registry.names())
def test_a_solver_says_what_it_is(solver):
    instance = registry[solver]
    assert instance.name == solver
    assert instance.paper
    header = sys.modules[type(instance).__module__].__doc__
    assert "1." in header and "2." in header  # numbered pseudocode


@pytest.mark.parametrize("solver", ["sgd", "coordinate-ascent"])
def test_rng_is_another_name_of_random_state(solver):
    p = make("hinge", bias="augmented")
    options = {"solver": solver, "tol": 1e-9, "max_iter": 3}
    named = solve(p, random_state=7, **options)
    for rng in (7, np.random.SeedSequence(7), np.random.default_rng(7)):
        assert solve(p, rng=rng, **options).beta.tobytes() == named.beta.tobytes()
    assert solve(p, rng=8, **options).beta.tobytes() != named.beta.tobytes()
    with pytest.raises(InvalidInput, match="give one of them"):
        solve(p, rng=7, random_state=7)
    for name in ("rng", "random_state"):
        with pytest.raises(InvalidInput, match=f"{name} is 'seven'"):
            solve(p, **{name: "seven"})
