"""The limits of a kernel problem: the time to compute the kernel rows of its final support vectors once.

No solver that evaluates the kernel exactly can be faster, unless it never looks at some of those rows.

- **plain limit**: by NumPy in float32, as one would write it: a matrix product for a block of rows, a few passes over
  the block to make squared distances of it, an exponential.
- **limit**: as well as we can do it: tiles that stay in cache between product and exponential, spread over the threads.
  The faster of NumPy's functions and maxmargin's own kernel counts, so that it falls where our kernel gets faster.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from maxmargin.kernels import RBF
from maxmargin.numeric.parallel import threads
from racing.judge import Task, dense_if_cheaper, square_norms

#: Rows and columns of a tile of kernel values: it stays in the processor's cache between product and exponential.
TILE = (256, 1000)
#: Kernel values that the plain way computes at once.
BLOCK = 2**24
#: Each way is timed so often.
REPEATS = 3
#: The limits' names, in the tables' order.
LIMITS = ("plain limit", "limit")


def limit_seconds(task: Task, support: int) -> dict[str, float]:
    """The seconds of computing `support` rows of the kernel matrix, each way; any rows cost about the same."""
    assert task.gamma is not None
    chosen = np.random.default_rng(0).permutation(len(task.y))[:support]
    X = dense_if_cheaper(task.X)
    # Where sparse rows could as well be dense, the faster way counts.
    ours = [_our_rows(rows, task.gamma, chosen) for rows in ([X] if X is task.X else [X, task.X])]
    ways = ours if sp.issparse(X) else [*ours, _tiles(X, task.gamma)]
    rows = [chosen[start : start + TILE[0]] for start in range(0, support, TILE[0])]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads()) as pool:
        best = min(_median(partial(_side_by_side, pool, way, rows)) for way in ways)
    with threadpool_limits(threads(), user_api="blas"):
        plain = _median(_plain_rows(X, task.gamma, chosen))
    return dict(zip(LIMITS, (plain, best), strict=True))


def _side_by_side(pool: ThreadPoolExecutor, way: Callable[[np.ndarray], object], parts: list[np.ndarray]) -> None:
    for _ in pool.map(way, parts):
        pass


def _median(work: Callable[[], object]) -> float:
    """Seconds, the median of REPEATS."""
    seconds = []
    for _ in range(REPEATS):
        tick = perf_counter()
        work()
        seconds.append(perf_counter() - tick)
    return float(np.median(seconds))


# Each way computes all values, and returns the last block of them.


def _plain_rows(X: Any, gamma: float, chosen: np.ndarray) -> Callable[[], np.ndarray]:
    single, squares = X.astype(np.float32), square_norms(X).astype(np.float32)
    height = max(1, BLOCK // X.shape[0])

    def compute() -> np.ndarray:
        for start in range(0, len(chosen), height):
            rows = chosen[start : start + height]
            values = single[rows] @ single.T
            values = values.toarray() if sp.issparse(values) else values
            values *= 2.0
            values -= squares[rows, None]
            values -= squares
            values *= gamma
            np.exp(values, out=values)
        return values

    return compute


def _tiles(X: np.ndarray, gamma: float) -> Callable[[np.ndarray], np.ndarray]:
    """By two factors whose product is −γ‖a − b‖²: [√2γ a, −γ‖a‖², 1] and [√2γ b, 1, −γ‖b‖²]."""
    squares = -gamma * square_norms(X)[:, None]
    ones, scaled = np.ones_like(squares), np.sqrt(2.0 * gamma) * X
    left = np.hstack([scaled, squares, ones]).astype(np.float32)
    right = np.hstack([scaled, ones, squares]).T.astype(np.float32)
    strips = [np.ascontiguousarray(right[:, start : start + TILE[1]]) for start in range(0, len(X), TILE[1])]

    def compute(rows: np.ndarray) -> np.ndarray:
        ours = left[rows]
        for strip in strips:
            values = ours @ strip
            np.exp(values, out=values)
        return values

    return compute


def _our_rows(X: Any, gamma: float, chosen: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """By maxmargin's own kernel; what all rows have in common is laid out beforehand, and not timed."""
    single, squares = X.astype(np.float32), square_norms(X)
    parts = np.array_split(np.arange(X.shape[0]), -(-X.shape[0] // (2 * TILE[1])))
    blocks = [RBF(gamma).against(single, part, squares, np.float32) for part in parts]
    blocks[0](chosen[:2])  # loads what is compiled

    def compute(rows: np.ndarray) -> np.ndarray:
        for block in blocks:
            values = block(rows)
        return values

    return compute
