"""The toy sets of the studio: so many points, so much noise, and a seed; the same seed gives the same points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.data import toys as lesson_sets
from maxmargin.errors import InvalidInput
from maxmargin.losses.base import Task

#: How a toy set is made: of the number of points, the noise, the number of classes and a random generator.
Maker = Callable[[int, float, int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Toy:
    """One toy set: how it is made, and what is shown at first."""

    name: str
    title: str
    task: Task
    make: Maker
    n: int
    noise: float
    doc: str
    #: The least and the greatest number of classes.
    classes: tuple[int, int] = (2, 2)
    #: Whether n and noise change nothing: the set is what it is.
    fixed: bool = False

    def told(self) -> dict[str, Any]:
        """What the page is told of it."""
        names = ("name", "title", "task", "n", "noise", "doc", "classes", "fixed")
        return {name: getattr(self, name) for name in names}


TOYS: dict[str, Toy] = {}


def _toy(name: str, title: str, task: Task, n: int, noise: float, **more: Any) -> Callable[[Maker], Maker]:
    def note(make: Maker) -> Maker:
        TOYS[name] = Toy(name, title, task, make, n, noise, " ".join((make.__doc__ or "").split()), **more)
        return make

    return note


def made(
    name: str, n: int | None = None, noise: float | None = None, classes: int | None = None, seed: int = 0
) -> tuple[Toy, np.ndarray, np.ndarray]:
    """The points of a toy set: rows, and classes as numbers, values, or zeros."""
    if name not in TOYS:
        raise InvalidInput(f"there is no toy set {name!r}; there are: {', '.join(TOYS)}")
    toy = TOYS[name]
    least, most = toy.classes
    several = least if classes is None else min(max(classes, least), most)
    size, spread = toy.n if n is None else n, toy.noise if noise is None else noise
    X, y = toy.make(max(size, several), spread, several, np.random.default_rng(seed))
    return toy, np.round(X, 3), y if toy.task == "classification" else np.round(y, 3)


def _turns(n: int, classes: int = 2) -> np.ndarray:
    """Classes in turn, so that all are of one size."""
    return np.arange(n) % classes


@_toy("clouds", "Two clouds", "classification", 60, 0.8, classes=(2, 5))
def _clouds(n, noise, classes, rng):
    """Round clouds of points, one for each class; more noise makes them overlap."""
    y = _turns(n, classes)
    angle = 2.0 * np.pi * y / classes + np.pi / 4.0
    return 2.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + noise * rng.normal(size=(n, 2)), y


@_toy("overlap", "Overlapping clouds", "classification", 80, 1.1)
def _overlap(n, noise, classes, rng):
    """Two clouds that no line separates: the price C of a slack decides."""
    y = _turns(n)
    return (2.0 * y[:, None] - 1.0) + noise * rng.normal(size=(n, 2)), y


@_toy("outlier", "One outlier", "classification", 40, 0.5)
def _outlier(n, noise, classes, rng):
    """Two clouds far apart, and one point of the first class beside the second: hard margin against soft margin."""
    y = _turns(n)
    X = 1.8 * (2.0 * y[:, None] - 1.0) * np.array([1.0, 0.6]) + noise * rng.normal(size=(n, 2))
    X[0] = 0.75, 0.35
    return X, y


@_toy("columns", "Two columns", "classification", 6, 0.0, fixed=True)
def _columns(n, noise, classes, rng):
    """Two columns of three points, all on the margin: more of them than the hyperplane needs."""
    X, y = lesson_sets.columns()
    return X, (y > 0).astype(int)


@_toy("rings", "Disc and ring", "classification", 100, 0.1)
def _rings(n, noise, classes, rng):
    """A disc inside a ring: no line separates them, a circle does."""
    y = _turns(n)
    radius = np.where(y == 0, 0.9 * np.sqrt(rng.random(n)), 1.5 + 0.5 * rng.random(n)) + noise * rng.normal(size=n)
    angle = 2.0 * np.pi * rng.random(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@_toy("moons", "Two moons", "classification", 100, 0.15)
def _moons(n, noise, classes, rng):
    """Two interleaved half circles."""
    y, t = _turns(n), np.pi * rng.random(n)
    X = np.where(
        y[:, None] == 0, np.column_stack([np.cos(t), np.sin(t)]), [1.0, 0.5] - np.column_stack([np.cos(t), np.sin(t)])
    )
    return 1.6 * (X - [0.5, 0.25]) + noise * rng.normal(size=(n, 2)), y


@_toy("xor", "Exclusive or", "classification", 100, 0.35)
def _xor(n, noise, classes, rng):
    """Four clouds, opposite ones of one class: a product of the two features decides."""
    corner = np.arange(n) % 4
    centre = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[corner]
    return 1.2 * centre + noise * rng.normal(size=(n, 2)), corner % 2


@_toy("spirals", "Spirals", "classification", 160, 0.06, classes=(2, 4))
def _spirals(n, noise, classes, rng):
    """Arms of a spiral, one for each class: hard for any kernel that is too wide."""
    y, t = _turns(n, classes), 0.25 + 1.75 * np.sqrt(rng.random(n))
    angle = np.pi * t + 2.0 * np.pi * y / classes
    return 1.1 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + noise * rng.normal(size=(n, 2)), y


@_toy("checkerboard", "Checkerboard", "classification", 200, 0.0)
def _checkerboard(n, noise, classes, rng):
    """Sixteen squares in two colours; noise moves points across their borders."""
    X = 4.0 * rng.random((n, 2)) - 2.0
    return X + noise * rng.normal(size=(n, 2)), np.floor(X).sum(axis=1).astype(int) % 2


@_toy("iris", "Iris petals", "classification", 150, 0.0, classes=(3, 3), fixed=True)
def _iris(n, noise, classes, rng):
    """Fisher's irises by the length and width of their petals: three species (UCI, as scikit-learn ships it)."""
    from sklearn.datasets import load_iris

    bunch = load_iris()
    return bunch.data[:, 2:], bunch.target


@_toy("line", "A noisy line", "regression", 40, 0.25)
def _line(n, noise, classes, rng):
    """Points along a straight line."""
    x = np.sort(6.0 * rng.random(n) - 3.0)
    return x[:, None], 0.6 * x + noise * rng.normal(size=n)


@_toy("sine", "A noisy sine", "regression", 60, 0.15)
def _sine(n, noise, classes, rng):
    """Points along a wave."""
    x = np.sort(6.0 * rng.random(n) - 3.0)
    return x[:, None], 1.4 * np.sin(1.6 * x) + noise * rng.normal(size=n)


@_toy("line-outliers", "A line with outliers", "regression", 40, 0.12)
def _line_outliers(n, noise, classes, rng):
    """Points along a line, every eighth far above it; one loss stays with the others."""
    x = np.sort(6.0 * rng.random(n) - 3.0)
    return x[:, None], 0.5 * x - 0.4 + noise * rng.normal(size=n) + 2.2 * (np.arange(n) % 8 == 5)


@_toy("cloud", "One cloud", "novelty", 80, 0.7)
def _cloud(n, noise, classes, rng):
    """One class only, to tell what is usual from what is not."""
    X = noise * rng.normal(size=(n, 2))
    X[: n // 2] += [1.3, 1.0]
    return X, np.zeros(n)


@_toy("annulus", "One ring", "novelty", 90, 0.1)
def _annulus(n, noise, classes, rng):
    """One class on a ring: its middle is as unusual as what is outside."""
    angle = 2.0 * np.pi * rng.random(n)
    radius = 1.6 + noise * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.zeros(n)
