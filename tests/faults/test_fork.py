"""A process forked while another thread fits has no locks of threads that it does not have."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled

CODE = """
import os, signal, sys, threading, time, warnings
import numpy as np
warnings.simplefilter("ignore", DeprecationWarning)
os.environ["MAXMARGIN_THREADS"] = "2"
from maxmargin import Problem, solve
from maxmargin.numeric.parallel import one_blas_thread, over_blocks

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, 1, -1)
solve(Problem(X, y, kernel="rbf"), tol=1e-3)  # compiles
going = True

def fitting():
    while going:
        solve(Problem(X, y, kernel="rbf"), tol=1e-3)

def locking():
    while going:
        with one_blas_thread():
            pass

threads = [threading.Thread(target=fitting, daemon=True), threading.Thread(target=locking, daemon=True)]
for thread in threads:
    thread.start()
stuck = 0
for k in range(int(sys.argv[1])):
    time.sleep(0.003 * (k % 7))
    child = os.fork()
    if child == 0:
        with one_blas_thread():
            over_blocks(lambda a, b: None, 100, 10)
        solve(Problem(X, y, kernel="rbf"), tol=1e-3)
        os._exit(0)
    until = time.monotonic() + 60
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, status
            break
        if time.monotonic() > until:
            stuck += 1
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.005)
going = False
print("stuck", stuck)
os._exit(0)
"""


@pytest.mark.parametrize("forks", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_children_forked_while_threads_fit(forks):
    ended = subprocess.run([sys.executable, "-c", CODE, str(forks)], capture_output=True, text=True, timeout=3000)
    assert ended.returncode == 0, ended.stderr
    assert "stuck 0" in ended.stdout


def test_a_limit_that_another_thread_wanted_is_lifted_in_the_child():
    code = """
import os, threading
from maxmargin.numeric import parallel
inside, leave = threading.Event(), threading.Event()
def other():
    with parallel.one_blas_thread():
        inside.set(); leave.wait()
thread = threading.Thread(target=other); thread.start(); inside.wait()
with parallel.one_blas_thread():
    child = os.fork()
    if child == 0:
        assert parallel._inside == 1
if child == 0:
    assert parallel._inside == 0 and not parallel._limits
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
leave.set(); thread.join()
assert parallel._inside == 0 and not parallel._limits
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
