"""What was solved and by what: the problem and the solver, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import bytes_text
from maxmargin.problem import Problem
from maxmargin.report.fit import Fit
from maxmargin.report.words import count, percent, sentence, short
from maxmargin.result import Result


def problem_rows(fit: Fit) -> Iterator[tuple[str, str, str]]:
    """Data, loss, kernel, bias and weights."""
    problem = fit.result.problem
    bias = {
        "free": "Not penalised: the hyperplane may lie anywhere.",
        "augmented": f"A constant feature {problem.bias_scale:g} beside the others, so b is penalised like a weight.",
        "none": "The hyperplane goes through the origin.",
    }
    yield "Samples", f"{problem.n:,}", _classes(fit)
    if problem.kernel.given:
        yield "Kernel matrix", f"{problem.n:,} × {problem.n:,}", _storage(problem)
    else:
        yield "Features", f"{problem.X.shape[1]:,}", _storage(problem)
    if problem.transform is not None:
        name = short(getattr(problem.transform, "__name__", "your own"))
        yield "Transform", name, "Applied to the rows before training."
    yield "Loss", *described(problem.loss)
    yield "Kernel", *described(problem.kernel)
    words = "The threshold that decides what is novel." if problem.task == "novelty" else bias[problem.bias]
    yield "Bias", f"{problem.bias}, b = {fit.result.b:.6g}", words
    yield "C", *_weights(fit)


def _classes(fit: Fit) -> str:
    if fit.result.problem.classes is None:
        return ""
    sizes = np.bincount(fit.result.problem.target > 0, minlength=2)
    return ", ".join(f"{sizes[side]:,} labelled {fit.label(side)}" for side in (0, 1)) + "."


def _storage(problem: Problem) -> str:
    X = problem.X
    if not sp.issparse(X):
        return f"Dense, {X.dtype}, {bytes_text(X.nbytes)}."
    share = percent(X.nnz / (X.shape[0] * X.shape[1]))
    size = bytes_text(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return f"Sparse, {X.dtype}, {X.nnz:,} values that are not 0 ({share}), {size}."


def _weights(fit: Fit) -> tuple[str, str]:
    problem = fit.result.problem
    C = problem.C[fit.used]
    left_out = problem.n - C.size
    words = f" {count(left_out, 'sample')} of weight 0 left out." if left_out else ""
    if problem.hard:
        return "∞", "A hard margin: no sample may lie inside it." + words
    if C.min() == C.max():
        return f"{C[0]:g}", f"The price of a unit of loss, the same for every sample (λ = {1 / C[0]:g}).{words}"
    return f"{C.min():g} to {C.max():g}", f"The price of a unit of loss, by sample or class weights.{words}"


def solver_rows(result: Result) -> Iterator[tuple[str, str, str]]:
    """Algorithm, parameters, paper, effort and end."""
    trace = result.trace
    looks = f"Of the solver; {trace.look_seconds:.3g} s more went into {count(len(trace), 'look')} and the certificate."
    name, words = described(result.solver)
    yield "Algorithm", name, sentence(words)
    yield "Paper", "", result.solver.paper
    yield "Iterations", f"{result.iterations:,}", "The solver's own count at the point that was kept."
    yield "Time", f"{trace.solver_seconds:.3g} s", looks
    yield "End", result.status.reason.value, sentence(result.status.text.split("; ")[0])


def parameters(thing: Any) -> dict[str, Any]:
    """The hyperparameters of a loss, kernel or solver: its fields."""
    return {field.name: getattr(thing, field.name) for field in fields(thing)} if is_dataclass(thing) else {}


def described(thing: Any) -> tuple[str, str]:
    """A loss, kernel or solver: its name with its numbers, and the first words of its own description."""
    values = [
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {short(getattr(value, '__name__', value))}"
        for name, value in parameters(thing).items()
        if value is not None
    ]
    first_line = (type(thing).__doc__ or "").strip().partition("\n")[0]
    return ", ".join([thing.name, *values]), first_line.partition(";")[0].rstrip(".")
