"""kill -9 at random moments of a training with checkpoints: --resume gives the very bytes of an uninterrupted run.

A process that has everything loaded forks one child for each training, so that hundreds of moments take minutes. The
moments are in processor time, so that a busy machine does not move all of them to the beginning.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from maxmargin.data import Data, write

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(sys.platform != "linux", reason="the processor time of another process is read as on Linux"),
]

OPTIONS = ["--kernel", "rbf", "--bias", "augmented", "--solver", "coordinate-ascent", "-C", "10", "--tol", "1e-7"]
OPTIONS += ["--checkpoint-work", "0.005", "--quiet", "--checkpoint", "state"]

CODE = """
import json, os, random, signal, sys, time
os.environ["MAXMARGIN_THREADS"] = "1"
from maxmargin import cli
from maxmargin.models import archive, load
moments, seed, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])

def begin(*more):
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        sys.argv = ["maxmargin", "train", "data.svm", *options, *more]
        try:
            cli.main()
        except SystemExit as ended:
            os._exit(ended.code or 0)
        os._exit(99)
    return child

def ended(child):
    return os.waitpid(child, 0)[1]

def kill_after(child, seconds):
    clock = (~child << 3) | 2  # Linux: the processor time of another process
    while time.clock_gettime(clock) < seconds and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)

assert ended(begin("-o", "warm.mm", "--overwrite")) == 0  # compiles
_, status, used = os.wait4(begin("-o", "whole.mm", "--overwrite"), 0)
assert status == 0
seconds = used.ru_utime + used.ru_stime
whole = open("whole.mm", "rb").read()
rng = random.Random(seed)
found = {"killed": 0, "with a checkpoint": 0, "half-way": 0}
for _ in range(moments):
    for file in ("state", "model.mm"):
        if os.path.exists(file):
            os.unlink(file)
    child = begin("-o", "model.mm")
    kill_after(child, seconds * rng.uniform(0.0, 1.05))
    found["killed"] += os.WIFSIGNALED(ended(child))
    if os.path.exists("state"):
        document, _ = archive.read("state", "checkpoint", 2)  # whole, whatever the moment
        found["with a checkpoint"] += 1
        found["half-way"] += document["state"] is not None
    if os.path.exists("model.mm"):
        load("model.mm")
    assert ended(begin("-o", "model.mm", "--resume")) == 0
    assert open("model.mm", "rb").read() == whole
    assert not [name for name in os.listdir() if name.endswith(".part")], os.listdir()
print(json.dumps(found))
"""


@pytest.mark.parametrize("moments", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_and_resumed(moments, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400) > 0, 1, -1)
    write(tmp_path / "data.svm", Data(X, y))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, str(moments), str(moments), json.dumps(OPTIONS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["killed"] >= 0.5 * moments and found["half-way"] >= 0.2 * moments, found
