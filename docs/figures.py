"""Make the figures that the README and the guide show: `make figures`."""

from __future__ import annotations

from pathlib import Path

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.plots.display import Display

FOLDER = Path(__file__).parent / "figures"


def save(name: str, display: Display) -> None:
    """One PNG, at twice the screen's resolution and not larger than it need be."""
    display.figure.savefig(FOLDER / f"{name}.png", dpi=110, bbox_inches="tight")
    print(FOLDER / f"{name}.png")


def main() -> None:
    """Draw all of them, each from a fit of its own."""
    FOLDER.mkdir(exist_ok=True)
    X, y = toys.overlapping()
    linear = Problem(X, y, C=1.0)
    moons = Problem(*toys.moons(), kernel="rbf", C=1.0)
    cancer = Problem(*toys.breast_cancer(), C=1.0)
    fit = solve(moons, solver="smo", tol=1e-6, every=1)
    save("boundary", plots.boundary(fit))
    runs = {
        name: solve(linear, solver=name, tol=1e-4, every=1, max_iter=400)
        for name in ("subgradient", "accelerated-gradient", "gradient-ascent")
    }
    save("convergence", plots.convergence(runs))
    save("support", plots.support(solve(linear, solver="projected-gradient", tol=1e-3, every=1)))
    racers = ("smo", "frank-wolfe", "gradient-ascent", "accelerated-gradient", "subgradient", "penalty")
    for name in racers:  # compiled before the race
        solve(cancer, solver=name, tol=0.5)
    save("race", plots.race({name: solve(cancer, solver=name, tol=1e-6, max_time=3) for name in racers}))
    save("losses", plots.losses())
    save("lagrangian", plots.lagrangian())
    save("conjugate", plots.conjugate())
    hard = Problem(*toys.separable(), C=float("inf"))
    watched = solve(hard, solver="penalty", tol=1e-3, every=1, snapshots=True)
    plots.animate(watched, FOLDER / "penalty.gif", seconds=8, dpi=70)
    print(FOLDER / "penalty.gif")


if __name__ == "__main__":
    main()
