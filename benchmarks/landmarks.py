"""Kernels on many rows: the true gap of landmarks against seconds, and accuracy beside other ways to spend them.

    python benchmarks/landmarks.py --data covtype_bin --rows 30000 --C 10 --tol 1e-1,1e-2
    python benchmarks/landmarks.py --data covtype_bin --C 10 --tol 1e-2 --cache 9600 --only nystroem

Rows that are not trained on, 20,000 at most, are for the accuracy. Besides `nystroem` to each gap: the exact solver on
the same rows, for the same seconds, and on a quarter of the rows, scikit-learn's Nystroem with as many components and
LinearSVC, and scikit-learn-intelex, where it is there. Real data comes from the folder that MAXMARGIN_DATA names.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin import SVC
from racing.data import load

HEAD = (
    "| method | rows | seconds | of which proof | proved gap | vectors | test accuracy |\n|---|---|---|---|---|---|---|"
)


def told(name: str, make: Callable[[], Any], train: tuple[Any, Any], test: tuple[Any, Any]) -> tuple[Any, float]:
    """Fit, score, and print a line of the table."""
    began = perf_counter()
    model = make().fit(*train)
    seconds = perf_counter() - began
    gap = proof = vectors = ""
    if isinstance(model, SVC):
        gap = f"{model.certificate_.relative_gap:.2g}"
        proof = f"{model.trace_.look_seconds:.1f}"
        vectors = f"{len(model.support_):,}"
    elif hasattr(model, "support_"):
        vectors = f"{len(model.support_):,}"
    accuracy = float(np.mean(model.predict(test[0]) == test[1]))
    print(f"| {name} | {len(train[1]):,} | {seconds:.1f} | {proof} | {gap} | {vectors} | {accuracy:.4f} |", flush=True)
    return model, seconds


def others(C: float, gamma: float, landmarks: int, cache: float) -> dict[str, Callable[[], Any]]:
    """What scikit-learn has, and scikit-learn-intelex where it is installed."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    found: dict[str, Callable[[], Any]] = {
        f"scikit-learn Nystroem({landmarks}) + LinearSVC": lambda: make_pipeline(
            Nystroem(gamma=gamma, n_components=landmarks, random_state=0), LinearSVC(C=C, loss="hinge")
        )
    }
    try:
        from sklearnex.svm import SVC as Intelex
    except ImportError:
        return found
    return found | {"scikit-learn-intelex SVC": lambda: Intelex(C=C, gamma=gamma, cache_size=cache)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="covtype_bin")
    parser.add_argument("--rows", type=int, default=None, help="Rows to train on (all but those of the test).")
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument("--tol", default="1e-2", help="Gaps, with commas.")
    parser.add_argument("--cache", type=float, default=4000.0, help="Megabytes for kernel values or features.")
    parser.add_argument("--only", default=None, help="nystroem: no other method.")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = load(asked.data)
    X = X.toarray() if hasattr(X, "toarray") else X
    order = np.random.default_rng(0).permutation(len(y))
    tested, rest = order[: min(20_000, len(y) // 5)], order[min(20_000, len(y) // 5) :]
    rest = rest[: asked.rows]
    train, test = (X[rest], y[rest]), (X[tested], y[tested])
    gamma = 1.0 / (X.shape[1] * train[0].var())
    options: dict[str, Any] = {"C": asked.C, "gamma": gamma, "cache_size": asked.cache}
    few = slice(0, 2000)
    for more in ({"approximation": "nystroem", "tol": 0.1}, {"tol": 0.1}):  # compiled before the clock runs
        SVC(**options, **more).fit(train[0][few], train[1][few])
    print(HEAD)
    seconds, count = 0.0, 1
    for tol in map(float, asked.tol.split(",")):
        landmarks = partial(SVC, **options, approximation="nystroem", tol=tol)
        model, seconds = told(f"`nystroem`, tol {tol:g}", landmarks, train, test)
        count = len(model.support_)
    if asked.only:
        return
    part = len(rest) // 4
    told("`SVC`, tol 0.01", partial(SVC, **options, tol=1e-2), train, test)
    told("`SVC`, the same seconds", partial(SVC, **options, tol=1e-2, max_time=seconds), train, test)
    told("`SVC`, tol 0.01, a quarter", partial(SVC, **options, tol=1e-2), (train[0][:part], train[1][:part]), test)
    for name, make in others(asked.C, gamma, count, asked.cache).items():
        told(name, make, train, test)


if __name__ == "__main__":
    main()
