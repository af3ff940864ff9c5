"""What the linked views of the studio need beyond a frame, from the library's own code.

`view(seen, name, arguments)` answers with a header and arrays:

- ``hulls``: the (reduced) convex hulls of two classes, their nearest points at this point of the run, or the point
  that both hulls share. ``{text, p, q, A, distance, separable, proved}``; ``negative, positive`` f8 [·, 2] are the
  corners of the hulls, ``reduced_negative, reduced_positive`` those of the reduced ones (soft margin, where α > 0),
  ``common`` f8 [2] the point of both hulls and ``weights`` f8 [n] what it is made of (where there is one).
- ``landscape`` (``nx, ny``; ``reach``): the primal over (w₁, w₂) with the best bias, or over (w, b) for one feature.
  ``{axes, x0, x1, y0, y1, least}``; ``values`` f4 [ny, nx], ``best`` f8 [2].
- ``track`` (``first``): where the run went on that plane. ``{first}``; ``points`` f8 [m, 2] of the frames from `first`
  to the shown one.
- ``kernel`` (``most``): K of the samples in the order of their classes, the strongest first within each.
  ``{low, high, total}``; ``values`` f4 [m, m], ``order`` i4 [m] the rows of the problem.
- ``path`` (``count, low, high, field``): certified fits for C from `low` to `high`. ``{tol, window}``; ``C, primal,
  dual, relative_gap, accuracy`` f8 [m], ``support`` i4 [m, 3] (candidates, free, bound), ``alpha, z`` f8 [m, n],
  ``kinds`` u1 [m, n], ``field`` f4 [m, ny, nx].
- ``step``: the dual along the update that led here. ``{indices, before, after, unclipped, slope, curvature, lower,
  upper, signs, tube, low, high}``: D(t) − D(0) = slope·t − ½ curvature·t² − Σ tube(|β + t| − |β|) for low ≤ t ≤ high.

Indices are rows of the problem that the page knows; a machine of several classes has only some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from maxmargin.certificate.separability import MOST, Inseparable, prove_inseparable
from maxmargin.errors import InvalidInput
from maxmargin.loop import solve
from maxmargin.numeric.hulls import hull
from maxmargin.problem import Problem
from maxmargin.problem.landscape import primal_at
from maxmargin.result import Iterate
from maxmargin.studio.together import is_together
from maxmargin.training.path import C_path

Answer = tuple[dict[str, Any], dict[str, np.ndarray]]

#: Samples of a kernel matrix that a screen can show.
MOST_SHOWN = 240
#: Points of a landscape along each side: few and many samples, and decision values in all of its points together.
LEAST_GRID, GRID, VALUES = 24, 48, 8e5
#: Points along each side that may be asked for.
MOST_GRID = 200
#: Halvings for the best bias: what is left of its interval changes the values by less than a contour is wide.
HALVINGS = 22
#: How near to the side of a hull a corner is left out, in units of its size: a tenth of a pixel.
NEAR = 2e-4
#: Fits of a path, and at most; and seconds that they may take together.
FITS, MOST_FITS, PATH_SECONDS = 17, 60, 5.0
#: Samples of a path, at most: of more, its fits would take longer than anybody waits.
MOST_OF_A_PATH = 1000
#: The relative gap of the fits of a path.
PATH_TOL = 1e-6
#: Numbers of a field along each side, at most.
MOST_FIELD = 200


@dataclass(frozen=True, eq=False)
class Seen:
    """What a view looks at: a machine's problem, which rows of all the points it has, and a certified point of it.

    Parameters
    ----------
    problem : Problem
        The machine's problem.
    rows : array of int
        Its rows, as rows of all points.
    count : int
        How many points there are.
    point : Iterate, default None
        A complete point, as `examine` gives it; None where the view is of the problem alone.
    track : sequence of Iterate, default ()
        The recorded points of the run from its first frame to the shown one.
    """

    problem: Problem
    rows: np.ndarray
    count: int
    point: Iterate | None = None
    track: Sequence[Iterate] = ()

    def spread(self, values: np.ndarray, fill: float = np.nan) -> np.ndarray:
        """Values of the machine's rows as values of all points."""
        out = np.full((*values.shape[:-1], self.count), fill, dtype=values.dtype)
        out[..., self.rows] = values
        return out

    def needed(self) -> Iterate:
        """The point; an error where there is none."""
        if self.point is None:
            raise InvalidInput("this view is of a run: there is no point yet")
        return self.point


def view(seen: Seen, name: str, arguments: Mapping[str, Any]) -> Answer:
    """The header and the arrays of a view."""
    if name not in VIEWS:
        raise InvalidInput(f"there is no view {name!r}; there are {', '.join(VIEWS)}")
    if is_together(seen.problem):
        raise InvalidInput(
            "this view is of one hyperplane; here all classes are in one problem: see each against the rest"
        )
    return VIEWS[name](seen, arguments)


# Hulls


def hulls(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """The hulls of two classes, reduced for a soft margin, and their nearest points or the one that they share."""
    problem = seen.problem
    form = problem.form
    if problem.task != "classification" or form is None or form.ridge.any():
        raise InvalidInput(f"hulls are the dual of the hinge; loss={problem.loss.name!r} has another")
    if not problem.regularizer.quadratic:
        raise InvalidInput(f"hulls are the dual of ½‖w‖²; regularizer={problem.regularizer.name!r} has another")
    if problem.bias != "free":
        raise InvalidInput(f"hulls need Σ₊α = Σ₋α, so bias='free'; this problem has bias={problem.bias!r}")
    if not problem.linear or problem.X.shape[1] != 2:
        raise InvalidInput("hulls are drawn in the plane: they need two features and the linear kernel")
    X = np.asarray(problem.X, dtype=np.float64)
    used = problem.C > 0
    sides = [used & (problem.target < 0), used & (problem.target > 0)]
    arrays = {key: hull(X[side], near=NEAR) for key, side in zip(("negative", "positive"), sides, strict=True)}
    header: dict[str, Any] = {"A": None, "p": None, "q": None, "distance": None, "separable": True, "proved": False}
    shared = _shared_point(seen)
    if shared is not None:
        header |= {"separable": False, "proved": shared.proved, "text": str(shared)}
        arrays["weights"] = seen.spread(shared.alpha, 0.0)
        arrays["common"] = 0.5 * (shared.alpha[sides[0]] @ X[sides[0]] + shared.alpha[sides[1]] @ X[sides[1]])
    if seen.point is not None and seen.point.beta is not None:
        nearest, reduced = _nearest(problem, X, sides, problem.target * seen.point.beta)
        header, arrays = header | nearest, arrays | reduced
    return header, arrays


#: The common points that were found, and None where all samples were looked at and there is none.
_known: WeakKeyDictionary[Problem, Inseparable | None] = WeakKeyDictionary()


def _shared_point(seen: Seen) -> Inseparable | None:
    """The point of both hulls, of many samples sought among the heaviest at this point of the run."""
    problem = seen.problem
    if problem in _known:
        return _known[problem]
    beta = problem.target if seen.point is None or seen.point.beta is None else seen.point.beta
    found = prove_inseparable(problem, beta)
    if found is not None or problem.n <= MOST or not problem.hard:
        _known[problem] = found
    return found


def _nearest(problem: Problem, X: np.ndarray, sides: list[np.ndarray], alpha: np.ndarray) -> Answer:
    """The weighted means of both classes, and the reduced hulls that hold them; nothing where all α are 0."""
    sums = [float(alpha[side].sum()) for side in sides]
    if min(sums) <= 0.0:
        return {}, {}
    q, p = (alpha[side] @ X[side] / total for side, total in zip(sides, sums, strict=True))
    header = {"A": 0.5 * sum(sums), "p": p.tolist(), "q": q.tolist(), "distance": float(np.hypot(*(p - q)))}
    if problem.hard:
        return header, {}
    names = ("reduced_negative", "reduced_positive")
    corners = (hull(X[side], problem.C[side] / total, NEAR) for side, total in zip(sides, sums, strict=True))
    return header, dict(zip(names, corners, strict=True))


# The landscape of the primal


def landscape(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """The primal on a grid around its minimum and the origin."""
    problem = seen.problem
    d = problem.X.shape[1]
    if not problem.linear or d > 2 or (d == 1 and problem.bias == "none"):
        raise InvalidInput("the landscape is the plane of w: the linear kernel and two features, or one and a bias")
    if problem.bias == "augmented" and not problem.regularizer.quadratic:
        raise InvalidInput("the landscape with ‖w‖₁ has no augmented bias: choose free or none")
    if problem.hard:
        raise InvalidInput("the primal of a hard margin is infinite wherever a constraint is violated; use a finite C")
    fine = int(min(max((VALUES / problem.n) ** 0.5, LEAST_GRID), GRID))
    nx, ny = (_whole(arguments, key, fine, 2, MOST_GRID) for key in ("nx", "ny"))
    optimum = solve(problem, tol=1e-8, max_time=2.0)
    w = np.asarray(optimum.w, dtype=np.float64)
    best = np.array([w[0], optimum.b]) if d == 1 else w
    reach = np.maximum(np.abs(best), 1e-3 * max(1.0, float(np.abs(best).max())))
    reach = 0.8 * np.maximum(reach, 0.8 * reach.max()) * _number(arguments, "reach", 1.0)
    low, high = np.minimum(best, 0.0) - reach, np.maximum(best, 0.0) + reach
    x, y = np.linspace(low[0], high[0], nx), np.linspace(low[1], high[1], ny)
    plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = primal_at(problem, plane, HALVINGS).reshape(ny, nx)
    header = {
        "axes": ["w", "b"] if d == 1 else ["w₁", "w₂"],
        "x0": low[0],
        "x1": high[0],
        "y0": low[1],
        "y1": high[1],
        "least": optimum.certificate.primal,
        "bias": d == 2 and problem.bias != "none",
    }
    return header, {"values": values.astype(np.float32), "best": best}


def track(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """The recorded hyperplanes as points of the landscape."""
    problem, d = seen.problem, seen.problem.X.shape[1]
    if not problem.linear or d > 2:
        raise InvalidInput("a track is drawn in the plane of w: the linear kernel and at most two features")
    first = _whole(arguments, "first", 0, 0, max(0, len(seen.track)))
    points = np.zeros((len(seen.track) - first, 2))
    for row, point in zip(points, seen.track[first:], strict=True):
        assert point.w is not None
        row[:] = point.w[:2] if d == 2 else (point.w[0], problem.space.bias(point.w) + (point.b or 0.0))
    return {"first": first}, {"points": points}


# The kernel matrix


def kernel_matrix(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """K by class; of many samples, evenly chosen ones."""
    problem = seen.problem
    strength = np.zeros(problem.n)
    if seen.point is not None and seen.point.beta is not None:
        strength = np.abs(seen.point.beta)
    order = np.lexsort((np.arange(problem.n), -strength, problem.target))
    if problem.task != "classification":
        order = np.lexsort((np.arange(problem.n), np.asarray(problem.X)[:, 0]))
    most = _whole(arguments, "most", MOST_SHOWN, 2, MOST_SHOWN)
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    X = problem.X[order].astype(np.float64)
    K = np.asarray(problem.kernel.cross(X, problem.X, order), dtype=np.float64)
    header = {"low": float(K.min()), "high": float(K.max()), "total": problem.n}
    return header, {"values": K.astype(np.float32), "order": seen.rows[order].astype(np.int32)}


# A path of C


def path(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """Certified fits for a range of C, each from where the last one ended."""
    problem = seen.problem
    if problem.n > MOST_OF_A_PATH:
        raise InvalidInput(
            f"a path is many fits: it is drawn for at most {MOST_OF_A_PATH:,} samples, not {problem.n:,}"
        )
    base = float(problem.C[np.isfinite(problem.C)].max(initial=0.0)) or 1.0
    weight = np.where(np.isfinite(problem.C), problem.C / base, 1.0)
    count = _whole(arguments, "count", FITS, 2, MOST_FITS)
    low, high = _number(arguments, "low", 1e-2), _number(arguments, "high", 1e2)
    if not 0.0 < low < high < np.inf:
        raise InvalidInput(f"the path goes from C={low:g} to {high:g}; it must go up, between 0 and infinity")
    classes = problem.classes
    y = None if problem.task == "novelty" else problem.target
    if classes is not None:
        y = classes[(problem.target > 0).astype(int)]
    given: dict[str, Any] = {"task": problem.task} if problem.task != problem.loss.task else {}
    fits = C_path(
        problem.X,
        y,
        np.geomspace(low, high, count).tolist(),
        tol=PATH_TOL,
        max_time=PATH_SECONDS,
        loss=problem.loss,
        kernel=problem.kernel,
        bias=problem.bias,
        regularizer=problem.regularizer,
        bias_scale=problem.bias_scale,
        sample_weight=weight,
        **given,
    )
    results = fits.results
    certificates = fits.certificates
    signs = problem.target if problem.task == "classification" else 1.0
    z = np.stack([np.asarray(result.decision_function(problem.X), dtype=np.float64) for result in results])
    alpha = np.stack([signs * result.beta for result in results])
    kinds = np.stack([one.kinds.codes for one in certificates]).astype(np.uint8)
    counts = [[one.kinds.counts[kind] for kind in ("candidate", "free", "bound")] for one in certificates]
    arrays = {
        "C": fits.Cs,
        "primal": np.array([one.primal for one in certificates]),
        "dual": np.array([one.dual for one in certificates]),
        "relative_gap": np.array([one.relative_gap for one in certificates]),
        "support": np.array(counts, dtype=np.int32),
        "alpha": seen.spread(alpha),
        "z": seen.spread(z),
        "kinds": seen.spread(kinds, 255),
    }
    if classes is not None:
        arrays["accuracy"] = np.mean((z > 0) == (problem.target > 0), axis=1)
    window = arguments.get("field")
    if window is not None:
        grid, shape = _grid(window, problem.X.shape[1])
        fields = [np.asarray(result.decision_function(grid)).reshape(shape) for result in results]
        arrays["field"] = np.stack(fields).astype(np.float32)
    return {"tol": PATH_TOL, "window": window}, arrays


def _grid(window: Any, d: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """The points of a window, row 0 at y0, and the shape of their values."""
    if not isinstance(window, Mapping) or d > 2:
        raise InvalidInput("a field is a window {x0, x1, y0, y1, nx, ny} of the plane")
    x0, x1, y0, y1 = (_number(window, key, 0.0) for key in ("x0", "x1", "y0", "y1"))
    nx, ny = (_whole(window, key, GRID, 2, MOST_FIELD) for key in ("nx", "ny"))
    x = np.linspace(x0, x1, nx)
    if d == 1:
        return x[:, None], (nx,)
    plane = np.stack(np.meshgrid(x, np.linspace(y0, y1, ny)), axis=-1)
    return plane.reshape(-1, 2), (ny, nx)


# One update


def step(seen: Seen, arguments: Mapping[str, Any]) -> Answer:
    """The dual along the one or two variables that the last update moved."""
    problem, point = seen.problem, seen.needed()
    event, form = point.event, problem.form
    if event is None:
        raise InvalidInput("this iterate has no single update: choose a solver with grain=1")
    quadratic = form is not None and problem.regularizer.quadratic
    if form is None or not quadratic or len(event.indices) > 2 or not np.isfinite(event.gain):
        raise InvalidInput("this update does not climb the dual along one line")
    moved = np.array(event.indices)
    direction = np.array([1.0, -1.0])[: len(moved)]
    before = np.array(event.before)
    raw = point.raw if point.raw is not None else point.beta
    assert raw is not None
    beta = raw.copy()
    beta[moved] = before
    K = np.asarray(problem.kernel.cross(problem.X[moved].astype(np.float64), problem.X, moved), dtype=np.float64)
    K = K + problem.space.constant**2
    curvature = float(direction @ (K + np.diag(form.ridge[moved])) @ direction)
    support = np.flatnonzero(beta)
    rows = problem.kernel.cross(problem.X[moved].astype(np.float64), problem.X, support) + problem.space.constant**2
    scores = np.asarray(rows @ beta[support], dtype=np.float64)
    slope = float(direction @ (form.target[moved] - scores - form.ridge[moved] * before))
    ends = np.stack([(form.lower[moved] - before) * direction, (form.upper[moved] - before) * direction])
    header = {
        "indices": seen.rows[moved].tolist(),
        "before": before.tolist(),
        "after": list(event.after),
        "unclipped": event.unclipped,
        "slope": slope,
        "curvature": curvature,
        "lower": form.lower[moved].tolist(),
        "upper": form.upper[moved].tolist(),
        "tube": form.tube[moved].tolist(),
        "signs": problem.target[moved].tolist() if problem.task == "classification" else [1.0] * len(moved),
        "low": float(ends.min(axis=0).max()),
        "high": float(ends.max(axis=0).min()),
    }
    return header, {}


def _number(arguments: Mapping[str, Any], key: str, default: float) -> float:
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InvalidInput(f"{key} is {value!r}; it must be a finite number")
    return float(value)


def _whole(arguments: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{key} is {value!r}; it must be a whole number from {least} to {most}")
    return value


VIEWS: dict[str, Callable[[Seen, Mapping[str, Any]], Answer]] = {
    "hulls": hulls,
    "landscape": landscape,
    "track": track,
    "kernel": kernel_matrix,
    "path": path,
    "step": step,
}
