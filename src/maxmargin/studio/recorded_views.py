"""The linked views of a run for a tape: what the page would ask for, asked beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import MaxMarginError
from maxmargin.studio.views import Seen, view

if TYPE_CHECKING:
    from maxmargin.studio.running import Running

#: Views of the problem alone, and what they are asked.
OF_THE_PROBLEM: dict[str, dict[str, Any]] = {
    "kernel": {"most": 120},
    "landscape": {},
    "path": {"count": 13, "low": 1e-3, "high": 1e3},
}
#: Views of each frame.
OF_A_FRAME = ("hulls", "step")
#: Points of the fields of a path along each side.
FIELD = 40
#: How much wider than high a picture may be.
WIDEST = 1.7

Add = Callable[[Mapping[str, np.ndarray]], dict[str, Any]]


def views_of_problem(run: Running, place: int, window: Mapping[str, float], add: Add) -> list[dict[str, Any]]:
    """The views of a machine's problem; a view that refuses it is recorded with its sentence."""
    machine, count = run.setting.machines[place], run.setting.n
    field = {**_roomy(window), "nx": FIELD, "ny": FIELD}
    told = []
    for name, arguments in OF_THE_PROBLEM.items():
        more = {"field": field} if name == "path" else {}
        told.append(_recorded(name, Seen(machine.problem, machine.rows, count), {**arguments, **more}, add))
    return told


def views_of_run(run: Running, place: int, chosen: Sequence[int], add: Add) -> list[dict[str, Any]]:
    """The views of the chosen frames, each with its `index` on the tape, and the track through them."""
    machine, count = run.setting.machines[place], run.setting.n
    track = [run.recordings[place].frames[index].point for index in chosen]

    def seen() -> Iterator[Seen]:
        return (Seen(machine.problem, machine.rows, count, point) for point in track)

    told = []
    for name in OF_A_FRAME:
        of_frames = [{**_recorded(name, one, {}, add), "index": index} for index, one in enumerate(seen())]
        # One refusal of all frames alike is told once.
        alike = all("error" in one for one in of_frames) and len({one["error"] for one in of_frames}) == 1
        told += [{"name": name, "error": of_frames[0]["error"]}] if alike else of_frames
    return [*told, _recorded("track", Seen(machine.problem, machine.rows, count, track[-1], track), {}, add)]


def _roomy(window: Mapping[str, float]) -> dict[str, float]:
    """A window that is wide and high enough for a picture of any usual shape."""
    wide, high = window["x1"] - window["x0"], window["y1"] - window["y0"]
    more_x, more_y = (
        0.5 * (max(1.15 * one, WIDEST * other) - one) for one, other in ((wide, high), (high, 0.6 * wide))
    )
    return {
        "x0": window["x0"] - more_x,
        "x1": window["x1"] + more_x,
        "y0": window["y0"] - more_y,
        "y1": window["y1"] + more_y,
    }


def _recorded(name: str, seen: Seen, arguments: Mapping[str, Any], add: Add) -> dict[str, Any]:
    try:
        header, arrays = view(seen, name, arguments)
    except MaxMarginError as error:
        return {"name": name, "error": str(error)}
    return {"name": name, **header, "arrays": add(_single(arrays))}


def _single(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays in single precision, as all of a tape's."""
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in arrays.items()}
