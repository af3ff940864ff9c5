"""The commands: what each takes and refuses, in one sentence, and that nothing that comes can stop a session."""

from __future__ import annotations

import base64
import gzip
import io
import json
import logging
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest

import maxmargin.studio
from maxmargin import list_kernels, list_losses, list_solvers
from maxmargin.kernels.base import registry as kernels
from maxmargin.studio import imports, views
from maxmargin.studio.arguments import LIMITS
from maxmargin.studio.frames import unpacked
from maxmargin.studio.session import OPERATIONS, Session
from maxmargin.studio.toys import TOYS
from tests.studio.conftest import WINDOW, Asker, posed

pytestmark = pytest.mark.compiled

PROTOCOL = (Path(maxmargin.studio.__file__).parent / "PROTOCOL.md").read_text(encoding="utf-8")


def test_the_document_has_every_command_and_no_other():
    assert set(re.findall(r"^### `(\w+)`", PROTOCOL, re.M)) == set(OPERATIONS)


def test_the_document_has_every_view():
    told = PROTOCOL[PROTOCOL.index("### `view`") : PROTOCOL.index("### `export`")]
    assert set(views.VIEWS) <= set(re.findall(r"`(\w+)`", told))


def test_the_document_has_every_name_of_a_frame(ask):
    header, arrays = ask("solve", problem=posed("clouds", n=30, classes=3), field=WINDOW)
    told = PROTOCOL[PROTOCOL.index("### A frame") : PROTOCOL.index("### `view`")]
    for name in {*header, *header["certificate"]} - {"id", "ok", "problem"}:
        assert re.search(rf"\b{name}\b", told), name
    for name in set(arrays) - {"lower", "upper", "target", "weight"}:
        assert f"`{name}`" in told, name


def test_all_that_is_registered_is_offered(ask):
    told, _ = ask("hello")
    names = {what: [one["name"] for one in told[what]] for what in ("losses", "kernels", "solvers", "toys")}
    assert names["solvers"] == list_solvers() and names["losses"] == list_losses() and names["toys"] == list(TOYS)
    assert set(names["kernels"]) == {name for name in list_kernels() if name not in ("custom", "precomputed")}
    for one in told["losses"] + told["kernels"] + told["solvers"]:
        assert one["title"] and one["doc"]
        for field in one["fields"]:
            assert field["type"] in ("number", "whole", "text", "flag", "choice") and field["doc"], (one["name"], field)
            assert field["default"] is not None or field["optional"]


@pytest.mark.parametrize("name", list(TOYS))
def test_toy_sets_are_the_same_again_and_can_be_solved(name, ask):
    sizes = {} if TOYS[name].fixed else {"n": 30}
    first, again = (ask("toy", name=name, seed=4, **sizes)[1] for _ in range(2))
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)
    assert len(first["X"]) == len(first["y"]) == (30 if sizes else TOYS[name].n)
    header, _ = ask("solve", problem=posed(name, n=30, kernel={"name": "rbf", "gamma": 0.5}), tol=1e-4)
    assert header["certificate"]["holds"], header["status"]


@pytest.mark.parametrize("loss", list_losses())
@pytest.mark.parametrize("kernel", [name for name in list_kernels() if not kernels[name].given and name != "custom"])
def test_every_loss_and_kernel_can_be_posed(loss, kernel, ask):
    tasks = {"one-class": "cloud", "epsilon-insensitive": "sine", "squared-epsilon-insensitive": "sine"}
    task = tasks.get(loss, "overlap")
    header, arrays = ask("problem", **posed(task, n=20, kernel=kernel, loss=loss))
    assert set(header["accepts"]) == set(list_solvers())
    able = [name for name, refusal in header["accepts"].items() if refusal is None]
    assert header["auto"] in able or able in ([], ["perceptron"])  # which maximises nothing
    assert (arrays["lower"] <= arrays["upper"]).all() and arrays["weight"].shape == (1, 20)


REFUSED = {
    "no such command": ("explode", {}, "protocol"),
    "no such toy": ("toy", {"name": "cat"}, "input"),
    "too many points": ("toy", {"name": "moons", "n": 10**6}, "input"),
    "three features": ("problem", {**posed(), "X": [[0, 0, 0]] * 24}, "input"),
    "labels missing": ("problem", {**posed(), "y": None, "X": [[0.0, 1.0]]}, "input"),
    "a row that is not a number": ("problem", {**posed(), "X": [[0.0, "x"]] * 24}, "input"),
    "infinite points": ("problem", {**posed(), "X": [[0.0, "Infinity"]] * 24}, "input"),
    "one class": ("problem", {**posed(), "y": [0] * 24}, "input"),
    "half a class": ("problem", {**posed(), "y": [0.5, 1] * 12}, "input"),
    "a loss for another task": ("problem", {**posed(), "loss": "epsilon-insensitive"}, "input"),
    "a loss that is not there": ("problem", {**posed(), "loss": "cat"}, "input"),
    "a kernel that needs a function": ("problem", {**posed(), "kernel": "custom"}, "input"),
    "a field that is not there": ("problem", {**posed(), "kernel": {"name": "rbf", "width": 1}}, "input"),
    "a field of the wrong kind": ("problem", {**posed(), "kernel": {"name": "polynomial", "degree": "x"}}, "input"),
    "a negative C": ("problem", {**posed(), "C": -1}, "input"),
    "a hard margin of the logistic loss": ("problem", {**posed(), "C": "Infinity", "loss": "logistic"}, "input"),
    "a bias that is not there": ("problem", {**posed(), "bias": "maybe"}, "input"),
    "a weight of a label that is not there": ("problem", {**posed(), "class_weight": {"cat": 2}}, "input"),
    "a nu that cannot be": ("problem", {**posed(), "nu": 1.5}, "input"),
    "a solver that is not there": ("run", {"problem": posed(), "solver": "cat"}, "input"),
    "a solver that refuses": ("run", {"problem": posed(), "solver": "coordinate-ascent"}, "refused"),
    "an option that is not there": ("run", {"problem": posed(), "solver": "smo", "options": {"speed": 1}}, "input"),
    "an option that cannot be": ("run", {"problem": posed(), "solver": "smo", "options": {"grain": -1}}, "input"),
    "a start of another size": ("run", {"problem": posed(), "solver": "smo", "start": {"beta": [1]}}, "input"),
    "a problem that is gone": ("run", {"problem": "p99", "solver": "smo"}, "missing"),
    "a run that is gone": ("step", {"run": "r99"}, "missing"),
    "points for Python where there is none": ("give", {}, "input"),
    "a file that is none": ("import", {"name": "a.csv", "data": "%%%"}, "input"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(what, ask):
    op, command, kind = REFUSED[what]
    header = ask.refused(op, **command)
    assert header["kind"] == kind, header
    assert "\n" not in header["error"] and len(header["error"]) > 20


def test_a_refusal_is_the_solvers_own_sentence(ask):
    problem = posed()
    own = ask("problem", **problem)[0]["accepts"]["coordinate-ascent"]
    assert own in ask.refused("run", problem=problem, solver="coordinate-ascent")["error"]


def test_too_much_is_refused(ask):
    run = ask("run", problem=posed(), solver="smo")[0]["run"]
    assert ask.refused("step", run=run, field={**WINDOW, "nx": 2000, "ny": 2000})["kind"] == "limit"
    assert ask.refused("problem", **posed(X=[[0.0, 0.0]] * (LIMITS["rows"] + 1)))["kind"] == "limit"
    many = posed(y=[k % 24 for k in range(24)], labels=[], scheme="ovo")
    assert ask.refused("problem", **many)["kind"] == "limit"
    huge = json.dumps({"id": 1, "op": "hello", "x": "a" * LIMITS["message"]})
    assert unpacked(ask.session.answer(huge))[0]["kind"] == "limit"


def test_the_oldest_handles_are_dropped(ask):
    first = ask("problem", **posed())[0]["problem"]
    for _ in range(LIMITS["problems"]):
        ask("problem", **posed())
    assert ask.refused("run", problem=first, solver="smo")["kind"] == "missing"
    for _ in range(LIMITS["runs"] + 3):
        ask("run", problem=posed(), solver="smo")
    assert len(ask.session.runs) == LIMITS["runs"] and len(ask.session.settings) == LIMITS["problems"]


def test_recorded_frames_have_a_limit(ask, monkeypatch):
    monkeypatch.setitem(LIMITS, "recorded", 20_000)
    run = ask("run", problem=posed("overlap"), solver="subgradient")[0]["run"]
    refused = ask.refused("step", run=run, k=5000, seconds=5)
    assert refused["kind"] == "limit" and "every" in refused["error"]
    assert ask("frame", run=run, index=-1)[0]["frames"] > 10  # what is recorded stays


def test_a_step_ends_in_time(ask):
    run = ask("run", problem=posed("overlap", n=100), solver="subgradient", tol=0)[0]["run"]
    header, _ = ask("step", run=run, k=10_000, seconds=0.0)
    assert header["frames"] == 1 and not header["ended"]


def own_file(ask, name, raw, **more):
    return ask("import", name=name, data=base64.b64encode(raw).decode(), **more)


def test_own_data_comes_as_a_plane(ask):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * [1, 10, 1, 1, 1]
    lines = ["a,b,c,d,e,class", *(",".join([*map(str, row), "<b>" if row[0] > 0 else "no"]) for row in X.tolist())]
    raw = "\n".join(lines).encode()
    header, arrays = own_file(ask, "<img src=x>.csv", raw)
    points = header["points"]
    assert arrays["X"].shape == (40, 2) and points["columns"] == list("abcde") and points["shown"] is None
    assert "principal components of 5 standardised features" in points["note"]
    assert points["labels"] == ["<b>", "no"] and points["task"] == "classification"
    header, arrays = own_file(ask, "x.csv", raw, columns=[4, 1])
    np.testing.assert_array_equal(arrays["X"], X[:, [4, 1]])
    assert header["points"]["names"] == ["e", "b"]
    _, packed = own_file(ask, "x.csv.gz", gzip.compress(raw), columns=[4, 1])
    np.testing.assert_array_equal(packed["X"], arrays["X"])


def test_formats_and_tasks_are_told_from_the_file(ask):
    header, arrays = own_file(ask, "x.svm", b"+1 1:1 2:2\n-1 1:0.5\n+1 2:3\n")
    assert arrays["y"].tolist() == [1, 0, 1] and header["points"]["labels"] == ["-1", "1"]
    header, arrays = own_file(ask, "x.csv", b"x,y\n1,0.25\n2,1.75\n3,2.5\n")
    assert header["points"]["task"] == "regression" and arrays["X"].shape == (3, 1)
    made = io.BytesIO()
    np.savez(made, X=np.eye(3, 2), y=np.array([0, 1, 1]))
    assert own_file(ask, "x.npz", made.getvalue())[1]["X"].shape == (3, 2)


def test_a_file_that_cannot_be_read_is_told_by_its_own_name(ask, monkeypatch):
    told = ask.refused("import", name="my points.csv", data=base64.b64encode(b"a,y\n1,2\nx,3\n").decode())
    assert "my points.csv" in told["error"] and "/tmp" not in told["error"]
    monkeypatch.setattr(imports, "UNPACKED", 10**5)
    bomb = gzip.compress(b"1,2\n" * 10**5)
    told = ask.refused("import", name="x.csv.gz", data=base64.b64encode(bomb).decode())
    assert told["kind"] == "limit" and "unpacks" in told["error"]


def test_more_rows_than_can_be_shown_are_a_sample(ask):
    rows = "\n".join(f"{k},{k % 7},{k % 2}" for k in range(LIMITS["rows"] + 500))
    header, arrays = own_file(ask, "x.csv", f"a,b,y\n{rows}\n".encode())
    assert len(arrays["X"]) == LIMITS["rows"] and "drawn at random" in header["points"]["note"]


WEIRD = [None, True, 0, -1, 1.5, 1e308, "", "x", "Infinity", "NaN", "<b>", "\ud800", "a" * 400, [], [[]], [1, "x"], {}]
WEIRD += [10**30, -(10**30), "r1", "p1", "smo", "logistic", "regression", "rbf", "custom", "augmented", {"name": "rbf"}]
WEIRD += [{"dtype": "f8", "shape": [2], "data": "AAAA"}, {"dtype": "f8", "shape": [-1], "data": ""}, [[1e200, 0]] * 24]
COMMANDS = [
    {"op": "hello"},
    {"op": "toy", "name": "moons", "n": 20, "noise": 0.1, "classes": 2, "seed": 1},
    {
        "op": "import",
        "name": "a.csv",
        "data": "YSxiLHkKMSwyLDAKMiwzLDEK",
        "columns": [0, 1],
        "target": "y",
        "task": None,
    },
    {"op": "problem", **posed(), "weights": [1] * 24, "class_weight": {"0": 2}, "scheme": "ovo", "nu": None},
    {"op": "run", "problem": posed(), "solver": "smo", "options": {"grain": 1}, "seed": 0, "start": None, "every": 1},
    {"op": "step", "run": "r2", "k": 3, "machine": 0, "field": WINDOW, "seconds": 0.1, "want": ["trace"]},
    {"op": "frame", "run": "r2", "index": 0, "machine": 0, "field": None},
    {"op": "solve", "problem": posed(), "solver": "auto", "options": {}, "tol": 1e-6, "seconds": 0.05},
    {"op": "view", "run": "r2", "index": 0, "name": "hulls"},
    {"op": "view", "run": "r2", "name": "landscape", "nx": 4, "ny": 4},
    {"op": "view", "run": "r2", "name": "kernel", "most": 4},
    {"op": "view", "run": "r2", "name": "step"},
    {"op": "export", "run": "r2", "format": "python", "machine": 0},
    {"op": "give", "points": {}, "run": "r2"},
    {"op": "drop", "run": "r9", "problem": "p9"},
]


def mutated(rng):
    """A command with something in it replaced, left out or cut off."""
    command = json.loads(json.dumps({"id": rng.randrange(1000), **rng.choice(COMMANDS)}))
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        place = command
        for _ in range(rng.randint(0, 2)):
            inside = place.values() if isinstance(place, dict) else place
            inner = [one for one in inside if isinstance(one, dict | list)]
            place = rng.choice(inner) if inner and inner[0] else place
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place))) if place else None
        if key is not None:
            place[key] = json.loads(json.dumps(rng.choice(WEIRD)))
    text = json.dumps(command)
    return text if rng.random() < 0.95 else text[: rng.randrange(len(text))]


def fuzz(messages, seed):
    """Answer so many messages; every answer must be one, and none an internal failure."""
    rng, session, settled = random.Random(seed), Session(), 0.0
    ask = Asker(session)
    for number in range(messages):
        if number == messages // 5:  # by then every handle is taken, and everything is compiled
            settled = megabytes()
        if number % 200 == 0:
            session.runs["r2"] = session.runs[ask("run", problem=posed(), solver="smo", options={"grain": 1})[0]["run"]]
            session.answer({"id": 1, "op": "step", "run": "r2", "k": 3})
        message = mutated(rng)
        header, _ = unpacked(session.answer(message))
        assert header["ok"] or header["kind"] != "internal", (message, header)
    assert len(session.runs) <= LIMITS["runs"] and len(session.settings) <= LIMITS["problems"]
    assert megabytes() - settled < 60


def megabytes():
    """The memory of this process, where the system tells it."""
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if told.exists() else 0.0


def test_nothing_that_comes_stops_a_session(caplog):
    caplog.set_level(logging.CRITICAL, "maxmargin.studio")
    fuzz(1500, 0)


@pytest.mark.slow
def test_a_million_messages():
    fuzz(1_000_000, 1)
