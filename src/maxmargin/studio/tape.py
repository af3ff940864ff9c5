"""A tape: recorded frames of a run in one HTML file, with the page's own views and no Python behind it."""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Mapping
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.result import Result
from maxmargin.studio.bundle import PAGE, bundled
from maxmargin.studio.catalog import algorithm, catalog
from maxmargin.studio.field import Fields, Grid, grid_of
from maxmargin.studio.frames import joined, laid_out
from maxmargin.studio.problems import setting_of
from maxmargin.studio.recorded_views import views_of_problem, views_of_run
from maxmargin.studio.recording import played
from maxmargin.studio.running import Running
from maxmargin.studio.shown import PARTS
from maxmargin.studio.shown import shown as shown_of

#: Frames of a run on a tape, and points of its fields along each side.
FRAMES, FIELD = 150, 40
#: The same for a tape that is one of the figures of a page.
FIGURE_FRAMES, FIGURE_FIELD = 80, 32
#: Width over height of the planes on a wide and on a narrow screen.
WIDEST, NARROWEST = 1.4, 1.0


class _Payload:
    """Arrays one behind the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Where each of these arrays is."""
        told, raw = laid_out(arrays, self.size)
        self.parts.append(raw)
        self.size += len(raw)
        return told


def tape_of(result: Result, title: str, seconds: float = math.inf) -> bytes:
    """The tape of a run that was made by ``solve(..., every=1, snapshots=True)``; see `played`."""
    setting = setting_of(result.problem)
    run = Running(setting, "p0", [played(result, seconds)], Fields(setting), _options(result.solver), 0)
    return tape([run], 0, title, {}, FIGURE_FRAMES, FIGURE_FIELD)


def _options(solver: Any) -> dict[str, Any]:
    """The fields of a solver that are not as they are by default."""
    told = {one.name: (getattr(solver, one.name), one.default) for one in fields(solver)}
    return {name: value for name, (value, default) in told.items() if value != default and not callable(value)}


def tape(
    runs: list[Running],
    place: int,
    title: str,
    command: Mapping[str, Any],
    frames: int = FRAMES,
    points: int = FIELD,
) -> bytes:
    """The file: one machine of runs on the same points; at most so many frames of each, and points along a field."""
    first = runs[0]
    if any(len(run.setting.machines) <= place or not run.frames for run in runs):
        raise InvalidInput("a run of the tape has no frame of this machine yet; step it first")
    if any(not np.array_equal(run.setting.X, first.setting.X) for run in runs):
        raise InvalidInput("the runs of a tape must be on the same points")
    payload = _Payload()
    grid = grid_of(command) or _window(first, points)
    window = {name: getattr(grid, name) for name in ("x0", "x1", "y0", "y1", "nx", "ny")}
    told = {
        "version": 1,
        "title": title,
        "hello": _hello(runs),
        **_points(first, payload),
        "window": window,
        "machine": place,
        "views": views_of_problem(first, place, window, payload.add),
        "runs": [_run(run, place, grid, payload, frames) for run in runs],
    }
    return page(title, joined(told, b"".join(payload.parts))).encode()


def page(title: str, recorded: bytes) -> str:
    """The tape as one HTML document; what it carries is compressed, so that no text of it can be markup."""
    style = (PAGE / "style.css").read_text(encoding="utf-8").replace("</", "<\\/")
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    needed = '<noscript><p class="loading">This recorded run can be played where scripts are allowed.</p></noscript>'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>\n{style}\n</style>\n</head>\n'
        f'<body>\n<main id="studio">{needed}</main>\n'
        f'<script type="text/plain" id="tape">{_compressed(recorded)}</script>\n'
        f'<script type="text/plain" id="code">{_compressed(bundled("tape.js").encode())}</script>\n'
        f'<script type="module">\n{bundled("loader.js")}</script>\n</body>\n</html>\n'
    )


def _compressed(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


def _hello(runs: list[Running]) -> dict[str, Any]:
    """What there is, but only those solvers that the tape has."""
    used = {one.solver.name for run in runs for one in run.recordings}
    whole = catalog()
    return {**whole, "solvers": [one for one in whole["solvers"] if one["name"] in used]}


def _points(run: Running, payload: _Payload) -> dict[str, Any]:
    setting = run.setting
    header, arrays = setting.told()
    arrays = {**arrays, "X": setting.X, "y": setting.y}
    points = {"task": setting.task, "labels": setting.labels, "names": None, "note": setting.note}
    return {"points": points, "problem": {**header, "arrays": payload.add(arrays)}}


def _run(run: Running, place: int, grid: Grid, payload: _Payload, most: int) -> dict[str, Any]:
    recording = run.recordings[place]
    count = len(recording.frames)
    # All of a short run. Of a long one the first frames are worth more, so they are taken closer together.
    places = np.arange(count) if count <= most else np.round(np.geomspace(1.0, count, most)).astype(int) - 1
    chosen = np.unique(places)
    alone = len(run.recordings) == 1
    frames = []
    for position, index in enumerate(chosen):
        header, arrays = shown_of(run.setting, place, recording, int(index), PARTS)
        if not (alone and "w" in arrays and run.setting.X.shape[1] == 2):  # the page shades a single hyperplane itself
            points = [one.frames[run.place(k, int(index))].point for k, one in enumerate(run.recordings)]
            arrays |= run.fields.arrays(grid, points)
        single = {name: _single(array) for name, array in arrays.items()}
        about = {
            "solver": recording.solver.name,
            "index": position,
            "frames": len(chosen),
            "machine": place,
            "first": 0,
            "machines": [],
        }
        frames.append({**header, **about, "arrays": payload.add(single)})
    trace = recording.trace(0, count - 1)
    return {
        "solver": recording.solver.name,
        "options": run.options,
        "algorithm": algorithm(recording.pseudocode),
        "places": chosen.tolist(),
        "frames": frames,
        "views": views_of_run(run, place, chosen.tolist(), payload.add),
        "trace": payload.add({"trace": trace})["trace"],
    }


def _single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _window(run: Running, points: int) -> Grid:
    """The points with some room around them."""
    setting = run.setting
    shown = setting.X if setting.X.shape[1] == 2 else np.column_stack([setting.X, setting.y])
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = 0.12 * np.maximum(high - low, 1e-3)
    if setting.X.shape[1] == 2:  # one unit for both axes: the screens that it is shown on differ in their shapes
        width, height = high - low + 2.0 * room
        room += 0.5 * np.maximum(np.array([WIDEST * height - width, width / NARROWEST - height]), 0.0)
    (x0, y0), (x1, y1) = low - room, high + room
    return Grid(float(x0), float(x1), float(y0), float(y1), points, points)
