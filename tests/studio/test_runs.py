"""What the page is shown is what the library computes: frames, certificates, fields, exports."""

from __future__ import annotations

import contextlib
import io
import json

import numpy as np
import pytest

from maxmargin import CrammerSingerProblem, Problem, certify, data, solve
from maxmargin.estimators import SVC
from maxmargin.kernels import RBF
from maxmargin.models import load
from maxmargin.result import Iterate
from maxmargin.solvers.base import registry as solvers
from maxmargin.studio.pseudocode import pseudocode
from maxmargin.studio.recording import played
from tests.studio.conftest import WINDOW, Asker, posed, targets

pytestmark = pytest.mark.compiled

LIMIT = 25


def problem_of(told):
    """The problem that was posed, as a user of the library poses it."""
    options = {key: told[key] for key in ("loss", "kernel", "bias", "C", "regularizer") if key in told}
    return Problem(told["X"], targets(told) if told["task"] == "classification" else told["y"], **options)


def accepted(solver):
    """A problem that a solver takes, and its options: one update at a time where it has that."""
    for more in (
        {},
        {"bias": "augmented"},
        {"kernel": "rbf"},
        {"loss": "logistic"},
        {"loss": "squared-hinge", "regularizer": "l1"},
    ):
        told = posed("overlap", **more)
        if solvers[solver].accepts(problem_of(told)) is None:
            return told
    raise AssertionError(f"no problem here for {solver}")


def options_of(solver):
    return {"grain": 1} if hasattr(solvers[solver], "grain") else {}


@pytest.mark.parametrize("solver", list(solvers))
def test_frames_are_those_of_solve_bit_for_bit(solver, ask):
    if solver.startswith("qp"):
        pytest.importorskip("qpsolvers")
    told, options = accepted(solver), options_of(solver)
    run = ask("run", problem=told, solver=solver, options=options, seed=3, tol=1e-9)[0]["run"]
    ask("step", run=run, k=LIMIT, seconds=5)
    last = ask("frame", run=run, index=-1)[0]
    end = None if last["ended"] else last["k"] + 1
    problem = problem_of(told)
    result = solve(problem, solver, tol=1e-9, every=1, snapshots=True, max_iter=end, random_state=3, **options)
    frames = last["frames"]
    assert frames <= len(result.trace.snapshots)
    for index in range(frames):
        header, arrays = ask("frame", run=run, index=index)
        moment = result.trace.snapshots[index]
        assert header["k"] == moment.iteration and header["b"] == moment.b
        assert arrays["beta"].tobytes() == moment.beta.tobytes()
        assert arrays.get("raw", arrays["beta"]).tobytes() == moment.raw_beta.tobytes()
        if "w" in arrays:
            assert arrays["w"].tobytes() == moment.w.tobytes()
        if moment.event is not None:
            assert header["event"]["indices"] == list(moment.event.indices)
            assert header["event"]["after"] == list(moment.event.after)
    columns = ("iteration", "primal", "dual", "relative_gap", "beta_sum", "support")
    trace = ask("frame", run=run, index=-1)[1]["trace"]
    places = (0, 3, 4, 5, 6, 7)
    for place, name in zip(places, columns, strict=True):
        np.testing.assert_array_equal(trace[:, place], result.trace[name][:frames], name)


@pytest.mark.parametrize("solver", list(solvers))
def test_the_certificate_is_that_of_the_shown_point(solver, ask):
    if solver.startswith("qp"):
        pytest.importorskip("qpsolvers")
    told = accepted(solver)
    problem = problem_of(told)
    run = ask("run", problem=told, solver=solver, options=options_of(solver))[0]["run"]
    for _ in range(4):
        header, arrays = ask("step", run=run, k=3, seconds=5)
        shown = header["certificate"]
        own = Iterate(beta=arrays["beta"])
        if "w" in arrays:  # a primal method's own hyperplane
            constant = problem.space.constant
            inside = header["b"] / constant if constant else 0.0
            own = Iterate(
                w=np.append(arrays["w"], inside),
                b=header["b"] if problem.bias == "free" else None,
                beta=arrays["beta"],
                linked=False,
            )
        made = certify(problem, own)
        assert shown["fresh"]
        assert shown["dual"] == pytest.approx(made.dual, rel=1e-12, abs=1e-12)
        if "w" in arrays or not problem.linear:
            assert shown["primal"] == pytest.approx(made.primal, rel=1e-12, abs=1e-12) or problem.hard
        assert shown["verdict"].endswith(".")
        assert header["accuracy"] <= 1.0


@pytest.mark.parametrize("solver", list(solvers))
def test_pseudocode_is_numbered_and_the_lines_that_run_are_of_it(solver, ask):
    if solver.startswith("qp"):
        pytest.importorskip("qpsolvers")
    lines = {number for number, _ in pseudocode(type(solvers[solver])).lines}
    assert len(lines) >= 3, f"the file of {solver} opens without numbered pseudocode"
    run = ask("run", problem=accepted(solver), solver=solver, options=options_of(solver))[0]["run"]
    first = ask("step", run=run)[0]["lines"]
    assert first and set(first) <= lines
    ask("step", run=run, k=2)
    assert set(ask("frame", run=run, index=-1)[0]["lines"]) <= lines


def test_smo_goes_through_its_loop_again_and_again(ask):
    run = ask("run", problem=posed(), solver="smo", options={"grain": 1})[0]["run"]
    assert ask("step", run=run)[0]["lines"] == [1, 2, 3, 4, 5]
    assert ask("step", run=run)[0]["lines"] == [2, 3, 4, 5]


def test_the_field_is_the_decision_function(ask):
    for kernel, bias in (("linear", "free"), ({"name": "rbf", "gamma": 0.5}, "augmented")):
        told = posed("moons", kernel=kernel, bias=bias)
        header, arrays = ask("solve", problem=told, field=WINDOW, tol=1e-8)
        own = RBF(gamma=0.5) if bias == "augmented" else "linear"
        result = solve(Problem(told["X"], targets(told), kernel=own, bias=bias), tol=1e-8)
        x, y = np.meshgrid(np.linspace(-4, 4, 9), np.linspace(-3, 3, 7))
        wanted = result.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(7, 9)
        np.testing.assert_allclose(arrays["field"], wanted, rtol=1e-5, atol=1e-5)
        assert header["certificate"]["holds"]


def test_several_classes_are_machines_and_the_winner_is_the_prediction(ask):
    told = posed("clouds", n=30, classes=3)
    model = SVC(kernel="linear", tol=1e-8).fit(told["X"], told["y"])
    header, arrays = ask("solve", problem={**told, "scheme": "ovo"}, field=WINDOW, tol=1e-8)
    assert [one["name"] for one in header["problem"]["machines"]] == ["0 vs 1", "0 vs 2", "1 vs 2"]
    x, y = np.meshgrid(np.linspace(-4, 4, 9), np.linspace(-3, 3, 7))
    wanted = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(7, 9)
    clear = arrays["field"] > 1e-6
    np.testing.assert_array_equal(arrays["classes"][clear], wanted[clear])
    assert np.isnan(arrays["beta"]).sum() == 10 and (arrays["kinds"] == 255).sum() == 10


@pytest.mark.parametrize("more", [{}, {"kernel": {"name": "rbf", "gamma": 0.5}, "weights": [1.0, 2.0, 0.5] * 8}])
@pytest.mark.parametrize("steps", [6, 5000])
def test_exported_code_makes_the_same_certificate(more, steps, ask):
    told = posed("overlap", **more)
    run = ask("run", problem=told, solver="smo", options={"grain": 1}, seed=2, tol=1e-5)[0]["run"]
    ask("step", run=run, k=steps, seconds=5)
    code = ask("export", run=run, format="python")[1]["file"].tobytes().decode()
    there: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, there)
    kept = ask.session.runs[run].recordings[0].so_far()
    made = there["result"].certificate
    assert (made.primal, made.dual) == pytest.approx((kept.certificate.primal, kept.certificate.dual), rel=1e-12)
    assert there["result"].beta.tobytes() == kept.beta.tobytes()


def test_a_solved_problem_is_exported_as_it_was_solved(ask):
    run = ask("solve", problem=posed("sine"), solver="auto", tol=1e-7)[0]
    code = ask("export", run=run["run"], format="python")[1]["file"].tobytes().decode()
    assert "solver='auto'" in code
    there: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, there)
    assert there["result"].certificate.primal == pytest.approx(run["certificate"]["primal"], rel=1e-12)


def test_data_models_and_notebooks_are_exported(ask, tmp_path):
    told = posed("clouds", n=30, classes=3, labels=["1", "2", "3"])
    run = ask("solve", problem=told)[0]["run"]
    for format, name in (("svmlight", "points.svm"), ("mm", "model.mm"), ("notebook", "fit.ipynb")):
        header, arrays = ask("export", run=run, format=format)
        assert header["name"] == name
        (tmp_path / name).write_bytes(arrays["file"].tobytes())
    read = data.read(tmp_path / "points.svm")
    np.testing.assert_array_equal(read.X.toarray(), told["X"])
    np.testing.assert_array_equal(read.y - 1, told["y"])
    model = load(tmp_path / "model.mm")
    assert np.mean(model.predict(np.array(told["X"])) == read.y.astype(str)) > 0.9
    cells = json.loads((tmp_path / "fit.ipynb").read_text())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "code", "code"]


def test_a_run_starts_where_another_one_stands(ask):
    told = posed("overlap")
    first = ask("run", problem=told, solver="smo")[0]["run"]
    ask("step", run=first, k=3, seconds=5)
    second = ask("run", problem=told, solver="smo", start={"run": first, "index": -1}, options={"grain": 1})[0]["run"]
    before = ask("frame", run=first, index=-1)[0]["best"]["dual"]
    assert ask("step", run=second)[0]["best"]["dual"] >= before - 1e-12


def test_a_step_that_is_too_long_diverges_before_the_eyes(ask):
    told = posed("overlap", C=1000.0)
    run = ask("run", problem=told, solver="gradient-ascent", options={"step": 5.0})[0]["run"]
    header = ask("step", run=run, k=2000, seconds=5)[0]
    assert header["status"]["code"] == "diverged" and "too long" in header["status"]["text"]


def test_a_hard_margin_that_cannot_be_is_proved(ask):
    header, _ = ask("solve", problem=posed("overlap", n=40, C="Infinity"))
    assert header["status"]["code"] == "inseparable" and header["inseparable"]["proved"]


def test_nu_is_an_ordinary_problem_in_disguise(ask):
    told = posed("overlap", n=40, nu=0.5)
    header, _ = ask("solve", problem=told, tol=1e-8)
    counts = header["certificate"]["counts"]
    assert counts["bound"] / 40 <= 0.5 <= (counts["bound"] + counts["free"]) / 40
    assert "nu = 0.5" in header["problem"]["note"]


def test_answers_tell_each_row_of_the_trace_once():
    ask = Asker()
    run = ask("run", problem=posed("overlap"), solver="subgradient")[0]["run"]
    seen = []
    for k in (1, 4, 2, 7):
        header, arrays = ask("step", run=run, k=k, seconds=5)
        assert header["first"] == len(seen)
        seen += arrays["trace"].tolist()
    assert seen == ask("frame", run=run, index=-1)[1]["trace"].tolist()


@pytest.mark.parametrize(
    ("solver", "more", "how"),
    [
        ("smo", {}, {"grain": 1}),
        ("smo", {"kernel": "rbf"}, {"grain": 1, "every": 3}),
        ("coordinate-ascent", {"bias": "augmented", "bias_scale": 2.0}, {"random_state": 5}),
        ("subgradient", {"bias": "augmented", "bias_scale": 2.0}, {"start": (np.array([0.5, -0.5]), 0.25)}),
        ("subgradient", {}, {"every": 2}),
        ("penalty", {}, {"every": 2}),
    ],
)
def test_a_run_that_was_recorded_is_played_as_it_was(solver, more, how):
    """Run again where that is the same run, and from its snapshots where it began elsewhere or skipped iterates."""
    told = posed("overlap")
    problem = Problem(told["X"], targets(told), **more)
    result = solve(problem, solver, max_iter=30, tol=1e-9, snapshots=True, **{"every": 1, **how})
    made = played(result)
    assert made.result is result and len(made.frames) == len(result.trace.snapshots)
    assert all(frame.lines for frame in made.frames) == (how == {"grain": 1})
    for frame, moment in zip(made.frames, result.trace.snapshots, strict=True):
        assert frame.point.beta.tobytes() == moment.beta.tobytes()
        assert problem.space.bias(frame.point.w) + (frame.point.b or 0.0) == pytest.approx(moment.b, abs=1e-14)
        z = problem.space.scores(frame.point.w) + (frame.point.b or 0.0)
        if problem.linear:
            np.testing.assert_allclose(z, problem.X @ moment.w + moment.b, atol=1e-12)


def test_all_classes_in_one_problem_are_one_machine(ask):
    told = posed("clouds", n=45, classes=3, noise=1.2, bias="augmented", scheme="crammer-singer", C=0.5)
    assert "bias" in ask.refused("problem", **{**told, "bias": "free"})["error"]
    header, arrays = ask("solve", problem=told, field=WINDOW, tol=1e-8)
    result = solve(CrammerSingerProblem(told["X"], told["y"], C=0.5), tol=1e-8)
    assert header["problem"]["machines"][0]["together"] and header["certificate"]["holds"]
    assert header["certificate"]["kkt_violation"] < 1e-5
    assert header["certificate"]["primal"] == pytest.approx(result.certificate.primal, rel=1e-7)
    x, y = np.meshgrid(np.linspace(-4, 4, 9), np.linspace(-3, 3, 7))
    wanted = result.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(7, 9)
    np.testing.assert_array_equal(arrays["classes"], wanted)
    assert 0.5 * header["norm"] ** 2 + 0.5 * arrays["slack"].sum() == pytest.approx(header["certificate"]["primal"])
    assert (arrays["lower"] == 0).all() and (arrays["beta"] <= arrays["upper"][0]).all()
    begun = ask("run", problem=told, solver="coordinate-ascent")[0]
    run, lines = begun["run"], [one["text"] for one in begun["algorithm"]["pseudocode"]]
    assert len(lines) == 5 and "W = W(α)" in lines[0]  # those of the sequential dual method
    header, arrays = ask("step", run=run, k=12, seconds=5, field=WINDOW)
    assert arrays["gaps"].sum() == pytest.approx(header["certificate"]["gap"], rel=1e-9)
    assert header["lines"] == [2, 3, 4, 5]
    for name in ("tape", "svmlight", "notebook"):
        ask("export", run=run, format=name)
    assert "one hyperplane" in ask.refused("view", run=run, name="hulls")["error"]
    assert "one hyperplane" in ask.refused("export", run=run, format="gif")["error"]
    ask("step", run=run, k=5000, seconds=5)
    _, arrays = ask("export", run=run, format="python")
    found = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(arrays["file"].tobytes().decode(), found)
    assert found["result"].certificate.primal == pytest.approx(header["certificate"]["primal"], rel=0.1)
    assert found["result"].converged
