"""fit(): from data and a recipe to a model, within one budget, with checkpoints where they are wanted.

1. Learn the scaling, and scale; a sparse matrix that is mostly full becomes a dense one.
2. Leave out rows of weight 0; resolve the weights of the classes and the kernel's parameters on the others.
3. Split several classes into binary problems, one against the rest or in pairs, or pose all in one problem.
4. Solve them one after the other; each gets an equal share of the time that is left.
5. Put the solved problems together as a model that knows how it was trained.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear, Precomputed
from maxmargin.losses.hinge import Hinge
from maxmargin.models.build import model_of_solved, training_of
from maxmargin.models.classes import splits
from maxmargin.models.model import Model
from maxmargin.models.solved import Solved
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.numeric.sparse_columns import check_width
from maxmargin.problem import Problem
from maxmargin.result import Reason, Result, Status, Trace
from maxmargin.solvers import solver as solver_by_name
from maxmargin.training.budget import Budget
from maxmargin.training.checkpoint import Checkpoint, fingerprint
from maxmargin.training.checkpoint import load as load_checkpoint
from maxmargin.training.checkpointed_run import WORK, State, Stoppable, in_segments
from maxmargin.training.pairs import shares_pairs, solve_pairs
from maxmargin.training.prepare import Machine, prepared, split
from maxmargin.training.problems import Maker, maker_of
from maxmargin.training.recipe import Recipe
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution

#: A run that ended so is not over: it can be resumed.
UNFINISHED = (Reason.INTERRUPTED, Reason.MAX_TIME)


@dataclass(frozen=True, eq=False)
class Fit:
    """A model with what is known of its training."""

    model: Model
    solved: list[Solved]
    traces: list[Trace]
    machines: list[Machine]
    #: The result of the only problem, for a report; None where there are several.
    result: Result | None

    @property
    def converged(self) -> bool:
        """Whether every problem is proved to the tolerance."""
        return all(one.reason is Reason.CONVERGED for one in self.solved)

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return any(one.reason is Reason.INTERRUPTED for one in self.solved)


def fit(data: Data, recipe: Recipe, weights: np.ndarray | None = None, budget: Budget | None = None) -> Fit:
    """Train a model."""
    budget = replace(
        budget or Budget(),
        solver=recipe.chosen_solver,
        tol=recipe.tol,
        max_iter=-1 if recipe.max_iter is None else recipe.max_iter,
        seed=recipe.seed,
    )
    # 1. and 2.
    ready = prepared(data, recipe, weights)
    recipe, samples, classes, scheme = ready.recipe, ready.samples, ready.classes, ready.scheme
    X, (n, d), C = ready.X, ready.X.shape, recipe.cost(samples.classes)
    # 3.
    machines = split(recipe, samples, ready.target, classes, scheme)
    if isinstance(recipe.kernel, Linear) and sp.issparse(X):
        check_width(d, len(machines), X.nnz)
    shared = scheme == "ovo" and shares_pairs(recipe.kernel, recipe.bias, C, budget, len(machines))
    shared = shared and isinstance(recipe.loss, Hinge)
    few = 1 if shared or budget.few_values else len(machines)
    make = maker_of(recipe, samples, recipe.kernel, few, budget.max_time)
    # 4.
    with one_blas_thread():  # once for all problems: finding out about BLAS takes milliseconds
        known: dict[int, Solution] = {}
        if shared:
            each = splits(samples.codes, samples.classes, scheme)
            known = solve_pairs(samples, recipe.kernel, recipe.loss, C, each, recipe.cache_bytes, budget, recipe.nu)
        solved, traces, result, problem = _solve_all(machines, samples, make, recipe, budget, known)
    # 5.
    rows = [samples.used[machine.rows] for machine in machines]
    codes = np.zeros(n, dtype=np.intp)
    codes[samples.used] = samples.codes
    model = model_of_solved(
        problem,
        solved,
        rows,
        X,
        scheme,
        codes,
        kernel=recipe.kernel,
        classes=classes,
        names=data.names,
        zero_based=data.zero_based,
        training=training_of(problem, solved, rows, n, C, recipe.tol, ready.class_weight, samples.weighted),
        scaling=ready.scaling,
    )
    return Fit(model, solved, traces, machines, result if len(machines) == 1 else None)


def with_probabilities(fitted: Fit, data: Data, recipe: Recipe, weights: np.ndarray | None, budget: Budget) -> Fit:
    """The same model with a temperature, calibrated on rows that were held out."""
    from maxmargin.training.calibrate import calibrated  # it brings SciPy's optimisers: a quarter of a second

    ready = prepared(data, recipe, weights)
    if ready.classes is None:
        raise InvalidInput(f"a model for {fitted.model.task} has no classes and no probabilities")
    samples = ready.samples
    inner = replace(
        ready.recipe, scaling=None, class_weight=None, multiclass=None if samples.classes == 2 else ready.scheme
    )

    def decide(train: np.ndarray, test: np.ndarray, share: Budget) -> np.ndarray:
        square = isinstance(inner.kernel, Precomputed)
        rows = samples.X[np.ix_(train, train)] if square else samples.X[train]
        model = fit(Data(rows, samples.codes[train]), inner, samples.weights[train], share).model
        return model.by_class(model.scores(samples.X[np.ix_(test, train)] if square else samples.X[test]))

    T = calibrated(decide, samples.codes, samples.weights, budget)
    return replace(fitted, model=replace(fitted.model, temperature=T))


def _solve_all(
    machines: Sequence[Machine],
    samples: Samples,
    make: Maker,
    recipe: Recipe,
    budget: Budget,
    known: Mapping[int, Solution],
) -> tuple[list[Solved], list[Trace], Result | None, Problem]:
    """Solve one problem after the other, but those that are known; the last of them comes along, for what all share."""
    keep = _checkpoint(machines, samples, recipe, budget)
    solved = [] if keep is None else list(keep.done)
    traces = [Trace() for _ in solved]
    result = problem = None
    undone = len(machines) - len(known)
    for k in range(len(solved), len(machines)):
        if k in known:
            solved.append(known[k].solved())
            traces.append(known[k].trace)
            continue
        problem = make(machines[k].rows, machines[k].target, recipe.loss, recipe.cost(samples.classes))
        left = len(machines) - k
        if keep is None:
            result = budget.solve(problem, undone)
            undone -= 1
            one = Solved.of(result)
        else:
            one, result = _in_segments(problem, k, left, keep, recipe, budget)
        solved.append(one)
        traces.append(result.trace)
        if solved[-1].reason is Reason.INTERRUPTED:
            budget.interrupt()
    if problem is None:  # all of them are known, or were done before
        problem = make(machines[-1].rows, machines[-1].target, recipe.loss, recipe.cost(samples.classes))
    return solved, traces, result, problem


def _in_segments(
    problem: Problem, k: int, left: int, keep: Checkpoint, recipe: Recipe, budget: Budget
) -> tuple[Solved, Result]:
    """Solve one problem with checkpoints."""
    stopped = budget.stop.is_set()  # then `share` gives no time at all: that is not the end of a time budget
    one, result = in_segments(
        problem,
        (recipe.seed, k),
        keep.state or State(budget.work or WORK),
        keep.rest,
        solver=Stoppable(solver_by_name(recipe.chosen_solver, problem), budget.stop),
        tol=recipe.tol,
        max_iter=recipe.max_iter,
        max_time=budget.share(left),
        progress=budget.progress,
        pays=budget.work is None,
    )
    if one.reason in UNFINISHED:
        keep.closed = True  # --resume runs the segment that was broken off again
    keep.finish(one)
    if stopped and one.reason is Reason.MAX_TIME:
        text = f"relative gap {one.relative_gap:.2g} at the best point so far"
        status = Status(Reason.INTERRUPTED, text)
        one, result = replace(one, reason=status.reason, status=str(status)), replace(result, status=status)
    return one, result


def _checkpoint(machines: Sequence[Machine], samples: Samples, recipe: Recipe, budget: Budget) -> Checkpoint | None:
    """The checkpoint to go on from; None where none is wanted."""
    if budget.checkpoint is None:
        return None
    targets = np.concatenate([machine.target for machine in machines if machine.target is not None] or [np.empty(0)])
    mark = fingerprint(recipe, samples.X, targets, np.append(samples.weights, budget.work or 0.0))
    if budget.resume and os.path.exists(budget.checkpoint):
        keep = load_checkpoint(budget.checkpoint, mark)
        known = keep.done + ([] if keep.state is None or keep.state.best is None else [keep.state.best])
        together = recipe.multiclass == "crammer-singer" and samples.classes > 2
        sizes = [len(machine.rows) * (samples.classes if together else 1) for machine in machines]
        if len(known) > len(sizes) or any(len(one.beta) != n for one, n in zip(known, sizes, strict=False)):
            raise InvalidInput(f"cannot load {budget.checkpoint}: it is damaged (it is of other machines)")
        return keep
    keep = Checkpoint(budget.checkpoint, mark, [])
    keep.save()  # a folder that cannot be written to is told before the work, not after it
    return keep
