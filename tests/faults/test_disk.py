"""A disk that is full at any byte, or fails to synchronise or to rename: one sentence, and nothing is lost."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from maxmargin import files as writing
from maxmargin.data import Data, read, write
from maxmargin.models import archive, load
from tests.cli.conftest import command, files  # noqa: F401 (fixtures)

pytestmark = pytest.mark.compiled


class FullDisk(io.FileIO):
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file, room):
        super().__init__(os.dup(file.fileno()), "wb")
        self.room = room

    def write(self, data):
        if self.room <= 0 and len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = super().write(bytes(data)[: self.room])
        self.room -= done
        return done


@pytest.fixture
def disk(monkeypatch):
    """Limit the room for files of some names: disk(room, name) says how much there is."""
    real = writing._beside

    def limit(room, name=None):
        def beside(final):
            file, part = real(final)
            if name is not None and final.name != name:
                return file, part
            full = io.BufferedWriter(FullDisk(file, room() if callable(room) else room))
            file.close()
            return full, part

        monkeypatch.setattr(writing, "_beside", beside)

    return limit


COMMANDS = {
    "train": ["train", "two.svm", "-o", "out"],
    "train libsvm": ["train", "two.svm", "--kernel", "rbf", "-o", "out.libsvm-model"],
    "train liblinear": ["train", "two.svm", "-o", "out.liblinear-model"],
    "train --trace": ["train", "two.svm", "--trace", "out"],
    "train --report": ["train", "small.svm", "--report", "out"],
    "train --stream": ["train", "two.svm", "--stream", "--bias", "none", "-o", "out"],
    "train --checkpoint": ["train", "two.svm", "--kernel", "rbf", "--checkpoint", "out", "--overwrite"],
    "predict": ["predict", "model", "two.svm", "-o", "out"],
    "predict gz": ["predict", "model", "two.svm", "--decision", "-o", "out.gz"],
    "convert svmlight": ["convert", "two.svm", "out.svm"],
    "convert csv": ["convert", "two.svm", "out.csv"],
    "convert xz": ["convert", "two.svm", "out.csv.xz"],
    "convert zst": ["convert", "two.svm", "out.svm.zst"],
    "convert npy": ["convert", "two.svm", "out.npy"],
    "convert npz": ["convert", "two.svm", "out.npz"],
    "convert parquet": ["convert", "two.svm", "out.parquet"],
    "convert arrow": ["convert", "two.svm", "out.arrow"],
    "convert onnx": ["convert", "model", "out.onnx"],
    "race --csv": ["race", "two.svm", "--solvers", "smo", "--tol", "0.1", "--csv", "out"],
    "race -o": ["race", "two.svm", "--solvers", "smo", "--tol", "0.1", "-o", "out.png"],
}
NEEDS = {"parquet": "pyarrow", "arrow": "pyarrow", "zst": "zstandard", "onnx": "onnx", "-o": "matplotlib"}


@pytest.fixture
def folder(files, tmp_path, monkeypatch, command):  # noqa: F811
    (tmp_path / "two.svm").write_bytes((files / "two.svm").read_bytes())
    (tmp_path / "small.svm").write_bytes(b"".join((files / "two.svm").read_bytes().splitlines(True)[:30]))
    monkeypatch.chdir(tmp_path)
    assert command("train", "two.svm", "-o", "model").status == 0
    return tmp_path


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def full_at(rooms, arguments, folder, command, disk):  # noqa: F811
    """Run a command with each room on the disk, over an old file and without one."""
    out = next(part for part in arguments if str(part).startswith("out"))
    for room in rooms:
        for old in (b"old", None):
            (folder / out).unlink(missing_ok=True)
            if old is not None:
                (folder / out).write_bytes(old)
            before = contents(folder)
            disk(room, out)
            ended = command(*arguments)
            assert ended.status == 1, (room, ended.out, ended.err)
            assert re.fullmatch(r"maxmargin: cannot write \S+: No space left on device[^\n]*\n", ended.err), ended.err
            assert contents(folder) == before, room


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_full_at_some_byte(name, folder, command, disk):  # noqa: F811
    if (package := NEEDS.get(name.split()[-1])) is not None:
        pytest.importorskip(package)
    arguments = COMMANDS[name]
    out = folder / next(part for part in arguments if str(part).startswith("out"))
    assert command(*arguments).status == 0
    size = out.stat().st_size
    # A checkpoint that fails later costs only itself, and the first, empty one is short.
    most = 300 if "--checkpoint" in name else size - 1
    if any(word in name for word in ("race", "--trace", "--report")):  # their sizes vary with the seconds in them
        most = size * 3 // 4
    rooms = [0, most] if "--report" in name else [0, 1, 7, most // 2, most]
    full_at(rooms, arguments, folder, command, disk)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if not set(name.split()) & {"race", "--report", "--trace"}])
def test_a_disk_full_at_many_bytes(name, folder, command, disk):  # noqa: F811
    arguments = COMMANDS[name]
    out = folder / next(part for part in arguments if str(part).startswith("out"))
    assert command(*arguments).status == 0
    size = 300 if "--checkpoint" in name else out.stat().st_size
    full_at(sorted({size * k // 100 for k in range(100)}), arguments, folder, command, disk)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("name", ["train", "predict", "convert csv", "race --csv"])
def test_a_disk_that_fails_at_the_last_moment(step, name, folder, command, monkeypatch):  # noqa: F811
    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    out = folder / next(part for part in COMMANDS[name] if str(part).startswith("out"))
    out.write_bytes(b"old")
    before = contents(folder)
    monkeypatch.setattr(os, step, fail)
    ended = command(*COMMANDS[name])
    assert ended.status == 1 and "Input/output error" in ended.err
    assert contents(folder) == before


def test_the_order_of_a_power_cut(folder, command, monkeypatch):  # noqa: F811
    """The file is on the disk before it has its name, and its name before the command ends."""
    steps = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}

    def fsync(handle):
        target = os.readlink(f"/proc/self/fd/{handle}") if os.path.exists("/proc/self/fd") else "?"
        steps.append(("fsync", os.path.basename(target)))
        real["fsync"](handle)

    def replace(old, new):
        steps.append(("replace", os.path.basename(old), os.path.basename(new)))
        real["replace"](old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    assert command("train", "two.svm", "-o", "out").status == 0
    (first, part), (second, old, new), (third, where) = steps
    assert (first, second, third) == ("fsync", "replace", "fsync")
    if part != "?":
        assert part == old and where == folder.name
    assert new == "out"


# Checkpoints


def test_a_disk_full_while_a_checkpoint_is_written(folder, command, disk, caplog):  # noqa: F811
    options = ["--kernel", "rbf", "--bias", "augmented", "--solver", "coordinate-ascent", "--tol", "1e-6"]
    options += ["-C", "10", "--checkpoint-work", "0.005", "--checkpoint", "state"]
    assert command("train", "two.svm", *options, "-o", "whole").status == 0
    (folder / "state").unlink()
    saves = iter(range(10**9))
    disk(lambda: 10**9 if next(saves) < 3 else 200, "state")
    ended = command("train", "two.svm", *options, "-o", "model")
    assert ended.status == 0, ended.err
    assert "proved" in ended.out
    assert next(saves) > 5
    warnings = [record.getMessage() for record in caplog.records if "training goes on" in record.getMessage()]
    assert len(warnings) == 1 and "No space left" in warnings[0] and "\n" not in warnings[0]
    assert (folder / "model").read_bytes() == (folder / "whole").read_bytes()
    archive.read(folder / "state", "checkpoint", 2)  # the last whole one
    disk(10**9)
    assert command("train", "two.svm", *options, "-o", "resumed", "--resume").status == 0
    assert (folder / "resumed").read_bytes() == (folder / "whole").read_bytes()


# Temporary files


@pytest.mark.parametrize("room", [0, 512, 20_000])
def test_no_room_for_the_cache_of_a_stream(room, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    write(tmp_path / "data.svm", Data(X, np.where(X[:, 0] > 0, 1, -1)))
    code = (
        "import resource, signal\nfrom maxmargin.cli import main\nimport maxmargin.training.stream\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))\nmain()"
    )
    (tmp_path / "temporary").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", code, "train", "data.svm", "--stream", "--bias", "none"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 1, ended.stderr
    where = r" in \S+/temporary" if room else ""  # not even the name of a file has room
    told = rf"maxmargin: the parsed data cannot be kept{where}: [^\n]*set TMPDIR to a folder[^\n]*\n"
    assert re.fullmatch(told, ended.stderr), ended.stderr


# Several at once


def test_two_writers_and_a_reader(tmp_path):
    """Every moment the file is one of the two, whole; whoever wins, nothing else is left behind."""
    code = """
import sys
from maxmargin.files import replacing
path, byte = sys.argv[1], sys.argv[2].encode()
for k in range(60):
    with replacing(path) as file:
        for _ in range(20):
            file.write(byte * 5000)
"""
    path = tmp_path / "file"
    path.write_bytes(b"a" * 100_000)
    writers = [subprocess.Popen([sys.executable, "-c", code, path, byte]) for byte in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        raw = path.read_bytes()
        assert len(raw) == 100_000 and raw == raw[:1] * 100_000
        seen.add(raw[:1])
    assert [writer.wait() for writer in writers] == [0, 0]
    assert seen == {b"a", b"b"}
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_two_trainings_to_the_same_model(folder):
    """Both end well, and the model is that of one of them; a reader meanwhile always finds a whole one."""
    code = "from maxmargin.cli import main; main()"
    commands = [
        [sys.executable, "-c", code, "train", "two.svm", "-C", cost, "-o", "model", "--checkpoint", f"state{cost}"]
        for cost in ("1", "7")
    ]
    processes = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for one in commands]
    while any(process.poll() is None for process in processes):
        load(folder / "model")
    for process in processes:
        assert process.wait() == 0, process.communicate()[0]
    assert load(folder / "model").training.C in (1.0, 7.0)
    assert len(read(folder / "two.svm").y)
    assert not list(folder.glob(".*"))
