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
from maxmargin.problem import Bias, NuProblem, Problem
from maxmargin.problem.validation import check_scale
from maxmargin.training.kernel_matrix import block_of, shared_kernel, shared_matrix
from maxmargin.training.samples import Samples

#: Multiply-adds a second that a kernel matrix is sure to make: decides whether one fits a time budget.
SPEED = 1e9

#: The problem of some rows with their targets, a loss and a C.
Maker = Callable[[np.ndarray, Any, Loss, float], Problem]


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
    X, used = samples.X, kernel
    n, d = X.shape
    fits = n * n * 8.0 <= cache_bytes
    quick = max_time is None or n * n * (d + 20) <= 0.3 * SPEED * max_time
    if problems > 1 and fits and quick and not isinstance(kernel, (Linear, Precomputed)):
        with one_blas_thread():
            X = shared_matrix(kernel, samples.X, cache_bytes)
        used = shared_kernel(kernel, samples.X)

    def make(index: np.ndarray, target: Any, loss: Loss, C: float) -> Problem:
        block = X
        if index.size < n:
            block = block_of(X, index, index) if isinstance(used, Precomputed) else X[index]
        # A matrix of our own needs no second look, which would cost as much as many a fit.
        if isinstance(used, Precomputed) and used.source is not None:
            weights = C * samples.weights[index]
            check_scale(used, block, weights)
            own = used if X is samples.X else replace(used, samples=lambda: samples.X[index])
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
