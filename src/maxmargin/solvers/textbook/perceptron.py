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

from maxmargin.compiled import compiled
from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.rows import row_axpy, row_dot
from maxmargin.solvers.base import Solver, registry, rows_or_matrix
from maxmargin.space import LinearSpace


@dataclass(frozen=True)
class Perceptron(Solver):
    """Rosenblatt's rule; β counts the corrections."""

    name: ClassVar[str] = "perceptron"
    paper: ClassVar[str] = "Rosenblatt 1958; Novikoff 1962"

    order: Literal["cyclic", "shuffled"] = "cyclic"
    #: It ends after so many passes; on classes that are not separable it would never end by itself.
    passes: int = 1000

    def __post_init__(self) -> None:
        if self.passes < 1:
            raise InvalidInput(f"passes is {self.passes}; it must be ≥ 1")

    def accepts(self, problem: Problem) -> str | None:
        if problem.task != "classification":
            return f"it separates two classes, and loss={problem.loss.name!r} has none; use solver='auto'"
        return None

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        space = problem.space
        linear = isinstance(space, LinearSpace)
        rows, work = rows_or_matrix(problem, "the perceptron with a kernel")
        w, b, beta = np.zeros(space.size), 0.0, np.zeros(problem.n)  # 1.
        learns_bias = problem.bias == "free"
        used = np.flatnonzero(problem.C > 0)
        for k in range(1, self.passes + 1):
            if self.order == "shuffled":
                rng.shuffle(used)
            mistakes, b = _pass(rows, used, problem.target, w, beta, b, learns_bias, space.constant, linear)
            last = mistakes == 0 or k == self.passes
            yield Iterate(
                k,
                w=w,
                b=b if learns_bias else None,
                beta=beta,  # as a dual point it is repaired, and nothing to be proud of
                linked=False,
                coef=beta,
                work=work,
                answer=last,
            )
            if last:
                return  # 4.


@compiled
def _pass(X, order, y, w, beta, b, learns_bias, s, linear):
    d = len(w) - 1
    mistakes = 0
    for p in range(len(order)):  # 2.
        i = order[p]
        z = row_dot(X, i, w) + b + (s * w[d] if linear else 0.0)
        if y[i] * z <= 0.0:  # 3.
            mistakes += 1
            beta[i] += y[i]
            if learns_bias:
                b += y[i]
            if linear:
                row_axpy(X, i, y[i], w)
                w[d] += y[i] * s
            else:
                w[i] += y[i]
    return mistakes, b


registry.register(Perceptron.name, Perceptron())
