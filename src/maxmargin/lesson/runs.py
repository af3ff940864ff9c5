"""Runs to step through, for the parts of the course whose own fits are not recorded: one iterate after the other."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.kernels import RBF, Polynomial
from maxmargin.lesson import fits
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.solvers import (
    SGD,
    SMO,
    AcceleratedGradient,
    CoordinateAscent,
    FrankWolfe,
    GradientAscent,
    Perceptron,
    StochasticAscent,
    Subgradient,
    TruncatedNewton,
)


def recorded(problem: Problem, solver: Any, tol: float = 1e-6, steps: int = 400) -> Result:
    """A run of which every iterate is kept."""
    return fits.trained(problem, solver, tol=tol, max_iter=steps, every=1, snapshots=True)


@cache
def margin() -> Result:
    """Pair steps that find the margin of two overlapping clouds."""
    return recorded(Problem(*toys.overlapping(), C=1.0), SMO(grain=1))


@cache
def subgradient() -> Result:
    """Algorithm 1 of source 000 from the hyperplane 0."""
    return recorded(fits.through_origin(), Subgradient(step=0.01, objective="lam"), steps=120)


@cache
def duality() -> Result:
    """A primal value from above and a dual value from below."""
    return recorded(Problem(*toys.overlapping(), C=1.0), AcceleratedGradient())


@cache
def conjugate() -> Result:
    """A loss whose conjugate leaves the multipliers without an upper bound."""
    problem = Problem(*toys.overlapping(), loss="squared-hinge", C=1.0, bias="augmented")
    return recorded(problem, CoordinateAscent("cyclic", grain=1))


@cache
def multipliers() -> Result:
    """One multiplier after the other, with the bias as a weight."""
    return recorded(Problem(*toys.overlapping(), C=1.0, bias="augmented"), CoordinateAscent("shuffled", grain=1))


@cache
def ascent() -> Result:
    """One clipped gradient step for one sample after the other."""
    problem = Problem(*toys.overlapping(), C=1.0, bias="augmented")
    return recorded(problem, StochasticAscent(grain=1), tol=1e-3)


@cache
def kernels() -> Result:
    """A circle that grows out of pair steps."""
    return recorded(Problem(*toys.rings(), kernel=RBF(gamma=1.0), C=1.0), SMO(grain=1))


@cache
def losses() -> Result:
    """Newton's method on the logistic loss."""
    return recorded(Problem(*toys.overlapping(), loss="logistic", C=1.0), TruncatedNewton(), tol=1e-10)


@cache
def saddle() -> Result:
    """Gradient steps in α, with the best w for each of them."""
    return recorded(fits.through_origin(), GradientAscent())


@cache
def kinds() -> Result:
    """Samples that change their kind while a kernel machine is trained."""
    return recorded(Problem(*toys.moons(), kernel=RBF(gamma=1.0), C=10.0), SMO(grain=1))


@cache
def sgd() -> Result:
    """Stochastic gradient descent, one epoch per frame."""
    return recorded(Problem(*toys.overlapping(), C=1.0, bias="augmented"), SGD(), steps=100)


@cache
def programs() -> Result:
    """The hard margin, by pair steps."""
    return recorded(Problem(*toys.separable(), C=np.inf), SMO(grain=1))


@cache
def kkt() -> Result:
    """Conditions that hold one after the other, until all do."""
    return recorded(Problem(*toys.off_centre(), C=np.inf), SMO(grain=1))


@cache
def hulls() -> Result:
    """The nearest points of two hulls, corner by corner."""
    return recorded(Problem(*toys.overlapping(), C=0.1), FrankWolfe(), tol=1e-3, steps=200)


@cache
def perceptron() -> Result:
    """One correction after the other."""
    return recorded(Problem(*toys.off_centre(), C=np.inf), Perceptron("cyclic", grain=1), tol=1e-3)


@cache
def size() -> Result:
    """The kernel of degree two, without its six features."""
    problem = Problem(*toys.rings(), kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), C=1.0)
    return recorded(problem, SMO(grain=1))
