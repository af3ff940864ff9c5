"""What a solver is: fields for its hyperparameters, what it accepts and starts from, and a stream of iterates.

A solver never prints, times, stops or certifies itself: `solve` does all that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np

from maxmargin.errors import InvalidInput, MaxMarginError
from maxmargin.gram import Gram
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import Rows, scores_of_rows
from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.registry import Registry
from maxmargin.result import Iterate
from maxmargin.solvers import clock

registry: Registry[Solver] = Registry(
    "solver", "maxmargin.solvers.textbook", "maxmargin.solvers.linear", "maxmargin.solvers.kernel"
)


class SolverFailed(MaxMarginError, ArithmeticError):
    """A solver came to numbers that it cannot go on with, and there is no point to hand back; the message says why."""


#: What a solver can start from: a dual point, a hyperplane.
Starts = tuple[Literal["beta", "w"], ...]


class Solver(ABC):
    """An algorithm; subclasses are frozen dataclasses whose fields are its hyperparameters.

    A new solver is one new file in a folder of solvers; CONTRIBUTING.md tells what it holds.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import Subgradient
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> solve(problem, Subgradient(), max_iter=50).solver.name
    'subgradient'
    """

    #: The name it is registered under (with default hyperparameters).
    name: ClassVar[str]
    #: Where it comes from.
    paper: ClassVar[str]
    #: What it can start from: a dual point ("beta"), a hyperplane ("w"), or nothing but its own start.
    starts: ClassVar[Starts] = ()
    #: Whether it has no end of its own: where it ends all the same, rounding leaves nothing to gain.
    endless: ClassVar[bool] = False
    #: The regularisers that it can do.
    regularizers: ClassVar[tuple[str, ...]] = ("l2",)
    #: Whether it needs no more than sums over blocks of rows, which are then not in memory all at once.
    streams: ClassVar[bool] = False
    #: The families of problems that it takes: "ordinary", "nu" (with a second sum), "crammer-singer".
    families: ClassVar[tuple[str, ...]] = ("ordinary",)
    #: Whether what it has yielded stays as it is when it goes on, but for β where w is w(β).
    copies: ClassVar[bool] = False
    #: Whether it computes so few kernel values that a matrix of all would be a waste.
    few_values: ClassVar[bool] = False
    #: What to do for a smaller gap than that with which it ends.
    further: ClassVar[str] = "try another solver (maxmargin.list_solvers())"

    def __post_init__(self) -> None:
        """Refuse a field that has none of the values of its `Literal`; subclasses check the rest of theirs."""
        for name, kind in get_type_hints(type(self)).items():
            if get_origin(kind) is Literal and getattr(self, name) not in get_args(kind):
                known = ", ".join(repr(value) for value in get_args(kind))
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; it must be one of: {known}")

    @abstractmethod
    def accepts(self, problem: Problem) -> str | None:
        """None, or the reason for a refusal in one sentence that names a solver that would do."""

    @abstractmethod
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield one iterate per step, without end or until there is nothing left to do.

        `start` holds what the solver says that it can start from, or nothing at all.
        """

    def step_size(self, problem: Problem, t: int) -> float | None:
        """The step η_t that the user chose; None where the solver finds its steps by itself."""
        return None

    def longest_step(self, problem: Problem) -> float:
        """The longest constant step, in the user's units, with which the algorithm still converges."""
        return np.inf


def reliable(problem: Problem) -> str:
    """The name of a solver that would do, for any problem at all."""
    if problem.family != "ordinary":
        return "smo" if problem.family == "nu" else "coordinate-ascent"
    if not problem.regularizer.quadratic:
        return "proximal-newton"
    if problem.form is None:
        return "truncated-newton"
    return "smo" if problem.bias == "free" else "coordinate-ascent"


def refuse_blocks(solver: Solver, problem: Problem) -> str | None:
    """The refusal of rows that are not in memory all at once."""
    if isinstance(problem.X, RowBlocks) and not solver.streams:
        return "it needs all rows in memory, and these come in blocks; use solver='auto'"
    return None


def refuse_regularizer(solver: Solver, problem: Problem) -> str | None:
    """The refusal of a regulariser."""
    name = problem.regularizer.name
    if name in solver.regularizers:
        return None
    known = " or ".join(map(repr, solver.regularizers))
    return f"it cannot do regularizer={name!r}, only {known}; use solver={reliable(problem)!r}"


def refuse_family(solver: Solver, problem: Problem) -> str | None:
    """The refusal of a problem with other constraints than the solver keeps."""
    if problem.family in solver.families:
        return None
    why = {
        "ordinary": "it is not for a problem of two classes or of real targets",
        "nu": "it does not keep the second sum of a ν-problem",
        "crammer-singer": "it does not keep the sums of a problem of several classes",
    }
    return f"{why[problem.family]}; use solver={reliable(problem)!r}"


def refuse_bias(problem: Problem, *modes: str) -> str | None:
    """The refusal of a bias mode."""
    if problem.bias in modes:
        return None
    return f"it cannot do bias={problem.bias!r}, only {' or '.join(modes)}; use solver={reliable(problem)!r}"


def refuse_indefinite(problem: Problem) -> str | None:
    """The refusal of a kernel that is known to be indefinite."""
    if problem.kernel.positive is False:
        instead = "use solver='smo'" + ("" if problem.bias == "free" else " with bias='free'")
        return f"the kernel {problem.kernel.name!r} is indefinite, so the dual is not concave; {instead}"
    return None


def refuse_without_form(problem: Problem) -> str | None:
    """The refusal of a loss whose dual is not quadratic."""
    if problem.form is None:
        return f"the dual of loss={problem.loss.name!r} is not quadratic; use solver={reliable(problem)!r}"
    return None


def refuse_unbounded(problem: Problem) -> str | None:
    """The refusal of a dual without bounds: a hard margin, or a loss whose slope has no limit."""
    if problem.hard:
        return f"a hard margin (C=inf) gives it no bounded set to work on; use solver={reliable(problem)!r}"
    if np.isinf(problem.bounds[1]).any():
        return (
            f"the slope of loss={problem.loss.name!r} has no limit, so its dual has no bounds;"
            f" use solver={reliable(problem)!r}"
        )
    return None


def start_beta(problem: Problem, start: Iterate) -> np.ndarray:
    """A feasible β to begin with: the start's, or the point nearest to 0."""
    return problem.feasible(np.zeros(problem.duals) if start.beta is None else start.beta)


def product_with_K(problem: Problem) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """The map v ↦ Kv for a solver that needs it again and again, and its cost in multiply-adds.

    Linear: two passes over X. Kernel: the whole matrix where it fits the cap, else block by block from the data.
    """
    space = problem.space
    if isinstance(space, LinearSpace):
        return space.product, 2.0 * space.work
    gram = space.gram()
    if gram.capacity < gram.n:
        return gram.product, float(space.work)
    K = whole_matrix(gram)

    def product(v: np.ndarray) -> np.ndarray:
        clock.check()
        out = np.empty(len(v))
        over_blocks(lambda start, stop: scores_of_rows(K, v, start, stop, out), len(v), 2048)
        return out

    return product, float(K.size)


def whole_matrix(gram: Gram, who: str = "this solver", instead: str = "smo") -> np.ndarray:
    """The whole kernel matrix, if it fits the cap; where time is limited, part by part, as long as there is some."""
    if clock.left() is not None and gram.capacity == gram.n and not gram.whole:
        size = max(8, int(clock.piece() / (gram.n * (gram.X.shape[1] + 20.0))))
        for start in range(0, gram.n, size):
            clock.check()
            stop = min(start + size, gram.n)
            gram._compute(np.arange(start, stop), gram.cache[start:stop])
        gram.slot[:] = gram.owner[:] = np.arange(gram.n)
        gram.stamp[:], gram.fetched, gram.whole = 0, gram.n, True
    return gram.full(who, instead)


def largest_eigenvalue(
    product: Callable[[np.ndarray], np.ndarray], n: int, rng: np.random.Generator, rounds: int = 20
) -> float:
    """λ_max by a few power iterations: a little too low, so its users must watch their steps."""
    v = rng.normal(size=n)
    value = 0.0
    for _ in range(rounds):
        clock.check()
        v /= np.linalg.norm(v)
        image = product(v)
        value = float(np.linalg.norm(image))
        if value == 0.0:
            return 0.0
        v = image
    return value


def longest_dual_step(problem: Problem, penalty: float = 0.0) -> float:
    """2/λ_max(K + ridge + penalty): with a longer constant step a gradient ascent on the dual overshoots."""
    form = problem.form
    assert form is not None
    product, _ = product_with_K(problem)

    def curvature(v: np.ndarray) -> np.ndarray:
        return product(v) + form.ridge * v + penalty * v.sum()

    largest = largest_eigenvalue(curvature, problem.n, np.random.default_rng(0), rounds=100)
    return 2.0 / largest if largest > 0.0 else np.inf


def rows_or_matrix(problem: Problem, who: str) -> tuple[Rows, float]:
    """The rows whose product with w is the score: those of X, or of K for a kernel; and the cost of a pass over them.

    A kernel machine is a linear one on the rows of K, except that a step adds to one coefficient, not to a row.
    """
    space = problem.space
    if isinstance(space, LinearSpace):
        return space.rows, float(space.work)
    K = whole_matrix(space.gram(), who, reliable(problem))
    return K, float(K.size)
