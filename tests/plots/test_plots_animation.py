"""The frames of an animation are the snapshots of the run, and the last is its result."""

from __future__ import annotations

import stat
import sys

import numpy as np
import pytest
from PIL import Image

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.plots.moments import growing_steps

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


@pytest.fixture(scope="module")
def leaving(clouds):
    """A run in which all samples are support vectors at first and few at the end."""
    X, y = clouds(60, 3.0)
    problem = Problem(X, y, C=10.0)
    return solve(problem, solver="gradient-ascent", tol=1e-4, every=1, snapshots=True, max_iter=2000)


def test_frames_match_snapshots(leaving, drawn_lines):
    display = plots.animate(leaving)
    snapshots = leaving.trace.snapshots
    for number, scene in enumerate(display.scenes[:-1]):
        snapshot = snapshots[scene.moment.snapshot]
        assert scene.moment.iteration == snapshot.iteration
        display.draw(number)
        for level, pieces in drawn_lines(display.axes[0]).items():
            for piece in pieces:
                np.testing.assert_allclose(piece @ snapshot.w + snapshot.b, level, atol=1e-9)
        counts = {kind: len(indices) for kind, indices in scene.moment.kinds.items()}
        row = scene.moment.snapshot
        assert counts["free"] + counts["bound"] == leaving.trace["support"][row]
        assert counts["free"] == leaving.trace["free"][row]
        assert scene.moment.relative_gap == leaving.trace["relative_gap"][row]
        curve = display.axes[1].lines[0].get_data()
        np.testing.assert_array_equal(curve[0], leaving.trace["iteration"][: row + 1])
        np.testing.assert_array_equal(curve[1], leaving.trace["relative_gap"][: row + 1])


def test_the_last_frame_is_the_result_and_support_vectors_have_left(leaving, drawn_lines):
    display = plots.animate(leaving)
    last = display.scenes[-1].moment
    assert last.snapshot is None and last.relative_gap == leaving.certificate.relative_gap
    for level, pieces in drawn_lines(display.axes[0]).items():
        np.testing.assert_allclose(np.vstack(pieces) @ leaving.w + leaving.b, level, atol=1e-9)
    first = display.scenes[0].moment.kinds
    assert len(first["free"]) + len(first["bound"]) > 5 * (len(last.kinds["free"]) + len(last.kinds["bound"]))


def test_a_kernel_moves_its_contours(moons, drawn_lines):
    display = plots.animate(moons, seconds=1.0, fps=6)
    snapshot = moons.trace.snapshots[display.scenes[2].moment.snapshot]
    display.draw(2)
    space = moons.problem.space
    rows = np.stack(np.meshgrid(display.x, display.y), axis=-1).reshape(-1, 2)
    z = moons.problem.kernel.block(rows, moons.problem.X) @ snapshot.w + snapshot.b
    np.testing.assert_allclose(display.scenes[2].values.ravel(), z, atol=1e-9)
    assert space.bias(snapshot.w) == pytest.approx(snapshot.b)
    np.testing.assert_allclose(display.scenes[-1].values.ravel(), moons.decision_function(rows), atol=1e-9)


def test_the_gif_tells_it_in_the_time_asked_for(leaving, tmp_path):
    display = plots.animate(leaving, tmp_path / "run.gif", seconds=4, fps=5, dpi=50)
    with Image.open(tmp_path / "run.gif") as image:
        assert image.n_frames == len(display.scenes) <= 16
        assert image.size == (480, 270)
        times = []
        for number in range(image.n_frames):
            image.seek(number)
            times.append(image.info["duration"])
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert sum(times) == pytest.approx(4000, rel=0.05)
    assert times[-1] >= 2 * times[0], "the end is held"
    iterations = [scene.moment.iteration for scene in display.scenes]
    assert iterations[0] == leaving.trace["iteration"][0] and iterations[-1] == leaving.iterations
    assert (np.diff(iterations) > 0).all()


def test_frames_are_drawn_alike_fast_and_slow(leaving, tmp_path):
    """A frame of the film, of which only what moves was drawn, is the figure as it is saved at that moment."""
    display = plots.animate(leaving, seconds=1, fps=5)
    pictures = list(display._pictures(60))
    for number in (0, len(pictures) - 1):
        display.draw(number)
        display.figure.savefig(tmp_path / "still.png", dpi=60)
        with Image.open(tmp_path / "still.png") as still:
            difference = np.abs(np.asarray(still.convert("RGB"), int) - np.asarray(pictures[number], int))
        assert (difference.max(axis=-1) > 60).mean() < 0.002


def test_one_snapshot_and_no_finite_gap(clouds, inseparable, fits, tmp_path):
    X, y = clouds(30, 1.0)
    single = solve(Problem(X, y, C=1.0), solver="qp", every=1, snapshots=True)
    for result in (single, inseparable):
        display = plots.animate(result)
        assert display.scenes[-1].moment.snapshot is None
        fits(display)
        assert display.save(tmp_path / "still.gif", dpi=40).stat().st_size > 1000


def test_more_features_than_two(clouds, fits, drawn_lines):
    X, y = clouds(60, 2.0, d=5)
    result = solve(Problem(X, y, C=1.0), tol=1e-4, every=1, snapshots=True)
    display = plots.animate(result)
    for level, pieces in drawn_lines(display.axes[0]).items():
        rows = display.plane.points(np.vstack(pieces))
        np.testing.assert_allclose(rows @ result.w + result.b, level, atol=1e-8)
    assert "plane of the final w in 5 features" in display.axes[0].get_title(loc="left").replace("\n", " ")
    fits(display)


def test_steps_grow_and_never_repeat():
    for count, most in ((1, 5), (5, 5), (6, 5), (100, 80), (10_000, 79), (3, 1)):
        steps = growing_steps(count, most)
        assert len(steps) == min(count, most) and steps[0] == 0
        assert (np.diff(steps) > 0).all()
        if most > 1:
            assert steps[-1] == count - 1


def test_what_cannot_be_animated_is_refused_in_one_sentence(overlapping, clouds, regression, tmp_path, monkeypatch):
    X, y = clouds(20, 1.0)
    with pytest.raises(InvalidInput, match=r"every=1, snapshots=True"):
        plots.animate(solve(Problem(X, y, C=1.0)))
    with pytest.raises(InvalidInput, match="a regression or a single feature"):
        plots.animate(regression)
    with pytest.raises(InvalidInput, match=r"\.gif or \.mp4"):
        plots.animate(overlapping, tmp_path / "run.avi")
    with pytest.raises(InvalidInput, match="fps is 0"):
        plots.animate(overlapping, fps=0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="needs ffmpeg"):
        plots.animate(overlapping, tmp_path / "run.mp4")
    assert not list(tmp_path.iterdir())


def test_an_mp4_goes_through_ffmpeg(leaving, tmp_path, monkeypatch):
    """A stand-in for ffmpeg writes down how many bytes of pictures it was given."""
    program = tmp_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if '-version' not in sys.argv:\n"
        "    open(sys.argv[-1], 'w').write(str(len(sys.stdin.buffer.read())))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    display = plots.animate(leaving, tmp_path / "run.mp4", seconds=1, fps=5, dpi=50)
    frames = sum(max(1, round(time * 5)) for time in display.durations)
    assert int((tmp_path / "run.mp4").read_text()) == frames * 480 * 270 * 4


def test_a_notebook_shows_it_moving(leaving):
    assert (
        plots.animate(leaving, seconds=0.5, fps=4)._repr_html_().startswith('<img alt="animation" src="data:image/gif')
    )
