"""Compiled code on a disk that is damaged, full or not writable: it is compiled again, never a reason to fail."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled

#: A few loops of different files.
WORK = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import numpy as np
from maxmargin.numeric.rows import sqnorms_of_rows
from maxmargin.data.svmlight_lines import count
out = np.empty(4)
sqnorms_of_rows(np.arange(12.0).reshape(4, 3), 0, 4, out)
print("answer", out.tolist(), count(np.frombuffer(b"1 1:2\\n", np.uint8), 0, 6))
"""
ANSWER = "answer [5.0, 50.0, 149.0, 302.0] (1, 1)"


def run(folder=None, code=WORK, **more):
    environment = {**os.environ, **({} if folder is None else {"NUMBA_CACHE_DIR": str(folder)})}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, env=environment, **more
    )
    assert ended.returncode == 0, ended.stderr
    assert ANSWER in ended.stdout, ended.stdout
    assert "Traceback" not in ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder with the compiled code of the work above."""
    folder = tmp_path_factory.mktemp("cache") / "good"
    assert "compiling" in run(folder)
    assert "compiling" not in run(folder)
    return folder


def truncated(raw, rng):
    return raw[: rng.randrange(len(raw))]


def flipped(raw, rng):
    at = rng.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


INSIDE = """from maxmargin.numeric.compiled import compiled

LIMIT = {limit}


@compiled
def g(x):
    return {times} * x
"""
OUTSIDE = """from inside import LIMIT, g

from maxmargin.numeric.compiled import compiled


@compiled
def f(x):
    return g(x) + LIMIT


print(f(10))
"""


def test_code_is_compiled_again_when_something_that_it_calls_has_changed(tmp_path):
    """A function of another file, and a constant of one, is a part of the compiled code."""
    (tmp_path / "outside.py").write_text(OUTSIDE)
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}
    found = []
    for limit, times in ((1, 2), (1, 2), (5, 2), (5, 3)):
        (tmp_path / "inside.py").write_text(INSIDE.format(limit=limit, times=times))
        command = [sys.executable, "-B", "-m", "outside"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
        assert ended.returncode == 0, ended.stderr
        found.append(int(ended.stdout))
    assert found == [21, 21, 25, 35]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [truncated, flipped, lambda raw, rng: b""], ids=["truncated", "flipped", "empty"])
def test_damaged_code_is_compiled_again(suffix, damage, cache, tmp_path):
    rng = random.Random(1)
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    for file in folder.rglob(f"*.{suffix}"):
        file.write_bytes(damage(file.read_bytes(), rng))
    assert "compiling again" in run(folder)
    assert "damaged" not in (again := run(folder)) and "compiling" not in again  # it was written anew


def test_nothing_can_be_kept(tmp_path):
    """No place for the cache at all: one warning, and the answers are the same."""
    code = "from numba.core.caching import CacheImpl\nCacheImpl._locator_classes = []\n" + WORK
    assert run(None, code).count("is not kept on disk") == 1


def test_where_only_a_temporary_folder_can_be_written_to(tmp_path, monkeypatch):
    """As in a container: processes share what they compile, and a folder that others can write to is not trusted."""
    code = "from numba.core.caching import CacheImpl as made\n"
    code += "made._locator_classes = [one for one in made._locator_classes if 'UserProvided' in one.__name__]\n"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    first = run(None, code + WORK)
    assert "compiling" in first and f"kept in {tmp_path}" in first
    assert "compiling" not in run(None, code + WORK)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert "is not kept on disk" in run(None, code + WORK)


def test_a_disk_that_is_full_when_the_code_is_saved(tmp_path):
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n" + WORK
    assert run(tmp_path / "cache", code).count("is not kept on disk") == 1
    run(tmp_path / "cache")  # what was left behind does no harm


@pytest.mark.slow
def test_code_just_compiled_and_code_from_the_cache_give_the_same_bits(tmp_path):
    """The loader must not choose between two copies of a function by what the process holds already."""
    code = (
        "from sklearn.datasets import load_breast_cancer\n"
        "from maxmargin import Problem, solve\n"
        "X, y = load_breast_cancer(return_X_y=True)\n"
        "X = ((X - X.mean(axis=0)) / X.std(axis=0))[::3]\n"
        "print(solve(Problem(X, y[::3])).w.tobytes().hex())\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    seen = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
        for _ in range(2)
    ]
    assert seen[0].returncode == seen[1].returncode == 0, seen[0].stderr + seen[1].stderr
    assert seen[0].stdout == seen[1].stdout
