"""Model selection for the command line: cross-validation, and a search over C and gamma.

The folds are shuffled by the seed, and every class is spread evenly. Rows are scaled first, all of them together, as
the model will be; gamma is searched around its "scale" on the scaled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Precomputed
from maxmargin.models.classes import Scheme
from maxmargin.models.model import Model
from maxmargin.training.budget import Budget
from maxmargin.training.checkpoint import fingerprint
from maxmargin.training.prepare import Prepared, prepared, split
from maxmargin.training.problems import maker_of
from maxmargin.training.recipe import Recipe
from maxmargin.training.search import Fold, Grid, Part
from maxmargin.training.search_checkpoint import SearchCheckpoint
from maxmargin.training.train import Solution, Task

#: The exponents of 2 that are tried: C from 2⁻³ to 2⁷, and gamma from a sixteenth of "scale" to sixteen times it.
COSTS = tuple(range(-3, 9, 2))
GAMMAS = tuple(range(-4, 5, 2))
#: The share of the time that goes into the search; the rest is for the model itself.
SEARCH = 0.5
#: The fits of a search need not be better than this to be compared.
ROUGH = 1e-3


@dataclass(frozen=True)
class Tried:
    """One combination of the search and its score: mean accuracy, or the negative mean squared error."""

    C: float
    gamma: float | None
    score: float
    spread: float


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found: the recipe with the best C and gamma, and all that was tried."""

    recipe: Recipe
    tried: list[Tried]
    #: Whether all combinations were tried.
    complete: bool
    #: Which of "C" and "gamma" have their best value at an end of their range.
    at_the_edge: tuple[str, ...] = ()

    @property
    def best(self) -> Tried:
        """The best combination; of equals the smallest C and gamma, which is the smoothest model."""
        return max(self.tried, key=lambda one: (one.score, -one.C, -(one.gamma or 0.0)))


def folds_of(ready: Prepared, recipe: Recipe, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows to train on and to score on: shuffled by the recipe's seed, and every class spread evenly."""
    n = ready.samples.n
    if not 2 <= k <= n:
        raise InvalidInput(f"{k} folds of {n} rows are not possible; choose from 2 to the number of rows")
    order = np.random.default_rng(recipe.seed).permutation(n)
    if ready.classes is not None:
        codes = ready.samples.codes
        smallest = int(np.bincount(codes).min())
        if smallest < k:
            raise InvalidInput(f"a class has only {smallest} rows, too few for {k} folds; choose fewer")
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, np.int64)
    fold[order] = np.arange(n) % k
    return [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(k)]


def cross_validate(
    data: Data, recipe: Recipe, weights: np.ndarray | None, k: int, budget: Budget
) -> tuple[float, float]:
    """The mean and the standard deviation over folds of accuracy, or of the negative mean squared error."""
    scores = _scores(data, recipe, weights, k, budget, [recipe.C], (), recipe.tol, lambda *_: None)[0][0, 0]
    if not np.isfinite(scores).all():
        raise (
            KeyboardInterrupt
            if budget.interrupted
            else InvalidInput("the time was up before all folds were done; allow more with --max-time, or drop --cv")
        )
    return float(scores.mean()), float(scores.std())


def search(
    data: Data,
    recipe: Recipe,
    weights: np.ndarray | None,
    k: int,
    budget: Budget,
    Cs: tuple[float, ...] | None = None,
    gammas: tuple[float, ...] | None = None,
    tell: Callable[[int, int], object] = lambda done, whole: None,
) -> Found:
    """The recipe with the C (and gamma) that score best; of equals the smallest, which is the smoothest model.

    Ranges that are given are tried as they are; the others are around C = 1 and around gamma="scale". A budget with a
    checkpoint keeps the scores beside it, and one that resumes goes on from them.
    """
    Cs = tuple(2.0**power for power in COSTS) if Cs is None else Cs

    def told(kernel: int, fold: int, scores: np.ndarray) -> None:
        tell(int(np.isfinite(scores).sum()), scores.size)

    tol = max(ROUGH, recipe.tol)
    scores, kernels = _scores(data, recipe, weights, k, budget, list(Cs), gammas, tol, told)
    values = np.sort(np.asarray(Cs, dtype=np.float64))
    tried = [
        Tried(float(C), getattr(kernel, "gamma", None), float(scores[c, g].mean()), float(scores[c, g].std()))
        for g, kernel in enumerate(kernels)
        for c, C in enumerate(values)
        if np.isfinite(scores[c, g]).all()
    ]
    if not tried:
        raise (
            KeyboardInterrupt
            if budget.interrupted
            else InvalidInput(
                "the time was up before any combination was tried in all folds; allow more with --max-time"
            )
        )
    complete = bool(np.isfinite(scores).all())
    best = Found(recipe, tried, complete).best
    edges = []
    if len(values) > 1 and best.C in (values[0], values[-1]):
        edges.append("C")
    known = sorted({one.gamma for one in tried if one.gamma is not None})
    if len(known) > 1 and best.gamma in (known[0], known[-1]):
        edges.append("gamma")
    kernel: Any = recipe.kernel
    chosen = replace(recipe, C=best.C, kernel=kernel if best.gamma is None else replace(kernel, gamma=best.gamma))
    return Found(chosen, tried, complete, tuple(edges))


def _scores(
    data: Data,
    recipe: Recipe,
    weights: np.ndarray | None,
    k: int,
    budget: Budget,
    Cs: list[float],
    gammas: tuple[float, ...] | None,
    tol: float,
    tell: Callable[[int, int, np.ndarray], object],
) -> tuple[np.ndarray, list[Any]]:
    """The scores of all combinations in all folds, and the kernels that were tried: without gammas, just the one."""
    if recipe.kind == "novelty" or data.y is None:
        raise InvalidInput("cross-validation needs labels or targets to compare with")
    ready = prepared(data, recipe, weights)
    kernel: Any = ready.recipe.kernel
    kernels = [kernel]
    searching = replace(budget, solver=recipe.chosen_solver, seed=recipe.seed, progress=False, checkpoint=None)
    if hasattr(kernel, "gamma") and gammas != ():
        tried = [kernel.gamma * 2.0**power for power in GAMMAS] if gammas is None else gammas
        kernels = [replace(kernel, gamma=float(gamma)) for gamma in sorted(tried)]
    if budget.max_time is not None:
        searching = replace(searching, max_time=SEARCH * budget.max_time)
    grid = Grid(np.sort(np.asarray(Cs, dtype=np.float64)), kernels, folds_of(ready, recipe, k), tol, recipe.cache_bytes)
    keep = None
    if budget.checkpoint is not None and gammas != ():  # a search, not a cross-validation
        keep = SearchCheckpoint(budget.checkpoint, _mark(ready, recipe, k, tol), budget.resume)
        grid = replace(grid, known=keep.scores(grid.Cs, kernels, k))

    def told(kernel: int, fold: int, scores: np.ndarray) -> None:
        tell(kernel, fold, scores)
        if keep is not None:
            keep.keep(grid.Cs, kernels, scores)

    scores, _ = grid.scores(ready.samples, partial(_fold, ready), searching, told)
    if keep is not None:
        keep.keep(grid.Cs, kernels, scores, now=True)
    return scores, kernels


def _mark(ready: Prepared, recipe: Recipe, k: int, tol: float) -> str:
    """What a search depends on, besides the values that it tries."""
    targets = ready.samples.codes if ready.target is None else ready.target
    return fingerprint(recipe, ready.samples.X, targets, np.append(ready.samples.weights, [k, tol]))


def _quality(answers: np.ndarray, truth: np.ndarray, classes: bool) -> float:
    """The accuracy, or the negative mean squared error."""
    return float(np.mean(answers == truth)) if classes else -float(np.mean((answers - truth) ** 2))


def _fold(ready: Prepared, part: Part) -> Fold:
    """The problems of a fold, and the accuracy (or the negative mean squared error) of their solutions."""
    recipe, scheme = ready.recipe, ready.scheme
    make = maker_of(recipe, part.samples, part.kernel, 1, None)
    one = recipe.cost(part.samples.classes) / recipe.C
    target = None if ready.target is None else ready.target[part.train]
    machines = split(recipe, part.samples, target, ready.classes, scheme)
    tasks = [
        Task(machine.name, machine.rows, partial(make, machine.rows, machine.target, recipe.loss, one))
        for machine in machines
    ]

    def score(C: float, solutions: list[Solution]) -> float:
        model = _model(recipe, scheme, part, tasks, solutions, len(ready.classes) if ready.classes is not None else 0)
        truth = ready.samples.codes if ready.target is None else ready.target
        return _quality(model.predict(part.left_out), truth[part.test], ready.target is None)

    return Fold(tasks, score)


def _model(
    recipe: Recipe, scheme: Scheme, part: Part, tasks: list[Task], solutions: list[Solution], classes: int
) -> Model:
    """The model of a fold: its labels are the numbers of the classes."""
    parts: dict[str, Any] = {}
    n = part.samples.n
    planes = [(task.rows, one) for task, whole in zip(tasks, solutions, strict=True) for one in whole.planes()]
    coef = np.zeros((len(planes), n))
    for k, (rows, one) in enumerate(planes):
        coef[k, rows] = one.coef
    if solutions[0].w is not None:
        parts["w"] = np.stack([one.w for _, one in planes if one.w is not None])
    elif isinstance(part.kernel, Precomputed):
        parts["w"] = coef
    else:
        support = np.flatnonzero((coef != 0.0).any(axis=0))
        parts |= {"vectors": part.samples.X[support], "coef": coef[:, support]}
    return Model(
        task=recipe.kind,
        kernel=part.kernel,
        b=np.array([one.b for _, one in planes]),
        columns=part.samples.X.shape[1],
        classes=np.arange(classes) if classes else None,
        scheme=scheme,
        **parts,
    )
