"""kill -9 and --resume: always the same model as an uninterrupted run, bit for bit, and never a corrupt file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from maxmargin.cli import options
from maxmargin.data import Data, write
from maxmargin.models import archive, load
from maxmargin.training.budget import Budget

pytestmark = pytest.mark.compiled

#: Short segments, so that there are many.
OPTIONS = ["--kernel", "rbf", "--bias", "augmented", "--solver", "coordinate-ascent", "-C", "10", "--tol", "1e-7"]
OPTIONS += ["--checkpoint-work", "0.01", "--quiet"]


def run(folder, *more, wait=True):
    code = "from maxmargin.cli import main; main()"
    command = [sys.executable, "-c", code, "train", "data.svm", *OPTIONS, "--checkpoint", "state", *more]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background is born deaf to Ctrl-C, and so are its children; a test must not depend on that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    if not wait:
        return process
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return process


def begun(folder, process):
    """Wait until the training has begun: its first, empty checkpoint is there."""
    while not (folder / "state").exists() and process.poll() is None:
        time.sleep(0.01)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A data file, the model of an uninterrupted run, and how long that took."""
    folder = tmp_path_factory.mktemp("checkpoint")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400) > 0, 1, -1)
    write(folder / "data.svm", Data(X, y))
    run(folder, "-o", "warm.mm")  # compiles
    (folder / "state").unlink()
    process = run(folder, "-o", "whole.mm", wait=False)
    begun(folder, process)
    began = time.monotonic()
    process.communicate()
    seconds = time.monotonic() - began
    document, _ = archive.read(folder / "state", "checkpoint", 2)
    assert len(document["done"]) == 1
    return folder, (folder / "whole.mm").read_bytes(), seconds


def killed_and_resumed(folder, moments, seconds, seed):
    rng = random.Random(seed)
    interrupted = 0
    for _ in range(moments):
        (folder / "state").unlink(missing_ok=True)
        (folder / "model.mm").unlink(missing_ok=True)
        process = run(folder, "-o", "model.mm", wait=False)
        if rng.random() < 0.8:  # else it may not even have begun
            begun(folder, process)
        time.sleep(seconds * rng.uniform(0.0, 1.0))
        interrupted += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if (folder / "state").exists():
            archive.read(folder / "state", "checkpoint", 2)  # whole, whatever the moment
        run(folder, "-o", "model.mm", "--resume")
        assert (folder / "model.mm").read_bytes() == (folder / "whole.mm").read_bytes()
    assert not list(folder.glob("*.part"))
    return interrupted


def test_killed_at_a_few_moments(trained):
    folder, _, seconds = trained
    assert killed_and_resumed(folder, 3, seconds, seed=1) >= 1


@pytest.mark.slow
def test_killed_at_twenty_moments(trained):
    folder, _, seconds = trained
    assert killed_and_resumed(folder, 20, seconds, seed=2) >= 10


def test_stopped_after_every_leg_and_resumed(trained, monkeypatch):
    """In this process: break off after each segment in turn, go on, and compare."""
    from maxmargin.data import read
    from maxmargin.kernels import RBF
    from maxmargin.losses.hinge import Hinge
    from maxmargin.training import checkpoint
    from maxmargin.training.budget import Budget
    from maxmargin.training.fit import fit
    from maxmargin.training.recipe import Recipe

    folder, _, _ = trained
    data = read(folder / "data.svm")
    data = Data(data.X, np.arange(data.n) % 3, source="three classes")  # several machines, one after the other
    recipe = Recipe(Hinge(), RBF(0.5), bias="augmented", solver="coordinate-ascent", tol=1e-3)

    def budget(resume):
        return Budget(checkpoint=str(folder / "segments"), resume=resume, work=1e6)

    whole = fit(data, recipe, budget=budget(False))
    save, saves = checkpoint.Checkpoint.save, 0

    class Killed(BaseException):
        pass

    def counted(self):
        nonlocal saves
        save(self)
        saves += 1
        if saves % 2 == 0:
            raise Killed

    monkeypatch.setattr(checkpoint.Checkpoint, "save", counted)
    resume, resumed = False, None
    while resumed is None:
        try:
            resumed = fit(data, recipe, budget=budget(resume))
        except Killed:
            resume = True
    assert saves > 6
    assert resumed.model.coef.tobytes() == whole.model.coef.tobytes()
    assert resumed.model.b.tobytes() == whole.model.b.tobytes()
    for one, other in zip(resumed.solved, whole.solved, strict=True):
        assert one.beta.tobytes() == other.beta.tobytes() and one.status == other.status
        assert one.iterations == other.iterations


@pytest.mark.parametrize("options", [["--loss", "one-class", "--kernel", "rbf"], ["--loss", "least-squares"]])
def test_any_task_has_checkpoints(options, files, tmp_path, command):
    name = "values.csv" if "least-squares" in options else "two.svm"
    for more in ([], ["--resume"]):  # a checkpoint of a training that is over gives the model again
        ended = command(
            "train", files / name, *options, "--checkpoint", tmp_path / "state", "-o", tmp_path / "model.mm", *more
        )
        assert ended.status == 0, ended.err
        assert "proved" in ended.out
    assert command("check", tmp_path / "model.mm", files / name).status == 0


def test_a_checkpoint_of_another_training_is_refused(trained, command, monkeypatch):
    folder, _, _ = trained
    monkeypatch.chdir(folder)
    run(folder, "--overwrite")
    ended = command("train", "data.svm", *OPTIONS, "-C", "31", "--checkpoint", "state", "--resume")
    assert ended.status == 1
    assert "belongs to another training" in ended.err


def reached(folder, process, segments):
    """Wait until so many segments have been run."""
    begun(folder, process)
    while process.poll() is None:
        document, _ = archive.read(folder / "state", "checkpoint", 2)
        if document["state"] is not None and document["state"]["segment"] >= segments:
            return
        time.sleep(0.01)


def test_ctrl_c_keeps_the_best_so_far(trained):
    folder, _, _ = trained
    (folder / "state").unlink(missing_ok=True)
    process = run(folder, "-o", "stopped.mm", "--tol", "0", wait=False)
    reached(folder, process, segments=2)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert err == ""
    assert process.returncode == 130
    assert "not proved: interrupted" in out
    assert 0 < load(folder / "stopped.mm").training.proofs[0].relative_gap < np.inf


def interrupted(folder, wait):
    """Send Ctrl-C after a wait: "nothing", "kept" or "done". It must be told, and nothing else may be there."""
    for file in ("state", "stopped.mm"):
        (folder / file).unlink(missing_ok=True)
    before = {file.name for file in folder.iterdir()}
    process = run(folder, "-o", "stopped.mm", "--tol", "0", wait=False)
    wait(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    found = "nothing" if "relative" not in out else "kept" if "not proved: interrupted" in out else "done"
    assert process.returncode == (0 if found == "done" else 130), err
    assert err == ("maxmargin: interrupted\n" if found == "nothing" else "")
    made = {file.name for file in folder.iterdir()} - before - {"state"}
    assert made == (set() if found == "nothing" else {"stopped.mm"})
    if made:
        load(folder / "stopped.mm")
    return found


def test_ctrl_c_at_some_moments(trained):
    folder, _, _ = trained
    assert interrupted(folder, lambda process: time.sleep(0.2)) in ("nothing", "kept")
    assert interrupted(folder, lambda process: begun(folder, process)) == "kept"


def test_a_ctrl_c_that_a_library_swallowed_still_ends_the_training(monkeypatch):
    monkeypatch.setattr(options, "pressed", [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt), options.stopping(Budget()):
        pytest.fail("the training has begun")


@pytest.mark.slow
def test_ctrl_c_at_forty_moments(trained):
    folder, _, _ = trained
    rng = random.Random(3)
    moments = [rng.uniform(0.1, 2.0) for _ in range(40)]
    found = [interrupted(folder, lambda process, moment=moment: time.sleep(moment)) for moment in moments]
    assert {"nothing", "kept"} <= set(found)
