"""What a fit becomes as C grows: one warm-started, certified fit for each C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificate import Certificate, certify
from maxmargin.errors import InvalidInput
from maxmargin.gram import Gram
from maxmargin.kernels import Linear, Precomputed
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.shown import Shown
from maxmargin.solvers.base import whole_matrix
from maxmargin.training.budget import Budget
from maxmargin.training.train import scaled_start

if TYPE_CHECKING:
    from maxmargin.plots.selection import PathDisplay
    from maxmargin.solvers import Solver


@dataclass(frozen=True, eq=False)
class SVCPath(Shown):
    """The fits of a path, in increasing order of C: a sequence of Results; ``path.plot()`` draws them.

    Examples
    --------
    >>> from maxmargin import C_path
    >>> path = C_path([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], [0.1, 1.0])
    >>> [round(result.margin_width, 2) for result in path]
    [4.0, 2.0]
    """

    Cs: np.ndarray
    results: list[Result]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Result:
        return self.results[place]

    @property
    def certificates(self) -> list[Certificate]:
        """The certificate of each fit."""
        return [result.certificate for result in self.results]

    def scores(self, X: Any, y: Any) -> np.ndarray:
        """The accuracy (R² for a regression) of each fit on the given rows."""
        y = np.asarray(y)
        predictions = [result.predict(X) for result in self.results]
        if self.results[0].problem.task == "classification":
            return np.array([np.mean(one == y) for one in predictions])
        return np.array([1.0 - np.square(y - one).sum() / np.square(y - y.mean()).sum() for one in predictions])

    def plot(self, **options: Any) -> PathDisplay:
        """Draw coefficients, support vectors and score against C."""
        from maxmargin import plots

        return plots.path(list(self.Cs), self.results, **options)

    def __str__(self) -> str:
        lines = [f"{'C':>10}  {'relative gap':>12}  {'free':>6}  {'bound':>6}  {'iterations':>10}"]
        for C, result in zip(self.Cs, self.results, strict=True):
            counts = result.certificate.kinds.counts
            gap = result.certificate.relative_gap
            lines.append(
                f"{C:>10.4g}  {gap:>12.3g}  {counts['free']:>6}  {counts['bound']:>6}  {result.iterations:>10}"
            )
        return "\n".join(lines)


def C_path(
    X: Any,
    y: Any,
    Cs: Iterable[float],
    *,
    solver: str | Solver = "auto",
    tol: float = 1e-4,
    max_time: float | None = None,
    random_state: int = 0,
    progress: bool = False,
    **problem: Any,
) -> SVCPath:
    """Fit for each C, in increasing order, each from where the last one ended; K is computed once where it fits.

    Parameters
    ----------
    X, y
        As for `Problem`: two classes, or real targets with a regression loss.
    Cs : iterable of float
        Finite values of C, in any order.
    solver, tol, max_time, random_state, progress
        As for `solve`; the time is for the whole path.
    **problem
        Everything else that a `Problem` takes: loss, kernel, bias, sample_weight, ...

    Returns
    -------
    SVCPath
        A Result with its certificate for each C.

    Examples
    --------
    >>> from maxmargin import C_path
    >>> path = C_path([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], [0.1, 1.0, 10.0])
    >>> len(path), [result.converged for result in path]
    (3, [True, True, True])
    """
    values = np.sort(np.asarray(list(Cs), dtype=np.float64).ravel())
    if values.size == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise InvalidInput("Cs must be a list of finite numbers > 0")
    budget = Budget(max_time, progress, solver=solver, tol=tol, seed=random_state)
    original = Problem(X, y, C=1.0, **problem)
    with one_blas_thread():
        shared = with_matrix(original)
        results: list[Result] = []
        for k, C in enumerate(values):
            start = None
            if results:
                last = results[-1]
                start = scaled_start(last.beta, _at_bound(last), C / values[k - 1])
            result = budget.solve(shared.with_cost(C), len(values) - k, start)
            if shared is not original:  # predictions need the kernel itself, and the proof may as well be about it
                problem_at_C = original.with_cost(C)
                result = replace(result, problem=problem_at_C, certificate=certify(problem_at_C, result.point))
            results.append(result)
    return SVCPath(values, results)


def with_matrix(problem: Problem) -> Problem:
    """The same problem on its kernel matrix, where that fits its cache; else the problem itself."""
    whole = problem.n**2 * problem.X.dtype.itemsize
    if isinstance(problem.kernel, (Linear, Precomputed)) or whole > problem.cache_bytes:
        return problem
    matrix = whole_matrix(Gram(problem.kernel, problem.X, cache_bytes=problem.cache_bytes))
    target = problem.target if problem.classes is None else problem.classes[(problem.target > 0).astype(int)]
    return Problem(
        matrix,
        target,
        loss=problem.loss,
        kernel=Precomputed(source=problem.kernel),
        bias=problem.bias,
        bias_scale=problem.bias_scale,
        regularizer=problem.regularizer,
        C=1.0,
        sample_weight=problem.C,
        task=problem.task if problem.task != problem.loss.task else None,
        cache_bytes=problem.cache_bytes,
    )


def _at_bound(result: Result) -> np.ndarray:
    mask = np.zeros(result.problem.n, bool)
    mask[result.certificate.kinds.bound] = True
    return mask
