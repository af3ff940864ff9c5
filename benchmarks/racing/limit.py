"""The limit of a kernel problem: the time to compute the kernel rows of its final support vectors once.

No solver that evaluates the kernel exactly can be faster than this, unless it never looks at some of those rows. It is
measured as well as we can do it from Python: float32, one matrix product and one exponential per block that stays in
cache, the blocks spread over the threads. Sparse rows go through maxmargin's own product, the fastest that we know of.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from maxmargin.kernels import RBF
from racing.judge import Task, dense_if_cheaper, square_norms

#: Rows and columns of a tile of kernel values: it stays in the processor's cache between product and exponential.
TILE = (256, 2048)


def limit_seconds(task: Task, support: int, repeats: int = 3, threads: int = 2) -> float:
    """The median seconds of computing `support` rows of the kernel matrix; any rows cost about the same.

    Where sparse rows could as well be dense, the faster way counts.
    """
    assert task.gamma is not None
    chosen = np.random.default_rng(0).permutation(len(task.y))[:support]
    rows = [chosen[start : start + TILE[0]] for start in range(0, support, TILE[0])]
    ways = [_sparse_rows(task.X, task.gamma, chosen)] if sp.issparse(task.X) else []
    X = dense_if_cheaper(task.X)
    if not sp.issparse(X):
        ways.append(_dense_rows(X, task.gamma))
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        return min(float(np.median([_seconds(compute, rows, pool) for _ in range(repeats)])) for compute in ways)


def _seconds(compute: Callable[[np.ndarray], None], rows: list[np.ndarray], pool: ThreadPoolExecutor) -> float:
    tick = perf_counter()
    list(pool.map(compute, rows))
    return perf_counter() - tick


def _dense_rows(X: np.ndarray, gamma: float) -> Callable[[np.ndarray], None]:
    """By two factors whose product is −γ‖a − b‖²: [√2γ a, −γ‖a‖², 1] and [√2γ b, 1, −γ‖b‖²]."""
    squares = -gamma * square_norms(X)[:, None]
    ones, scaled = np.ones_like(squares), np.sqrt(2.0 * gamma) * X
    left = np.hstack([scaled, squares, ones]).astype(np.float32)
    right = np.hstack([scaled, ones, squares]).T.astype(np.float32)
    strips = [np.ascontiguousarray(right[:, start : start + TILE[1]]) for start in range(0, len(X), TILE[1])]

    def compute(rows: np.ndarray) -> None:
        ours = left[rows]
        for strip in strips:
            values = ours @ strip
            np.exp(values, out=values)

    return compute


def _sparse_rows(X: Any, gamma: float, chosen: np.ndarray) -> Callable[[np.ndarray], None]:
    """By maxmargin's own kernel; what all rows have in common is laid out beforehand, and not timed."""
    single, squares = sp.csr_matrix(X, dtype=np.float32), square_norms(X)
    parts = np.array_split(np.arange(X.shape[0]), -(-X.shape[0] // TILE[1]))
    blocks = [RBF(gamma).against(single, part, squares, np.float32) for part in parts]
    blocks[0](chosen[:2])  # loads what is compiled

    def compute(rows: np.ndarray) -> None:
        for block in blocks:
            block(rows)

    return compute
