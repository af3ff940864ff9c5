"""Coordinate ascent on blocks of rows that are not in memory all at once: for data with too many features for Newton.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper  (and Σβ = total)

    1. β ← 0 (or the warm start) and w = Σ β_i x_i; both stay in memory, the rows do not.
    2. In each pass, for each block in random order: read it, and take a few epochs of exact steps on its coordinates.
    3. A free bias is the limit of augmented ones (method of multipliers): the constant feature s has its bias centred
       at b, which moves by s²(Σβ − total) after every pass, until that is 0.
    4. What the first epoch on each block found missing adds up to an estimate of the gap.

Yu, Hsieh, Chang & Lin, "Large linear classification when data cannot fit in memory", KDD 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import rows_of
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, Starts, refuse_without_form, start_beta

# The inner loop is the same as in memory, on the rows of one block.
from maxmargin.solvers.textbook.coordinate_ascent import epoch_of_rows

#: Epochs on a block while it is in memory.
INNER = 3


@dataclass(frozen=True)
class BlockAscent(Solver):
    """Exact steps on the coordinates of one block after the other."""

    name: ClassVar[str] = "coordinate-ascent"
    paper: ClassVar[str] = "Yu et al., KDD 2010"
    endless: ClassVar[bool] = True
    starts: ClassVar[Starts] = ("beta",)
    streams: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        if not isinstance(problem.X, RowBlocks):
            return "it is for rows in blocks; use solver='auto'"
        return refuse_without_form(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        X, form, space = problem.X, problem.form, problem.space
        assert form is not None
        free = form.total is not None
        constant, b, total = space.constant, 0.0, form.total or 0.0
        if free:
            constant = float(np.sqrt(X.sqnorms.mean())) or 1.0  # as long as a row
        q = X.sqnorms + constant**2 + form.ridge
        scale = float(np.abs(form.target).max()) or 1.0
        # 1.
        beta = start_beta(problem, start)
        w = space.combine(beta)
        w[-1] = constant * (float(beta.sum()) - total)
        for k in count(1):
            missing = 0.0
            # 2.
            for place in (X.places[p] for p in rng.permutation(len(X.places))):
                rows, part = rows_of(X.block(place)), place.part
                arrays = form.of(part).arrays
                arrays = arrays._replace(target=arrays.target - b)
                for epoch in range(INNER):
                    order = rng.permutation(place.rows).astype(np.uint32)
                    gap, _ = epoch_of_rows(rows, order, arrays, q[part], beta[part], w, constant)
                    missing += gap if epoch == 0 else 0.0
            # 3.
            off = float(w[-1]) / constant if free else 0.0
            b += constant * float(w[-1]) if free else 0.0
            # 4.
            missing = max(0.0, missing) + scale * abs(off)
            dual = form.value(beta) - 0.5 * float(w @ w)
            estimate = missing / (dual + missing) if 0.0 < dual + missing < np.inf else None
            work = 3.0 * INNER * space.work
            yield Iterate(k, w=None if free else w, beta=beta, work=work, estimate=estimate)
