"""Make the figures that the README and the guide show: `make figures`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.kernels import RBF
from maxmargin.plots.display import Display
from maxmargin.solvers import CoordinateAscent, Penalty, Subgradient

FOLDER = Path(__file__).parent / "figures"


def save(name: str, display: Display, dpi: float = 110.0) -> None:
    """One PNG, at twice the screen's resolution and not larger than it need be."""
    display.figure.savefig(FOLDER / f"{name}.png", dpi=dpi, bbox_inches="tight")
    print(FOLDER / f"{name}.png")


def main() -> None:
    """Draw all of them, each from a fit of its own."""
    FOLDER.mkdir(exist_ok=True)
    fits()
    runs()
    theory()
    hard = Problem(*toys.separable(), C=float("inf"))
    watched = solve(hard, solver="penalty", tol=1e-3, every=1, snapshots=True)
    plots.animate(watched, FOLDER / "penalty.gif", seconds=8, dpi=70)
    print(FOLDER / "penalty.gif")


def fits() -> None:
    """Figures of one fit: boundaries, hulls, KKT conditions, support vectors."""
    X, y = toys.overlapping()
    moons = toys.moons()
    soft = solve(Problem(X, y, C=0.2), solver="smo", tol=1e-8, every=1)
    save("boundary", plots.boundary(solve(Problem(*moons, kernel="rbf", C=1.0), solver="smo", tol=1e-6)))
    save("slack", plots.boundary(soft, slack=True))
    save("inseparable", plots.boundary(solve(Problem(X, y, C=np.inf), solver="smo", tol=1e-8)))
    save("hulls", plots.hulls(solve(Problem(X, y, C=0.05), solver="smo", tol=1e-8)))
    save("kkt", plots.kkt(soft))
    by_gamma = {
        f"γ = {gamma:g}": solve(Problem(*moons, kernel=RBF(gamma), C=1.0), tol=1e-6) for gamma in (0.1, 1.0, 50.0)
    }
    save("grid_of", plots.grid_of(by_gamma), dpi=85.0)
    save("support", plots.support(solve(Problem(X, y, C=1.0), solver="projected-gradient", tol=1e-3, every=1)))


def runs() -> None:
    """Figures of several runs: convergence, race, descent, penalty."""
    X, y = toys.overlapping()
    linear = Problem(X, y, C=1.0)
    some = {
        name: solve(linear, solver=name, tol=1e-4, every=1, max_iter=400)
        for name in ("subgradient", "accelerated-gradient", "gradient-ascent")
    }
    save("convergence", plots.convergence(some))
    cancer = Problem(*toys.breast_cancer(), C=1.0)
    racers = ("smo", "frank-wolfe", "gradient-ascent", "accelerated-gradient", "subgradient", "penalty")
    for name in racers:  # compiled before the race
        solve(cancer, solver=name, tol=0.5)
    save("race", plots.race({name: solve(cancer, solver=name, tol=1e-6, max_time=3) for name in racers}))
    without_bias = Problem(X, y, lam=10.0, bias="none")
    steps = {
        f"η = {step:g}": solve(
            without_bias, Subgradient(step=step, objective="lam"), tol=1e-9, max_iter=60, every=1, snapshots=True
        )
        for step in (0.0005, 0.005, 0.05)
    }
    save("descent", plots.descent(steps))
    shifted = Problem(X + 0.7, y, C=1.0)
    weights = (0.1, 1.0, 10.0, 100.0)
    save("penalty", plots.penalty([solve(shifted, Penalty(c=c), tol=1e-8, every=1, max_iter=1500) for c in weights]))
    augmented = Problem(*toys.breast_cancer(), C=1.0, bias="augmented")
    per_epoch = {
        "SDCA": solve(augmented, CoordinateAscent(order="random"), tol=1e-6, every=1, max_iter=300),
        "SGD": solve(augmented, "pegasos", tol=1e-6, every=1, max_iter=300),
    }
    save("epochs", plots.race(per_epoch, against="iterations", x_scale="linear"))


def theory() -> None:
    """Figures that need no fit."""
    save("losses", plots.losses())
    save("lagrangian", plots.lagrangian())
    save("conjugate", plots.conjugate())
    save("saddle", plots.saddle())


if __name__ == "__main__":
    main()
