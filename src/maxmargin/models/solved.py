"""Solved: what is kept of one solved binary problem; arrays and numbers that a file can hold to the last bit."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from maxmargin.problem import NuProblem, Problem
from maxmargin.result import Iterate, Reason, Result


@dataclass(frozen=True, eq=False)
class Solved:
    """The certified point of one problem: w in the problem's space, the free bias, the dual point, and the verdict."""

    w: np.ndarray
    b: float | None
    beta: np.ndarray
    #: Whether w is w(β).
    linked: bool
    reason: Reason
    status: str
    solver: str
    primal: float
    dual: float
    relative_gap: float
    iterations: int
    #: The margin or the tube that a ν-problem has found; what is kept is the point of its ordinary problem.
    tau: float | None = None

    @classmethod
    def of(cls, result: Result) -> Solved:
        """Take what is needed from a result."""
        tau, result = result.point.tau, result.ordinary
        point, certificate = result.point, result.certificate
        assert point.w is not None and point.beta is not None
        return cls(
            w=point.w,
            b=point.b,
            beta=point.beta,
            linked=point.linked,
            reason=result.status.reason,
            status=str(result.status),
            solver=result.solver.name,
            primal=certificate.primal,
            dual=certificate.dual,
            relative_gap=certificate.relative_gap,
            iterations=result.iterations,
            tau=tau,
        )

    def support(self, rows: int) -> int:
        """How many of so many samples have a dual variable that is not 0."""
        return int(np.count_nonzero(self.beta.reshape(rows, -1).any(axis=1)))

    def start(self, problem: Problem) -> Iterate:
        """The point as a warm start."""
        if isinstance(problem, NuProblem):
            return Iterate(beta=self.beta * self.tau if problem.of_classes and self.tau else self.beta)
        return Iterate(w=self.w, b=self.b, beta=self.beta, linked=self.linked)

    def parts(self, prefix: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The same as a document and arrays; infinities are text, as JSON has none."""
        arrays = {f"{prefix}w": self.w, f"{prefix}beta": self.beta}
        document: dict[str, Any] = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("w", "beta")
        }
        document |= {name: repr(float(document[name])) for name in ("primal", "dual", "relative_gap")}
        document["tau"] = None if self.tau is None else float(self.tau).hex()
        document["b"] = None if self.b is None else float(self.b).hex()
        return {**document, "reason": self.reason.name}, arrays

    @classmethod
    def from_parts(cls, document: dict[str, Any], arrays: dict[str, np.ndarray], prefix: str) -> Solved:
        """What `parts` took apart."""
        numbers = {name: float(document[name]) for name in ("primal", "dual", "relative_gap")}
        for name in ("w", "beta"):
            array = arrays[f"{prefix}{name}"]
            if array.ndim != 1 or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} is not a vector of finite numbers")
        return cls(
            w=arrays[f"{prefix}w"],
            b=None if document["b"] is None else float.fromhex(document["b"]),
            beta=arrays[f"{prefix}beta"],
            linked=bool(document["linked"]),
            reason=Reason[document["reason"]],
            status=str(document["status"]),
            solver=str(document["solver"]),
            iterations=int(document["iterations"]),
            tau=None if document["tau"] is None else float.fromhex(document["tau"]),
            **numbers,
        )
