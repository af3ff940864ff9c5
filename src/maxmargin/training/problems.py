"""The problems of one fit: all on the same rows, kernel and bias, each about some of the rows.

Where there are several problems and the whole kernel matrix fits the cache, it is computed once and each problem takes
its block of it; otherwise each computes the kernel values that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.losses import Loss
from maxmargin.losses.base import Task as LearningTask
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.problem import Bias, CrammerSingerProblem, NuProblem, Problem
from maxmargin.problem.validation import check_rows, check_scale, check_weights
from maxmargin.training.kernel_matrix import block_of, shared_kernel, shared_matrix
from maxmargin.training.recipe import Recipe
from maxmargin.training.samples import Samples

#: Multiply-adds a second that a kernel matrix is sure to make: decides whether one fits a time budget.
SPEED = 1e9

#: The problem of some rows with their targets, a loss and a C.
Maker = Callable[[np.ndarray, Any, Loss, float], Problem]


def maker_of(recipe: Recipe, samples: Samples, kernel: Kernel, problems: int, max_time: float | None) -> Maker:
    """A function that makes the problems of a recipe; `problems` is how many there will be."""
    if recipe.multiclass == "crammer-singer" and samples.classes > 2:
        return together_maker(samples, recipe.bias, recipe.bias_scale)
    return problem_maker(
        samples,
        kernel,
        recipe.bias,
        recipe.bias_scale,
        recipe.cache_bytes,
        problems,
        max_time,
        recipe.task,
        recipe.regularizer,
        recipe.nu,
    )


def together_maker(samples: Samples, bias: Bias, bias_scale: float) -> Maker:
    """The same for all classes in one problem, whose targets are the numbers of the classes."""
    classes = np.arange(samples.classes)

    def make(index: np.ndarray, target: Any, loss: Loss, C: float) -> Problem:
        X = samples.X if index.size == samples.n else samples.X[index]
        weights = check_weights(C, samples.weights[index], None, target, classes)
        X = check_rows(X)
        check_scale(Linear(), X, weights)
        return CrammerSingerProblem.of_codes(X, target, weights, classes, bias, bias_scale)

    return make


def problem_maker(
    samples: Samples,
    kernel: Kernel,
    bias: Bias,
    bias_scale: float,
    cache_bytes: float,
    problems: int,
    max_time: float | None,
    task: LearningTask | None = None,
    regularizer: str = "l2",
    nu: float | None = None,
) -> Maker:
    """A function that makes the problem of some rows (with a share ν); `problems` is how many there will be."""
    rows = samples.rows_for(kernel)
    X, used = rows, kernel
    n, d = X.shape
    fits = n * n * 8.0 <= cache_bytes
    quick = max_time is None or n * n * (d + 20) <= 0.3 * SPEED * max_time
    if problems > 1 and fits and quick and not isinstance(kernel, (Linear, Precomputed)):
        with one_blas_thread():
            X = shared_matrix(kernel, X, cache_bytes)
        used = shared_kernel(kernel, rows)

    def make(index: np.ndarray, target: Any, loss: Loss, C: float) -> Problem:
        block = X
        if index.size < n:
            block = block_of(X, index, index) if isinstance(used, Precomputed) else X[index]
        # A matrix of our own needs no second look, which would cost as much as many a fit.
        if isinstance(used, Precomputed) and used.source is not None:
            weights = C * samples.weights[index]
            check_scale(used, block, weights)
            own = used if X is rows else replace(used, samples=lambda: samples.X[index])
            return Problem.of_checked(block, target, loss, own, bias, weights, cache_bytes, bias_scale, task)
        return Problem(
            block,
            target,
            loss=loss,
            kernel=used,
            bias=bias,
            C=C,
            bias_scale=bias_scale,
            sample_weight=samples.weights[index],
            task=task,
            cache_bytes=cache_bytes,
            regularizer=regularizer,
        )

    return make if nu is None else lambda *parts: NuProblem.of(make(*parts), nu)
