"""Training out of core: linear models on data larger than memory, with the certificate of any other fit.

    Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper,  w = Σ β_i x_i

    1. Parse the file once into blocks on disk; the duals β (one number a row) and w stay in memory.
    2. In each pass, for each block in random order: read it, and take a few epochs of exact steps on its coordinates,
       for every machine (class) while the block is there.
    3. When the shortfalls that the steps met on their way add up to less than tol, sum w = Σ β_i x_i afresh over all
       blocks, then both objectives with that w: the certificate in float64, from the data.
    4. Stop when it confirms the gap, or a budget ends.

Yu, Hsieh, Chang & Lin, "Large linear classification when data cannot fit in memory", KDD 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.columns import check_width
from maxmargin.data import blocks as data_blocks
from maxmargin.data.dataset import Data, whole_numbers
from maxmargin.data.scaling import Scaling
from maxmargin.data.source import Progress as DataProgress
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.models.build import training_of
from maxmargin.models.cache import Cache, Place
from maxmargin.models.fit import Budget, Fit, Machine, labelled, split
from maxmargin.models.model import Model, Scheme, check
from maxmargin.models.recipe import Recipe
from maxmargin.models.solved import Solved
from maxmargin.parallel import one_blas_thread
from maxmargin.result import Reason, Status, Trace
from maxmargin.rows import combine_rows, rows_of, scores_of_rows, sqnorms_of_rows

# The inner loop is the same as in memory, on the rows of one block.
from maxmargin.solvers.textbook.coordinate_ascent import epoch_of_rows

#: Epochs on a block while it is in memory.
INNER = 3


@dataclass(eq=False)
class _Run:
    """One machine: its targets and duals, w with the constant feature last, and what its steps met in this pass."""

    target: np.ndarray
    beta: np.ndarray
    w: np.ndarray
    primal: float = np.inf
    dual: float = -np.inf
    #: The shortfall and the loss of each block when it was last worked on.
    met: dict[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def relative_gap(self) -> float:
        scale = max(abs(self.primal), abs(self.dual))
        return 0.0 if scale == 0 else max(0.0, self.primal - self.dual) / scale if np.isfinite(scale) else np.inf

    def estimate(self) -> float:
        """What the steps of the last pass say of the relative gap."""
        primal = 0.5 * float(self.w @ self.w) + sum(loss for _, loss in self.met.values())
        return sum(gap for gap, _ in self.met.values()) / primal if 0 < primal < np.inf else np.inf


def refusal(recipe: Recipe) -> str | None:
    """Why a recipe cannot be streamed, in one sentence; None where it can."""
    if not isinstance(recipe.kernel, Linear):
        return "--stream is for the linear kernel: any other needs all rows at once"
    if recipe.bias == "free":
        return "--stream needs --bias augmented or none: the constraint of a free bias ties all rows together"
    if recipe.kind == "novelty" or recipe.loss.dual_form(np.ones(1), np.ones(1)) is None:
        return f"--stream is not for the loss {recipe.loss.name!r}: its dual has no box to step in"
    if np.isinf(recipe.C):
        return "--stream is not for a hard margin; give a finite C"
    if recipe.scaling not in (None, "max-abs"):
        return f"--stream cannot scale by {recipe.scaling!r}; use max-abs"
    if recipe.multiclass not in (None, "ovr"):
        return f"--stream tells several classes apart one against the rest; drop --multiclass {recipe.multiclass}"
    if recipe.nu is not None:
        return "--stream does not go with --nu: its threshold ties all rows together"
    if recipe.solver not in ("auto", "coordinate-ascent"):
        return f"--stream is coordinate ascent; drop --solver {recipe.solver}"
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
    cache = Cache()
    try:
        with reading as progress:
            data = _cached(cache, path, reader, progress, budget)
        return _Streaming(cache, data, recipe, budget).fit()
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


@contextmanager
def _display(wanted: bool) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says how it goes, or nothing."""
    if not wanted:
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("coordinate ascent, streamed") as status:
        yield lambda text: status.update(text)


class _Streaming:
    """One training: the cache, the duals, and the passes over the blocks."""

    def __init__(self, cache: Cache, data: Data, recipe: Recipe, budget: Budget) -> None:
        self.cache, self.data, self.recipe, self.budget = cache, data, recipe, budget
        self.constant = recipe.bias_scale if recipe.bias == "augmented" else 0.0
        self.factor = None
        if cache.entries >= 0:
            check_width(cache.columns, 1, cache.entries)
        if recipe.scaling is not None:
            largest = cache.largest
            self.factor = np.divide(1.0, largest, out=np.ones(cache.columns), where=largest > 0)
        self.C = np.full(cache.n, recipe.C)
        self.classes, codes, self.class_weight = None, None, None
        if recipe.kind == "classification":
            self.classes, codes = labelled(data)
            by_class = recipe.class_weights(self.classes, codes, np.ones(cache.n))
            self.C = recipe.C * by_class[codes]
            if recipe.class_weight is not None:
                pairs = zip(self.classes.tolist(), by_class.tolist(), strict=True)
                self.class_weight = tuple((label, weight) for label, weight in pairs)
        self.scheme: Scheme = "binary" if self.classes is None or len(self.classes) == 2 else "ovr"
        self.machines: list[Machine] = split(recipe, cache.n, data.y, self.classes, codes, self.scheme)
        if cache.entries >= 0:
            check_width(cache.columns, len(self.machines), cache.entries)
        self.runs = [
            _Run(machine.target, np.zeros(cache.n), np.zeros(cache.columns + 1))
            for machine in self.machines
            if machine.target is not None
        ]

    def fit(self) -> Fit:
        rng = np.random.default_rng(self.recipe.seed)
        estimates: list[float] = []
        reason = None
        with one_blas_thread(), _display(self.budget.progress) as say:
            while reason is None:
                for k in rng.permutation(len(self.cache.places)):
                    self._step(self.cache.places[k], rng)
                    if self._late() or self.budget.stop.is_set():
                        break
                estimates.append(max(run.estimate() for run in self.runs))
                seconds = perf_counter() - self.budget.began
                say(f"pass {len(estimates)}: {seconds:.1f} s, gap {estimates[-1]:.1e} (to {self.recipe.tol:g})")
                reason = self._verdict(estimates)
            if reason is not Reason.CONVERGED:
                self._certify()
        return self._fitted(len(estimates), reason)

    # 2.

    def _step(self, place: Place, rng: np.random.Generator) -> None:
        X = self.cache.block(place, self.factor)
        rows = rows_of(X)
        part = slice(place.first, place.first + place.rows)
        q = np.empty(place.rows)
        sqnorms_of_rows(rows, 0, place.rows, q)
        for run in self.runs:
            form = self.recipe.loss.dual_form(run.target[part], self.C[part])
            assert form is not None
            arrays = (form.target, form.ridge, form.tube, form.lower, form.upper, q + self.constant**2 + form.ridge)
            for epoch in range(INNER):
                order = rng.permutation(place.rows).astype(np.uint32)
                gap, loss = epoch_of_rows(rows, order, *arrays, run.beta[part], run.w, self.constant)
                if epoch == 0:  # what this block lacked before it was worked on
                    run.met[place.first] = gap, loss

    # 3. and 4.

    def _verdict(self, estimates: list[float]) -> Reason | None:
        if self.budget.stop.is_set():
            return Reason.INTERRUPTED
        if self._late():
            return Reason.MAX_TIME
        passes = len(estimates)
        if estimates[-1] <= self.recipe.tol:
            self._certify()
            if all(run.relative_gap <= self.recipe.tol for run in self.runs):
                return Reason.CONVERGED
        if self.recipe.max_iter is not None and passes >= self.recipe.max_iter:
            return Reason.MAX_ITER
        # Nothing gained a twentieth in the last three quarters of the passes.
        stalled = passes >= 40 and min(estimates) > 0.95 * min(estimates[: passes // 4])
        return Reason.STALLED if stalled else None

    def _late(self) -> bool:
        limit = self.budget.max_time
        return limit is not None and perf_counter() - self.budget.began >= limit

    def _certify(self) -> None:
        """W = Σ β_i x_i afresh, then both objectives: two passes over the blocks."""
        fresh = [np.zeros(len(run.w)) for run in self.runs]
        for place in self.cache.places:
            rows = rows_of(self.cache.block(place, self.factor))
            for run, w in zip(self.runs, fresh, strict=True):
                combine_rows(rows, run.beta[place.first : place.first + place.rows], 0, place.rows, w)
        for run, w in zip(self.runs, fresh, strict=True):
            w[-1] = self.constant * run.beta.sum()
            run.w[:] = w
            run.primal = 0.5 * float(w @ w)
            run.dual = -0.5 * float(w @ w)
        for place in self.cache.places:
            rows = rows_of(self.cache.block(place, self.factor))
            part = slice(place.first, place.first + place.rows)
            z = np.empty(place.rows)
            for run in self.runs:
                scores_of_rows(rows, run.w, 0, place.rows, z)
                scores = z + self.constant * run.w[-1]
                run.primal += float(self.C[part] @ self.recipe.loss.value(scores, run.target[part]))
                form = self.recipe.loss.dual_form(run.target[part], self.C[part])
                assert form is not None
                run.dual += form.value(run.beta[part])

    def _fitted(self, passes: int, reason: Reason) -> Fit:
        recipe = self.recipe
        solved = []
        for run in self.runs:
            own = Reason.CONVERGED if run.relative_gap <= recipe.tol else reason
            text = (
                f"relative gap {run.relative_gap:.2g}, asked for {recipe.tol:g}, after {passes} passes over the blocks"
            )
            solved.append(
                Solved(
                    w=run.w,
                    b=None,
                    beta=run.beta,
                    linked=True,
                    reason=own,
                    status=str(Status(own, text)),
                    solver="coordinate-ascent",
                    primal=run.primal,
                    dual=run.dual,
                    relative_gap=run.relative_gap,
                    iterations=passes,
                )
            )
        model = Model(
            task=recipe.kind,
            kernel=recipe.kernel,
            b=np.array([self.constant * run.w[-1] for run in self.runs]),
            columns=self.cache.columns,
            w=np.stack([run.w[:-1] for run in self.runs]),
            classes=self.classes,
            scheme=self.scheme,
            scaling=None if self.factor is None else Scaling("max-abs", None, self.factor),
            names=self.data.names,
            zero_based=self.data.zero_based,
            training=training_of(
                recipe,
                solved,
                [machine.rows for machine in self.machines],
                self.cache.n,
                recipe.C,
                recipe.tol,
                self.class_weight,
            ),
        )
        return Fit(check(model), solved, [Trace() for _ in solved], self.machines, None)
