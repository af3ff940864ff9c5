"""Kernels on shards: features of landmarks on the workers, the rounds of tall data on them, the exact problem's gap.

    1. The numbers of the kernel (γ = "scale") are sums over the parts.
    2. A sample of the rows is solved on the client by landmarks (`solvers/kernel/nystroem.py`), until the sample's own
       gap is below the tolerance: its landmarks are those of all rows.
    3. Each shard becomes its features, rows times landmarks, and the linear problem on them is fitted in rounds.
    4. Its w is Σ c_j φ(z_j), a point of the exact problem, and so is its β: both objectives of the exact problem are
       recomputed from the rows. βᵀKβ is a sum over pairs of shards: the rows with β ≠ 0 of a few shards are sent to
       all that come after them, and to themselves.
    5. Where that gap is too large, once more with more landmarks.

The gap is that of docs/theory.md, section 18.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.engine import Engine
from maxmargin.cluster.evaluation import ROWS
from maxmargin.cluster.plan import Course, Fitted, Plan, setting_of
from maxmargin.cluster.point import EPS, Pair, Proved, beta_of_shards, betas_of
from maxmargin.cluster.run import _Fit, refuse, status_of
from maxmargin.cluster.sample import drawn, joined_blocks
from maxmargin.cluster.settings import LandmarkSettings
from maxmargin.cluster.shard import Block, Part, Setting, Shard, groups_of, look_at, shard_of
from maxmargin.errors import Refused
from maxmargin.kernels import Kernel
from maxmargin.loop import solve
from maxmargin.losses.base import Task
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.parallel import blocks
from maxmargin.problem import Problem
from maxmargin.result import Reason
from maxmargin.solvers.kernel.nystroem import Nystroem

settings = LandmarkSettings()
log = logging.getLogger("maxmargin.cluster")


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The kernel, its landmarks, and what turns kernel values with them into features."""

    kernel: Kernel
    rows: Any
    #: L⁻ᵀ with K_zz = LLᵀ: features are K_xz L⁻ᵀ, and coefficients c = L⁻ᵀw.
    turn: np.ndarray
    #: What an augmented bias adds to the kernel.
    offset: float

    def values(self, X: Any, others: Any = None) -> np.ndarray:
        """The kernel between rows and the landmarks (or other rows), in float64."""
        others = self.rows if others is None else others
        block = self.kernel.block(X.astype(np.float64, copy=False), others.astype(np.float64, copy=False))
        return np.asarray(block) + self.offset


@dataclass(frozen=True, eq=False)
class KernelFitted:
    """What a fit by landmarks leaves behind: the landmarks, their coefficients (a row a machine), and the rest."""

    landmarks: Landmarks
    coef: np.ndarray
    fitted: Fitted


def fit_landmarks(
    engine: Engine, plan: Plan, kernel: Kernel, most: int | None = None, classification: bool = True
) -> KernelFitted:
    """Fit a kernel model of at most so many landmarks (None: as many as pay) to the parts of an engine."""
    refuse(plan)
    if kernel.linear or kernel.given or kernel.positive is False:
        raise Refused(f"landmarks on a cluster refuse the kernel {kernel.name!r}: it must be positive, and not linear")
    course = Course(plan)
    with interruptible():
        looks = [look for found in engine.map(look_at, classification, until=course.until) for look in found]
        course.rounds += 1
        kernel = with_numbers(engine, kernel, course)
        setting = setting_of(looks, plan, classification)
        groups = groups_of(looks, plan.shard_bytes or settings.shard_bytes)
        rows = [sum(looks[place].rows for place in group) for group in groups]
        with engine.grouped(shard_of, groups, setting) as shards:
            return _grown(shards, setting, plan, course, rows, kernel, most)


def with_numbers(engine: Engine, kernel: Kernel, course: Course) -> Kernel:
    """The kernel with its parameters as numbers for all rows (1.)."""
    gamma: Any = getattr(kernel, "gamma", None)
    if gamma != "scale":
        return kernel
    weight, total = engine.map_sum(moments, None, until=course.until)
    _, deviation = engine.map_sum(moments, total / weight, until=course.until)
    course.rounds += 2
    columns = engine.map(columns_of, until=course.until)
    variance = deviation / weight
    made: Any = kernel
    found: Kernel = replace(made, gamma=1.0 / (max(columns) * variance) if variance > 0 else 1.0)
    return found


def columns_of(part: Part, common: None, own: None) -> int:
    """The number of columns; 0 where there are no rows."""
    return 0 if part.X is None else int(part.X.shape[1])


def moments(part: Part, mean: float | None, own: None) -> tuple[float, float]:
    """The number of entries of X by weight, and their sum (or that of their squared distances from the mean)."""
    X = part.X
    if X is None:
        return 0.0, 0.0
    weights = np.ones(X.shape[0]) if part.weights is None else part.weights
    values = X.astype(np.float64)
    if mean is None:
        sums = np.asarray(values.sum(axis=1)).ravel()
    elif sp.issparse(values):  # what a stored value adds to that of a zero
        values.data = np.square(values.data - mean) - mean**2
        sums = np.asarray(values.sum(axis=1)).ravel() + X.shape[1] * mean**2
    else:
        sums = np.square(values - mean).sum(axis=1)
    return float(weights.sum() * X.shape[1]), float(weights @ sums)


def _grown(
    shards: Engine, setting: Setting, plan: Plan, course: Course, rows: list[int], kernel: Kernel, most: int | None
) -> KernelFitted:
    """More landmarks until the gap is there, or no more are to be had (2. to 5.)."""
    share = min(1.0, settings.sample_rows / setting.rows)
    found = shards.map_sum(drawn, (share, plan.seed), list(range(shards.shards)), until=course.until)
    course.rounds += 1
    block = joined_blocks(found)
    used = np.flatnonzero(block.C > 0.0)
    sample = Block(block.X[used], block.y[used], block.C[used] * (setting.rows / max(1, len(block.C))))
    cap = settings.most if most is None else min(most, settings.most)
    before, best, goal = 0, None, 0.5 * plan.tol
    while True:
        chosen = chosen_landmarks(sample, setting, kernel, cap, goal, plan, course)
        if best is not None and chosen.turn.shape[1] <= before:
            return best
        before = chosen.turn.shape[1]
        log.info("%d landmarks of %d rows", before, setting.rows)
        now = _fitted(shards, setting, plan, course, rows, chosen)
        best = now if best is None or _gap(now) < _gap(best) else best
        ended = best.fitted.status.reason in (Reason.CONVERGED, Reason.INTERRUPTED, Reason.CALLBACK)
        if ended or before >= cap or course.stop() is not None:
            return best
        goal *= settings.sharper


def _gap(found: KernelFitted) -> float:
    return max(one.relative_gap for one in found.fitted.certificates)


def chosen_landmarks(
    sample: Block, setting: Setting, kernel: Kernel, most: int, goal: float, plan: Plan, course: Course
) -> Landmarks:
    """The landmarks of the sample's own problems, solved to a gap (2.)."""
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    kernel = kernel.fitted(sample.X)  # "auto" depends on the number of columns alone
    places = np.empty(0, np.int64)
    task: Task | None = None if setting.classes is None else "classification"
    bias_scale = setting.constant if setting.bias == "augmented" else 1.0
    for machine in range(setting.machines):
        target = sample.target(machine, setting)
        if task is not None and np.unique(target).size < 2:
            continue
        room = max(1, (most - len(places)) // (setting.machines - machine))
        problem = Problem.of_checked(
            sample.X, target, setting.loss, kernel, setting.bias, sample.C, settings.cache_bytes, bias_scale, task
        )
        left = None if course.left() is None else 0.25 * (course.left() or 0.0) / setting.machines
        result = solve(problem, Nystroem(room), tol=goal, max_time=left, random_state=plan.seed)
        assert result.point.w is not None
        places = np.union1d(places, np.flatnonzero(result.point.w))
    if not places.size:
        places = np.arange(min(most, len(sample.y)))
    offset = bias_scale**2 if setting.bias == "augmented" else 0.0
    rows = sample.X[places]
    K = np.asarray(kernel.block(*(2 * [rows.astype(np.float64)]))) + offset
    L, order, rank, _ = dpstrf(K, tol=settings.near * float(K.diagonal().max()), lower=1)
    kept = order[:rank] - 1
    turn = solve_triangular(np.tril(L[:rank, :rank]), np.eye(rank), lower=True).T
    return Landmarks(kernel, rows[kept], turn, offset)


def featured(shards: Sequence[Shard], common: tuple[Landmarks, Setting], own: None) -> Shard:
    """A shard of features (3.), in float32: what is proved does not come from them."""
    landmarks, setting = common
    made = []
    for block in shards[0].blocks:
        features = np.empty((len(block.y), setting.columns), np.float32)
        for start, stop in blocks(len(block.y), ROWS):
            features[start:stop] = landmarks.values(block.X[start:stop]) @ landmarks.turn
        made.append(Block(features, block.y, block.C))
    return Shard(tuple(made), setting)


def _fitted(
    shards: Engine, setting: Setting, plan: Plan, course: Course, rows: list[int], landmarks: Landmarks
) -> KernelFitted:
    """The rounds on the features, and the exact problem's certificates (3. and 4.)."""
    size = landmarks.turn.shape[1]
    largest = max(shards.map(largest_of, landmarks, until=course.until))
    free = setting.free
    tall = replace(
        setting, bias="free" if free else "none", constant=1.0 if free else 0.0, columns=size,
        entries=setting.rows * size, bytes=4 * setting.rows * size, mean=np.zeros(size), largest=1.001 * largest,
        width=size, sparse=False,
    )  # fmt: skip
    inner = replace(plan, tol=0.1 * plan.tol, bias=tall.bias)
    with shards.grouped(featured, [[k] for k in range(shards.shards)], (landmarks, tall)) as features:
        fit = _LandmarkFit(features, tall, inner, course, rows)
        fitted = fit.run()
    coef = fitted.coef @ landmarks.turn.T
    proofs = exact_proofs(shards, setting, course, _Points(landmarks, coef, fitted.intercept, fit.betas), largest)
    stopped = None if fitted.status.reason is Reason.CONVERGED else fitted.status.reason
    status = status_of(proofs, plan.tol, stopped)
    return KernelFitted(landmarks, coef, replace(fitted, certificates=tuple(proofs), status=status, method="landmarks"))


def largest_of(shard: Shard, landmarks: Landmarks, own: None) -> float:
    """The largest k(x, x)."""
    return max(float(landmarks.kernel.diag(block.X).max(initial=0.0)) for block in shard.blocks) + landmarks.offset


class _LandmarkFit(_Fit):
    """A fit to features that keeps the β of all rows: those of each shard, a row a machine."""

    betas: list[np.ndarray]

    def _proved(self, pairs: list[Pair], stopped: Reason | None, method: str) -> Fitted:
        own = list(zip(*(beta_of_shards(pair.dual, self._given(pair)) for pair in pairs), strict=True))
        self.betas = self.engine.map(betas_of, tuple(pairs), own)
        return super()._proved(pairs, stopped, method)


@dataclass(frozen=True, eq=False)
class _Points:
    """The primal and dual points of all machines."""

    landmarks: Landmarks
    coef: np.ndarray
    intercept: np.ndarray
    betas: list[np.ndarray]


class Sums(NamedTuple):
    """Sums of all machines over the rows of a shard."""

    rows: int
    #: Σ C ℓ, Σ C times the steepest slope within the rounding of a score; of the dual: what is linear in a multiple of
    #: β and what is quadratic; Σ|β|, how many are not 0, and the sizes of all terms.
    loss: np.ndarray
    slopes: np.ndarray
    linear: np.ndarray
    quadratic: np.ndarray
    size: np.ndarray
    support: np.ndarray
    #: How many β are 0, inside their bounds, at a bound.
    counts: np.ndarray


def exact_sums(shard: Shard, common: tuple[Landmarks, np.ndarray, np.ndarray, float], beta: np.ndarray) -> Sums:
    """Everything in both objectives but the two squared norms."""
    landmarks, coef, intercept, per_size = common
    setting, machines = shard.setting, len(coef)
    error = per_size * np.abs(coef).sum(axis=1)
    out, counts = np.zeros((6, machines)), np.zeros((machines, 3), np.int64)
    first = 0
    for block in shard.blocks:
        scores = np.empty((len(block.y), machines))
        for start, stop in blocks(len(block.y), ROWS):
            scores[start:stop] = landmarks.values(block.X[start:stop]) @ coef.T + intercept
        for k in range(machines):
            target, z, b = block.target(k, setting), scores[:, k], beta[k, first : first + len(block.y)]
            e = error[k] + EPS * (1.0 + np.abs(z))
            steep = np.maximum(*(np.abs(setting.loss.slope(z + sign * e, target)) for sign in (-1.0, 1.0)))
            form = setting.loss.dual_form(target, block.C)
            used = np.flatnonzero(b)
            if form is None:
                linear = -float(block.C[used] @ setting.loss.conjugate(-b[used] / block.C[used], target[used]))
                quadratic = 0.0
            else:
                linear = float(form.target @ b - form.tube @ np.abs(b))
                quadratic = 0.5 * float((form.ridge * b) @ b)
            loss = float(block.C @ setting.loss.value(z, target))
            out[:, k] += loss, float((block.C * e) @ steep), linear, quadratic, float(np.abs(b).sum()), used.size
            lower, upper = setting.loss.bounds(target, block.C)
            free = int(np.count_nonzero((b > lower) & (b < upper) & (b != 0.0)))
            counts[k] += len(b) - used.size, free, used.size - free
        first += len(block.y)
    return Sums(first, out[0], out[1], out[2], out[3], out[4], out[5], counts)


def support_rows(shard: Shard, common: None, own: tuple[np.ndarray, bool]) -> Any:
    """The rows with a β that is not 0, where they are asked for, and their β."""
    beta, asked = own
    if not asked:
        return None
    used = np.flatnonzero(beta.any(axis=0))
    rows = joined_blocks([(block.X, block.y, block.C) for block in shard.blocks]).X[used]
    return rows.astype(np.float64), beta[:, used]


def squares(shard: Shard, common: tuple[Landmarks, Any, np.ndarray, int, int], own: tuple[int, np.ndarray]) -> Any:
    """The part of this shard in βᵀKβ with some other rows: those of shards first..last, once or (mirrored) twice."""
    landmarks, rows, weights, first, last = common
    place, beta = own
    out = np.zeros(len(beta))
    start = 0
    for block in shard.blocks:
        part = beta[:, start : start + len(block.y)]
        start += len(block.y)
        used = np.flatnonzero(part.any(axis=0)) if place >= first else np.empty(0, np.int64)
        for low, high in blocks(len(used), ROWS // 8):
            some = used[low:high]
            K = landmarks.values(block.X[some], rows)
            out += np.einsum("ki,ik->k", part[:, some], K @ weights.T)
    return out if place < last else 2.0 * out


def exact_proofs(shards: Engine, setting: Setting, course: Course, points: _Points, largest: float) -> list[Proved]:
    """The certificates of the exact problem from the rows, with a bound on their rounding (4.)."""
    landmarks, coef = points.landmarks, points.coef
    m = coef.shape[1]
    width = min(2 * setting.width, setting.columns)
    value = landmarks.kernel.rounding(width, setting.largest)[0] + 2.0 * EPS * largest
    per_size = value + (m + 1) * EPS * largest
    sums: Sums = shards.map_sum(exact_sums, (landmarks, coef, points.intercept, per_size), points.betas)
    form = _form(shards, points)
    course.rounds += 2
    K, found = landmarks.values(landmarks.rows), []
    for k in range(len(coef)):
        c, size = float(np.abs(coef[k]).sum()), float(sums.size[k])
        own = float(coef[k] @ K @ coef[k])
        primal = 0.5 * own + float(sums.loss[k])
        linear, quadratic = float(sums.linear[k]), float(sums.quadratic[k]) + 0.5 * float(form[k])
        multiple = 1.0
        if setting.loss.dual_form(np.ones(1), np.ones(1)) is not None and quadratic > 0.0:
            multiple = min(1.0, max(0.0, linear / (2.0 * quadratic)))
        n = int(sums.support[k])
        off = abs(fsum(float(value) for one in points.betas for value in one[k])) if setting.free else 0.0
        rounding = 0.5 * c * (per_size * c + m * EPS * largest * c) + float(sums.slopes[k])
        rounding += (sums.rows + 4) * EPS * abs(primal) + (n + 8) * EPS * (abs(linear) + 4.0 * size)
        rounding += 0.5 * size * size * (value + (2 * n + 1) * EPS * largest)
        rounding += off * (1.01 * (largest * size + 40.0 + float(np.abs(linear))) + off * largest)
        counts = dict(zip(("outside", "free", "bound"), map(int, sums.counts[k]), strict=True))
        precision = f"recomputed in float64 from {sums.rows} rows, shard by shard; of the exact kernel problem"
        dual = multiple * linear - multiple**2 * quadratic
        task: Task = "regression" if setting.classes is None else "classification"
        found.append(Proved(primal, dual, float(rounding), off, sums.rows, counts, precision, task))
    return found


def _form(shards: Engine, points: _Points) -> np.ndarray:
    """βᵀKβ of each machine: a few shards' rows at a time, with all that come after them."""
    total, first = np.zeros(len(points.coef)), 0
    sizes = [int(np.count_nonzero(beta.any(axis=0))) for beta in points.betas]
    columns = points.landmarks.rows.shape[1]
    while first < len(sizes):
        last = first + 1
        while last < len(sizes) and 8.0 * columns * sum(sizes[first : last + 1]) <= settings.sent_bytes:
            last += 1
        asked = [(beta, first <= k < last) for k, beta in enumerate(points.betas)]
        found = [one for one in shards.map(support_rows, None, asked) if one is not None]
        rows = sp.vstack([X for X, _ in found], "csr") if sp.issparse(found[0][0]) else np.vstack([X for X, _ in found])
        weights = np.concatenate([beta for _, beta in found], axis=1)
        if rows.shape[0]:
            common = (points.landmarks, rows, weights, first, last)
            total += shards.map_sum(squares, common, list(enumerate(points.betas)))
        first = last
    return total
