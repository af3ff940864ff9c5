"""Fits on a LocalCluster beside one process, pyspark's LinearSVC and dask-ml's LogisticRegression; a round's cost.

    python benchmarks/cluster_peers.py --rows 1000000 --columns 30 --peers PYTHON

PYTHON is an interpreter that has numpy, pyspark (with Java 17 or later) and dask-ml; without it there are our own rows
alone. The data is that of cluster.py. Every fit is judged by the objective in float64 at its coefficients: how far it
is above the best dual. Seconds are those of the fit: data is in memory, clusters and sessions run already.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from cluster import generated

HEAD = "| what | processes | seconds | above the optimum (relative) | passes |"


def objective(X, y, w, b, C: float, loss: str, penalised: bool) -> float:
    """½‖w‖² (+ ½b²) + C Σ loss, in float64."""
    total = 0.5 * float(w @ w) + (0.5 * b * b if penalised else 0.0)
    for first in range(0, len(y), 100_000):
        z = (X[first : first + 100_000].astype(np.float64) @ w + b) * np.where(
            y[first : first + 100_000] > 0, 1.0, -1.0
        )
        total += C * float(np.maximum(0.0, 1.0 - z).sum() if loss == "hinge" else np.logaddexp(0.0, -z).sum())
    return total


def ours(X, y, C: float, loss: str, bias: str, tol: float, workers: int, chunks: int):
    """Coefficients, the certificate, seconds and passes; 0, -1 workers: one process alone, with two threads, one."""
    from maxmargin import Problem, solve

    if workers <= 0:
        os.environ["MAXMARGIN_THREADS"] = "1" if workers else "2"
        solve(Problem(X[:2000], y[:2000], loss=loss, bias=bias, C=C), tol=tol)  # compiled or loaded
        began = perf_counter()
        result = solve(Problem(X, y, loss=loss, bias=bias, C=C), tol=tol)
        return result.w, result.b, result.certificate, perf_counter() - began, 0
    import dask.array as da
    from distributed import Client, LocalCluster

    from maxmargin.dask import solve as solve_on_dask

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        rows = -(-len(y) // chunks)
        dX, dy = da.from_array(X, chunks=(rows, X.shape[1])).persist(), da.from_array(y, chunks=rows).persist()
        client.gather([client.submit(np.shape, part) for part in client.futures_of(dX)])
        options = {"loss": loss, "bias": bias, "C": C, "tol": tol, "client": client}
        solve_on_dask(dX[: 4 * rows], dy[: 4 * rows], **{**options, "tol": 1e-2})  # compiled or loaded
        began = perf_counter()
        found = solve_on_dask(dX, dy, **options)
        seconds = perf_counter() - began
        return found.coef[0], float(found.intercept[0]), found.certificates[0], seconds, found.history[-1].round


def overhead(workers: int, shards: int) -> float:
    """Seconds of a round in which nothing is computed."""
    from distributed import Client, LocalCluster

    from maxmargin.cluster.dask_engine import Dask

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        engine = Dask(client, [client.submit(int, k, pure=False) for k in range(shards)])
        taken = []
        for _ in range(30):
            began = perf_counter()
            engine.map_sum(nothing, np.zeros(30))
            taken.append(perf_counter() - began)
        return float(np.median(taken[5:]))


def nothing(shard, common, own) -> float:
    """A task that computes nothing."""
    return 1.0


SPARK = """
import json, sys, time
import numpy as np
from pyspark.ml.classification import LinearSVC
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession
path, C, n = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
         .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
frame = spark.read.parquet(path)
names = [name for name in frame.columns if name != "label"]
rows = VectorAssembler(inputCols=names, outputCol="features").transform(frame).select("features", "label").cache()
rows.count()
for most in (10, 100):
    machine = LinearSVC(regParam=1.0 / (n * C), standardization=False, maxIter=most, tol=1e-6)
    began = time.perf_counter()
    model = machine.fit(rows)
    print(json.dumps({"what": f"pyspark LinearSVC, maxIter={most}", "seconds": time.perf_counter() - began,
                      "w": model.coefficients.toArray().tolist(), "b": model.intercept}), flush=True)
"""

DASK_ML = """
import json, sys, time
import numpy as np, dask.array as da
from dask.distributed import Client, LocalCluster
from dask_ml.linear_model import LogisticRegression
def main():
    path, C, chunks = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    X, y = np.load(path + "/X.npy"), np.load(path + "/y.npy")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        rows = -(-len(y) // chunks)
        dX, dy = da.from_array(X, chunks=(rows, X.shape[1])).persist(), da.from_array(y, chunks=rows).persist()
        client.gather([client.submit(np.shape, part) for part in client.futures_of(dX)])
        for solver in ("lbfgs", "admm"):
            began = time.perf_counter()
            model = LogisticRegression(C=C, solver=solver, max_iter=100).fit(dX, dy)
            w = np.ravel(model.coef_)
            print(json.dumps({"what": f"dask-ml LogisticRegression, {solver}", "seconds": time.perf_counter() - began,
                              "w": w.tolist(), "b": float(np.ravel(model.intercept_)[0])}), flush=True)
if __name__ == "__main__":
    main()
"""


def peers(python: str, script: str, *arguments: str) -> list[dict]:
    """What a script in another interpreter has found: a line of JSON for each fit."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "peer.py")
        place.write_text(script)
        ended = subprocess.run([python, str(place), *arguments], capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if not found:
        print("peer failed:", ended.stderr[-400:])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--losses", default="hinge,logistic")
    parser.add_argument("--peers", default="")
    given = parser.parse_args()
    X, y = generated(given.rows, given.columns)
    print(f"a round of 8 and of 32 shards, 2 workers: {overhead(2, 8):.4f} s, {overhead(2, 32):.4f} s")
    with tempfile.TemporaryDirectory() as folder:
        if given.peers:
            import pyarrow as pa
            import pyarrow.parquet as pq

            columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
            pq.write_table(
                pa.table({**columns, "label": y.astype(np.float64)}), f"{folder}/data.parquet", row_group_size=100_000
            )
            np.save(f"{folder}/X.npy", X)
            np.save(f"{folder}/y.npy", y)
        for loss in given.losses.split(","):
            bias = "free" if loss == "hinge" else "augmented"  # as the peer has it
            print(
                f"\n{loss}, C = {given.C:g}, bias {bias}, {given.rows} x {given.columns}\n\n{HEAD}\n|" + "---|" * 5,
                flush=True,
            )
            optimum = None
            for workers, tol in ((0, 1e-6), (0, 1e-3), (-1, 1e-3), (1, 1e-3), (2, 1e-3), (2, 1e-6)):
                w, b, proof, seconds, passes = ours(X, y, given.C, loss, bias, tol, workers, given.chunks)
                optimum = proof.dual if optimum is None else max(optimum, proof.dual)
                above = objective(X, y, w, b, given.C, loss, bias == "augmented") / optimum - 1.0
                told = (
                    "on Dask" if workers > 0 else "one process, one thread" if workers else "one process, two threads"
                )
                print(
                    f"| maxmargin {told}, tol {tol:g} | {max(1, workers)} | {seconds:.2f} | {above:.1e} | {passes} |",
                    flush=True,
                )
            if not given.peers:
                continue
            found = (
                peers(given.peers, SPARK, f"{folder}/data.parquet", str(given.C), str(given.rows))
                if loss == "hinge"
                else peers(given.peers, DASK_ML, folder, str(given.C), str(given.chunks))
            )
            for one in found:
                value = objective(X, y, np.array(one["w"]), one["b"], given.C, loss, bias == "augmented")
                print(f"| {one['what']} | 2 | {one['seconds']:.2f} | {value / optimum - 1.0:.1e} | |", flush=True)


if __name__ == "__main__":
    main()
