"""Training out of core: linear models on data larger than memory, with the certificate of any other fit.

1. Parse the file once into blocks on disk (`cache.py`); the duals, one number a row, and w stay in memory.
2. Learn the scaling, and scale the blocks.
3. Each class against the rest is a problem whose X is the blocks. It goes through the one loop (`solve`), by a solver
   that needs no more than sums over the blocks:
   - Newton's method on samples, then on all rows (`coordinate-newton`), where the features are few;
   - Newton's method on the primal (`truncated-newton`) for the logistic loss;
   - coordinate ascent block by block (`block_ascent.py`) for any other loss with many features.
4. The certificate is that of any fit: both objectives summed over the blocks in float64, and a bound on the rounding of
   these sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.data import blocks as data_blocks
from maxmargin.data.dataset import Data, whole_numbers
from maxmargin.data.scaling import Scaling
from maxmargin.data.source import Progress as DataProgress
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.loop import solve
from maxmargin.models.build import model_of_solved, training_of
from maxmargin.models.model import Scheme
from maxmargin.models.solved import Solved
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.numeric.sparse_columns import check_width
from maxmargin.problem import Problem
from maxmargin.result import Reason, Result, Status
from maxmargin.solvers import Solver, candidates, clock
from maxmargin.solvers.base import registry
from maxmargin.training.block_ascent import BlockAscent
from maxmargin.training.block_files import Cache
from maxmargin.training.budget import Budget
from maxmargin.training.checkpointed_run import Stoppable
from maxmargin.training.fit import Fit
from maxmargin.training.prepare import Machine, samples_of, split
from maxmargin.training.recipe import Recipe

#: The solvers that can be asked for by name.
STREAMING = ("auto", "coordinate-newton", "truncated-newton", "coordinate-ascent")


def refusal(recipe: Recipe) -> str | None:
    """Why a recipe cannot be streamed, in one sentence; None where it can."""
    if not isinstance(recipe.kernel, Linear):
        return "--stream is for the linear kernel: any other needs all rows at once"
    if recipe.kind == "novelty":
        return f"--stream is not for the loss {recipe.loss.name!r}; draw a sample of the rows"
    if np.isinf(recipe.C):
        return "--stream is not for a hard margin; give a finite C"
    if recipe.scaling not in (None, "max-abs"):
        return f"--stream cannot scale by {recipe.scaling!r}; use max-abs"
    if recipe.multiclass not in (None, "ovr"):
        return f"--stream tells several classes apart one against the rest; drop --multiclass {recipe.multiclass}"
    if recipe.nu is not None:
        return "--stream does not go with --nu: its threshold ties all rows together"
    if recipe.solver not in STREAMING:
        return f"--stream has the solvers {', '.join(STREAMING)}; drop --solver {recipe.solver}"
    if recipe.solver_options:
        return "--stream has an order of its own; drop --solver-option"
    return None


def fit_stream(
    path: str,
    reader: dict[str, Any],
    recipe: Recipe,
    budget: Budget,
    reading: AbstractContextManager[DataProgress | None],
) -> Fit:
    """Train a linear model from blocks on disk; `reading` shows how far the file is read."""
    if sentence := refusal(recipe):
        raise InvalidInput(sentence)
    cache = Cache(widened=recipe.scaling is not None)
    try:
        with reading as progress:
            data = _cached(cache, path, reader, progress, budget)
        with one_blas_thread():
            return fit_blocks(cache, data, recipe, budget)
    finally:
        cache.close()


def _cached(cache: Cache, path: str, reader: dict[str, Any], progress: DataProgress | None, budget: Budget) -> Data:
    """Fill the cache (1.): what is known of the data, its rows left out."""
    labels: list[np.ndarray] = []
    facts: dict[str, Any] = {}

    def watched() -> Any:
        for part in data_blocks(path, **reader, progress=progress):
            if budget.stop.is_set():  # nothing is trained yet: there is nothing to keep
                raise KeyboardInterrupt
            facts.update(names=part.names, source=part.source, zero_based=part.zero_based)
            yield part

    for y in cache.fill(watched()):
        assert y is not None
        labels.append(y)
    if not cache.n:
        raise InvalidInput(f"{path} has no rows")
    y = np.concatenate(labels)
    return Data(np.empty((cache.n, 0)), y if y.dtype.kind == "U" else whole_numbers(y.astype(np.float64)), **facts)


def fit_blocks(cache: Cache, data: Data, recipe: Recipe, budget: Budget) -> Fit:
    """Train on blocks that are there; `data` has all but their rows."""
    n = cache.n
    if cache.sparse:
        check_width(cache.columns, 1, cache.entries)
    # 2.
    learnt = None
    if recipe.scaling is not None:
        largest = cache.largest
        learnt = Scaling("max-abs", None, np.divide(1.0, largest, out=np.ones(cache.columns), where=largest > 0))
        cache.scale(learnt.factor)
    samples, target, classes, class_weight = samples_of(cache, data, recipe, None)
    scheme: Scheme = "binary" if classes is None or len(classes) == 2 else "ovr"
    machines = split(recipe, samples, target, classes, scheme)
    if cache.sparse:
        check_width(cache.columns, len(machines), cache.entries)
    # 3.
    results = []
    for k, machine in enumerate(machines):
        problem = _problem(cache, machine, samples.weights, recipe)
        results.append(_solved(problem, recipe, budget, budget.share(len(machines) - k)))
    solved = [Solved.of(result) for result in results]
    rows = [machine.rows for machine in machines]
    model = model_of_solved(
        results[-1].problem,
        solved,
        rows,
        cache,
        scheme,
        classes=classes,
        names=data.names,
        zero_based=data.zero_based,
        scaling=learnt,
        training=training_of(results[-1].problem, solved, rows, n, recipe.C, recipe.tol, class_weight),
    )
    return Fit(model, solved, [result.trace for result in results], machines, None)


def _problem(cache: Cache, machine: Machine, weights: np.ndarray, recipe: Recipe) -> Problem:
    return Problem(
        cache,
        machine.target,
        loss=recipe.loss,
        bias=recipe.bias,
        C=recipe.C,
        bias_scale=recipe.bias_scale,
        sample_weight=weights,
        task=recipe.task,
        regularizer=recipe.regularizer,
    )


def _solved(problem: Problem, recipe: Recipe, budget: Budget, seconds: float | None) -> Result:
    """One problem by the loop (3. and 4.); Ctrl-C and the time act between two blocks."""
    stopped = budget.stop.is_set()
    solver = Stoppable(_solver(problem, recipe.solver), budget.stop)
    with _watching(problem.X, solver):
        result = solve(
            problem,
            solver,
            recipe.tol,
            max_time=seconds,
            max_iter=recipe.max_iter,
            random_state=recipe.seed,
            progress=budget.progress,
        )
    if stopped and result.status.reason is Reason.MAX_TIME:  # no time was given because somebody has stopped it
        text = f"relative gap {result.certificate.relative_gap:.2g} at the best point so far"
        result = replace(result, status=Status(Reason.INTERRUPTED, text))
    if result.status.reason is Reason.INTERRUPTED:
        budget.interrupt()
    return replace(result, solver=solver.inner)


def _solver(problem: Problem, name: str) -> Solver:
    if name == "auto":
        name = next(iter(candidates(problem)), "coordinate-ascent")
    return BlockAscent() if name == "coordinate-ascent" else registry[name]


@contextmanager
def _watching(cache: Cache, solver: Stoppable) -> Iterator[None]:
    """Break the solver off before the next block when its time is over, or somebody has stopped it."""

    def watch() -> None:
        clock.check()
        solver.check()

    before, cache.watch = cache.watch, watch
    try:
        yield
    finally:
        cache.watch = before
