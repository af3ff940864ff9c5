"""
A linear SVM on a cluster
=========================

Two processes of this machine are the cluster: a certified fit, predictions, and the model taken home. Run it as a
program, ``python examples/on_a_cluster.py``: the processes read this file.
"""

import dask.array as da
from dask.distributed import Client, LocalCluster

from maxmargin.dask import LinearSVC


def main() -> None:
    """Fit, prove, predict, take home."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        # Made on the workers; read_parquet or from_array would do as well.
        random = da.random.default_rng(0)
        X = random.standard_normal((1_000_000, 20), chunks=(100_000, 20)).persist()
        y = (X @ random.standard_normal(20) + random.standard_normal(1_000_000, chunks=100_000) > 0).persist()

        model = LinearSVC(loss="hinge", tol=1e-6, verbose=1).fit(X, y)
        print(model.certificate_)
        print("accuracy", model.score(X, y))
        print(model.predict(X))  # lazy: a Dask array
        local = model.to_local()  # an ordinary estimator, without a cluster
        print(local.predict(X[:3].compute()))


if __name__ == "__main__":  # the workers are processes, which read this file
    main()
