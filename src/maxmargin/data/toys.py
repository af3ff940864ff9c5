"""The toy sets of the lessons: small enough to see, there without a network."""

from __future__ import annotations

import numpy as np


def clouds(distance: float, n: int = 100, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two round clouds of points in the plane, their centres `distance` apart along the diagonal."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, -1, 1)
    X = rng.normal(size=(n, 2)) + (distance / np.sqrt(8.0)) * y[:, None]
    return X, y


def separable() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that a line separates."""
    return clouds(7.0, seed=3)


def off_centre() -> tuple[np.ndarray, np.ndarray]:
    """The separable clouds, moved away from the origin: their hyperplane needs a bias."""
    X, y = separable()
    return X + 2.0, y


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that no line separates."""
    return clouds(2.5)


def with_outlier() -> tuple[np.ndarray, np.ndarray]:
    """The separable clouds and one more sample of the class −1, close to the other cloud: a line still separates."""
    X, y = separable()
    return np.vstack([X, [0.9, 1.1]]), np.append(y, -1)


def columns() -> tuple[np.ndarray, np.ndarray]:
    """Two columns of three samples each, all of them on the margin, more than the hyperplane needs."""
    X = np.array([[x, height] for x in (-1.0, 1.0) for height in (-1.0, 0.0, 1.0)])
    return X, np.repeat([-1, 1], 3)


def rings() -> tuple[np.ndarray, np.ndarray]:
    """A disc inside a ring: no line separates them, a circle does."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(120) % 2 == 0, -1, 1)
    radius = np.where(y < 0, 0.9 * np.sqrt(rng.random(120)), 1.3 + 0.7 * rng.random(120))
    angle = 2.0 * np.pi * rng.random(120)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def moons() -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles: no line will do, a kernel will."""
    from sklearn.datasets import make_moons

    X, y = make_moons(200, noise=0.15, random_state=0)
    return X, np.where(y == 1, 1, -1)


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """569 tumours, 30 measurements each, standardised; "benign" or "malignant" (UCI, as scikit-learn ships it)."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    X = (bunch.data - bunch.data.mean(axis=0)) / bunch.data.std(axis=0)
    return X, bunch.target_names[bunch.target]
