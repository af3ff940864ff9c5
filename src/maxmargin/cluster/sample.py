"""Rows that are drawn from the shards, or are all of them, and their own answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.shard import Block, Setting, Shard
from maxmargin.kernels import Linear
from maxmargin.loop import solve
from maxmargin.problem import CACHE_BYTES, Problem


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows on the client: a block of them, each of which stands for `factor` rows."""

    block: Block
    factor: float

    def solved(self, machine: int, setting: Setting, tol: float, max_time: float | None, seed: int) -> Any:
        """The sample's own result."""
        problem = Problem.of_checked(
            self.block.X,
            self.block.target(machine, setting),
            setting.loss,
            Linear(),
            setting.bias,
            self.block.C * self.factor,
            CACHE_BYTES,
            setting.constant if setting.bias == "augmented" else 1.0,
            None if setting.classes is None else "classification",
        )
        return solve(problem, tol=tol, max_time=max_time, random_state=seed)


def theta_of(result: Any, setting: Setting) -> np.ndarray:
    """θ of a result: w, and c of the constant feature or of the free bias."""
    c = result.b / setting.constant if setting.constant else 0.0
    return np.append(result.w, c)


def drawn(shard: Shard, common: tuple[float, int], own: int) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """A share of the rows of each block, drawn by a seed and the shard's number."""
    share, seed = common
    rng, found = np.random.default_rng([seed, own]), []
    for block in shard.blocks:
        n = len(block.y)
        count = n if share >= 1.0 else min(n, int(share * n) + int(rng.random() < share * n - int(share * n)))
        some = slice(None) if count == n else np.sort(rng.choice(n, count, replace=False))
        found.append((block.X[some], block.y[some], block.C[some]))
    return found


def joined_blocks(found: Sequence[tuple[Any, np.ndarray, np.ndarray]]) -> Block:
    """Rows of several blocks as one."""
    rows = [X for X, _, _ in found]
    X = sp.csr_array(sp.vstack(rows, format="csr")) if sp.issparse(rows[0]) else np.concatenate(rows)
    return Block(X, np.concatenate([y for _, y, _ in found]), np.concatenate([C for _, _, C in found]))
