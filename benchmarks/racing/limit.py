"""The limit of a kernel problem: the time to compute the kernel rows of its final support vectors once.

No solver that evaluates the kernel exactly can be faster than this, unless it never looks at some of those rows. It is
measured as well as we can do it from Python: float32, one matrix product and one exponential per block that stays in
cache, the blocks spread over the threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from racing.judge import Task, dense_if_cheaper, square_norms

#: Rows and columns of a tile of kernel values: it stays in the processor's cache between product and exponential.
TILE = (256, 2048)


def limit_seconds(task: Task, support: int, repeats: int = 3, threads: int = 2) -> float:
    """The median seconds of computing `support` rows of the kernel matrix; any rows cost about the same."""
    assert task.gamma is not None
    chosen = np.random.default_rng(0).permutation(len(task.y))[:support]
    left, right = _exponents(dense_if_cheaper(task.X), task.gamma)
    left = left[chosen]
    rows = [slice(start, start + TILE[0]) for start in range(0, support, TILE[0])]
    columns = [slice(start, start + TILE[1]) for start in range(0, len(task.y), TILE[1])]
    strips = [np.ascontiguousarray(right[:, part]) for part in columns]

    def compute(part: slice) -> None:
        ours = left[part]
        for strip in strips:
            values = ours @ strip
            np.exp(values, out=values)

    times = []
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        for _ in range(repeats):
            tick = perf_counter()
            list(pool.map(compute, rows))
            times.append(perf_counter() - tick)
    return float(np.median(times))


def _exponents(X: Any, gamma: float) -> tuple[Any, np.ndarray]:
    """Two factors whose product is −γ‖a − b‖²: [√2γ a, −γ‖a‖², 1] and [√2γ b, 1, −γ‖b‖²]."""
    squares = -gamma * square_norms(X)[:, None]
    ones = np.ones_like(squares)
    scaled = np.sqrt(2.0 * gamma) * X
    if sp.issparse(X):
        left = sp.csr_matrix(sp.hstack([scaled, squares, ones]), dtype=np.float32)
        return left, np.ascontiguousarray(sp.hstack([scaled, ones, squares]).T.toarray(), dtype=np.float32)
    left = np.hstack([scaled, squares, ones]).astype(np.float32)
    return left, np.ascontiguousarray(np.hstack([scaled, ones, squares]).T, dtype=np.float32)
