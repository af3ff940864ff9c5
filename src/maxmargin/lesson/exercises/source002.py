"""Exercises on source 002: the penalty method, kernel matrices, and pairs of variables."""

# mypy: ignore-errors
# The bodies stand in the page as a reader would type them, who declares nothing.

from __future__ import annotations

import numpy as np

from maxmargin.data import toys
from maxmargin.kernels import RBF
from maxmargin.lesson import twins
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.solvers import SMO, Penalty


def the_sum_falls_like_one_over_c() -> str:
    r"""The sum falls like $1/c$.

    Solve the penalised dual of the separable clouds, moved away from the origin, for $c = 1, 10, 100, 1000$ and
    look at the raw $\sum_i \lambda_i y_i$ (`raw_beta`). What is its product with $c$? Compare it with the bias of
    the hard margin.
    """
    X, y = toys.off_centre()
    bias = solve(Problem(X, y, C=np.inf), tol=1e-10).b
    sums = {}
    for c in (1, 10, 100, 1000):
        run = solve(Problem(X, y, C=np.inf), Penalty(c=c), tol=1e-7, max_iter=5000)
        sums[c] = run.raw_beta.sum()
    # At the minimum the penalty's gradient c·Σλy plays the part of b.
    assert np.isclose(1000 * sums[1000], bias, rtol=0.01)
    assert np.isclose(sums[100] / sums[1000], 10, rtol=0.02)
    return f"c·Σλy = {', '.join(f'{c * total:.4f}' for c, total in sums.items())}; the bias is {bias:.4f}"


def the_penalty_is_an_augmented_bias() -> str:
    r"""The penalty is an augmented bias.

    Show that $\frac{c}{2} (\sum_i \lambda_i y_i)^2$ is the same as a constant feature $\sqrt c$ appended to every
    sample: solve both problems and compare the weights $w$.
    """
    X, y = toys.overlapping()
    c = 10.0
    appended = np.column_stack([X, np.full(100, np.sqrt(c))])
    augmented = solve(Problem(appended, y, C=1.0, bias="none"), tol=1e-10)
    K = X @ X.T
    limit = 1 / np.linalg.eigvalsh(K + c)[-1]
    penalised = twins.penalty_descent(K, y, c, limit, 20000, C=1.0)[-1]
    difference = np.abs(penalised @ (y[:, None] * X) - augmented.w[:2]).max()
    assert difference < 1e-4
    return f"the two weight vectors differ by {difference:.0e}; both have c·Σλy = {c * (penalised @ y):.4f}"


def tuning_the_term_d() -> str:
    r"""The extra term d, and its tuning.

    Replace clipping by the extra term $d \sum_i \max(-\lambda_i, 0)$ and try $d$ and $\eta$ over a grid. Report,
    for each pair, the most negative $\lambda_i$ after 2,000 steps. Do you agree with the text that this is endless
    tuning?
    """
    X, y = toys.separable()
    K, c = X @ X.T, 1.0
    longest = 1 / np.linalg.eigvalsh(y[:, None] * (K + c) * y)[-1]
    report = []
    for d in (0.1, 10.0, 1000.0):
        for eta in (longest, 0.1 * longest):
            last = twins.penalty_descent_with_d(K, y, c, d, eta, 2000)[-1]
            report.append(f"d={d:g}, η={eta:.1g}: {last.min():.1g}")
    clipped = twins.penalty_descent(K, y, c, longest, 2000)[-1]
    assert clipped.min() >= 0
    # A small d does not stop negative multipliers. A large d overshoots by up to η·d at each step, so η must fall
    # as d grows, and then everything else becomes slow. Clipping needs neither.
    return "smallest λ: " + "; ".join(report) + f"; with clipping {clipped.min():g}"


def only_the_matrix_matters() -> str:
    r"""Only the matrix matters.

    Give the solver the kernel matrix alone (`kernel="precomputed"`), once with inner products and once with an RBF
    kernel. Are the answers those of the built-in kernels?
    """
    X, y = toys.moons()
    differences = []
    for K, kernel in ((X @ X.T, "linear"), (RBF(gamma=2.0).block(X, X), RBF(gamma=2.0))):
        given = solve(Problem(K, y, kernel="precomputed", C=1.0), "smo", tol=1e-8)
        built = solve(Problem(X, y, kernel=kernel, C=1.0), "smo", tol=1e-8)
        differences.append(abs(given.certificate.primal / built.certificate.primal - 1))
    assert max(differences) < 1e-7
    return f"the relative difference of the primal values is {max(differences):.1g} at most"


def narrow_kernels_remember() -> str:
    r"""Narrow kernels remember.

    Fit the moons with RBF kernels of $\gamma = 0.1, 1, 10, 100$. Count support vectors and training errors, and the
    errors on 1,000 new samples. Where does the model stop learning and start to memorise?
    """
    from sklearn.datasets import make_moons

    X, y = toys.moons()
    fresh, labels = make_moons(1000, noise=0.15, random_state=1)
    lines, share = [], []
    for gamma in (0.1, 1.0, 10.0, 100.0):
        fit = solve(Problem(X, y, kernel=RBF(gamma=gamma), C=10.0), "smo", tol=1e-6)
        train = np.mean(fit.predict(X) != y)
        test = np.mean(fit.predict(fresh) != np.where(labels == 1, 1, -1))
        share.append(len(fit.support))
        lines.append(f"γ={gamma:g}: {len(fit.support)} SVs, errors {train:.1%} and {test:.1%}")
    assert share[-1] > 2 * min(share)
    return "; ".join(lines)


def pairs_keep_the_balance() -> str:
    r"""Pairs keep the balance.

    Watch SMO one update at a time. Check that each event changes two variables, that their sum stays the same, and
    that the dual never falls.
    """
    X, y = toys.overlapping()
    run = solve(Problem(X, y, C=1.0), SMO(grain=1), tol=1e-6, every=1, snapshots=True, max_iter=300)
    events = [snapshot.event for snapshot in run.trace.snapshots if snapshot.event is not None]
    assert all(len(event.indices) == 2 for event in events)
    assert all(np.isclose(np.sum(event.after), np.sum(event.before), atol=1e-12) for event in events)
    assert all(event.gain >= -1e-12 for event in events)
    gains = sorted((event.gain for event in events), reverse=True)
    half = int(np.searchsorted(np.cumsum(gains), 0.5 * sum(gains))) + 1
    return f"{len(events)} updates; the {half} best of them make half of the whole gain"


def which_pair() -> str:
    r"""Which pair.

    Count the updates of SMO with first-order selection (the pair that violates most) and with second-order
    selection (the partner that gains most) for $C = 1$ and $C = 100$. When does the better choice pay?
    """
    X, y = toys.moons()
    counts = {}
    for C in (1.0, 100.0):
        for selection in ("first-order", "second-order"):
            problem = Problem(X, y, kernel=RBF(gamma=1.0), C=C)
            counts[C, selection] = solve(problem, SMO(selection=selection, grain=1), tol=1e-6, every=1).iterations
    assert counts[100.0, "second-order"] < counts[100.0, "first-order"]
    return ", ".join(f"C = {C:g}, {selection}: {count} updates" for (C, selection), count in counts.items())
