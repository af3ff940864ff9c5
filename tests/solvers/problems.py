"""The problems that every solver is measured on, and what each solver promises on them."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from maxmargin import Problem, Result, solve
from maxmargin.solvers.base import registry

BIASES = ("none", "augmented", "free")

#: Solvers that must reach a relative gap of 1e-8; the others are first-order methods and must reach 1e-3.
EXACT = (
    "coordinate-ascent",
    "smo",
    "qp",
    "qp-primal",
    "interior-point",
    "coordinate-newton",
    "working-set",
    "shrinking-smo",
    "truncated-newton",
)
#: It separates; it does not minimise the gap.
NOT_AN_OPTIMISER = "perceptron"


def clouds(shift: float, n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n // 2)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def noisy(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap: a tenth of the labels is drawn by chance."""
    X, y = make_classification(n, d, n_informative=min(d, 10), n_redundant=0, flip_y=0.1, random_state=seed)
    return X, y


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """X, y and the kernel that goes with them."""
    if name == "separable":
        return *clouds(3.5), "linear"
    if name == "overlapping":
        return *clouds(1.0), "linear"
    if name == "moons":
        return *make_moons(200, noise=0.2, random_state=0), "rbf"
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X), y, "linear"
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return X[chosen] / 16.0, y[chosen], "linear"


DATA = ("separable", "overlapping", "moons", "cancer", "digits")


def problem(name: str, bias: str, **options) -> Problem:
    X, y, kernel = data(name)
    return Problem(X, y, kernel=kernel, bias=bias, **options)


def promised_gap(solver: str) -> float:
    return 1e-8 if solver in EXACT else 1e-3


def optimisers() -> list[str]:
    return [name for name in registry.names() if name != NOT_AN_OPTIMISER]


@cache
def solved(name: str, bias: str, solver: str) -> Result | None:
    """The fit, or None where the solver refuses the problem."""
    p = problem(name, bias)
    if registry[solver].accepts(p) is not None:
        return None
    return solve(p, solver=solver, tol=promised_gap(solver), max_time=60)
