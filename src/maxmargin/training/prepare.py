"""What a training begins with: scaled rows, those that count, classes, and the machines that tell them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data, label_text
from maxmargin.data.scaling import Scaling, scaling
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear, Precomputed
from maxmargin.models.classes import TOGETHER, Scheme, pairs, problem_name, splits
from maxmargin.models.decisions import FULL
from maxmargin.problem.validation import plain
from maxmargin.training.recipe import Recipe
from maxmargin.training.samples import Samples, class_weights, rows_that_count, weighted_costs

#: A sparse matrix that is mostly full becomes a dense one of at most so many bytes.
FITS = 2e9
#: A linear model in pairs has at most so many weights (80 MB), unless pairs are asked for.
MOST_WEIGHTS = 1e7


@dataclass(frozen=True, eq=False)
class Machine:
    """One binary problem (or regression) of a model: what it is about, its rows, and their targets."""

    name: str
    rows: np.ndarray
    target: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a training begins with: scaled rows, those that count, and a recipe whose kernel has its numbers."""

    recipe: Recipe
    X: Any
    scaling: Scaling | None
    samples: Samples
    #: The targets of a regression.
    target: np.ndarray | None
    classes: np.ndarray | None
    class_weight: Any
    scheme: Scheme


def prepared(data: Data, recipe: Recipe, weights: np.ndarray | None) -> Prepared:
    """Scale the rows (1.), leave out those without a weight, and find the numbers of the kernel (2.)."""
    learnt = None if recipe.scaling is None else scaling(recipe.scaling, data.X)
    X = data.X if learnt is None else learnt.apply(data.X)
    n, d = X.shape
    if sp.issparse(X) and X.nnz > FULL * n * d and 8.0 * n * d < FITS:
        X = X.toarray()
    samples, target, classes, class_weight = samples_of(X, data, recipe, weights)
    recipe = replace(recipe, kernel=recipe.kernel.fitted(samples.X, samples.repeats))
    return Prepared(recipe, X, learnt, samples, target, classes, class_weight, scheme_of(recipe, classes, d))


def samples_of(
    X: Any, data: Data, recipe: Recipe, weights: np.ndarray | None
) -> tuple[Samples, np.ndarray | None, np.ndarray | None, Any]:
    """The rows that count, their targets (of a regression), the classes, and the weights of those by label."""
    given = np.ones(X.shape[0]) if weights is None else weights
    used = np.flatnonzero(given > 0)
    if not used.size:
        raise InvalidInput("the weights of all rows are 0; nothing is left to train on")
    whole = used.size == len(given)
    rows = rows_that_count(X, used, isinstance(recipe.kernel, Precomputed))
    repeats = given if whole else given[used]
    if recipe.kind != "classification":
        target = None if recipe.kind == "novelty" else _measured(data)[used]
        return Samples(rows, repeats, repeats, used, len(given), np.zeros(used.size, np.intp)), target, None, None
    classes, codes = labelled(data, None if whole else used)
    by_class = class_weights(recipe.class_weight_of(classes), classes, codes, repeats)
    told = None
    if recipe.class_weight is not None:
        told = tuple((plain(label), float(x)) for label, x in zip(classes, by_class, strict=True))
    costs = repeats if told is None else weighted_costs(repeats, by_class, codes)
    return Samples(rows, repeats, costs, used, len(given), codes, len(classes)), None, classes, told


def _measured(data: Data) -> np.ndarray:
    if data.y is None or data.y.dtype.kind not in "fiu":
        raise InvalidInput("a regression needs targets that are numbers")
    return np.asarray(data.y, dtype=np.float64)


def labelled(data: Data, used: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The classes and the class of each row (that is used)."""
    if data.y is None:
        raise InvalidInput(f"{data.source or 'the data'} has no labels; a classifier needs them")
    classes, codes = np.unique(data.y if used is None else data.y[used], return_inverse=True)
    if len(classes) < 2:
        raise InvalidInput(
            f"{data.source or 'the data'} holds only the class {label_text(plain(classes[0]))!r}; two are needed"
        )
    if data.y.dtype.kind == "f" and len(classes) > max(100, data.n // 10):
        raise InvalidInput(f"{data.source} has {len(classes)} different labels: for a regression choose its loss")
    return classes, codes


def scheme_of(recipe: Recipe, classes: np.ndarray | None, columns: int) -> Scheme:
    """How the classes are told apart: in pairs, unless so many hyperplanes of so many features would be too large."""
    if classes is None or len(classes) == 2:
        return "binary"
    if recipe.multiclass is not None:
        schemes: dict[str, Scheme] = {"ovr": "ovr", "ovo": "ovo", "crammer-singer": "crammer-singer"}
        return schemes[recipe.multiclass]
    large = isinstance(recipe.kernel, Linear) and len(pairs(len(classes))) * columns > MOST_WEIGHTS
    return "ovr" if large else "ovo"


def split(
    recipe: Recipe, samples: Samples, target: np.ndarray | None, classes: np.ndarray | None, scheme: Scheme
) -> list[Machine]:
    """The binary problems, or the one problem that there is without classes."""
    if classes is None:
        return [Machine(recipe.kind, np.arange(samples.n), target)]
    if scheme == "crammer-singer":
        return [Machine(TOGETHER, np.arange(samples.n), samples.codes)]
    names = [label_text(plain(label)) for label in classes]
    return [
        Machine(problem_name(tuple(names[k] for k in about)), rows, signs)
        for about, rows, signs in splits(samples.codes, samples.classes, scheme)
    ]
