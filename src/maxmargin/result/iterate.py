"""Event, Iterate and Related: what a solver hands to the loop after one step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from maxmargin.problem import Problem


@dataclass(frozen=True)
class Event:
    """One single update of a solver that makes its updates visible (``grain=1``).

    A dual method moves the dual variables of one or two samples. Of a primal method these are the coefficients in
    w = Σ coefficient_i φ(x_i), and of the perceptron its signed counts of corrections.

    Attributes
    ----------
    indices : tuple of int
        The samples whose variables moved.
    before, after : tuple of float
        Their values before and after the update.
    unclipped : float
        How far the first of them would have moved without its bounds.
    gain : float, default nan
        What the update gained in the dual; NaN for an algorithm that does not climb it.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, "smo", grain=1, every=1, snapshots=True)
    >>> result.trace.snapshots[0].event.indices
    (2, 1)
    """

    indices: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    unclipped: float
    gain: float = float("nan")


@dataclass(frozen=True, eq=False)
class Iterate:
    """The point of a solver after one step. Its arrays change when the solver goes on; the loop copies what it keeps.

    Parameters
    ----------
    k : int, default 0
        The solver's own count: epochs, steps or iterations.
    w : array, default None
        The weights in the problem's space: d + 1 numbers for the linear kernel, n coefficients for any other. None
        where the solver has only β.
    b : float, default None
        The free bias; None where the best one for w is meant, or there is none.
    beta : array, default None
        The dual point; None where the solver has only w.
    linked : bool, default True
        Whether w is w(β) up to rounding, so that a look need not compute it.
    scores : array, default None
        Kβ as the solver keeps it, so that a look costs no pass over the data.
    work : float, default 0.0
        Multiply-adds since the last iterate: decides how often the loop can afford to look.
    estimate : float, default None
        The solver's own guess of the relative gap; it makes the loop look, and is never believed.
    raw : array, default None
        The solver's own β, where it is not feasible: `beta` is then the feasible point made from it.
    event : Event, default None
        The single update that led here, where the solver makes them visible.
    related : Related, default None
        The problem that the solver is really working on, and its point there (the penalty method).
    answer : bool, default False
        Whether it is the solver's answer, to be kept whatever its gap (the perceptron does not minimise one).
    tau : float, default None
        The margin ρ or the tube ε of a ν-problem, as the certificate found it.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Iterate, Problem, certify
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> round(certify(problem, Iterate(w=np.array([1.0, 0.0]), b=-2.0)).primal, 6)
    0.5
    """

    k: int = 0
    w: np.ndarray | None = None
    b: float | None = None
    beta: np.ndarray | None = None
    linked: bool = True
    scores: np.ndarray | None = None
    work: float = 0.0
    estimate: float | None = None
    raw: np.ndarray | None = None
    event: Event | None = None
    related: Related | None = None
    answer: bool = False
    tau: float | None = None

    def kept(self) -> Iterate:
        """A copy that does not change when the solver goes on."""

        def copy(a: np.ndarray | None) -> np.ndarray | None:
            return None if a is None else a.copy()

        return replace(self, w=copy(self.w), beta=copy(self.beta), scores=None, raw=copy(self.raw))


@dataclass(frozen=True, eq=False)
class Related:
    """Another problem and a point of its dual, to be certified beside the one that was asked for."""

    name: str
    problem: Problem
    beta: np.ndarray
