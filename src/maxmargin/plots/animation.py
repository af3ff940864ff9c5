"""`animate`: the hyperplane, its margins and the support vectors over the iterations, beside the gap as it closes.

1. Choose moments of the run, and compute what is to be seen at each of them (`moments`).
2. Draw moment after moment on one figure.
3. Write the pictures as a GIF or an MP4; the end is held.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import NARROW, Display
from maxmargin.plots.levels import draw_levels, draw_shading, level_handles, update_shading
from maxmargin.plots.moments import Moment, Scene, moments_of, scene_of
from maxmargin.plots.plane import Plane, box_around, choose_plane
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles, weight_handles
from maxmargin.plots.runs import NOISE, above_floor
from maxmargin.plots.style import BLACK, BLUE, legend, message, shape_of, styled, title, whole_numbers
from maxmargin.plots.subject import Subject, by_kind, describe, proved, subject_of
from maxmargin.plots.vectors import LINES
from maxmargin.result import Result

#: Points of the grid along each side; a moving picture needs fewer than one that stands still.
RESOLUTION = 100
#: The share of the time for which the end is held, and the longest time for any other frame, in seconds.
HELD, LONGEST = 0.2, 1.0


@dataclass(frozen=True, eq=False, repr=False)
class AnimationDisplay(Display):
    """An animation: its scenes in order, how long each is shown, and the figure, which stands at the last one."""

    scenes: tuple[Scene, ...]
    #: Seconds that each scene is shown.
    durations: tuple[float, ...]
    plane: Plane
    #: The middles of the grid of each scene's values.
    x: np.ndarray
    y: np.ndarray
    #: Pictures a second, where a format has them at equal times.
    fps: int
    path: Path | None
    stage: Stage

    def draw(self, number: int) -> None:
        """Show one of the scenes on the figure."""
        self.stage.show(self.scenes[number])

    def save(self, path: str | Path, dpi: float = 100.0) -> Path:
        """Write the animation; the ending of the name says how: .gif, or .mp4 where ffmpeg is installed."""
        path = Path(path)
        _check_ending(path)
        if path.suffix.lower() == ".mp4":
            self._write_mp4(path, dpi)
        else:
            self._write_gif(path, dpi)
        return path

    def _write_gif(self, target: Any, dpi: float) -> None:
        pictures = list(self._pictures(dpi))
        # One palette for all frames, from a few of them: nothing flickers, and only what moves is stored.
        few = [np.asarray(pictures[k]) for k in np.unique(np.linspace(0, len(pictures) - 1, 6).astype(int))]
        palette = Image.fromarray(np.vstack(few)).quantize(255)
        frames = [_in_palette(picture, palette) for picture in pictures]
        # The format counts in hundredths of a second.
        times = [max(20, 10 * round(100 * seconds)) for seconds in self.durations]
        frames[0].save(target, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)

    def _write_mp4(self, path: Path, dpi: float) -> None:
        from matplotlib.animation import FFMpegWriter

        writer = FFMpegWriter(fps=self.fps)
        with writer.saving(self.figure, str(path), dpi):
            for number, seconds in enumerate(self.durations):
                self.draw(number)
                for _ in range(max(1, round(seconds * self.fps))):
                    writer.grab_frame()

    def _pictures(self, dpi: float) -> Iterator[Image.Image]:
        """Draw what stays once, then over a copy of it what changes: ten times as fast as drawing all again."""
        self.figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(self.figure)
        self.draw(0)  # from here on the canvas knows what moves, and leaves it out
        canvas.draw()
        background = canvas.copy_from_bbox(self.figure.bbox)
        for number in range(len(self.scenes)):
            self.draw(number)
            canvas.restore_region(background)
            for artist in self.stage.moving():
                artist.draw(canvas.get_renderer())
            yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())

    def _repr_html_(self) -> str:
        """The animation in a notebook."""
        stream = BytesIO()
        self._write_gif(stream, 100.0)
        return f'<img alt="animation" src="data:image/gif;base64,{base64.b64encode(stream.getvalue()).decode()}">'


@styled
def animate(
    result: Result,
    path: str | Path | None = None,
    *,
    X: Any = None,
    features: tuple[int, int] | None = None,
    plane: str = "auto",
    seconds: float = 10.0,
    fps: int = 10,
    dpi: float = 100.0,
    columns: int | None = None,
) -> AnimationDisplay:
    """Animate a run: hyperplane, margins and support vectors over the iterations, beside the gap as it closes.

    Parameters
    ----------
    result : Result
        A classification that was solved with ``solve(..., every=1, snapshots=True)``.
    path : str or Path
        Where to write it: a name that ends in .gif, or in .mp4 where ffmpeg is installed. None writes nothing.
    X, features, plane
        As for `boundary`: the rows before a transform, and the view of more than two features.
    seconds : float
        How long the story takes; a run of a few looks is shorter.
    fps : int
        Pictures a second.
    dpi : float
        Pixels per inch; the figure is 9.6 × 5.4 inches.
    columns : int
        1 puts the panels below each other, 4.2 inches wide, for a narrow screen.

    Returns
    -------
    AnimationDisplay
        The scenes with their arrays; `draw(k)` shows one of them on the figure, `save` writes them all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> result = solve(Problem(*toys.separable()), "smo", every=1, snapshots=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "fit.gif")
    ...     shown = plots.animate(result, file, seconds=0.3, dpi=40)
    ...     written = file.stat().st_size > 0
    >>> written
    True
    """
    if not (0 < seconds < np.inf and 0 < fps < np.inf):
        raise InvalidInput(f"seconds is {seconds} and fps is {fps}; both must be finite numbers > 0")
    if columns not in (None, 1, 2):
        raise InvalidInput(f"columns is {columns!r}; it must be 1 or 2, or None for 2")
    if path is not None:
        _check_ending(Path(path))
    subject = subject_of(result, X, None)
    if subject.task == "regression" or subject.X.shape[1] == 1:
        raise InvalidInput("animate shows a hyperplane in a plane: a regression or a single feature has none")
    moments = moments_of(result, max(1, round(fps * seconds * (1.0 - HELD)) - 1))
    view = choose_plane(subject, features, plane)
    stage = Stage(result, subject, view, columns)
    if result.point.answer:  # the margin of its result means nothing on the way to it
        subject = replace(subject, margin=0.0)
    x, y = stage.x, stage.y
    scenes = tuple(scene_of(result.problem, subject, view, stage.box, x, y, moment) for moment in moments)
    each = min(LONGEST, seconds * (1.0 - HELD) / max(1, len(scenes) - 1))
    durations = (*[each] * (len(scenes) - 1), seconds * HELD)
    where = None if path is None else Path(path)
    display = AnimationDisplay(stage.figure, stage.axes, scenes, durations, view, x, y, fps, where, stage)
    if where is None:
        display.draw(len(scenes) - 1)
    else:
        display.save(where, dpi)
    return display


class Stage:
    """The figure of an animation: what stays, and what changes from scene to scene."""

    def __init__(self, result: Result, subject: Subject, plane: Plane, columns: int | None = None) -> None:
        self.result, self.subject = result, subject
        if columns == 1:
            self.figure = Figure(figsize=(NARROW, 8.8), layout="constrained")
            cells = self.figure.add_gridspec(3, 1, height_ratios=(2.0, 1.0, 1.0))
            places = [cells[0], cells[1], cells[2]]
        else:
            self.figure = Figure(figsize=(9.6, 5.4), layout="constrained")
            cells = self.figure.add_gridspec(2, 2, width_ratios=(1.45, 1.0))
            places = [cells[:, 0], cells[0, 1], cells[1, 1]]
        self.axes: tuple[Axes, ...] = tuple(self.figure.add_subplot(place) for place in places)
        self.gap_name, self.gap, self.counts = _courses(result)
        # Words and legend first, without any number that changes: the room they leave is the same for all scenes.
        ax = self.axes[0]
        # Only at the end is w the one that the plane of w was made for.
        note = f"plane of the final w in {subject.X.shape[1]} features" if plane.note and plane.faithful else plane.note
        self.drawn, some = choose_points(subject.codes, subject.kinds)
        self.heading = [describe(result), note, some]
        title(ax, "iteration 0", self.heading)
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
        shown = (0.0,) if result.point.answer else subject.levels
        levels = level_handles({level: [np.zeros((2, 2))] for level in shown}, subject.margins)
        counts = [Line2D([], [], label=f"count: {name}", **look) for name, look, _ in self.counts]
        # A run that ends in a proof of non-separability has support vectors on its way there.
        on_the_way: dict[str, np.ndarray] = {}
        if result.certificate.inseparable is not None:
            ends = {"uncorrected": np.zeros(0, int), "corrected": np.zeros(0, int)}
            on_the_way = ends if result.point.answer else by_kind(result.certificate.kinds)
        kinds = [
            *kind_handles({**on_the_way, **subject.kinds}, counted=False),
            *weight_handles(subject.weight, subject.weight_name, counted=False),
        ]
        legend(self.axes, [class_handles(subject.classes, subject.codes), levels, kinds, counts], own=True)
        self._prepare_curves()
        self.positions = plane.coordinates(subject.X)
        left, right, bottom, top = box_around(self.positions)
        ax.set(xlim=(left, right), ylim=(bottom, top))
        self.box = box_around(self.positions, shape_of(ax))
        self.figure.set_layout_engine("none")  # from here on nothing may move but the scene
        self.x, self.y = np.linspace(*self.box[:2], RESOLUTION), np.linspace(*self.box[2:], RESOLUTION)
        self.image = draw_shading(ax, unit=subject.unit)
        ax.set(xlim=self.box[:2], ylim=self.box[2:])
        self.changing: list[Artist] = []
        self.words = title(ax, "", self.heading)

    def _prepare_curves(self) -> None:
        """The axes of gap and counts, at their final limits from the start."""
        trace = self.result.trace
        _, above, below = self.axes
        accuracy = self.gap_name == "training accuracy"
        self.gap, floor = (self.gap, "") if accuracy else _on_a_log_axis(self.gap)
        self.iterations = trace["iteration"]
        first, last = float(self.iterations[0]), float(max(self.iterations[-1], self.iterations[0] + 1))
        finite = self.gap[np.isfinite(self.gap)]
        if accuracy:
            above.set(ylabel="accuracy", ylim=(min(0.5, float(finite.min(initial=1.0))), 1.03))
        else:
            above.set(yscale="log", ylabel="relative gap")
            if finite.size:
                above.set_ylim(finite.min() / 2.0, finite.max() * 2.0)
        most = max(float(values.max(initial=1.0)) for _, _, values in self.counts)
        unit = "corrections" if accuracy else "support vectors"
        below.set(ylabel=unit, ylim=(0.0, 1.08 * max(1.0, most)), xlabel="iterations")
        whole_numbers(below.yaxis)
        # The frames are chosen so that the curves grow evenly on a logarithmic axis; the last dot needs some room.
        wide = first > 0 and last / first > 20.0
        for ax in (above, below):
            if wide:
                ax.set_xscale("log")
            else:
                whole_numbers(ax.xaxis)
            ax.set_xlim(first, last * (last / first) ** 0.03 if wide else last + 0.03 * (last - first))
        title(above, self.gap_name, [floor])
        title(below, "corrections so far" if accuracy else "number of support vectors")
        if not finite.size:
            message(above, "the gap is infinite throughout")
        (self.gap_line,) = above.plot([], [], color=BLUE)
        (self.gap_dot,) = above.plot([], [], "o", color=BLACK, markersize=6, clip_on=False)
        looks = [look for _, look, _ in self.counts]
        self.count_lines = [below.plot([], [], **{**look, "marker": None})[0] for look in looks]
        self.count_dots = [below.plot([], [], **{**look, "linestyle": "none"}, clip_on=False)[0] for look in looks]
        for dot in (self.gap_dot, *self.count_dots):
            dot.set_in_layout(False)  # a line without points, and not clipped, has no size that a layout could use

    @styled
    def show(self, scene: Scene) -> None:
        """Put a scene on the figure in place of the one before."""
        moment, subject = scene.moment, self.subject
        ax = self.axes[0]
        for artist in self.changing:
            artist.remove()
        update_shading(self.image, self.x, self.y, scene.values)
        self.changing = [
            *draw_levels(ax, scene.lines).values(),
            *draw_points(ax, self.positions, subject.codes, moment.kinds, self.drawn, moment.weight),
        ]
        when = f"iteration {moment.iteration:,}"
        when = when if moment.snapshot is not None else f"result ({when})"
        title(ax, f"{when}: {self._said(moment)}", self.heading)
        seen = slice(0, moment.looks)
        self.gap_line.set_data(self.iterations[seen], self.gap[seen])
        self.gap_dot.set_data(self.iterations[seen][-1:], self.gap[seen][-1:])
        for line, dot, (_, _, values) in zip(self.count_lines, self.count_dots, self.counts, strict=True):
            line.set_data(self.iterations[seen], values[seen])
            dot.set_data(self.iterations[seen][-1:], values[seen][-1:])
        # A drawing of the canvas leaves out what moves; a saved figure has everything.
        for artist in self.moving():
            artist.set_animated(True)

    def _said(self, moment: Moment) -> str:
        """What the title says of a moment."""
        if moment.snapshot is None and self.result.certificate.inseparable is not None:
            return "no hyperplane separates"
        if self.result.point.answer:
            return f"{int(moment.weight.sum()):,} corrections"
        return proved(moment.relative_gap)

    def moving(self) -> list[Artist]:
        """What differs from scene to scene, in the order of drawing, with the axes' lines that it may have covered."""
        scene = sorted([self.image, *self.changing], key=lambda artist: artist.get_zorder())
        curves = [self.gap_line, *self.count_lines, self.gap_dot, *self.count_dots]
        spines = [ax.spines[side] for ax in self.axes for side in ("left", "bottom")]
        return [*scene, *spines, *curves, self.words]


def _courses(result: Result) -> tuple[str, np.ndarray, list[tuple[str, dict[str, Any], np.ndarray]]]:
    """The curve of the upper panel with its name, and those of the lower one: name, look and values."""
    trace = result.trace
    if result.point.answer:  # a perceptron minimises no gap and has no support vectors: it counts corrections
        counts = np.array([np.abs(snapshot.raw_beta).sum() for snapshot in trace.snapshots])
        return "training accuracy", trace["accuracy"], [("corrections", LINES[0][2], counts)]
    return "relative gap", trace["relative_gap"], [(name, look, trace[column]) for name, column, look in LINES]


def _on_a_log_axis(gap: np.ndarray) -> tuple[np.ndarray, str]:
    (lifted,), floor = above_floor([np.where(np.isfinite(gap), gap, np.nan)], NOISE)
    return lifted, floor


def _in_palette(picture: Image.Image, palette: Image.Image) -> Image.Image:
    """The picture in at most 255 colours and white, which is kept: the paper must not be a shade off the page."""
    frame = np.array(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    frame[(np.asarray(picture) == 255).all(axis=-1)] = 255
    colours = np.full((256, 3), 255, dtype=np.uint8)
    known = np.array(palette.getpalette(), dtype=np.uint8).reshape(-1, 3)[:255]
    colours[: len(known)] = known
    image = Image.fromarray(frame)
    image.putpalette(colours.tobytes())
    return image


def _check_ending(path: Path) -> None:
    """Refuse a format that cannot be written, before any work is done."""
    ending = path.suffix.lower()
    if ending not in (".gif", ".mp4"):
        raise InvalidInput(f"the name of an animation must end in .gif or .mp4; {path.name!r} does not")
    if ending == ".mp4":
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise InvalidInput("an MP4 needs ffmpeg, which is not installed; install it, or end the name in .gif")
