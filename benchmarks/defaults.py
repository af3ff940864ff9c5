"""The front door: the default call of each estimator beside scikit-learn's and scikit-learn-intelex's.

    python benchmarks/defaults.py                        # the toy sets of scikit-learn, raw and standardised
    MAXMARGIN_DATA=/path/to/data python benchmarks/defaults.py --out defaults
    python benchmarks/defaults.py --only "SVC letter" --only digits

Fits are interleaved: ours, scikit-learn's, scikit-learn-intelex's, and again, in one process, warm. The table has
medians. The objective is computed here, in NumPy, from what each estimator left behind; it is that of our problem for
everybody (for `LinearSVC` and `LinearSVR` with a free intercept, which is then the best one for the given weights).
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp
import sklearn.svm
from sklearn import datasets
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import maxmargin
from racing.data import SCALINGS, read_labels
from racing.machine import machine, versions

try:
    from sklearnex import svm as intelex
except ImportError:
    intelex = None

RESULTS = Path(__file__).parent / "results"
#: Seconds that the repeats of one estimator on one row may take, and the most repeats.
PATIENCE, MOST = 3.0, 21


@dataclass(frozen=True)
class Case:
    """One row of the table: an estimator with its parameters, and where its data comes from."""

    estimator: str
    data: str
    make: Callable[[], tuple[Any, np.ndarray]]
    parameters: dict[str, Any] = field(default_factory=dict)
    weighted: bool = False

    @property
    def name(self) -> str:
        extra = " ".join(f"{key}={value}" for key, value in self.parameters.items())
        return " ".join(filter(None, (self.estimator, self.data, extra, "weights" if self.weighted else "")))


def toy(name: str, scaled: bool) -> tuple[Any, np.ndarray]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    return (StandardScaler().fit_transform(X) if scaled else X), y


#: Files that are not dense with standardised columns: how they are scaled, and whether they stay sparse.
SPARSE = {"news20_bow": "tf-idf", "sms_spam": "tf-idf", "a9a": "as it is"}


def real(name: str, rows: int, scaled: bool = True) -> tuple[Any, np.ndarray]:
    X, y = read_labels(name)
    if name in SPARSE:
        X = sp.csr_matrix(SCALINGS[SPARSE[name]](X))
    elif sp.issparse(X):
        X = X.toarray()
    order = np.random.default_rng(0).permutation(X.shape[0])[:rows]
    X, y = X[order].astype(np.float64), np.asarray(y)[order]
    return (StandardScaler().fit_transform(X) if scaled and name not in SPARSE else X), y


def cases() -> Iterator[Case]:
    for name in ("iris", "wine", "breast_cancer", "digits"):
        for scaled in (True, False):
            label = name if scaled else f"raw {name}"
            get = partial(toy, name, scaled)
            yield Case("SVC", label, get)
            yield Case("SVC", label, get, {"C": 100.0})
            yield Case("LinearSVC", label, get)
            yield Case("NuSVC", label, get, {"nu": 0.2})
            if name != "digits":
                yield Case("LinearSVC", label, get, {"loss": "hinge"})
                yield Case("SVC", label, get, {"kernel": "poly"})
                yield Case("SVC", label, get, {"kernel": "linear"})
    for scaled in (True, False):
        label, get = ("diabetes" if scaled else "raw diabetes"), partial(toy, "diabetes", scaled)
        yield Case("SVR", label, get)
        yield Case("SVR", label, get, {"C": 100.0})
        yield Case("LinearSVR", label, get)
        yield Case("NuSVR", label, get)
    yield Case("SVC", "breast_cancer", partial(toy, "breast_cancer", True), weighted=True)
    yield Case("LinearSVC", "breast_cancer", partial(toy, "breast_cancer", True), weighted=True)
    yield Case("OneClassSVM", "breast_cancer", partial(toy, "breast_cancer", True))
    yield Case("OneClassSVM", "digits", partial(toy, "digits", True), {"nu": 0.1})
    if not os.environ.get("MAXMARGIN_DATA"):
        return
    for name, rows, C in REAL_CLASSES:
        get = partial(real, name, rows)
        yield Case("SVC", name, get, {"C": C})
    for name, rows in REAL_LINEAR:
        yield Case("LinearSVC", name, partial(real, name, rows))
    yield Case("LinearSVC", "raw australian", partial(real, "australian", 690, False))
    for name, rows, C in REAL_TARGETS:
        yield Case("SVR", name, partial(real, name, rows), {"C": C})
    yield Case("LinearSVR", "fried", partial(real, "fried", 8000))
    for name, rows in REAL_SMALL:
        for scaled in (True, False):
            label, get = (name if scaled else f"raw {name}"), partial(real, name, rows, scaled)
            yield Case("SVC", label, get)
            yield Case("SVC", label, get, {"C": 100.0})
            yield Case("LinearSVC", label, get)
    for name in ("housing_scale", "mpg", "bodyfat"):
        for scaled in (True, False):
            label, get = (name if scaled else f"raw {name}"), partial(real, name, 1000, scaled)
            yield Case("SVR", label, get)
            yield Case("LinearSVR", label, get)
    yield Case("NuSVC", "splice.s", partial(real, "splice.s", 2500), {"nu": 0.3})
    yield Case("OneClassSVM", "cod-rna.z", partial(real, "cod-rna.z", 20000))


REAL_CLASSES = [
    ("letter.scale", 12000, 1.0),
    ("satimage", 5148, 1.0),
    ("usps", 7000, 10.0),
    ("pendigits", 8000, 1.0),
    ("mnist", 9600, 10.0),
    ("covtype", 12000, 1.0),
    ("news20_bow", 6400, 1.0),
    ("splice.s", 2500, 1.0),
    ("german.numer_scale", 1000, 1.0),
    ("spambase", 4000, 1.0),
    ("sms_spam", 5000, 1.0),
    ("dna", 3000, 1.0),
    ("a9a", 10000, 1.0),
]
REAL_LINEAR = [
    ("mnist", 9600),
    ("letter.scale", 12000),
    ("satimage", 5148),
    ("news20_bow", 6400),
    ("sms_spam", 5000),
    ("a9a", 20000),
]
#: Small sets, standardised and as they are.
REAL_SMALL = [
    ("sonar_scale", 200),
    ("heart_scale", 270),
    ("australian", 690),
    ("fourclass_scale", 862),
    ("svmguide3", 1243),
    ("svmguide1", 3089),
    ("optdigits", 5500),
]
REAL_TARGETS = [("cadata", 16512, 10.0), ("cpusmall", 6553, 10.0), ("fried", 8000, 10.0), ("abalone", 3300, 1.0)]


def objective(model: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    """The primal value of our problem at this model, summed over its binary problems; NaN where there is no rule."""
    name = type(model).__name__
    C = np.ones(len(y)) if weights is None else np.asarray(weights)
    if name in ("LinearSVC", "LinearSVR"):
        W = np.atleast_2d(model.coef_)
        targets = [y] if name == "LinearSVR" else [np.where(y == c, 1.0, -1.0) for c in model.classes_]
        if name == "LinearSVC" and len(targets) == 2:
            targets = targets[1:]
        return sum(_linear(model, X, w, t, model.C * C) for w, t in zip(W, targets, strict=True))
    if name == "SVC" and model.kernel in ("rbf", "poly", "linear") and len(model.classes_) == 2:
        K = _kernel(model, X)
        beta = np.zeros(len(y))
        beta[model.support_] = np.ravel(
            model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
        )
        t = np.where(y == model.classes_[1], 1.0, -1.0)
        scores = K @ beta
        b = float(np.ravel(model.intercept_)[0])
        return float(0.5 * beta @ scores + (model.C * C * np.maximum(0.0, 1.0 - t * (scores + b))).sum())
    if name == "SVR":
        beta = np.zeros(len(y))
        beta[model.support_] = np.ravel(
            model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
        )
        scores = _kernel(model, X) @ beta
        off = np.maximum(0.0, np.abs(scores + float(np.ravel(model.intercept_)[0]) - y) - model.epsilon)
        return float(0.5 * beta @ scores + (model.C * C * off).sum())
    return float("nan")


def _kernel(model: Any, X: Any) -> np.ndarray:
    X = X.astype(np.float64)
    variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
    gamma = 1.0 / (X.shape[1] * variance) if model.gamma == "scale" else model.gamma
    options: dict[str, Any] = {}
    if model.kernel != "linear":
        options["gamma"] = gamma
    if model.kernel == "poly":
        options |= {"degree": model.degree, "coef0": model.coef0}
    return pairwise_kernels(X, metric=model.kernel, **options)


def _linear(model: Any, X: Any, w: np.ndarray, target: np.ndarray, C: np.ndarray) -> float:
    scores = np.asarray(X @ w).ravel()

    def loss(b: float) -> float:
        z = scores + b
        if hasattr(model, "epsilon"):
            off = np.maximum(0.0, np.abs(z - target) - model.epsilon)
        else:
            off = np.maximum(0.0, 1.0 - target * z)
        return float((C * (off**2 if model.loss.startswith("squared") else off)).sum())

    ends = float((target - scores).min()) - 1.0, float((target - scores).max()) + 1.0
    tiny = {"xatol": 1e-10 * max(map(abs, ends))}
    best = scipy.optimize.minimize_scalar(loss, bounds=ends, method="bounded", options=tiny)
    return float(0.5 * w @ w + best.fun)


def fitted(module: Any, case: Case, X: Any, y: np.ndarray, weights: np.ndarray | None) -> tuple[float, Any]:
    model = getattr(module, case.estimator)(**case.parameters)
    given = {} if weights is None else {"sample_weight": weights}
    began = time.perf_counter()
    model.fit(X, y, **given)
    return time.perf_counter() - began, model


def measure(case: Case, cap: float) -> dict[str, Any]:
    """One row: seconds of everybody (medians), scores and objectives."""
    X, y = case.make()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if case.weighted else None
    modules = {"maxmargin": maxmargin, "scikit-learn": sklearn.svm}
    if intelex is not None and hasattr(intelex, case.estimator) and not case.estimator.startswith("Linear"):
        modules["intelex"] = intelex
    times: dict[str, list[float]] = {name: [] for name in modules}
    row: dict[str, Any] = {"case": case.name, "rows": X.shape[0], "features": X.shape[1]}
    models: dict[str, Any] = {}
    fitted(maxmargin, case, X, y, weights)  # compile or load
    for _ in range(MOST):
        for name, module in modules.items():
            if sum(times[name]) < cap:
                seconds, models[name] = fitted(module, case, X, y, weights)
                times[name].append(seconds)
        if all(sum(one) >= PATIENCE for one in times.values()) or max(map(sum, times.values())) > cap:
            break
    for name, one in times.items():
        row[name] = float(np.median(one))
        row[f"score {name}"] = models[name].score(X, y) if hasattr(models[name], "score") else float("nan")
        if X.shape[0] <= 12000:
            row[f"objective {name}"] = objective(models[name], X, y, weights)
    certificate = models["maxmargin"].certificate_
    row["gap"] = getattr(certificate, "relative_gap", None) or getattr(certificate, "worst", certificate).relative_gap
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """The rows in Markdown, with geometric means."""
    lines = [
        "| default call | rows × features | ours ms | scikit-learn | intelex | ratios | objective |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ours = row["maxmargin"]
        peers = [row.get(name, float("nan")) for name in ("scikit-learn", "intelex")]
        ratios = ", ".join(f"{peer / ours:.2f}" for peer in peers if peer == peer)
        better = row.get("objective scikit-learn", float("nan")) / row.get("objective maxmargin", float("nan")) - 1
        lines.append(
            f"| {row['case']} | {row['rows']}×{row['features']} | {1e3 * ours:.2f} | {1e3 * peers[0]:.2f} | "
            f"{'–' if peers[1] != peers[1] else f'{1e3 * peers[1]:.2f}'} | {ratios} | "
            f"{'' if better != better else f'{better:+.1e}'} |"
        )
    for name in ("scikit-learn", "intelex"):
        ratios = np.array([row[name] / row["maxmargin"] for row in rows if name in row])
        if ratios.size:
            lines.append(
                f"\n{name}: geometric mean {np.exp(np.log(ratios).mean()):.2f} over {ratios.size} fits, "
                f"least {ratios.min():.2f}, below 0.8: {(ratios < 0.8).sum()}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="rows whose name contains this")
    parser.add_argument("--cap", type=float, default=30.0, help="seconds for all repeats of one estimator on one row")
    parser.add_argument("--out", help="write results/OUT.csv and results/OUT.md")
    options = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases():
            if options.only and not any(part in case.name for part in options.only):
                continue
            rows.append(measure(case, options.cap))
            print(table(rows[-1:]).splitlines()[2], flush=True)
    packages = versions(["maxmargin", "scikit-learn", "scikit-learn-intelex"])
    text = "\n\n".join((table(rows), f"{machine()}, {packages}")) + "\n"
    print(text)
    if options.out:
        (RESULTS / f"{options.out}.md").write_text(text)
        with open(RESULTS / f"{options.out}.csv", "w", newline="") as file:
            keys = list(dict.fromkeys(key for row in rows for key in row))
            writer = csv.DictWriter(file, keys)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
