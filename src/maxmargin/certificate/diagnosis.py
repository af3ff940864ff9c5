"""Why a run did not get there: scaling, duplicates, a huge C and the floor of float32, found in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.problem import Problem

if TYPE_CHECKING:
    from maxmargin.certificate import Certificate


def findings(problem: Problem, certificate: Certificate, tol: float) -> list[str]:
    """What is wrong with the data or the parameters, each with what to do about it."""
    texts = (_scaling(problem), _float32_floor(problem, certificate, tol), _conflicts(problem), _huge_C(problem))
    return [text for text in texts if text]


def advice(problem: Problem, certificate: Certificate, tol: float) -> str:
    """What to do next, in a sentence or two."""
    found = findings(problem, certificate, tol)
    return (
        "; ".join(found) if found else "allow more time or iterations, or try another solver (maxmargin.list_solvers())"
    )


def _scaling(problem: Problem) -> str:
    """Columns of very different size make every first-order method crawl."""
    if problem.kernel.given:
        return ""
    X = problem.X
    if isinstance(X, RowBlocks):
        sizes = X.largest
    elif sp.issparse(X):
        _, column = np.unique(X.indices, return_inverse=True)
        sizes = np.zeros(int(column.max(initial=-1)) + 1)
        np.maximum.at(sizes, column, np.abs(X.data))
    else:
        sizes = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    sizes = sizes[sizes > 0]
    if sizes.size and (sizes.max() > 1e3 * sizes.min() or sizes.max() > 1e3):
        return (
            f"the features are badly scaled (largest value {sizes.max():.2g}, smallest column {sizes.min():.2g}):"
            f" standardise them"
        )
    return ""


def _float32_floor(problem: Problem, certificate: Certificate, tol: float) -> str:
    if problem.X.dtype == np.float32 and not problem.linear and tol < 1e-5 and certificate.relative_gap < 1e-3:
        return "float32 kernel rows cannot resolve a relative gap this small: pass float64 data or a larger tol"
    return ""


def _conflicts(problem: Problem, most: int = 2_000_000) -> str:
    """Equal rows with different labels: no hyperplane can satisfy both. Not for data of more numbers than `most`."""
    X = problem.X
    if problem.task != "classification" or not isinstance(X, np.ndarray) or X.size > most:
        return ""
    if problem.kernel.given:
        return ""
    labels: dict[bytes, set[float]] = {}
    for row, label in zip(X + 0.0, problem.target, strict=True):  # −0 becomes 0
        labels.setdefault(row.tobytes(), set()).add(float(label))
    both = sum(len(seen) > 1 for seen in labels.values())
    return f"{both} rows appear with both labels: look at the data" if both else ""


def _huge_C(problem: Problem) -> str:
    """C·K_ii far above 1 means a nearly hard margin."""
    if problem.hard:
        return ""
    size = float(np.median(problem.C)) * float(np.median(problem.space.diag()))
    if size > 1e4:
        return f"C is huge for this data (C·k(x,x) ≈ {size:.0e}): lower C, or scale the features down"
    return ""
