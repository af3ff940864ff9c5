"""Quick model selection: cross-validation, a search over C and gamma, and sigmoids from rows that were held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.models.fit import Fit, fit, labelled, samples_of, split
from maxmargin.models.model import Model
from maxmargin.models.probability import fit_sigmoid
from maxmargin.training.budget import Budget
from maxmargin.training.recipe import Recipe

#: The search: C from 2⁻³ to 2⁷, and gamma from a sixteenth of "scale" to sixteen times it.
COSTS = tuple(2.0**k for k in range(-3, 9, 2))
GAMMAS = tuple(2.0**k for k in range(-4, 5, 2))


@dataclass(frozen=True)
class Tried:
    """One combination of the search and its score: mean accuracy, or the negative mean squared error."""

    C: float
    gamma: float | None
    score: float
    spread: float


def folds(data: Data, recipe: Recipe, k: int) -> np.ndarray:
    """The fold of each row: shuffled by the recipe's seed, and every class spread evenly."""
    if not 2 <= k <= data.n:
        raise InvalidInput(f"{k} folds of {data.n} rows are not possible; choose from 2 to the number of rows")
    rng = np.random.default_rng(recipe.seed)
    order = rng.permutation(data.n)
    if recipe.kind == "classification":
        codes = labelled(data)[1]
        smallest = int(np.bincount(codes).min())
        if smallest < k:
            raise InvalidInput(f"a class has only {smallest} rows, too few for {k} folds; choose fewer")
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(data.n, np.int64)
    fold[order] = np.arange(data.n) % k
    return fold


def _held_out(
    data: Data, recipe: Recipe, weights: np.ndarray | None, k: int, budget: Budget
) -> Iterator[tuple[np.ndarray, Fit, np.ndarray]]:
    """For each fold the model trained on the others, and its decision values on the rows held out."""
    fold = folds(data, recipe, k)
    for number in range(k):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        assert data.y is not None
        part = replace(data, X=data.X[inside], y=data.y[inside])
        fitted = fit(part, recipe, None if weights is None else weights[inside], budget.part(k - number))
        if budget.stop.is_set():  # a fold that was broken off says nothing
            raise KeyboardInterrupt
        yield outside, fitted, fitted.model.scores(data.X[outside])


def cross_validate(
    data: Data, recipe: Recipe, weights: np.ndarray | None, k: int, budget: Budget
) -> tuple[float, float]:
    """The mean and the standard deviation over folds of accuracy, or of the negative mean squared error."""
    if recipe.kind == "novelty" or data.y is None:
        raise InvalidInput("cross-validation needs labels or targets to compare with")
    found = []
    for outside, fitted, scores in _held_out(data, recipe, weights, k, budget):
        answers, truth = fitted.model.labels(scores), data.y[outside]
        right = answers == truth if recipe.kind == "classification" else -((answers - truth.astype(float)) ** 2)
        found.append(float(np.mean(right)))
    return float(np.mean(found)), float(np.std(found))


def search(
    data: Data,
    recipe: Recipe,
    weights: np.ndarray | None,
    k: int,
    budget: Budget,
    tell: Callable[[Tried], Any] = lambda tried: None,
) -> tuple[Recipe, list[Tried]]:
    """The recipe with the C (and gamma) that score best; of equals the smallest C, which is the simplest model."""
    kernel: Any = recipe.kernel
    gammas: list[float | None] = [None]
    if hasattr(kernel, "gamma"):
        middle = kernel.fitted(data.X).gamma
        gammas = [middle * factor for factor in GAMMAS]
    combinations = [(C, gamma) for gamma in gammas for C in COSTS]
    tried = []
    for number, (C, gamma) in enumerate(combinations):
        chosen = replace(recipe, C=C, kernel=kernel if gamma is None else replace(kernel, gamma=gamma))
        share = budget.part(2 * (len(combinations) - number))  # half of the time is for the model itself
        tried.append(Tried(C, gamma, *cross_validate(data, chosen, weights, k, share)))
        tell(tried[-1])
    best = max(tried, key=lambda one: (one.score, -one.C))
    found = replace(recipe, C=best.C, kernel=kernel if best.gamma is None else replace(kernel, gamma=best.gamma))
    return found, tried


def with_sigmoids(
    model: Model, data: Data, recipe: Recipe, weights: np.ndarray | None, k: int, budget: Budget
) -> Model:
    """The model with a sigmoid for each machine, fitted to decision values of rows that were held out."""
    if model.classes is None:
        raise InvalidInput(f"a model for {model.task} has no classes and no probabilities")
    scores = np.empty((data.n, model.machines))
    for outside, _, values in _held_out(data, recipe, weights, k, budget):
        scores[outside] = values
    samples, target, classes, _ = samples_of(data.X, data, recipe, weights)
    machines = split(recipe, samples, target, classes, model.scheme)
    found = []
    for number, machine in enumerate(machines):
        assert machine.target is not None
        found.append(fit_sigmoid(scores[machine.rows, number], machine.target > 0))
    return replace(model, sigmoids=np.array(found))
