"""A campaign of random fits against the independent oracle; run apart, can be stopped and resumed.

    python tests/campaign/campaign.py --fits 200000 --processes 2 --out results.jsonl
    python tests/campaign/campaign.py --case 1234 --seed 0       # one case again, in words

A case is a number: it gives the data, the loss, the kernel, the bias, the weights, C, the storage and two to four
solvers, each of which is one fit; some go through an estimator and the check of its model, too. What is looked for:

    false        a claim that the oracle refutes: the gap is larger than claimed, "converged" is not, β is not feasible,
                 "not separable" of classes that are
    contradiction  two certified intervals [dual, primal] of one problem that do not meet, or one fit that separates
                 what another one proves inseparable
    untyped      an exception that is no MaxMarginError
    late         a run longer than 1.5 × max_time + 0.3 s
    crash        the end of the process, or a compiled loop that does not end

Results are one line of JSON a chunk of cases: the counts, and every finding with its case. A chunk that is in the file
is not run again.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import traceback
import warnings
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[2]))

from maxmargin import Problem, kernels, list_losses, list_solvers, losses, solve
from maxmargin.data import Data
from maxmargin.errors import MaxMarginError
from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.models import model_of
from maxmargin.models.certify import certify as check
from tests.oracle import exactly_separable, false_claims, judged, rounding_of

MAX_TIME = 0.5
#: The budget of every other case for "auto" and for estimators: small problems have their compiled calls only where
#: there is time for one, and no limit of iterations.
AMPLE = 2.0
CHUNK = 100
#: The most processor time that a fit may take before it is broken off, to go on with the others (a first one compiles).
HANGS = 60.0
#: The most that a chunk may take before its process is ended: a compiled loop cannot be broken off.
STUCK = 900.0
CLASSES = ("hinge", "squared-hinge", "logistic")


@dataclass
class Case:
    """One problem and the solvers that it is given to."""

    number: int
    words: dict = field(default_factory=dict)
    X: object = None
    y: object = None
    options: dict = field(default_factory=dict)
    solvers: list = field(default_factory=list)
    tol: float = 1e-6
    max_iter: int | None = None
    #: Fits to make; solvers that refuse the problem do not count.
    most: int = 2


def case(number: int, seed: int = 0) -> Case:
    """The case of this number: always the same."""
    rng = np.random.default_rng([seed, number])
    one = Case(number)
    loss = str(rng.choice(list_losses()))
    n = int(rng.integers(200, 501)) if rng.random() < 0.03 else int(np.exp(rng.uniform(np.log(2), np.log(61))))
    d = int(rng.choice([1, 2, 3, 5, 8, 20, 80], p=[0.2, 0.25, 0.2, 0.15, 0.1, 0.07, 0.03]))
    # The rows.
    shape = str(rng.choice(["normal", "integers", "binary", "clusters", "line", "close", "outlier", "zeros", "apart"]))
    X = rng.normal(size=(n, d))
    if shape == "integers":
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
    elif shape == "binary":
        X = (rng.random((n, d)) < 0.3).astype(float)
    elif shape == "clusters":
        X += 6.0 * rng.integers(-1, 2, size=(n, 1))
    elif shape == "line":
        X = np.outer(rng.normal(size=n), rng.normal(size=d)) + rng.normal(size=d)
    elif shape == "close":
        X = 1.0 + 10.0 ** rng.uniform(-14, -4) * X
    elif shape == "outlier":
        X[rng.integers(n)] *= 10.0 ** rng.uniform(1, 8)
    elif shape == "zeros":
        X[rng.random(n) < 0.3] = 0.0
    elif shape == "apart":
        X[rng.random(n) < 0.5] += 10.0 ** rng.uniform(1, 8)
    clean = X
    if rng.random() < 0.1:
        X = X * 10.0 ** rng.uniform(-6, 6, size=d)
    offset = 0.0 if rng.random() < 0.5 else float(10.0 ** rng.uniform(0, 9))
    scale = 1.0 if rng.random() < 0.55 else float(10.0 ** rng.uniform(-12, 12))
    X = scale * (X + offset)
    storage = str(rng.choice(["dense", "dense32", "csr", "csr32"], p=[0.4, 0.15, 0.3, 0.15]))
    if storage.endswith("32"):
        X = X.astype(np.float32)
    if storage.startswith("csr"):
        X = np.where(rng.random(X.shape) < 0.2, 0.0, X).astype(X.dtype)
        X = sp.csr_array(X)
    # The targets.
    if loss == "one-class":
        y = None
    elif loss in CLASSES or (loss == "least-squares" and rng.random() < 0.5):
        truth = clean @ rng.normal(size=d) - (0.0 if rng.random() < 0.5 else float(clean.mean()))
        y = np.where(truth + 10.0 ** rng.uniform(-3, 1) * rng.normal(size=n) > 0, 1, 0)
        if rng.random() < 0.1:
            y = rng.integers(0, 2, n)
        y[0], y[-1] = 0, 1
        if loss == "least-squares":
            one.options["task"] = "classification"
    else:
        y = clean[:, 0] + 0.3 * rng.normal(size=n) + (0.0 if rng.random() < 0.7 else 10.0 ** rng.uniform(0, 6))
        y = y * 10.0 ** (rng.uniform(-3, 3) if rng.random() < 0.3 else 0.0)
    # The loss, the kernel, the bias, the weights.
    made = losses.loss(loss)
    if loss == "one-class":
        made = losses.OneClass(float(rng.choice([0.05, 0.3, 0.5, 1.0])))
    elif "epsilon" in loss:
        made = type(made)(float(rng.choice([0.0, 0.1, 1.0])))
    name = str(
        rng.choice(
            ["linear", "rbf", "laplacian", "polynomial", "sigmoid", "precomputed"], p=[0.4, 0.25, 0.1, 0.12, 0.05, 0.08]
        )
    )
    gamma = "scale" if rng.random() < 0.6 else float(10.0 ** rng.uniform(-3, 3)) / max(scale, 1e-150) ** 2
    coef0 = float(rng.choice([0.0, 1.0, 0.1]))
    kernel: object = name
    if name == "rbf":
        kernel = kernels.RBF(gamma)
    elif name == "laplacian":
        kernel = kernels.Laplacian("scale" if gamma == "scale" else gamma * max(scale, 1e-150))
    elif name == "polynomial":
        kernel = kernels.Polynomial(int(rng.integers(1, 5)), gamma, coef0)
    elif name == "sigmoid":
        kernel = kernels.Sigmoid(gamma, coef0)
    elif name == "precomputed":
        F = rng.integers(-3, 4, size=(n, max(1, n // 2))) * 2.0 ** rng.integers(-10, 11)
        X = (F @ F.T).astype(np.float32 if storage.endswith("32") else float)  # exact, so positive semi-definite
        storage = "float32" if storage.endswith("32") else "float64"
    bias = "free" if loss == "one-class" else str(rng.choice(["free", "augmented", "none"], p=[0.5, 0.25, 0.25]))
    if bias == "augmented" and rng.random() < 0.5:
        one.options["bias_scale"] = float(10.0 ** rng.uniform(-2, 2))
    weights = str(rng.choice(["none", "random", "zeros", "wide", "class"], p=[0.6, 0.12, 0.1, 0.1, 0.08]))
    if weights == "class":
        if y is not None and (loss in CLASSES or "task" in one.options):
            one.options["class_weight"] = "balanced" if rng.random() < 0.5 else {0: 0.1, 1: 7.0}
        else:
            weights = "none"
    elif weights != "none":
        given = rng.uniform(0.2, 3.0, n) if weights != "wide" else 10.0 ** rng.uniform(-4, 4, n)
        if weights == "zeros":
            given[rng.random(n) < 0.3] = 0.0
            given[0] = given[-1] = 1.0
        one.options["sample_weight"] = given
    C = float(10.0 ** rng.uniform(-6, 6))
    if rng.random() < 0.5:  # what the data makes of C matters more than C
        C = float(10.0 ** rng.uniform(-3, 4)) / max(scale * (1.0 + offset), 1e-150) ** (2 if name == "linear" else 0)
    if loss == "hinge" and rng.random() < 0.15:
        C = np.inf
    one.X, one.y = X, y
    one.options |= {"loss": made, "kernel": kernel, "bias": bias, "C": C}
    # Drawn apart, so that a case has the data that it had before there were other regularisers.
    sparse = np.random.default_rng([seed, number, 2]).random() < 0.25 and name == "linear" and made.smooth
    if sparse and np.isfinite(C):
        one.options["regularizer"] = "l1"
    one.tol = float(rng.choice([1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10]))
    names = list_solvers()
    one.solvers = ["auto"] if rng.random() < 0.6 else []
    one.solvers += [str(which) for which in rng.permutation(names)]
    one.most = int(rng.integers(2, 5))
    # Without a budget of iterations most of the campaign would be the slow methods' time budget.
    one.max_iter = None if rng.random() < 0.1 else int(10.0 ** rng.uniform(0.5, 3.0))
    one.words = {
        "n": n, "d": d, "rows": shape, "scale": scale, "offset": offset, "storage": storage, "loss": str(made),
        "kernel": str(kernel), "bias": bias, "C": C, "weights": weights, "tol": one.tol,
        "max_iter": one.max_iter, "regularizer": one.options.get("regularizer", "l2"),
    }  # fmt: skip
    return one


def latest(max_time: float) -> float:
    """The most seconds that a run with this budget may take."""
    return 1.5 * max_time + 0.3


class Hangs(BaseException):
    """A fit that had to be broken off."""


def _broken_off(*_):
    raise Hangs


def run(number: int, seed: int = 0, talk: bool = False) -> tuple[Counter, list[dict]]:
    """One case: how it went, and what was found."""
    one = case(number, seed)
    counts: Counter = Counter()
    found: list[dict] = []

    def report(kind: str, solver: str, text: str) -> None:
        found.append({"case": number, "seed": seed, "kind": kind, "solver": solver, "text": text, **one.words})
        counts[kind] += 1

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = Problem(one.X, one.y, **one.options)
    except MaxMarginError as error:
        counts["refused problems"] += 1
        if talk:
            print("refused:", error)
        return counts, found
    except Exception as error:
        report("untyped", "Problem", _where(error))
        return counts, found
    results = []
    for solver in one.solvers:
        if len(results) >= one.most:
            break
        ample = solver == "auto" and number % 2 == 1
        budget = {"max_time": AMPLE} if ample else {"max_time": MAX_TIME, "max_iter": one.max_iter}
        late = latest(budget["max_time"])
        began = perf_counter()
        signal.signal(signal.SIGPROF, _broken_off)
        signal.setitimer(signal.ITIMER_PROF, HANGS)
        result = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = solve(problem, solver, tol=one.tol, **budget)
        except MaxMarginError as error:
            counts["refused fits"] += 1
            if talk:
                print(f"{solver}: refused: {error}")
        except Hangs:
            report("late", solver, f"still running after {HANGS:g} s of processor time")
        except Exception as error:
            report("untyped", solver, _where(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        seconds = perf_counter() - began
        if result is None:
            continue
        counts["fits"] += 1
        if seconds > late:  # compiling for the first time is nobody's fault: once more
            again = perf_counter()
            solve(problem, solver, tol=one.tol, **budget)
            seconds = perf_counter() - again
            if seconds > late:
                report("late", solver, f"{seconds:.2f} s for max_time={budget['max_time']:g}")
        counts[f"ended: {result.status.reason.value}"] += 1
        results.append((solver, result))
        try:
            claims, truth = false_claims(result)
        except Exception as error:  # the oracle itself must not fail
            report("oracle", solver, _where(error))
            continue
        if talk:
            print(f"{solver}: {result.status}\n{result.certificate}\n  truth: {truth}\n")
        for claim in claims:
            report("false", solver, claim)
        if result.certificate.rounding > 0 and result.certificate.gap < np.inf:
            counts["rounding above a tenth of tol"] += rounding_of(result.certificate) > 0.1 * one.tol * truth.scale
    _contradictions(problem, results, report, counts)
    rng = np.random.default_rng([seed, number, 1])
    if rng.random() < 0.3 and problem.kernel.name != "precomputed":
        run_estimator(one, problem, rng, report, counts, talk)
    return counts, found


def run_estimator(one: Case, problem, rng, report, counts, talk: bool = False) -> None:
    """The same rows through an estimator, a model and the check of the model."""
    max_time = AMPLE if one.number % 2 == 1 else MAX_TIME
    common = {"tol": one.tol, "max_time": max_time}
    C = one.options["C"]
    kernel = {"kernel": problem.kernel.name, "gamma": getattr(problem.kernel, "gamma", "scale")}
    kernel |= {name: getattr(problem.kernel, name) for name in ("degree", "coef0") if hasattr(problem.kernel, name)}
    kernel["kernel"] = {"polynomial": "poly"}.get(kernel["kernel"], kernel["kernel"])
    if kernel["kernel"] == "laplacian":
        kernel = {"kernel": problem.kernel}
    nu = float(rng.choice([0.1, 0.5]))
    y = one.y
    if problem.task == "novelty":
        made = OneClassSVM(nu=nu, **kernel, **common)
    elif problem.task == "regression":
        choice = int(rng.integers(3))
        linear = {"loss": str(rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive"])), "epsilon": 0.1}
        made = (SVR(C=C, **kernel, **common), NuSVR(nu=nu, **kernel, **common), LinearSVR(C=C, **linear, **common))[
            choice
        ]
    else:
        choice = int(rng.integers(3))
        linear = {"loss": str(rng.choice(["hinge", "squared_hinge"])), "fit_intercept": bool(rng.random() < 0.7)}
        if "regularizer" in one.options:
            linear |= {"penalty": "l1", "loss": "squared_hinge"}
        made = (SVC(C=C, **kernel, **common), NuSVC(nu=nu, **kernel, **common), LinearSVC(C=C, **linear, **common))[
            choice
        ]
        if rng.random() < 0.3 and len(y) > 6:  # three classes
            y = np.where(np.arange(len(y)) % 3 == 0, 2, y)
    weights = one.options.get("sample_weight")
    name = type(made).__name__
    signal.setitimer(signal.ITIMER_PROF, HANGS)
    began = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.fit(one.X, y, weights)
            seconds = perf_counter() - began
            if seconds > latest(max_time):
                began = perf_counter()
                clone(made).fit(one.X, y, weights)
                seconds = perf_counter() - began
            counts["estimators"] += 1
            if seconds > latest(max_time):
                report("late", repr(made), f"{seconds:.2f} s for max_time={max_time:g}")
            model = model_of(made)
            if model.training.weighted != (weights is not None):  # the estimator does not keep them
                return
            rows = Data(one.X if sp.issparse(one.X) else np.asarray(one.X), y)
            for finding in check(model, [rows], weights):
                excess = finding.relative_gap - finding.rounding - finding.claimed_gap * (1.0 + 1e-6)
                if talk:
                    print(name, finding)
                if finding.claimed_gap < 1.0 and excess > 1e-15:  # a gap of 1 and more claims nothing
                    report(
                        "false", repr(made), f"the relative gap is {finding.relative_gap}, not {finding.claimed_gap}"
                    )
    except MaxMarginError as error:
        counts["refused estimators"] += 1
        if talk:
            print(f"{name}: refused: {error}")
    except Hangs:
        report("late", repr(made), f"still running after {HANGS:g} s of processor time")
    except Exception as error:
        report("untyped", repr(made), _where(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _contradictions(problem, results, report, counts) -> None:
    inseparable = [(solver, result) for solver, result in results if proved_inseparable(result)]
    if inseparable:
        counts["proved inseparable"] += len(inseparable)
        truth = really_separable(problem)
        for solver, _ in inseparable:
            if truth:
                report("false", solver, "'not separable' of classes that are separable")
        for solver, result in results:
            if result.certificate.primal < np.inf and judged(result).gap < np.inf:
                report("contradiction", f"{inseparable[0][0]}, {solver}", "one separates, one proves inseparable")
    if problem.kernel.positive is False:
        return
    bounds = [(s, r.certificate) for s, r in results if r.certificate.positive is not False]
    for solver, low in bounds:
        for other, high in bounds:
            apart = low.dual - high.primal
            if np.isfinite(apart) and apart > rounding_of(low) + rounding_of(high) + 1e-15 * abs(low.dual):
                report("contradiction", f"{solver}, {other}", f"dual {low.dual!r} above primal {high.primal!r}")


def proved_inseparable(result) -> bool:
    """Whether a result claims to have proved that no hyperplane separates its classes."""
    proof = result.certificate.inseparable
    return proof is not None and bool(getattr(proof, "proved", True))


def really_separable(problem) -> bool | None:
    """The truth, where it can be told: exact rationals for linear rows, distinct rows for RBF and Laplacian."""
    used = problem.C > 0
    y = problem.target[used]
    X = problem.X[np.flatnonzero(used)]
    X = X.toarray() if sp.issparse(X) else X
    if problem.kernel.name in ("rbf", "laplacian"):
        rows = {-1.0: set(), 1.0: set()}
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            rows[label].add(tuple(row))
        return not rows[-1.0] & rows[1.0]
    if problem.linear and len(y) <= 70 and X.shape[1] <= 8:
        return exactly_separable(X, y, problem.bias)
    return None


def _where(error: BaseException) -> str:
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "maxmargin" in frame.filename]
    last = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "?"
    return f"{type(error).__name__} at {last}: {str(error)[:200]}"


def run_chunk(chunk: int, seed: int, notes: str, crashed: tuple[int, ...] = ()) -> dict:
    """All cases of a chunk but those that crashed; the one under way is noted in a file, in case it does."""
    counts: Counter = Counter()
    found: list[dict] = []
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        if number in crashed:
            counts["crash"] += 1
            words = case(number, seed).words
            found.append({"case": number, "seed": seed, "kind": "crash", "solver": "?", "text": "crash", **words})
            continue
        Path(notes).write_text(str(number), encoding="utf-8")
        some, more = run(number, seed)
        counts += some
        found += more
    return {"chunk": chunk, "seed": seed, "counts": dict(counts), "findings": found}


def chunk_in_a_process(chunk: int, seed: int, notes: str) -> dict:
    """The same in a process of its own, which may crash."""
    crashed: tuple[int, ...] = ()
    while True:
        pool = _pool(notes)
        try:
            return pool.submit(run_chunk, chunk, seed, notes, crashed).result(timeout=STUCK)
        except (BrokenProcessPool, TimeoutError):
            for process in list((pool._processes or {}).values()):
                process.kill()
            del _pools[notes]
            crashed = (*crashed, int(Path(notes).read_text(encoding="utf-8")))


_pools: dict[str, ProcessPoolExecutor] = {}


def _pool(notes: str) -> ProcessPoolExecutor:
    """One process for each file of notes, kept for the next chunk."""
    if notes not in _pools:
        _pools[notes] = ProcessPoolExecutor(1)
    return _pools[notes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=200_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--out", default="campaign.jsonl")
    parser.add_argument("--case", type=int, help="run one case and tell all about it")
    asked = parser.parse_args()
    if asked.case is not None:
        print(case(asked.case, asked.seed).words)
        print(case(asked.case, asked.seed).solvers)
        for finding in run(asked.case, asked.seed, talk=True)[1]:
            print("FOUND", finding["kind"], finding["solver"], finding["text"])
        return
    path = Path(asked.out)
    done, counts = set(), Counter()
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["seed"] == asked.seed:
                done.add(entry["chunk"])
                counts.update(entry["counts"])
    chunks = (chunk for chunk in range(asked.first // CHUNK, 10**9) if chunk not in done)
    began = perf_counter()
    with path.open("a", encoding="utf-8") as out:

        def keep(entry: dict) -> None:
            out.write(json.dumps(entry, default=float) + "\n")
            out.flush()
            counts.update(entry["counts"])
            bad = {kind: counts[kind] for kind in ("false", "contradiction", "untyped", "late", "crash", "oracle")}
            print(f"{counts['fits']} fits, {perf_counter() - began:.0f} s, {bad}", flush=True)

        with ThreadPoolExecutor(asked.processes) as threads:
            free = [f"{asked.out}.{k}" for k in range(asked.processes)]
            under_way: dict = {}
            while counts["fits"] < asked.fits or under_way:
                while free and counts["fits"] < asked.fits:
                    notes = free.pop()
                    under_way[threads.submit(chunk_in_a_process, next(chunks), asked.seed, notes)] = notes
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    free.append(under_way.pop(future))
                    keep(future.result())
    print(json.dumps(dict(counts), indent=1))


if __name__ == "__main__":
    main()
