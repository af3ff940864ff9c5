"""Crammer–Singer: all classes in one linear problem, by the sequential dual method, with a certificate.

Problem, with e_im = 1 for m ≠ y_i and 0 for m = y_i:

    primal   P(W) = ½ Σ_m ‖w_m‖² + Σ_i C_i max_m (⟨w_m − w_{y_i}, x_i⟩ + e_im)                          minimise
    dual     D(α) = −½ Σ_m ‖w_m(α)‖² − Σ_i Σ_m e_im α_im     s.t. Σ_m α_im = 0, α_im ≤ C_i [m = y_i]    maximise
    link     w_m(α) = Σ_i α_im x_i

    1. α ← 0; keep W = W(α).
    2. For each epoch, for each i in a shuffled order:
    3.     g_m ← ⟨w_m, x_i⟩ + e_im, and b_m ← g_m − ‖x_i‖² α_im
    4.     α_i ← the exact maximiser: α_im = min(C_i [m = y_i], (β − b_m)/‖x_i‖²), where β makes Σ_m α_im = 0 (one sort)
    5.     w_m ← w_m + (change of α_im) x_i.
    6. Where that takes long and the weights are few, take the point of `crammer_singer_interior.py`.
    7. Certify every so often, recomputed from α and the data; stop when P − D ≤ tol max(|P|, |D|).

The intercepts are weights of one more constant feature (an augmented bias): a free one would tie all samples together.

Crammer & Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", JMLR 2, 2001;
Keerthi, Sundararajan, Chang, Hsieh & Lin, "A sequential dual method for large scale multi-class linear SVMs", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificate import Certificate, Kinds
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.rows import row_axpy, row_dot, row_sqnorm, rows_of
from maxmargin.numeric.stopwatch import now
from maxmargin.result import Reason, Status, Trace
from maxmargin.training.budget import Budget
from maxmargin.training.crammer_singer_interior import fits, interior

#: Epochs before the first look; then looks take about a third of the time.
FIRST = 2
#: After so many epochs a problem that is small enough goes to the interior point.
PATIENCE = 30


@dataclass(frozen=True, eq=False)
class CrammerSinger:
    """A solved problem: one hyperplane a class."""

    #: w_m, one row a class, and the intercepts.
    W: np.ndarray
    b: np.ndarray
    alpha: np.ndarray
    certificate: Certificate
    status: Status
    trace: Trace
    epochs: int


def solve_crammer_singer(
    X: Any, codes: np.ndarray, C: np.ndarray, constant: float, budget: Budget, start: np.ndarray | None = None
) -> CrammerSinger:
    """Solve to the budget's relative gap; Ctrl-C and budgets end with where it stands."""
    n, classes = len(codes), int(codes.max()) + 1
    rng = np.random.default_rng(budget.seed)
    alpha = np.zeros((n, classes)) if start is None else start  # 1.
    W = _weights(X, alpha, constant)
    trace, epochs, look_at = Trace(), 0, FIRST
    newton = fits(n, classes, X.shape[1])
    reason = None
    share = budget.share(1)
    began = now()
    while reason is None:
        try:
            order = rng.permutation(n)
            with interruptible():
                _epoch(rows_of(X), order, codes, C, constant, alpha, W)  # 2.
        except KeyboardInterrupt:
            budget.interrupt()
            reason = Reason.INTERRUPTED
        epochs += 1
        seconds = now() - began
        if reason is None and epochs == budget.max_iter:
            reason = Reason.MAX_ITER
        elif reason is None and share is not None and seconds >= share:
            reason = Reason.MAX_TIME
        if reason is None and epochs < look_at:
            continue
        # 6. and 7.
        W = _weights(X, alpha, constant)
        certificate = certify(X, codes, C, constant, alpha, W)
        if certificate.relative_gap > budget.tol and epochs > PATIENCE and newton and reason is None:
            newton = False
            inside, normals = interior(X, codes, C, constant, classes, budget.tol)
            V = _weights(X, inside, constant)
            linked = certify(X, codes, C, constant, inside, V)
            own = certify(X, codes, C, constant, inside, normals, V)
            if max(linked.dual, own.dual) > certificate.dual:
                alpha, (certificate, W) = inside, min((linked, V), (own, normals), key=lambda one: one[0].relative_gap)
        trace.add(epochs, seconds, certificate)
        look_at = epochs + max(1, epochs // 3)
        if certificate.relative_gap <= budget.tol and reason is not Reason.INTERRUPTED:
            reason = Reason.CONVERGED
    trace.solver_seconds = now() - began
    text = f"relative gap {certificate.relative_gap:.2g}, asked for {budget.tol:g}"
    if reason is not Reason.CONVERGED:
        text += "; allow more time or iterations, lower C, or standardise the features"
    status = Status(reason, text)
    return CrammerSinger(W[:, :-1], constant * W[:, -1], alpha, certificate, status, trace, epochs)


def certify(
    X: Any,
    codes: np.ndarray,
    C: np.ndarray,
    constant: float,
    alpha: np.ndarray,
    W: np.ndarray,
    V: np.ndarray | None = None,
) -> Certificate:
    """The certificate of α and W, recomputed in float64 from the data; V is W(α) where W is another."""
    n = len(codes)
    mine = np.arange(n), codes
    e = np.ones_like(alpha)
    e[mine] = 0.0
    g = np.asarray(X @ W[:, :-1].T) + constant * W[:, -1] + e
    sqnorm = float(np.square(W).sum())
    slack = g.max(axis=1) - g[mine]
    upper = np.zeros_like(alpha)
    upper[mine] = C
    # KKT: no g above the least g of a variable that can still grow.
    falling = np.where(alpha < upper, g, np.inf).min(axis=1)
    kkt = float((g.max(axis=1) - falling).max())
    codes_of_kinds = np.where(alpha[mine] >= C * (1.0 - 1e-9), 3, np.where(alpha[mine] > 1e-9 * C, 2, 0))
    near = min(max(kkt, 1e-8), 1e-3)
    others = np.where(e > 0.0, g, -np.inf).max(axis=1)
    codes_of_kinds[(codes_of_kinds == 0) & (np.abs(others - g[mine]) <= near)] = 1
    return Certificate(
        primal=0.5 * sqnorm + float(C @ slack),
        dual=-0.5 * (sqnorm if V is None else float(np.square(V).sum())) - float((e * alpha).sum()),
        infeasibility=float(np.abs(alpha.sum(axis=1)).max()),
        kkt_violation=max(0.0, kkt),
        kinds=Kinds(codes_of_kinds.astype(np.int8)),
        precision=f"recomputed in float64 from {X.dtype} data",
    )


def _weights(X: Any, alpha: np.ndarray, constant: float) -> np.ndarray:
    """W(α), the weight of the constant feature last."""
    return np.ascontiguousarray(np.column_stack([np.asarray(X.T @ alpha).T, constant * alpha.sum(axis=0)]))


@compiled
def _epoch(X, order, y, C, s, alpha, W):
    """One pass over all samples in the given order."""
    classes, last = W.shape[0], W.shape[1] - 1
    b = np.empty(classes)
    new = np.empty(classes)
    for i in order:
        A = row_sqnorm(X, i) + s * s
        # 3.
        for m in range(classes):
            b[m] = row_dot(X, i, W[m]) + s * W[m, last] - A * alpha[i, m]
            if m != y[i]:
                b[m] += 1.0
        # 4.
        if A <= 0.0:  # no feature at all: every hyperplane gives the same score, the loss is e and its dual at the end
            for m in range(classes):
                new[m] = 0.0
            new[y[i]] = C[i]
            for m in range(classes):
                if m != y[i]:
                    new[m] = -C[i] / (classes - 1)
        else:
            _maximiser(b, y[i], C[i], A, new)
        # 5.
        for m in range(classes):
            change = new[m] - alpha[i, m]
            if change != 0.0:
                row_axpy(X, i, change, W[m])
                W[m, last] += change * s
                alpha[i, m] = new[m]


@compiled
def _maximiser(b, y, C, A, new):
    """4. The exact solution for one sample: β by going down the sorted b until the sum fits."""
    classes = len(b)
    for m in range(classes):
        new[m] = b[m]
    new[y] += A * C
    ordered = np.sort(new)[::-1]
    beta = ordered[0] - A * C
    r = 1
    while r < classes and beta < r * ordered[r]:
        beta += ordered[r]
        r += 1
    beta /= r
    for m in range(classes):
        bound = C if m == y else 0.0
        new[m] = min(bound, (beta - b[m]) / A)
