"""The perceptron (PLA): another hyperplane represented by data, shown beside the SVM.

    1. w ← 0, b ← 0, all counts 0.
    2. For each sample in turn: if y_i (⟨w, φ(x_i)⟩ + b) ≤ 0, it is a mistake:
    3.     w ← w + y_i φ(x_i),  b ← b + y_i,  and count one more correction of sample i.
    4. Stop when a whole pass makes no mistake, which happens if and only if the classes are separable.

w = Σ β_i φ(x_i) with β_i = y_i · (corrections of sample i), as for the SVM. But nothing is maximised: the hyperplane
depends on the order of the samples, and its certificate says how far it is from the largest margin.

Rosenblatt, Psychological Review 65, 1958; Novikoff 1962 (convergence); Freund & Schapire, Machine Learning 37, 1999
(kernels).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.result import Event, Iterate
from maxmargin.solvers.base import Solver, registry, rows_or_matrix
from maxmargin.solvers.steps import check_positive
from maxmargin.solvers.textbook.sample_sum import SampleSum, add_sample, score


@dataclass(frozen=True)
class Perceptron(Solver):
    """Rosenblatt's rule: correct the hyperplane by one sample whenever that sample is on the wrong side.

    Parameters
    ----------
    order : "cyclic" or "shuffled", default "cyclic"
        The order of the samples within a pass.
    passes : int, default 1000
        It ends after this many passes; on classes that are not separable it would never end by itself.
    grain : int, default None
        Yield after this many corrections instead of after a pass, and count corrections instead of passes; with
        ``grain=1`` every correction is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import Perceptron
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=float("inf"))
    >>> result = solve(problem, Perceptron("cyclic"))
    >>> result.coef  # how often each sample was corrected, with the sign of its class
    array([-2., -4.,  2.,  0.])
    """

    name: ClassVar[str] = "perceptron"
    paper: ClassVar[str] = "Rosenblatt 1958; Novikoff 1962"

    order: Literal["cyclic", "shuffled"] = "cyclic"
    passes: int = 1000
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("passes", self.passes, whole=True)
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        if problem.task != "classification":
            return f"it separates two classes, and loss={problem.loss.name!r} has none; use solver='auto'"
        return None

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        space = problem.space
        rows, work = rows_or_matrix(problem, "the perceptron with a kernel")
        w, b, counts = np.zeros(space.size), 0.0, np.zeros(problem.n)  # 1.
        made = SampleSum(w, counts, space.constant, problem.linear)
        learns_bias = problem.bias == "free"
        used = np.flatnonzero(problem.C > 0)
        most = used.size if self.grain is None else int(self.grain)

        def iterate(k: int, seen: int, event: Event | None = None) -> Iterate:
            # As a dual point the counts are made feasible; the hyperplane is theirs as they are.
            bias = b if learns_bias else None
            share = work * seen / max(1, used.size)
            return Iterate(k, w=w, b=bias, beta=counts, linked=False, work=share, event=event, answer=True)

        k = 0
        for _ in range(int(self.passes)):
            if self.order == "shuffled":
                rng.shuffle(used)
            place = mistakes = 0
            while place < used.size:
                before = place
                place, found, b = _corrections(rows, used, place, most, problem.target, made, b, learns_bias)
                mistakes += found
                if self.grain is not None and found:
                    k += found
                    i = used[place - 1]
                    step = float(problem.target[i])
                    event = Event((int(i),), (float(counts[i] - step),), (float(counts[i]),), step)
                    yield iterate(k, place - before, event if found == 1 == self.grain else None)
            if self.grain is None:
                k += 1
                yield iterate(k, used.size)
            if mistakes == 0:  # 4.
                break
        if self.grain is not None:
            yield iterate(k, used.size)


@compiled
def _corrections(X, order, place, most, y, made, b, learns_bias):
    """From a place on, up to `most` corrections: the place after the last one, their number, and the bias."""
    found = 0
    for p in range(place, len(order)):  # 2.
        i = order[p]
        z = score(X, i, made) + b
        if y[i] * z <= 0.0:  # 3.
            found += 1
            add_sample(X, i, y[i], made)
            if learns_bias:
                b += y[i]
            if found == most:
                return p + 1, found, b
    return len(order), found, b


registry.register(Perceptron.name, Perceptron())
