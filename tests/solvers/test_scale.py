"""Large problems within their memory; run apart (make slow), as they take a minute."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

#: Each program prints the peak memory above the data in MB, and the relative gap. A small run first: what the
#: compiler and the libraries take is not the solver's.
PREAMBLE = """
import gc, numpy as np, scipy.sparse as sp
from maxmargin import Problem, solve
def memory(what):
    return next(int(line.split()[1]) / 1e3 for line in open("/proc/self/status") if line.startswith(what))
def run(X, y, tol, **options):
    if sp.issparse(X):
        small = sp.csr_array((X.data[: X.indptr[400]], X.indices[: X.indptr[400]], X.indptr[:401]), (400, X.shape[1]))
    else:
        small = X[:400].copy()
    solve(Problem(small, y[:400], **options), tol=0.1)
    gc.collect()
    before = memory("VmRSS")
    open("/proc/self/clear_refs", "w").write("5")
    result = solve(Problem(X, y, **options), tol=tol)
    assert result.converged, result.status
    print(memory("VmHWM") - before, result.certificate.relative_gap)
rng = np.random.default_rng(0)
"""


def run(program: str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", PREAMBLE + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    above, gap = map(float, done.stdout.split())
    return above, gap


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")


@needs_proc
def test_a_million_dense_rows_are_not_copied():
    above, gap = run("""
X = rng.standard_normal((1_000_000, 100), dtype=np.float32)
y = np.sign(X @ rng.normal(size=100).astype(np.float32) + 4 * rng.standard_normal(1_000_000, dtype=np.float32))
run(X, y, 1e-3, bias="augmented", C=0.01)
""")
    assert gap <= 1e-3
    assert above <= 100


@needs_proc
def test_a_hundred_thousand_sparse_features():
    above, gap = run("""
n, d, k = 200_000, 100_000, 60
X = sp.csr_array((rng.random(n * k), rng.integers(0, d, n * k, dtype=np.int32), np.arange(0, n * k + 1, k)), (n, d))
X.sum_duplicates()
y = np.sign(X @ rng.normal(size=d) + rng.normal(size=n))
run(X, y, 1e-3, bias="augmented", C=0.1)
""")
    assert gap <= 1e-3
    assert above <= 100


@needs_proc
def test_thirty_thousand_rows_of_a_kernel_within_a_gigabyte():
    above, gap = run("""
X = rng.normal(size=(30_000, 50))
y = np.sign(X @ rng.normal(size=50) + X[:, 0] * X[:, 1] + 2 * rng.normal(size=30_000))
run(X, y, 1e-2, kernel="rbf", cache_bytes=1e9)
""")
    assert gap <= 1e-2
    assert above <= 1000 + 100
