"""Certify a model again, from nothing but the model and the data, in float64 and block by block.

For each machine, with z the decision values that the model itself gives:

    1. P = ½‖w‖² + Σ C_i ℓ_i(z_i) (+ total·b), the losses summed over blocks of rows.
    2. D = Σ −C_i ℓ_i*(−β_i/C_i) − ½‖w(β)‖², from the dual point that the model carries: w(β) is summed over blocks, or
       the rows with β ≠ 0 are collected and their kernel matrix is taken in blocks.
    3. β must be feasible: within its box, and of the right sum where the bias is free.
    4. The claim holds if (P − D)/max(|P|, |D|) is what the file says, or better.

No solver, and none of a solver's running sums, takes part in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data, label_text
from maxmargin.errors import InvalidInput
from maxmargin.estimators.layout import pairs
from maxmargin.kernels import Precomputed
from maxmargin.losses import Loss
from maxmargin.losses.base import registry as losses
from maxmargin.models.model import VALUES, Model, Training

#: How much a sum over other blocks may differ.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Finding:
    """What was recomputed of one machine, beside what the file claims."""

    name: str
    primal: float
    dual: float
    claimed_gap: float
    #: How far β is outside its box, and how far its sum is from what it must be, relative to Σ|β|.
    infeasibility: float

    @property
    def relative_gap(self) -> float:
        """(P − D)/max(|P|, |D|)."""
        scale = max(abs(self.primal), abs(self.dual))
        return (
            max(0.0, self.primal - self.dual) / scale
            if scale > 0 and np.isfinite(scale)
            else 0.0
            if not scale
            else np.inf
        )

    def holds(self, tol: float | None = None) -> bool:
        """Whether the claim is confirmed; with `tol`, whether the gap is at most that."""
        asked = self.claimed_gap + ROUNDING if tol is None else tol
        return self.infeasibility <= ROUNDING and self.relative_gap <= asked


class _Sums:
    """The running sums of one machine."""

    def __init__(self, model: Model, k: int) -> None:
        assert model.training is not None
        proof = model.training.proofs[k]
        self.k, self.name = k, model.machine_names()[k]
        self.rows, self.beta = proof.rows, proof.beta
        self.claimed = proof.relative_gap
        self.loss = self.dual_terms = self.weight = 0.0
        self.margin = np.inf
        self.outside = 0.0
        self.w = np.zeros(model.columns) if model.linear else None
        self.vectors: list[Any] = []
        self.coefficients: list[np.ndarray] = []


def certify(model: Model, parts: Iterable[Data], weights: np.ndarray | None = None) -> list[Finding]:
    """Recompute the certificate of each machine from the training data, given in blocks."""
    training = model.training
    if training is None:
        raise InvalidInput(
            "the model does not say how it was trained (another program, nu, crammer-singer): there is nothing to check"
        )
    if training.weighted != (weights is not None):
        raise InvalidInput(
            "the model was trained " + ("with" if training.weighted else "without") + " weights of rows; check it so"
        )
    if isinstance(model.kernel, Precomputed):
        raise InvalidInput("a model with a precomputed kernel cannot be checked from a file of features")
    loss = losses[training.loss](**training.loss_parameters)
    sums = [_Sums(model, k) for k in range(model.machines)]
    n = 0
    for part in parts:
        given = np.ones(part.n) if weights is None else weights[n : n + part.n]
        if len(given) != part.n:
            raise InvalidInput(
                f"there are {len(weights if weights is not None else [])} weights for more rows than that"
            )
        _add(model, training, loss, sums, part, given, n)
        n += part.n
    if n != training.n:
        raise InvalidInput(f"the data has {n} rows; the model was trained on {training.n}")
    return [_finding(model, training, loss, one) for one in sums]


def _add(
    model: Model, training: Training, loss: Loss, sums: list[_Sums], part: Data, given: np.ndarray, first: int
) -> None:
    scores = model.scores(part.X)
    X = model.with_columns(part.X)
    X = X if model.scaling is None else model.scaling.apply(X)
    codes = _codes(model, part)
    if training.class_weight is not None:
        by_class = dict((label_text(label), weight) for label, weight in training.class_weight)
        assert model.classes is not None and codes is not None
        given = given * np.array([by_class[label_text(label)] for label in model.classes.tolist()])[codes]
    for one in sums:
        index, t = _targets(model, part, codes, one.k)
        if not len(index):
            continue
        C = _costs(training.C, given[index])
        z = scores[index, one.k]
        beta = _slice(one, first, part.n)[index]
        used = C > 0
        # 1.
        if np.isinf(training.C):
            one.margin = min(one.margin, float((t * z)[used].min(initial=np.inf)))
        else:
            one.loss += float(C @ loss.value(z, t))
        one.weight += float(C[used].sum())
        # 2. and 3.
        lower, upper = loss.bounds(t, C)
        one.outside = max(one.outside, float(np.maximum(lower - beta, beta - upper).max(initial=0.0)))
        if np.isinf(training.C):
            one.dual_terms += float(t @ beta)
        else:
            with np.errstate(invalid="ignore"):
                one.dual_terms -= float(C[used] @ loss.conjugate(-beta[used] / C[used], t[used]))
        held = np.flatnonzero(beta)
        if one.w is not None:
            rows = X[index[held]]
            one.w += np.asarray(rows.T @ beta[held]).ravel()
        elif held.size:
            one.vectors.append(X[index[held]])
            one.coefficients.append(beta[held])


def _finding(model: Model, training: Training, loss: Loss, one: _Sums) -> Finding:
    total_beta, size = float(one.beta.sum()), float(np.abs(one.beta).sum())
    s2 = training.bias_scale**2 if training.bias == "augmented" else 0.0
    b = float(model.b[one.k])
    # 1.
    if model.w is not None:
        own = float(model.w[one.k] @ model.w[one.k])
    else:
        assert model.coef is not None
        own = _quadratic(model, model.vectors, model.coef[one.k])
    own += b * b / s2 if s2 else 0.0
    total = loss.total(np.array([one.weight])) if training.bias == "free" else 0.0
    primal = 0.5 * own + one.loss + total * b
    if np.isinf(training.C):
        primal = 0.5 * own / one.margin**2 if one.margin > 0 else np.inf
    # 2.
    if one.w is not None:
        square = float(one.w @ one.w)
    elif one.vectors:
        stacked = sp.vstack(one.vectors, "csr") if sp.issparse(one.vectors[0]) else np.vstack(one.vectors)
        square = _quadratic(
            model, sp.csr_array(stacked) if sp.issparse(stacked) else stacked, np.concatenate(one.coefficients)
        )
    else:
        square = 0.0
    dual = one.dual_terms - 0.5 * (square + s2 * total_beta**2)
    # 3.
    off = abs(total_beta - total) / max(size, 1e-300) if training.bias == "free" and size else 0.0
    return Finding(one.name, primal, dual, one.claimed, max(off, one.outside / max(size, 1e-300) if size else 0.0))


def _quadratic(model: Model, vectors: Any, coef: np.ndarray) -> float:
    """cᵀKc, a block of rows at a time; of many machines, each uses few of the vectors."""
    used = np.flatnonzero(coef)
    vectors, coef = vectors[used], coef[used]
    total = 0.0
    step = max(1, VALUES // max(1, vectors.shape[0]))
    for start in range(0, vectors.shape[0], step):
        total += float(coef[start : start + step] @ (model.kernel.block(vectors[start : start + step], vectors) @ coef))
    return total


def _slice(one: _Sums, first: int, n: int) -> np.ndarray:
    """The β of rows first..first + n."""
    low, high = np.searchsorted(one.rows, [first, first + n])
    out = np.zeros(n)
    out[one.rows[low:high] - first] = one.beta[low:high]
    return out


def _costs(C: float, weights: np.ndarray) -> np.ndarray:
    return np.where(weights > 0, np.where(weights > 0, weights, 1.0) * C, 0.0)


def _codes(model: Model, part: Data) -> np.ndarray | None:
    """The class of each row, as a place in the model's classes."""
    if model.classes is None:
        return None
    if part.y is None:
        raise InvalidInput("the data has no labels; those of the training are needed")
    known = {label_text(label): k for k, label in enumerate(model.classes.tolist())}
    found, places = np.unique(part.y, return_inverse=True)
    texts = [label_text(label) for label in found.tolist()]
    unknown = next((text for text in texts if text not in known), None)
    if unknown is not None:
        raise InvalidInput(f"the data has the label {unknown!r}, which the model does not know")
    return np.array([known[text] for text in texts])[places]


def _targets(model: Model, part: Data, codes: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a block that a machine is about, and their targets."""
    everything = np.arange(part.n)
    if codes is None:
        if model.task == "novelty":
            return everything, np.ones(part.n)
        if part.y is None:
            raise InvalidInput("the data has no targets; those of the training are needed")
        return everything, part.y.astype(np.float64)
    if model.scheme == "binary":
        return everything, np.where(codes == 1, 1.0, -1.0)
    if model.scheme == "ovr":
        return everything, np.where(codes == k, 1.0, -1.0)
    assert model.classes is not None
    i, j = pairs(len(model.classes))[k]
    rows = np.flatnonzero((codes == i) | (codes == j))
    return rows, np.where(codes[rows] == i, 1.0, -1.0)
