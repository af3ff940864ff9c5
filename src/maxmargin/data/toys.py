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


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that no line separates."""
    return clouds(2.5)


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
