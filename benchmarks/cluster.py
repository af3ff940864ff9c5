"""Rounds, bytes and CPU seconds of fits on shards, to several gaps and for several numbers of shards.

    python benchmarks/cluster.py --data tall:1000000x30,covtype_bin --loss hinge,logistic --C 0.01,1,100 --shards 2,8,32
    python benchmarks/cluster.py --data tall:1000000x30 --workers 1,2        # the same on a LocalCluster
    python benchmarks/cluster.py --data imdb_bow --method auto,blocks,cocoa+ --share 0.5 --shards 8,64 --tol 1e-3

Wide data: ``--share`` is what one worker takes of it (1: all), ``--method blocks`` are steps on the shards' own duals
alone, and ``cocoa+`` is the baseline on the same rounds: every shard's step is added, with σ = the number of shards
(Ma et al., ICML 2015), and the local solver is ours.

Rounds do not depend on the machine: without ``--workers`` all shards are computed in this process. A round is a pass
over all rows; the look at the data, the sample and the final proof are passes, too, and are counted. Seconds beside
other work are CPU seconds of one thread. Real data comes from the folder that MAXMARGIN_DATA names, as for race.py.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise, product
from time import perf_counter, process_time

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster import gathered, run, tall, wide
from maxmargin.cluster.engine import Here
from maxmargin.cluster.plan import Fitted, Plan
from maxmargin.cluster.run import fit_parts
from maxmargin.cluster.shard import part_of
from maxmargin.losses import loss as loss_by_name
from racing.data import load

GAPS = (1e-3, 1e-6)
HEAD = (
    "| data | loss | C | shards | method | passes to 1e-3 | to 1e-6 | in all | MB sent | CPU s | seconds | proved gap |"
)


def generated(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes in float32, a fifth of the labels uncertain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    w = rng.standard_normal(d, dtype=np.float32) / np.sqrt(d)
    return X, (X @ w + 0.5 * rng.standard_normal(n, dtype=np.float32) > 0.2).astype(np.int8)


def generated_wide(n: int, d: int, entries: int = 50) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of norm 1 with so many entries each, in columns as frequent as words are; some labels uncertain."""
    rng = np.random.default_rng(0)
    columns = np.minimum(d - 1, (d ** rng.random(n * entries, dtype=np.float32)).astype(np.int32))
    X = sp.csr_array(
        (rng.random(n * entries, dtype=np.float32), columns, np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    X.data /= np.sqrt(np.log1p(np.bincount(X.indices, minlength=d)))[X.indices]
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr)).astype(np.float32)
    z = X @ rng.standard_normal(d, dtype=np.float32)
    return X, (z + 0.3 * z.std() * rng.standard_normal(n) > 0).astype(np.int8)


class CocoaPlus(wide.BlockSteps):
    """CoCoA+: all steps are added, and σ stays the number of shards."""

    def _move(self, step: wide.Step) -> None:
        self.beta = self.beta + np.concatenate(step.changes)
        self.theta = self.theta + np.append(step.combined, self.constant * step.total)
        self.mean = self._whole()
        if self.setting.free:
            self.b += self.constant * float(self.theta[-1])


def choose(method: str, share: float, size: int) -> None:
    """Bytes that one worker takes, and whether near rows are gathered; the client takes next to nothing."""
    tall.settings = run.settings = replace(run.settings, client_numbers=1000)
    few = replace(wide.settings, one_worker_bytes=max(1, int(share * size)), most_gatherings=25 * (method == "auto"))
    wide.settings = gathered.settings = run.wide_settings = few
    wide.BlockSteps = CocoaPlus if method == "cocoa+" else BLOCKS


BLOCKS = wide.BlockSteps


def data_of(name: str) -> tuple:
    """Generated rows ("tall:NxD", "wide:NxD"), or a set of the folder of real data, its rows in random order."""
    if name.startswith("wide:"):
        n, d = map(int, name[5:].split("x"))
        return generated_wide(n, d)
    if name.startswith("tall:"):
        n, d = map(int, name[5:].split("x"))
        return generated(n, d)
    X, y = load(name)
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], y[order]


def passes(found: Fitted, gap: float) -> str:
    """The passes over the data until a round had proved this gap."""
    return next((str(line.round) for line in found.history if line.relative_gap <= gap), "–")


def line_of(name: str, loss: str, C: float, found: Fitted, cpu: float, seconds: float) -> str:
    """One line of the table."""
    worst = max(one.relative_gap for one in found.certificates)
    sent = sum(line.bytes for line in found.history) / 1e6
    told = [name, loss, f"{C:g}", found.shards, found.method, *(passes(found, gap) for gap in GAPS)]
    told += [found.history[-1].round, f"{sent:.1f}", f"{cpu:.1f}", f"{seconds:.1f}", f"{worst:.1e}"]
    return f"| {' | '.join(map(str, told))} |"


def here(X, y, shards: int, plan: Plan) -> Fitted:
    """A fit with this number of shards, all in this process."""
    cuts = np.linspace(0, len(y), shards + 1).astype(int)
    parts = [part_of([X[a:b]], y[a:b], None, k) for k, (a, b) in enumerate(pairwise(cuts))]
    return fit_parts(Here(parts), plan, True)


def on_dask(X, y, shards: int, plan: Plan, workers: int) -> tuple[Fitted, float]:
    """The same on a cluster of processes of this machine, and the seconds of the fit alone."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from maxmargin.cluster.collections import engine_of

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        rows = -(-len(y) // shards)
        dX, dy = da.from_array(X, chunks=(rows, X.shape[1])).persist(), da.from_array(y, chunks=rows).persist()
        client.gather([client.submit(np.shape, part) for part in client.futures_of(dX)])
        began = perf_counter()
        with engine_of(client, dX, dy, None) as engine:
            found = fit_parts(engine, plan, True)
        return found, perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="tall:1000000x30")
    parser.add_argument("--loss", default="hinge,squared-hinge,logistic")
    parser.add_argument("--C", default="0.01,1,100")
    parser.add_argument("--shards", default="2,8,32,128")
    parser.add_argument("--workers", default="")
    parser.add_argument("--method", default="auto", help="auto, blocks, cocoa+ (wide data)")
    parser.add_argument("--share", default="", help="what one worker takes of wide data; by default half a gigabyte")
    parser.add_argument("--bias", default="free")
    parser.add_argument("--max-time", type=float, default=None)
    parser.add_argument("--tol", type=float, default=1e-6)
    given = parser.parse_args()
    print(HEAD + "\n|" + "---|" * (HEAD.count("|") - 1), flush=True)
    for name in given.data.split(","):
        X, y = data_of(name)
        for loss, C, shards, method, share in product(
            given.loss.split(","),
            map(float, given.C.split(",")),
            map(int, given.shards.split(",")),
            given.method.split(","),
            map(float, given.share.split(",") if given.share else [np.nan]),
        ):
            if method != "auto" or share == share:
                choose(method, share if share == share else 1e-9, X.data.nbytes + X.indices.nbytes)
            plan = Plan(loss_by_name(loss), given.bias, C=C, tol=given.tol, shard_bytes=1, max_time=given.max_time)
            told = name if method == "auto" else f"{name}, {method}"
            told += f", one worker takes {share:g}" if share == share and method == "auto" else ""
            if given.workers:
                for workers in map(int, given.workers.split(",")):
                    found, seconds = on_dask(X, y, shards, plan, workers)
                    print(line_of(f"{told}, {workers} workers", loss, C, found, float("nan"), seconds), flush=True)
                continue
            began, cpu = perf_counter(), process_time()
            found = here(X, y, shards, plan)
            print(line_of(told, loss, C, found, process_time() - cpu, perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
