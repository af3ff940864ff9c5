"""fit(): from data and a recipe to a model, within one budget, with checkpoints where they are wanted.

1. Learn the scaling, and scale; a sparse matrix that is mostly full becomes a dense one, and of one with huge gaps
   between its columns only those are kept that have entries.
2. Resolve the kernel's parameters and the weights on all rows.
3. Split several classes into binary problems: one against the rest, or in pairs. What is no such problem (ν, all
   classes together) goes to its estimator, and that is all.
4. Solve them one after the other; each gets an equal share of the time that is left.
5. Put the solved problems together as a model that knows how it was trained.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.columns import check_width
from maxmargin.data.dataset import Data, label_text
from maxmargin.data.scaling import scaling
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.loop import solve
from maxmargin.models.build import model_of, model_of_solved, training_of
from maxmargin.models.checkpoint import Checkpoint, fingerprint
from maxmargin.models.checkpoint import load as load_checkpoint
from maxmargin.models.classes import pairs
from maxmargin.models.estimated import concerns, estimated, solved_of
from maxmargin.models.legs import WORK, Standing, Stoppable, in_legs
from maxmargin.models.model import FULL, Model, Scheme, check
from maxmargin.models.solved import Solved
from maxmargin.parallel import one_blas_thread
from maxmargin.problem import Problem
from maxmargin.result import Reason, Result, Status, Trace
from maxmargin.solvers import solver as solver_by_name
from maxmargin.training.recipe import Recipe
from maxmargin.validation import plain

#: A sparse matrix that is mostly full becomes a dense one of at most so many bytes.
FITS = 2e9
#: A run that ended so is not over: it can be resumed.
UNFINISHED = (Reason.INTERRUPTED, Reason.MAX_TIME)


@dataclass(frozen=True, eq=False)
class Machine:
    """One binary problem (or regression) of a model: what it is about, its rows, and their targets."""

    name: str
    rows: np.ndarray
    target: np.ndarray | None


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


@dataclass
class Budget:
    """How long a fit may take, whether it says how it goes, and where it keeps its checkpoints."""

    max_time: float | None = None
    progress: bool = False
    checkpoint: str | None = None
    resume: bool = False
    #: Counted work between checkpoints.
    work: float = WORK
    began: float = field(default_factory=perf_counter)
    #: Set by whoever wants the training to end soon with the best model so far.
    stop: Event = field(default_factory=Event)
    #: Whether only KeyboardInterrupt itself can end what is under way.
    deaf: bool = False

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Around a training that does not look at `stop`."""
        self.deaf = True
        try:
            yield
        finally:
            self.deaf = False

    def part(self, problems: int) -> Budget:
        """The budget of the next of so many trainings, which ends with this one."""
        return Budget(self.share(problems), stop=self.stop)

    def share(self, problems: int) -> float | None:
        """The seconds for the next of so many problems; next to none when somebody has stopped it."""
        if self.stop.is_set():
            return 1e-9
        if self.max_time is None:
            return None
        return max(1e-9, (self.max_time - (perf_counter() - self.began)) / problems)


def fit(data: Data, recipe: Recipe, weights: np.ndarray | None = None, budget: Budget | None = None) -> Fit:
    """Train a model."""
    budget = budget or Budget()
    # 1.
    learnt = None if recipe.scaling is None else scaling(recipe.scaling, data.X)
    X = data.X if learnt is None else learnt.apply(data.X)
    n, d = X.shape
    if sp.issparse(X) and X.nnz > FULL * n * d and 8.0 * n * d < FITS:
        X = X.toarray()
    # 2.
    recipe = replace(recipe, kernel=recipe.kernel.fitted(X))
    given = np.ones(n) if weights is None else weights
    classes, codes, class_weight = None, None, None
    if recipe.kind == "classification":
        classes, codes = labelled(data)
        by_class = recipe.class_weights(classes, codes, given)
        given = given * by_class[codes]
        if recipe.class_weight is not None:
            class_weight = tuple((plain(label), float(x)) for label, x in zip(classes, by_class, strict=True))
    # 3.
    scheme = scheme_of(recipe, classes)
    machines = split(recipe, n, data.y, classes, codes, scheme)
    if isinstance(recipe.kernel, Linear) and sp.issparse(X):
        check_width(d, len(machines), X.nnz)
    if concerns(recipe):
        estimator = estimated(X, data, given, recipe, scheme, budget)
        model = model_of(estimator, names=data.names, zero_based=data.zero_based, training=None)
        model = check(replace(model, scaling=learnt))
        names = model.machine_names()
        solved = solved_of(estimator, recipe, names)
        traces = estimator.trace_ if isinstance(estimator.trace_, list) else [estimator.trace_]
        told = names if len(solved) == len(names) else ["all classes"]
        return Fit(model, solved, traces, [Machine(name, np.arange(n), None) for name in told], None)
    # 4.
    with one_blas_thread():  # once for all problems: finding out about BLAS takes milliseconds
        solved, traces, result = _solve_all(machines, X, given, recipe, budget)
    # 5.
    rows = [machine.rows for machine in machines]
    problem = _problem(machines[-1], X, given, recipe)
    model = model_of_solved(
        problem,
        solved,
        rows,
        X,
        scheme,
        codes,
        classes=classes,
        names=data.names,
        zero_based=data.zero_based,
        training=training_of(problem, solved, rows, n, recipe.C, recipe.tol, class_weight, weights is not None),
        scaling=learnt,
    )
    return Fit(model, solved, traces, machines, result if len(machines) == 1 else None)


def labelled(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """The classes and the class of each row."""
    if data.y is None:
        raise InvalidInput(f"{data.source or 'the data'} has no labels; a classifier needs them")
    classes, codes = np.unique(data.y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInput(
            f"{data.source or 'the data'} holds only the class {label_text(plain(classes[0]))!r}; two are needed"
        )
    if data.y.dtype.kind == "f" and len(classes) > max(100, data.n // 10):
        raise InvalidInput(f"{data.source} has {len(classes)} different labels: for a regression choose its loss")
    return classes, codes


def scheme_of(recipe: Recipe, classes: np.ndarray | None) -> Scheme:
    """How the classes are told apart."""
    if classes is None or len(classes) == 2:
        return "binary"
    if recipe.multiclass is not None:
        return "ovr" if recipe.multiclass == "ovr" else "ovo"
    return "ovr" if isinstance(recipe.kernel, Linear) else "ovo"


def split(
    recipe: Recipe, n: int, y: np.ndarray | None, classes: np.ndarray | None, codes: np.ndarray | None, scheme: Scheme
) -> list[Machine]:
    """The binary problems: one a class, one a pair (the first of which is the positive one), or just one."""
    everything = np.arange(n)
    if classes is None or codes is None:
        if recipe.kind == "regression" and (y is None or y.dtype.kind not in "fiu"):
            raise InvalidInput("a regression needs targets that are numbers")
        target = None if recipe.kind == "novelty" else np.asarray(y, dtype=np.float64)
        return [Machine(recipe.kind, everything, target)]
    names = [label_text(plain(label)) for label in classes]
    if scheme == "binary":
        return [Machine(f"{names[0]} vs {names[1]}", everything, np.where(codes == 1, 1.0, -1.0))]
    if scheme == "ovr":
        return [Machine(f"{name} vs rest", everything, np.where(codes == k, 1.0, -1.0)) for k, name in enumerate(names)]
    found = []
    for i, j in pairs(len(classes)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        found.append(Machine(f"{names[i]} vs {names[j]}", rows, np.where(codes[rows] == i, 1.0, -1.0)))
    return found


def _problem(machine: Machine, X: Any, weights: np.ndarray, recipe: Recipe) -> Problem:
    every = len(machine.rows) == X.shape[0]
    return Problem(
        X if every else X[machine.rows],
        machine.target,
        loss=recipe.loss,
        kernel=recipe.kernel,
        bias=recipe.bias,
        C=recipe.C,
        bias_scale=recipe.bias_scale,
        sample_weight=weights if every else weights[machine.rows],
        task=recipe.task,
    )


def _solve_all(
    machines: Sequence[Machine], X: Any, weights: np.ndarray, recipe: Recipe, budget: Budget
) -> tuple[list[Solved], list[Trace], Result | None]:
    keep = _checkpoint(machines, X, weights, recipe, budget)
    solved = [] if keep is None else list(keep.done)
    traces = [Trace() for _ in solved]
    result = None
    for k in range(len(solved), len(machines)):
        problem = _problem(machines[k], X, weights, recipe)
        stopped = budget.stop.is_set()  # then `share` gives no time at all: that is not the end of a time budget
        options: dict[str, Any] = {
            "solver": Stoppable(solver_by_name(recipe.chosen_solver, problem), budget.stop),
            "tol": recipe.tol,
            "max_iter": recipe.max_iter,
            "max_time": budget.share(len(machines) - k),
            "progress": budget.progress,
        }
        if keep is None:
            result = solve(problem, random_state=recipe.seed, **options)
            result = replace(result, solver=options["solver"].inner)
            one = Solved.of(result)
        else:
            one, result = in_legs(
                problem, (recipe.seed, k), keep.standing or Standing(budget.work), keep.rest, **options
            )
            if one.reason in UNFINISHED:
                keep.closed = True  # --resume walks the leg that was broken off again
            keep.finish(one)
        if stopped and one.reason is Reason.MAX_TIME:
            text = f"relative gap {one.relative_gap:.2g} at the best point so far"
            status = Status(Reason.INTERRUPTED, text)
            one, result = replace(one, reason=status.reason, status=str(status)), replace(result, status=status)
        solved.append(one)
        traces.append(result.trace)
        if solved[-1].reason is Reason.INTERRUPTED:
            budget.stop.set()
    return solved, traces, result


def _checkpoint(
    machines: Sequence[Machine], X: Any, weights: np.ndarray, recipe: Recipe, budget: Budget
) -> Checkpoint | None:
    """The checkpoint to go on from; None where none is wanted."""
    if budget.checkpoint is None:
        return None
    targets = np.concatenate([machine.target for machine in machines if machine.target is not None] or [np.empty(0)])
    mark = fingerprint(recipe, X, targets, np.append(weights, budget.work))
    if budget.resume and os.path.exists(budget.checkpoint):
        keep = load_checkpoint(budget.checkpoint, mark)
        known = keep.done + ([] if keep.standing is None or keep.standing.best is None else [keep.standing.best])
        sizes = [len(machine.rows) for machine in machines]
        if len(known) > len(sizes) or any(len(one.beta) != n for one, n in zip(known, sizes, strict=False)):
            raise InvalidInput(f"cannot load {budget.checkpoint}: it is damaged (it is of other machines)")
        return keep
    keep = Checkpoint(budget.checkpoint, mark, [])
    keep.save()  # a folder that cannot be written to is told before the work, not after it
    return keep
