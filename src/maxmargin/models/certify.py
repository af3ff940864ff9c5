"""Certify a model again, from nothing but the model and the data, block by block, by the independent oracle.

For each machine:

    1. P = ½‖w‖² + Σ C_i ℓ_i(z_i) (+ total·b) at the w (or vectors and coefficients) and b that the model predicts with.
    2. D = Σ −C_i ℓ_i*(−β_i/C_i) − ½‖w(β)‖² at the dual point that the model carries, made feasible.
    3. β must be feasible: within its box, and of the right sum where the bias is free.
    4. The claim holds if (P − D)/max(|P|, |D|), with the oracle's own rounding added, is what the file says, or better.

All of it is done by `maxmargin.oracle`: no kernel, loss, solver or running sum of the package takes part in it, so a
mistake in one of them cannot confirm itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from maxmargin.data.dataset import Data, label_text
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Custom, Precomputed
from maxmargin.models.classes import pairs
from maxmargin.models.model import Model, Training
from maxmargin.oracle import ClassesOracle, Oracle, Setting

#: How much may be missing for a claim to be confirmed: what the last digits of float64 and of its sums are worth.
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
    #: (P − D)/max(|P|, |D|) as the oracle found it, and how far its own rounding may have moved it.
    relative_gap: float
    rounding: float

    def holds(self, tol: float | None = None) -> bool:
        """Whether the claim is confirmed; with `tol`, whether the gap is at most that."""
        asked = self.claimed_gap + ROUNDING if tol is None else tol
        if tol is None and asked >= 1.0:  # D is not positive, or P is not finite: such a gap claims nothing
            return self.infeasibility <= ROUNDING
        return self.infeasibility <= ROUNDING and max(0.0, self.relative_gap) + self.rounding <= asked


class _Machine:
    """One binary problem (or regression) of the model: the oracle that looks into it, and its dual point."""

    def __init__(self, model: Model, training: Training, k: int) -> None:
        proof = training.proofs[k]
        self.k, self.name, self.claimed = k, model.machine_names()[k], proof.relative_gap
        self.rows, self.beta = proof.rows, proof.beta
        kernel: Any = model.kernel
        # A ν-problem is the ordinary one for the margin or the tube that it has found.
        tau, parameters = proof.tau, training.loss_parameters
        self.factor = 1.0 / tau if tau and model.task == "classification" else 1.0
        if tau is not None and model.task == "regression":
            parameters = {"epsilon": tau}
        setting = Setting(
            loss=training.loss,
            kernel=kernel.name,
            bias=training.bias,
            bias_scale=training.bias_scale,
            regularizer=training.regularizer,
            loss_parameters=parameters,
            kernel_parameters={one.name: float(getattr(kernel, one.name)) for one in fields(kernel)},
        )
        w = model.coef[k] if model.w is None and model.coef is not None else _row(model.w, k)
        self.oracle = Oracle(setting, w, float(model.b[k]), model.vectors, training.n)


class _Together:
    """All classes in one problem: the oracle that looks into it, and its dual point."""

    def __init__(self, model: Model, training: Training) -> None:
        (proof,), (self.name,) = training.proofs, model.proof_names()
        self.claimed, self.rows, self.beta = proof.relative_gap, proof.rows, proof.beta
        assert model.w is not None
        constant = training.bias_scale if training.bias == "augmented" else 0.0
        self.oracle = ClassesOracle(model.w, model.b, constant)


def _row(w: np.ndarray | None, k: int) -> np.ndarray:
    assert w is not None
    return w[k]


def certify(model: Model, parts: Iterable[Data], weights: np.ndarray | None = None) -> list[Finding]:
    """Recompute the certificate of each machine from the training data, given in blocks."""
    training = model.training
    if training is None:
        raise InvalidInput(
            "the model does not say how it was trained (it is from another program, or was changed): nothing to check"
        )
    if training.weighted != (weights is not None):
        raise InvalidInput(
            "the model was trained " + ("with" if training.weighted else "without") + " weights of rows; check it so"
        )
    if isinstance(model.kernel, (Precomputed, Custom)):
        raise InvalidInput(f"a model with a {model.kernel.name} kernel cannot be checked from a file of features")
    machines: list[Any] = [_Together(model, training)] if model.scheme == "crammer-singer" else []
    machines = machines or [_Machine(model, training, k) for k in range(model.machines)]
    n = 0
    for part in parts:
        given = np.ones(part.n) if weights is None else weights[n : n + part.n]
        if len(given) != part.n:
            raise InvalidInput(
                f"there are {len(weights if weights is not None else [])} weights for more rows than that"
            )
        _add(model, training, machines, part, given, n)
        n += part.n
    if n != training.n:
        raise InvalidInput(f"the data has {n} rows; the model was trained on {training.n}")
    return [_finding(one) for one in machines]


def _add(model: Model, training: Training, machines: list[Any], part: Data, given: np.ndarray, first: int) -> None:
    X = model.with_columns(part.X)
    X = X if model.scaling is None else model.scaling.apply(X)
    codes = _codes(model, part)
    if training.class_weight is not None:
        by_class = dict((label_text(label), weight) for label, weight in training.class_weight)
        assert model.classes is not None and codes is not None
        given = given * np.array([by_class[label_text(label)] for label in model.classes.tolist()])[codes]
    for one in machines:
        if isinstance(one, _Together):
            assert codes is not None
            one.oracle.add(X, codes, _costs(training.C, given), _slice(one, first, part.n, model.width))
            continue
        index, t = _targets(model, part, codes, one.k)
        everything = len(index) == part.n
        beta = _slice(one, first, part.n)
        one.oracle.add(X if everything else X[index], t, _costs(one.factor * training.C, given[index]), beta[index])


def _finding(one: _Machine | _Together) -> Finding:
    truth = one.oracle.judgement()
    off = max(truth.infeasibility, truth.outside) / max(truth.size, 1e-300) if truth.size else 0.0
    rounding = truth.most - truth.relative_gap if truth.relative_gap < np.inf else np.inf
    return Finding(one.name, truth.primal, truth.dual, one.claimed, off, truth.relative_gap, rounding)


def _slice(one: _Machine | _Together, first: int, n: int, width: int = 1) -> np.ndarray:
    """The β of rows first..first + n; one column a class where a row has so many."""
    low, high = np.searchsorted(one.rows, [width * first, width * (first + n)])
    out = np.zeros(width * n)
    out[one.rows[low:high] - width * first] = one.beta[low:high]
    return out if width == 1 else out.reshape(n, width)


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
