"""Frank–Wolfe with pairwise steps, fully corrective.

Problem:  max_β D(β) over the polytope  lower ≤ β ≤ upper [, Σβ = total]

    1. Start with one atom, a feasible point; β is a mixture Σ λ_j v_j of atoms, M_jl = v_jᵀ K v_l.
    2. v ← the vertex that maximises the linearised dual: each sample pulls at its bound, u = −Cℓ'(z) at the best bias.
       (Its gain over β is the duality gap.)
    3. Add v to the atoms: one product Kv, one more row of M.
    4. Pairwise steps on the mixture: move weight from the atom that helps least to the one that helps most,
       by the exact step, until the mixture is nearly the best there is.
    5. Drop the atoms that have lost all their weight; β ← Σ λ_j v_j.

Frank & Wolfe 1956; Lacoste-Julien & Jaggi, "On the global linear convergence of Frank–Wolfe optimization variants",
NIPS 2015 (pairwise and fully corrective); Joachims, KDD 2006 (the same atoms as cutting planes of the primal).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    Starts,
    product_with_K,
    refuse_indefinite,
    refuse_unbounded,
    refuse_without_form,
    registry,
    start_beta,
)
from maxmargin.solvers.steps import check_positive


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """Mixtures of vertices of the dual's polytope.

    Parameters
    ----------
    most_atoms : int, default 500
        When there are more atoms than this, the mixture itself becomes the only one.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import FrankWolfe
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, FrankWolfe(), tol=1e-3)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "frank-wolfe"
    paper: ClassVar[str] = "Frank & Wolfe 1956; Lacoste-Julien & Jaggi, NIPS 2015"

    starts: ClassVar[Starts] = ("beta",)

    most_atoms: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("most_atoms", self.most_atoms, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        return refuse_without_form(problem) or refuse_unbounded(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form = problem.form
        assert form is not None
        product, work = product_with_K(problem)
        beta = start_beta(problem, start)  # 1.
        scores = product(beta)
        atoms = _Atoms(beta, scores, form.value(beta))
        k = 0
        while True:
            k += 1
            v = problem.pulls(scores)  # 2.
            gain = form.value(v) - v @ scores - atoms.level()
            if len(atoms.weights) >= self.most_atoms:
                atoms = _Atoms(beta, scores, form.value(beta))
            atoms.add(v, product(v), form.value(v))  # 3.
            steps = _pairwise(atoms.M, atoms.value, atoms.weights, 0.01 * gain)  # 4.
            atoms.prune()  # 5.
            beta, scores = atoms.mixture()
            np.clip(beta, form.lower, form.upper, out=beta)
            yield Iterate(k, beta=beta, scores=scores, work=work + len(atoms.weights) * (3.0 * problem.n + steps))


class _Atoms:
    """The atoms v_j, their images Kv_j, their share of the dual without K, M = VᵀKV and the weights λ."""

    def __init__(self, v: np.ndarray, image: np.ndarray, value: float) -> None:
        self.V, self.KV = v[None].copy(), image[None].copy()
        self.value, self.M, self.weights = np.array([value]), np.array([[v @ image]]), np.ones(1)

    def add(self, v: np.ndarray, image: np.ndarray, value: float) -> None:
        column = self.V @ image
        self.V, self.KV = np.vstack([self.V, v]), np.vstack([self.KV, image])
        self.M = np.block([[self.M, column[:, None]], [column[None], np.array([[v @ image]])]])
        self.value, self.weights = np.append(self.value, value), np.append(self.weights, 0.0)

    def prune(self) -> None:
        kept = self.weights > 0.0
        if not kept.all():
            self.V, self.KV, self.M = self.V[kept], self.KV[kept], self.M[np.ix_(kept, kept)]
            self.value, self.weights = self.value[kept], self.weights[kept] / self.weights[kept].sum()

    def mixture(self) -> tuple[np.ndarray, np.ndarray]:
        return self.weights @ self.V, self.weights @ self.KV

    def level(self) -> float:
        """The linearised dual at the mixture."""
        return float(self.weights @ (self.value - self.M @ self.weights))


@compiled
def _pairwise(M, value, weights, enough):
    """Pairwise steps on max_λ valueᵀλ − ½λᵀMλ over the simplex, until no atom promises more than `enough`."""
    m = len(weights)
    h = value - M @ weights
    most = 50 * m + 1000
    for step in range(most):
        best, worst = 0, -1
        level = 0.0
        for j in range(m):
            level += weights[j] * h[j]
            if h[j] > h[best]:
                best = j
            if weights[j] > 0.0 and (worst < 0 or h[j] < h[worst]):
                worst = j
        if h[best] - level <= enough or best == worst:
            return step
        curvature = M[best, best] + M[worst, worst] - 2.0 * M[best, worst]
        t = weights[worst]
        if curvature > 0.0:
            t = min(t, (h[best] - h[worst]) / curvature)
        if t == weights[worst]:
            weights[worst] = 0.0
        else:
            weights[worst] -= t
        weights[best] += t
        for j in range(m):
            h[j] -= t * (M[j, best] - M[j, worst])
    return most


registry.register(FrankWolfe.name, FrankWolfe())
