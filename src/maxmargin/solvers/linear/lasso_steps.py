"""Steps on the quadratic model of an ‖·‖₁ problem:  min_x  ½ xᵀHx − qᵀx + ‖x‖₁.

With H as a matrix (few features): coordinate descent keeps r = q − Hx, a step costs one row of H. Where it crawls, one
step of Newton's on the face where it stands (the signs of x held fixed), as far as the first sign lasts.
With H = AᵀDA known by the columns A only (many features): coordinate descent keeps the scores t of the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.solvers.linear.newton_step import solve_positive
from maxmargin.solvers.linear.settings import ProximalNewtonSettings

settings = ProximalNewtonSettings()


class ByColumn(NamedTuple):
    """Columns as compiled loops take them: their values, the rows of these, and where each column ends."""

    data: np.ndarray
    rows: np.ndarray
    ends: np.ndarray


class Model(NamedTuple):
    """What a sweep over the columns needs of the loss, before the step."""

    h: np.ndarray
    #: Σ h for a free bias, else 0.
    weight: float
    moments: np.ndarray
    curvatures: np.ndarray
    slopes: np.ndarray


def solve_model(H: np.ndarray, q: np.ndarray, x: np.ndarray, goal: float) -> None:
    """Minimise ½ xᵀHx − qᵀx + ‖x‖₁ from x, in place, until no slope is off by more than `goal`."""
    r = q - H @ x
    best, before = x.copy(), np.inf
    for trial in range(settings.most_faces):
        off = sweep_matrix(H, r, x, goal, settings.sweeps)
        if off <= goal:
            return
        if off < before:
            best[:], before = x, off
        elif trial > settings.patience:  # rounding is what is left
            x[:] = best
            return
        _along_the_face(H, r, x)
        r = q - H @ x


def _along_the_face(H: np.ndarray, r: np.ndarray, x: np.ndarray) -> None:
    """Newton's step for the weights that are not 0, as far as the model falls along it."""
    face = np.flatnonzero(x)
    if not face.size:
        return
    at = x[face]
    inside = H[np.ix_(face, face)]
    inside.flat[:: len(face) + 1] *= 1.0 + settings.face_ridge
    try:
        step = solve_positive(inside, r[face] - np.sign(at))
    except np.linalg.LinAlgError:
        return
    share, first = _lowest(at, step, float(step @ (inside @ step)), -float(r[face] @ step))
    x[face] = at + share * step
    if first >= 0:
        x[face[first]] = 0.0


@compiled
def _lowest(x, step, curvature, slope):
    """How far along the step the model is lowest, and the weight that is 0 there, or −1.

    Without the ‖·‖₁ the slope is slope + share·curvature; each weight that passes 0 adds 2|step|.
    """
    places = np.full(len(x), np.inf)
    for j in range(len(x)):
        slope += step[j] * np.sign(x[j])
    for j in range(len(x)):
        if step[j] * x[j] < 0.0:
            places[j] = -x[j] / step[j]
    for j in np.argsort(places):
        root = -slope / curvature if curvature > 0.0 else np.inf
        if root <= places[j] or not places[j] < np.inf:
            return (root if root < np.inf else 0.0), -1
        slope += 2.0 * abs(step[j])
        if slope + places[j] * curvature >= 0.0:
            return places[j], j
    return -slope / curvature if curvature > 0.0 else 0.0, -1


@compiled
def sweep_matrix(H, r, x, goal, sweeps):
    """Coordinate descent with the matrix, at most so many sweeps; how far the worst slope was off in the last one."""
    off = np.inf
    for _ in range(sweeps):
        off = 0.0
        for j in range(len(x)):
            old, curvature = x[j], H[j, j]
            # How far 0 is from the slopes at x_j: those of |x| are ±1, or all between at 0.
            wrong = max(abs(r[j]) - 1.0, 0.0) if old == 0.0 else abs(r[j] - np.sign(old))
            off = max(off, wrong)
            if wrong == 0.0 or (curvature <= 0.0 and old == 0.0):
                continue
            pull = r[j] + curvature * old
            new = 0.0
            if curvature > 0.0 and abs(pull) > 1.0:
                new = (pull - np.sign(pull)) / curvature
            step = new - old
            if step != 0.0:
                x[j] = new
                for k in range(len(x)):
                    r[k] -= step * H[j, k]
        if off <= goal:
            break
    return off


@compiled
def sweep_columns(columns, model, active, x, t, sums):
    """One sweep of coordinate descent over some features, by the columns of their values.

    x holds the new weights, t the scores of the step so far and sums[0] = Σ h t. A free bias follows each step. Returns
    how far the worst slope was off.
    """
    data, rows, ends = columns
    h, weight, moments, curvatures, slopes = model
    off = 0.0
    for a in range(len(active)):
        j = active[a]
        start, stop = ends[j], ends[j + 1]
        slope = slopes[j]
        for p in range(start, stop):
            i = rows[p]
            slope += data[p] * h[i] * t[i]
        if weight > 0.0:
            slope -= moments[j] * sums[0] / weight
        old, curvature = x[j], curvatures[j]
        wrong = max(abs(slope) - 1.0, 0.0) if old == 0.0 else abs(slope + np.sign(old))
        off = max(off, wrong)
        if wrong == 0.0 or (curvature <= 0.0 and old == 0.0):
            continue
        pull = curvature * old - slope
        new = 0.0
        if curvature > 0.0 and abs(pull) > 1.0:
            new = (pull - np.sign(pull)) / curvature
        step = new - old
        if step != 0.0:
            x[j] = new
            sums[0] += step * moments[j]
            for p in range(start, stop):
                t[rows[p]] += step * data[p]
    return off
