"""A recorded point as the page shows it: its certificate, recomputed, and everything about each sample."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from maxmargin.certificate import Certificate, certify, examine
from maxmargin.certificate.diagnosis import advice
from maxmargin.certificate.kkt import kkt_of, sample_gaps
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.result.iterate import Event
from maxmargin.studio.problems import Posed, Setting
from maxmargin.studio.recording import Frame, Recording
from maxmargin.studio.together import is_together, samples_of

#: Kernel values up to which the certificate of a shown point is recomputed from the data at each frame.
RECOMPUTED = 4_000_000
#: What a frame brings besides the point, unless it says which of them are wanted.
PARTS = ("conditions", "gaps", "trace")
#: The kind of a sample that the machine does not have.
NO_KIND = 255


def shown(
    setting: Setting, place: int, recording: Recording, index: int, want: Collection[str]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a frame, but for the field and the trace."""
    machine, frame = setting.machines[place], recording.frames[index]
    problem, point = machine.problem, frame.point
    certificate, fresh = certificate_of(problem, recording, frame)
    assert point.w is not None and point.beta is not None
    together = is_together(problem)
    header: dict[str, Any] = {
        "k": point.k,
        "seconds": frame.seconds,
        "work": frame.work,
        "ended": recording.ended,
        "status": _status(recording) if index == len(recording.frames) - 1 else None,
        "certificate": {**told(problem, certificate, recording.tol), "fresh": fresh},
        "best": {name: frame.row[name] for name in ("primal", "dual", "gap", "relative_gap")},
        "tol": recording.tol,
        "accuracy": frame.row["accuracy"],
        "beta_sum": frame.row["beta_sum"],
        "b": 0.0 if together else problem.space.bias(point.w) + (point.b or 0.0),
        **_norms(problem, point.w),
        "event": _event(machine, point.event),
        "lines": frame.lines,
        "related": _related(point),
        "inseparable": _inseparable(recording),
    }
    if "conditions" in want:
        header["conditions"] = _conditions(machine, point)
    return header, _arrays(setting, machine, point, certificate, "gaps" in want)


def certificate_of(problem: Problem, recording: Recording, frame: Frame) -> tuple[Certificate, bool]:
    """What is proved of a recorded point, and whether that is recomputed from the data."""
    fresh = problem.linear or problem.n**2 <= RECOMPUTED or recording.ended
    if fresh:
        return certify(problem, frame.point), True
    return examine(problem, frame.point, fresh=False).certificate, False


def decisions(problem: Problem, point: Iterate) -> np.ndarray:
    """The decision values of the samples."""
    assert point.w is not None
    return problem.space.scores(point.w) + (point.b or 0.0)


def told(problem: Problem, certificate: Certificate, tol: float) -> dict[str, Any]:
    """A certificate as plain values, with the verdict in words."""
    names = ("primal", "dual", "gap", "relative_gap", "rounding", "infeasibility", "kkt_violation", "precision")
    return {
        **{name: getattr(certificate, name) for name in names},
        "remark": certificate.remark,
        "positive": certificate.positive,
        "holds": certificate.holds(tol),
        "verdict": verdict(problem, certificate, tol),
        "counts": certificate.kinds.counts,
    }


def verdict(problem: Problem, certificate: Certificate, tol: float) -> str:
    """What the numbers mean, in one sentence or two."""
    gap = certificate.relative_gap
    if certificate.inseparable is not None:
        return f"Proved: no hyperplane separates these classes. {certificate.inseparable}"
    if not np.isfinite(gap):
        side = "no hyperplane that separates the classes" if problem.hard else "no point"
        return f"Nothing is proved yet: {side} has been found."
    if certificate.holds(tol):
        return f"Proved optimal, to a relative gap of {gap:.1e}."
    if certificate.positive is False and gap <= tol:
        return "A stationary point; the kernel is indefinite, so that it may not be the optimum."
    if gap >= 1.0:
        return "Not proved: the dual says next to nothing about the optimum yet."
    share = f"{100.0 * gap:.2g} %" if gap >= 1e-5 else f"a share of {gap:.0e}"
    return f"Not proved to the tolerance yet: another point may be better by up to {share}."


def _status(recording: Recording) -> dict[str, Any] | None:
    if recording.result is None:
        return None
    result = recording.result
    more = "" if result.converged else advice(recording.problem, result.certificate, recording.tol)
    return {
        "reason": result.status.reason.value,
        "code": result.status.reason.name.lower(),
        "text": result.status.text,
        "advice": more,
        "certificate": told(recording.problem, result.certificate, recording.tol),
    }


def _norms(problem: Problem, w: np.ndarray) -> dict[str, float]:
    if is_together(problem):  # a margin is between two classes
        return {"norm": problem.space.sqnorm(w) ** 0.5, "margin": np.nan}
    norm = problem.sqnorm_without_bias(w) ** 0.5
    return {"norm": norm, "margin": 2.0 / norm if norm > 0.0 else np.inf}


def _event(machine: Posed, event: Event | None) -> dict[str, Any] | None:
    if event is None:
        return None
    rows = [int(machine.rows[i]) for i in event.indices]
    told = {name: getattr(event, name) for name in ("before", "after", "unclipped", "gain")}
    return {"indices": rows, **told}


def _related(point: Iterate) -> dict[str, Any]:
    if point.related is None:
        return {}
    other = certify(point.related.problem, Iterate(beta=point.related.beta))
    return {point.related.name: {"primal": other.primal, "dual": other.dual, "relative_gap": other.relative_gap}}


def _inseparable(recording: Recording) -> dict[str, Any] | None:
    found = None if recording.result is None else recording.result.certificate.inseparable
    return None if found is None else {"text": str(found), "proved": found.proved}


def _conditions(machine: Posed, point: Iterate) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "formula": one.formula,
            "residual": one.residual,
            "worst": None if one.worst is None else int(machine.rows[one.worst]),
        }
        for one in kkt_of(machine.problem, point).conditions
    ]


def _arrays(
    setting: Setting, machine: Posed, point: Iterate, certificate: Certificate, gaps: bool
) -> dict[str, np.ndarray]:
    problem = machine.problem
    assert point.beta is not None and point.w is not None
    values = _together(problem, point) if is_together(problem) else _ordinary(problem, point, gaps)
    arrays = {name: setting.over_points(machine, value) for name, value in values.items()}
    arrays["kinds"] = np.full(setting.n, NO_KIND, np.uint8)
    arrays["kinds"][machine.rows] = certificate.kinds.codes
    if problem.linear and not is_together(problem):
        arrays["w"] = point.w[: problem.X.shape[1]]
    return arrays


def _ordinary(problem: Problem, point: Iterate, gaps: bool) -> dict[str, np.ndarray]:
    beta, z = point.beta, decisions(problem, point)
    assert beta is not None
    signs = problem.target if problem.task == "classification" else np.sign(beta)
    values = {"beta": beta, "alpha": signs * beta + 0.0, "z": z, "slack": slack(problem, z)}
    if point.raw is not None and not np.array_equal(point.raw, beta):
        values["raw"] = point.raw
    if gaps:
        values["gaps"] = sample_gaps(problem, beta, z)
    return values


def _together(problem: Problem, point: Iterate) -> dict[str, np.ndarray]:
    own = samples_of(problem, point)
    slacks = np.maximum(0.0, 1.0 - own.z)
    return {"beta": own.beta, "alpha": own.beta, "z": own.z, "slack": slacks, "gaps": own.gaps}


def slack(problem: Problem, z: np.ndarray) -> np.ndarray:
    """How far each sample is on the wrong side of its margin, of its tube, or of the threshold."""
    if problem.task == "classification":
        return np.maximum(0.0, 1.0 - problem.target * z)
    if problem.task == "novelty":
        return np.maximum(0.0, -z)
    tube = getattr(problem.loss, "epsilon", 0.0)
    return np.maximum(0.0, np.abs(problem.target - z) - tube)
