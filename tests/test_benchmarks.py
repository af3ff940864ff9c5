"""The benchmarks' judge against formulas written out here, their data, and that every file of theirs can be loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from maxmargin import Problem, solve
from maxmargin.kernels import RBF

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
sys.path.append(str(FOLDER))

from racing import data, judge, limit, schedule, tables, worker  # noqa: E402 – after the folder is on the path

SOLVER_FILES = [
    (problems, path.stem) for problems in ("linear", "kernel") for path in (FOLDER / problems / "solvers").glob("*.py")
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "cache_folder", lambda: tmp_path)


def small_task(bias, gamma=None, sparse=False):
    X, y = data.rings(60)
    X = np.where(np.abs(X) > 1, X, 0.0) if sparse else X
    return judge.Task(sp.csr_matrix(X) if sparse else X, y, 2.0, bias, gamma)


def kernel_matrix(task):
    """One entry after the other."""
    X = task.X.toarray() if sp.issparse(task.X) else task.X
    if task.gamma is None:
        return np.array([[sum(p * q for p, q in zip(a, b, strict=True)) for b in X] for a in X])
    return np.array([[np.exp(-task.gamma * sum((a - b) ** 2)) for b in X] for a in X])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_the_judge_agrees_with_the_formulas_entry_by_entry(bias, gamma, sparse):
    task = small_task(bias, gamma, sparse)
    K, y, C = kernel_matrix(task) + (bias == "augmented"), task.y, task.C
    rng = np.random.default_rng(1)
    beta = y * rng.uniform(0, C, len(y)) * (rng.random(len(y)) < 0.5)
    if bias == "free":  # each class to half of its sum
        for label in (-1, 1):
            beta[y == label] /= abs(beta[y == label].sum())
    square, scores = beta @ K @ beta, K @ beta
    hinge = lambda b: C * sum(max(0.0, 1 - t * (s + b)) for t, s in zip(y, scores, strict=True))  # noqa: E731
    loss = min(hinge(t - s) for t, s in zip(y, scores, strict=True)) if bias == "free" else hinge(0.0)
    values = judge.judge(task, beta=beta)
    assert values.dual == pytest.approx(y @ beta - square / 2, rel=1e-12)
    assert values.primal == pytest.approx(square / 2 + loss, rel=1e-12)
    if bias == "free":
        assert loss <= minimize_scalar(hinge, bounds=(-5, 5), method="bounded").fun + 1e-9


@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_the_judge_confirms_a_certificate(bias, gamma):
    task = small_task(bias, gamma)
    kernel = "linear" if gamma is None else RBF(gamma=gamma)
    result = solve(Problem(task.X, task.y, kernel=kernel, bias=bias, C=task.C), tol=1e-6)
    solution = {"beta": result.beta} if gamma else {"w": result.w, "b": result.b, "beta": result.beta}
    values = judge.judge(task, **solution)
    assert values.primal == pytest.approx(result.certificate.primal, rel=1e-10)
    assert values.dual == pytest.approx(result.certificate.dual, rel=1e-10)
    assert values.relative_gap() <= 1e-6


def test_a_dual_point_outside_its_set_is_repaired_before_it_bounds_anything():
    task = small_task("free")
    beta = judge.feasible(task, 10.0 * task.y + 1.0)
    assert (task.y * beta >= 0).all() and (task.y * beta <= task.C).all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()


def test_a_primal_only_solver_is_measured_against_the_best_dual_known():
    values = judge.Values(primal=11.0, dual=None)
    assert values.relative_gap(10.0) == pytest.approx(1 / 11)
    assert values.relative_gap() == np.inf


def test_scale_gamma_is_scikit_learns():
    from sklearn.svm import SVC

    X, y = data.text(100)
    for rows in (X, X.toarray()):
        assert judge.scale_gamma(rows) == pytest.approx(SVC(gamma="scale").fit(rows, y)._gamma, rel=1e-9)


def test_missing_data_is_told_with_the_variable_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv(data.VARIABLE, raising=False)
    with pytest.raises(data.MissingData, match="set MAXMARGIN_DATA to the folder that holds a9a"):
        data.load("a9a:100")
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    with pytest.raises(data.MissingData, match=r"there is no covtype\.svm\.xz"):
        data.load("covtype_bin")
    with pytest.raises(data.MissingData, match="there is no data set 'nonsense'"):
        data.load("nonsense")
    with pytest.raises(data.MissingData, match="asks for 'many' rows of tall"):
        data.load("tall:many")


def test_a_real_set_is_read_scaled_and_drawn_from(monkeypatch, tmp_path):
    import lzma

    folder = tmp_path / "real"
    folder.mkdir()
    with lzma.open(folder / "covtype.svm.xz", "wt") as file:
        file.write("".join(f"{1 + i % 3} 1:{i} 2:7\n" for i in range(30)))
    monkeypatch.setenv(data.VARIABLE, str(folder))
    X, y = data.load("covtype_bin")
    assert X.min() == 0 and X[:, 0].max() == 1 and (X[:, 1] == 0).all()
    np.testing.assert_array_equal(y, np.where(np.arange(30) % 3 == 1, 1.0, -1.0))
    few, _ = data.load("covtype_bin:10")
    assert few.shape == (10, 2) and {tuple(row) for row in few} <= {tuple(row) for row in X}


@pytest.mark.parametrize("name", data.GENERATED)
def test_generated_sets_are_the_same_every_time_and_survive_the_cache(name):
    X, y = data.load(f"{name}:200")
    again, labels = data.GENERATED[name](200)
    assert X.shape[0] == 200 and set(y) == {-1.0, 1.0}
    assert abs(X - again).max() == 0
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize(("problems", "file"), SOLVER_FILES)
def test_every_solver_file_solves_a_small_problem(problems, file):
    pytest.importorskip("benchopt")
    try:
        solver = worker.load_solver(worker.Racer(file, problems, file))
    except ImportError as error:
        pytest.skip(f"not installed: {error}")
    X, y = data.rings(150) if problems == "kernel" else data.tall(150)
    task = judge.Task(X, y, 1.0, solver.biases[-1], 0.3 if problems == "kernel" else None)
    assert solver.refusal(task) is None
    solver.set_objective(**vars(task))
    solver.run(solver.ladder[-2])
    values = judge.judge(task, **solver.get_result())
    problem = Problem(X, y, kernel=RBF(gamma=0.3) if task.gamma else "linear", bias=task.bias, C=1.0)
    best = solve(problem, tol=1e-8).certificate
    assert best.dual * (1 - 1e-9) <= values.primal <= best.primal * 1.02


@pytest.mark.parametrize("problems", ["linear", "kernel"])
def test_benchopt_finds_the_parts_of_each_benchmark(problems):
    benchopt = pytest.importorskip("benchopt.benchmark")
    benchmark = benchopt.Benchmark(FOLDER / problems)
    assert sorted(benchmark.get_dataset_names()) == ["generated", "real"]
    assert {"maxmargin", "svc", "sklearnex"} <= set(benchmark.get_solver_names())
    objective = benchmark.get_benchmark_objective().get_instance(C=1.0, bias="free")
    X, y = data.rings(80)
    objective.set_data(X, y)
    assert objective.evaluate_result(**objective.get_one_result())["value"] > 0


@pytest.mark.parametrize("sparse", [False, True])
def test_the_limits_are_times_of_the_kernel_rows(sparse):
    task, chosen = small_task("free", 0.3, sparse), np.array([5, 2, 7])
    times = limit.limit_seconds(task, 20)
    assert tuple(times) == limit.LIMITS and all(0 < seconds < 10 for seconds in times.values())
    exact = kernel_matrix(task)[chosen]
    np.testing.assert_allclose(limit._plain_rows(task.X, task.gamma, chosen)(), exact, rtol=1e-5)
    np.testing.assert_allclose(limit._our_rows(task.X, task.gamma, chosen)(chosen), exact, rtol=1e-5)
    if not sparse:
        np.testing.assert_allclose(limit._tiles(task.X, task.gamma)(chosen), exact, rtol=1e-5)


def row(solver, setting, repeat, seconds, gap, C=1.0, n=10, failure=""):
    return schedule.Row(
        f"set:{n}", n, 2, C, None, None, "free", solver, setting, repeat, seconds, 1.0, 1.0, gap, True, failure
    )


def test_the_quickest_setting_that_reaches_a_gap_counts_else_the_nearest():
    rows = [row("p", 1, 0, 1.0, 0.5), row("p", 0.1, 0, 3.0, 0.009), row("p", 0.01, 0, 2.0, 0.001)]
    assert schedule.counting_row(rows, 0.01).setting == 0.01
    assert schedule.counting_row(rows, 1e-6).setting == 0.01
    killed, failed = row("p", 1, 0, 60.0, np.inf, failure=worker.CAP), row("p", 1, 0, 60.0, np.inf, failure="oops")
    assert schedule.counting_row([killed], 0.01) is killed
    assert schedule.counting_row([*rows, killed], 1e-6).setting == 0.01
    assert schedule.counting_row([failed], 0.01) is None


def test_ratios_and_exponents_of_a_race_made_up_by_hand():
    ours = worker.Racer("maxmargin auto", "linear", "maxmargin")
    peers = [worker.Racer(name, "linear", name) for name in ("slow", "fast")]
    rules = schedule.Rules(gaps=(1e-3,))
    record = schedule.Record()
    for n, seconds in ((10, 1.0), (40, 2.0)):
        record.rows += [row("maxmargin auto", 1e-3, repeat, seconds, 1e-4, n=n) for repeat in range(3)]
        record.rows += [row("slow", 0.1, 0, 8 * seconds, 1e-4, n=n), row("fast", 0.1, 0, 4 * seconds, 0.5, n=n)]
    found = tables.standings(record, [ours, *peers], rules)
    text = tables.summary(found, [ours, *peers], rules)
    assert "| C ≤ 1 | 0.001 | 8.00 (least 8.00, 2) | 8.00 (least 8.00, 2) | ≥ 4.00 (least 4.00, 2) |" in text
    assert "| 0.50 (2 sizes) | 0.50 (2 sizes) | – |" in tables.growth(found, [ours, *peers], rules)
    assert "4* (5e-01)" in tables.times(found, [ours, *peers], rules)


def test_a_tighter_setting_counts_where_its_median_is_quicker():
    """And one that was tried once, while others were repeated, does not."""
    rules = schedule.Rules(gaps=(1e-2, 1e-3))
    record = schedule.Record([row("p", 0.1, 0, 0.5, 9e-3)])
    for repeat, seconds in enumerate((1.0, 5.0, 5.0)):
        record.rows += [row("p", 0.01, repeat, seconds, 5e-3), row("p", 0.001, repeat, 2.0, 5e-4)]
    found = tables.standings(record, [worker.Racer("p", "linear", "p")], rules)
    assert [(standing.seconds, standing.reached) for standing in found] == [(2.0, True), (2.0, True)]


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_the_reference_is_tight_and_kept(bias, monkeypatch, tmp_path):
    from racing import reference

    monkeypatch.setattr(reference, "cache_folder", lambda: tmp_path)
    task = judge.Task(*data.tall(300), 1.0, bias)
    found = reference.reference(task, seconds=20)
    assert found["relative_gap"] <= 2 * reference.TIGHT
    best = solve(Problem(task.X, task.y, bias=bias, C=1.0), tol=1e-9).certificate
    assert found["dual"] <= best.primal and found["dual"] == pytest.approx(best.dual, rel=1e-7)
    monkeypatch.setattr(reference, "_tight_runs", None)  # not to be run again
    assert reference.best_dual(task) == found["dual"]
