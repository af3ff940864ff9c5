"""train --stream: the same optimum as in memory, and a training on a file larger than the memory it is given."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.data import Data, read
from maxmargin.models import load
from maxmargin.training.block_files import Cache

pytestmark = pytest.mark.compiled


def test_the_cache_gives_back_what_went_in(files, monkeypatch):
    monkeypatch.setattr("maxmargin.training.block_files.BLOCK_BYTES", 3000)
    data = read(files / "sparse.svm")
    parts = [Data(data.X[start : start + 20], data.y[start : start + 20]) for start in range(0, data.n, 20)]
    cache = Cache()
    labels = np.concatenate(list(cache.fill(parts)))
    np.testing.assert_array_equal(labels, data.y)
    assert len(cache.places) > 3 and cache.n == data.n
    back = np.vstack([cache.block(place).toarray() for place in cache.places])
    np.testing.assert_array_equal(back, data.X.toarray())
    np.testing.assert_array_equal(cache.largest, np.abs(data.X.toarray()).max(axis=0))
    cache.close()


def test_the_same_optimum_as_in_memory(files, tmp_path, command, monkeypatch):
    monkeypatch.setattr("maxmargin.training.block_files.BLOCK_BYTES", 3000)
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", 4000)
    options = ["--bias", "augmented", "--tol", "1e-5", "--json"]
    ended = command("train", files / "sparse.svm", "--stream", *options, "-o", tmp_path / "model.mm")
    data = read(files / "sparse.svm")
    result = solve(Problem(data.X, data.y, bias="augmented"), tol=1e-7)
    assert ended.facts["machines"][0]["primal"] == pytest.approx(result.certificate.primal, rel=2e-5)
    model = load(tmp_path / "model.mm")
    np.testing.assert_allclose(model.w[0], result.w, atol=3e-2)
    assert command("check", tmp_path / "model.mm", files / "sparse.svm", "--tol", "1e-5").status == 0


@pytest.mark.parametrize("scaling", [[], ["--scale", "max-abs"]])
@pytest.mark.parametrize(
    ("name", "loss", "bias"),
    [
        ("two.svm", "hinge", "free"),
        ("sparse.svm", "squared-hinge", "free"),
        ("sparse.svm", "logistic", "augmented"),
        ("two.svm", "logistic", "free"),
        ("three.csv", "hinge", "free"),
        ("values.csv", "epsilon-insensitive", "free"),
        ("values.csv", "squared-epsilon-insensitive", "none"),
    ],
)
def test_streamed_and_in_memory_agree_within_their_gaps(
    name, loss, bias, scaling, files, tmp_path, command, monkeypatch
):
    monkeypatch.setattr("maxmargin.training.block_files.BLOCK_BYTES", 3000)
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", 4000)
    options = ["--loss", loss, "--bias", bias, "--tol", "1e-5", "-C", "0.5", "--json", *scaling]
    options += ["--multiclass", "ovr"] if name == "three.csv" else []
    machines = []
    for number, how in enumerate((["--stream"], ["--stream"], [])):
        path = tmp_path / f"{number}.mm"
        ended = command("train", files / name, *how, *options, "-o", path)
        assert ended.status == 0, ended.err
        assert ended.facts["converged"]
        machines.append(ended.facts["machines"])
        assert command("check", path, files / name, "--tol", "1e-5").status == 0
    for streamed, whole in zip(machines[0], machines[-1], strict=True):
        rounding = 1e-12 * abs(whole["primal"])
        assert whole["dual"] <= streamed["primal"] + rounding
        assert streamed["dual"] <= whole["primal"] + rounding
    assert (tmp_path / "0.mm").read_bytes() == (tmp_path / "1.mm").read_bytes()


def test_time_that_is_over_gives_a_model_that_is_proved(files, tmp_path, command, monkeypatch):
    monkeypatch.setattr("maxmargin.training.block_files.BLOCK_BYTES", 3000)
    ended = command("train", files / "two.svm", "--stream", "--max-time", "1e-6", "--json", "-o", tmp_path / "model.mm")
    (machine,) = ended.facts["machines"]
    assert "time budget" in machine["status"]
    assert machine["dual"] <= machine["primal"]
    load(tmp_path / "model.mm")


LIMIT = 1_000_000_000


@pytest.mark.slow
def test_a_file_four_times_larger_than_memory(tmp_path):
    """ulimit -v 1 GB, and 4 GB of text."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=500)
    path = tmp_path / "large.svm"
    with open(path, "w") as file:
        lines = []
        for _ in range(2000):
            columns = np.sort(rng.choice(500, 400, replace=False))
            values = rng.normal(size=400)
            label = 1 if values @ truth[columns] + rng.normal() > 0 else -1
            lines.append(f"{label} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in zip(columns, values, strict=True)))
        text = "\n".join(lines) + "\n"
        while file.tell() < 4 * LIMIT:
            file.write(text)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    def run(*arguments):
        code = "from maxmargin.cli import main; main()"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        ended = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, cwd=tmp_path, timeout=3600)
        assert ended.returncode == 0, ended.stderr[-2000:]
        return json.loads(ended.stdout)

    facts = run("train", path, "--stream", "--bias", "augmented", "-C", "1e-4", "--tol", "1e-2", "-o", "m.mm", "--json")
    assert facts["converged"]
    assert run("check", "m.mm", path, "--tol", "1e-2", "--json")["holds"]
    assert run("predict", "m.mm", path, "-o", "answers", "--json")["accuracy"] > 0.8
