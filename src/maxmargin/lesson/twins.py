"""The algorithms of the five sources as plain NumPy: at most 15 lines each, in the source's own letters.

They are there to be read beside the source and to be compared with the solvers, which do the same steps with
certificates, kernels, sparse data and speed. Misprints of the sources are corrected, each with a remark on its line.

A function that iterates returns the list of all its iterates, the start first. Greek letters are spelt out: α is
`alpha`, β is `beta`, η is `eta`; λ is `lam`, a list of multipliers in sources 000 and 002, the weight of ½‖w‖² in
source 003.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# Source 000: min_a Σ max(0, 1 − y_i aᵀx_i) + (c/2)‖a‖², and its dual in −1 ≤ λ ≤ 0


def subgradient_descent(X, y, c, eta, n_epochs, a):
    """Sub-gradient descent on the primal, from the initial weights a; gives every a."""
    iterates = [a]
    for _ in range(n_epochs):
        obj = 1 - X @ a * y
        mask = obj > 0  # source 000's formula tests the sign of y aᵀx; its pseudocode tests this, which is right
        subgradient = -(y * mask) @ X + c * a
        a = a - eta * subgradient
        iterates.append(a)
    return iterates


def projected_gradient_ascent(X, y, c, eta, n_epochs):
    """Projected gradient ascent on the dual, from λ = 0; gives every pair (λ, a)."""
    Y = np.diag(y)
    lam = np.zeros(len(y))
    iterates = [(lam, np.zeros(X.shape[1]))]
    for _ in range(n_epochs):
        gradient = -1 - (Y @ X @ X.T @ Y @ lam) / c  # source 000 prints c for 1/c
        lam = lam + eta * gradient
        lam = np.clip(lam, -1, 0)
        a = -(X.T @ Y @ lam) / c
        iterates.append((lam, a))
    return iterates


def box_constrained_ascent(X, y, c, n_epochs):
    """Exact steps on one dual variable after another, from λ = 0; gives the pair (λ, a) after each single step."""
    Y = np.diag(y)  # source 000 uses Y before it defines it
    Q = -(Y @ X @ X.T @ Y) / c  # source 000 prints c for 1/c
    b = -np.ones(len(y))
    lam = np.zeros(len(y))
    iterates = [(lam.copy(), np.zeros(X.shape[1]))]
    for _ in range(n_epochs):
        for k in range(len(y)):  # source 000 loops over the features; the dual variables belong to the samples
            mask = np.arange(len(y)) != k  # source 000 compares k with the number of the epoch
            lam_k = (-b[k] - np.sum(lam * Q[k] * mask)) / Q[k, k]
            lam[k] = np.clip(lam_k, -1, 0)
            iterates.append((lam.copy(), -(X.T @ Y @ lam) / c))
    return iterates


# Source 001: max_α Σ α_i − ½ Σ Σ α_i α_j y_i y_j x_iᵀx_j over 0 ≤ α ≤ C, with η a function of t = 1, 2, ...


def gradient_ascent(X, y, C, eta, steps):
    """Gradient ascent on the dual, from α = 0; gives every α."""
    X = np.c_[X, np.ones(len(y))]  # step 1 removes the intercept, and with it Σ α_i y_i = 0, which source 001 keeps
    alpha = np.zeros(len(y))
    iterates = [alpha]
    for t in range(1, steps + 1):
        gradient = 1 - y * (X @ X.T @ (alpha * y))
        alpha = alpha + eta(t) * gradient
        alpha = np.clip(alpha, 0, C)  # source 001 lacks it
        iterates.append(alpha)
    return iterates


def stochastic_gradient_ascent(X, y, C, eta, order):
    """Gradient steps on one α_i at a time, i as in `order`, from α = 0; gives α after each step."""
    X = np.c_[X, np.ones(len(y))]  # step 1 removes the intercept, and with it Σ α_i y_i = 0, which source 001 keeps
    alpha = np.zeros(len(y))
    iterates = [alpha.copy()]
    for t, i in enumerate(order, 1):
        gradient = 1 - y[i] * (X[i] @ X.T @ (alpha * y))  # source 001 prints y_k for y_i
        alpha[i] = np.clip(alpha[i] + eta(t) * gradient, 0, C)  # source 001 does not clip
        iterates.append(alpha.copy())
    return iterates


# Source 002: min_λ −Σ λ_i + ½ Σ Σ λ_i λ_j y_i y_j K_ij + (c/2)(Σ λ_i y_i)² over λ ≥ 0 (or 0 ≤ λ ≤ C)


def penalty_descent(K, y, c, eta, steps, C=np.inf):
    """Gradient descent with a penalty for Σ λ_i y_i = 0 and clipping for λ ≥ 0, from λ = 0; gives every λ."""
    lam = np.zeros(len(y))
    iterates = [lam]
    for _ in range(steps):
        gradient = -1 + (K @ (lam * y)) * y + c * (lam @ y) * y
        lam = lam - eta * gradient
        lam = np.clip(lam, 0, C)
        iterates.append(lam)  # source 002 asks for λᵀy = 0; a finite c leaves λᵀy = b/c, which falls like 1/c
    return iterates


def penalty_descent_with_d(K, y, c, d, eta, steps):
    """The variant that source 002 discusses: a second penalty d Σ max(−λ_i, 0) in place of clipping."""
    lam = np.zeros(len(y))
    iterates = [lam]
    for _ in range(steps):
        gradient = -1 + (K @ (lam * y)) * y + c * (lam @ y) * y
        gradient = gradient - d * (lam < 0)
        lam = lam - eta * gradient
        iterates.append(lam)
    return iterates


def smo(K, y, C, steps):
    """The method that source 002 announces: exact steps on the pair that violates most, from α = 0; gives every α."""
    alpha = np.zeros(len(y))
    g = y - K @ (alpha * y)  # what b would have to be for each sample to be on the margin
    iterates = [alpha.copy()]
    for _ in range(steps):
        up = np.where(y > 0, alpha < C, alpha > 0)  # y_i α_i may rise
        low = np.where(y > 0, alpha > 0, alpha < C)  # y_j α_j may fall
        i, j = np.argmax(np.where(up, g, -np.inf)), np.argmin(np.where(low, g, np.inf))
        if g[i] <= g[j]:
            break
        t = (g[i] - g[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        t = min(t, C - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else C - alpha[j])
        alpha[i], alpha[j] = alpha[i] + y[i] * t, alpha[j] - y[j] * t
        g = g - t * (K[i] - K[j])  # a step costs two rows of K
        iterates.append(alpha.copy())
    return iterates


# Source 003: min_w Σ [1 − y_n x_nᵀw]₊ + (λ/2)‖w‖², and its dual in 0 ≤ α ≤ 1


def saddle(w, alpha, X, y, lam):
    """The function G(w, α): the primal is its maximum over 0 ≤ α ≤ 1, the dual its minimum over w."""
    return np.sum(alpha * (1 - y * (X @ w))) + lam / 2 * (w @ w)  # min_w max_α G: source 003 prints max_w once


def coordinate_ascent(X, y, lam, order):
    """Maximise over one α_n at a time, n as in `order`, from α = 0; gives the pair (α, w) after each step."""
    Y = np.diag(y)
    Q = Y @ X @ X.T @ Y  # source 003 prints Y Xᵀ Y once
    alpha = np.zeros(len(y))
    iterates = [(alpha.copy(), np.zeros(X.shape[1]))]
    for n in order:
        u = alpha[n] + (lam - Q[n] @ alpha) / Q[n, n]
        alpha[n] = np.clip(u, 0, 1)  # source 003 maximises over all u; the dual lives in [0, 1]
        iterates.append((alpha.copy(), X.T @ Y @ alpha / lam))
    return iterates


def sgd(X, y, lam, order):
    """Stochastic sub-gradient descent with step 1/(λt), n as in `order`, from w = 0; gives every w."""
    N = len(y)
    w = np.zeros(X.shape[1])
    iterates = [w]
    for t, n in enumerate(order, 1):
        g = -y[n] * X[n] if y[n] * (X[n] @ w) < 1 else 0 * X[n]
        w = w - 1 / (lam * t) * (N * g + lam * w)  # one sample stands for the sum of N
        iterates.append(w)
    return iterates


# Source 004: the hard margin as quadratic programs min_u ½ uᵀQu + pᵀu subject to Au ≥ c


def primal_qp(Z, y):
    """The primal in u = (b, w): the four arguments (Q, p, A, c) of a QP library."""
    N, d = Z.shape
    Q = np.eye(d + 1)
    Q[0, 0] = 0
    p = np.zeros(d + 1)
    A = y[:, None] * np.c_[np.ones(N), Z]
    c = np.ones(N)
    return Q, p, A, c


def dual_qp(Z, y):
    """The dual in u = α: the four arguments (Q, p, A, c) of a QP library; Σ y_n α_n = 0 is two inequalities."""
    N = len(y)
    Q = np.outer(y, y) * (Z @ Z.T)  # for N = 30,000 it takes 7.2 GB; source 004's "3 GB" is float32's 3.6
    p = -np.ones(N)
    A = np.vstack([y, -y, np.eye(N)])
    c = np.zeros(N + 2)
    return Q, p, A, c


def qp(Q, p, A, c):
    """The optimal u of min ½ uᵀQu + pᵀu subject to Au ≥ c, by a QP library."""
    import qpsolvers

    return qpsolvers.solve_qp(Q, p, G=-A, h=-c, solver="piqp", eps_abs=1e-10, eps_rel=1e-11, max_iter=1000)


def hyperplane(alpha, Z, y):
    """The pair (w, b) of an optimal α: w from the support vectors, b from any one of them."""
    w = Z.T @ (alpha * y)
    n = np.argmax(alpha)  # any n with α_n > 0 is on the boundary; source 004 prints α_n ≥ 0
    b = y[n] - w @ Z[n]
    return w, b


def kkt(alpha, b, w, Z, y):
    """The four KKT conditions: by how much each of them is missed."""
    violation = 1 - y * (Z @ w + b)
    primal_feasible = max(0, np.max(violation))
    dual_feasible = max(0, np.max(-alpha))
    dual_inner_optimal = max(abs(y @ alpha), np.max(np.abs(w - Z.T @ (alpha * y))))
    primal_inner_optimal = np.max(np.abs(alpha * violation))
    return primal_feasible, dual_feasible, dual_inner_optimal, primal_inner_optimal


def pla(X, y, passes):
    """The perceptron: w = Σ β_n y_n x_n, where β_n counts corrections; gives (w, b, β) after each correction."""
    w, b, beta = np.zeros(X.shape[1]), 0.0, np.zeros(len(y))
    iterates = [(w, b, beta)]
    for _ in range(passes):
        for n in range(len(y)):
            if y[n] * (w @ X[n] + b) <= 0:
                w, b = w + y[n] * X[n], b + y[n]
                beta = beta + (np.arange(len(y)) == n)
                iterates.append((w, b, beta))
    return iterates


class Twin(NamedTuple):
    """Where an algorithm is written, and the function that does what is written there."""

    source: str
    item: str
    function: Callable[..., Any]


#: Every algorithm of the sources, by a short name.
TWINS: dict[str, Twin] = {
    "subgradient descent": Twin("000", "algorithm 1", subgradient_descent),
    "projected gradient ascent": Twin("000", "algorithm 2", projected_gradient_ascent),
    "box-constrained ascent": Twin("000", "algorithm 3", box_constrained_ascent),
    "gradient ascent": Twin("001", "step 4, gradient ascent", gradient_ascent),
    "stochastic gradient ascent": Twin("001", "step 4, stochastic gradient ascent", stochastic_gradient_ascent),
    "penalty descent": Twin("002", "gradient descent with a penalty and clipping", penalty_descent),
    "penalty descent with d": Twin("002", "the extra term with the weight d", penalty_descent_with_d),
    "smo": Twin("002", "sequential minimal optimization, announced there", smo),
    "saddle": Twin("003", "the function G(w, α)", saddle),
    "coordinate ascent": Twin("003", "coordinate descent, on the dual", coordinate_ascent),
    "sgd": Twin("003", "SGD, with sub-gradients", sgd),
    "primal qp": Twin("004", "non-linear hard-margin SVM, (Q, p, A, c)", primal_qp),
    "dual qp": Twin("004", "hard-margin SVM dual, (Q, p, A, c)", dual_qp),
    "qp": Twin("004", "QP(Q, p, A, c)", qp),
    "hyperplane": Twin("004", "optimal (b, w)", hyperplane),
    "kkt": Twin("004", "KKT optimality conditions", kkt),
    "pla": Twin("004", "PLA, β by the number of mistake corrections", pla),
}
