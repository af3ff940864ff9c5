"""A search that was stopped goes on where it was: the same scores, the same model, nothing fitted twice."""

from __future__ import annotations

import csv
import json
import threading

import pytest

from maxmargin.training import search as grid_search

pytestmark = pytest.mark.compiled


class Fits:
    """Counts the fits of a search, and may stop it after some."""

    def __init__(self, monkeypatch):
        self.count, self.most = 0, None
        self.lock = threading.Lock()
        original = grid_search.Fold.fits

        def fits(fold, Cs, budget, tol, left):
            with self.lock:
                if self.most is not None and self.count >= self.most:
                    budget.interrupt()
                self.count += len(Cs)
            return original(fold, Cs, budget, tol, left)

        monkeypatch.setattr(grid_search.Fold, "fits", fits)


@pytest.fixture
def fits(monkeypatch):
    return Fits(monkeypatch)


def table(path):
    with open(path) as file:
        return {(row["C"], row["gamma"]): row["score"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("name, options", [("two.svm", ["--kernel", "rbf"]), ("three.csv", ["--scale", "standard"])])
def test_stopped_and_resumed(name, options, files, tmp_path, command, fits):
    asked = ["train", files / name, *options, "--search", "--cv", "3", "--C-range", "-2,4,2", "--json"]
    files_of_whole = ["-o", tmp_path / "whole.mm", "--search-csv", tmp_path / "whole.csv"]
    whole = command(*asked, *files_of_whole, "--checkpoint", tmp_path / "other")
    assert whole.status == 0 and whole.facts["search"]["complete"], whole.err
    needed, fits.count, fits.most = fits.count, 0, 8
    kept = [*asked, "--checkpoint", tmp_path / "state", "-o", tmp_path / "model.mm"]
    first = command(*kept)
    assert first.status in (1, 130), first.err
    assert not (tmp_path / "state").exists()  # the training has not begun: another recipe may be the best
    known = len(json.loads((tmp_path / "state.search").read_text())["scores"])
    assert 0 < known < needed
    assert "is there already" in command(*kept).err
    fits.count, fits.most = 0, None
    second = command(*kept, "--resume", "--search-csv", tmp_path / "model.csv")
    assert second.status == 0, second.err
    assert 0 < fits.count <= needed - known
    assert table(tmp_path / "model.csv") == table(tmp_path / "whole.csv")
    assert (tmp_path / "model.mm").read_bytes() == (tmp_path / "whole.mm").read_bytes()
    fits.count = 0
    assert command(*kept, "--resume").status == 0 and fits.count == 0


def test_a_finer_search_keeps_what_the_first_one_found(files, tmp_path, command, fits):
    asked = ["train", files / "two.svm", "--kernel", "rbf", "--search", "--cv", "3", "--refine", "--json"]
    asked += ["--C-range", "-2,2,2", "--gamma-range", "-8,-4,2", "--checkpoint", tmp_path / "state"]
    found = command(*asked, "-o", tmp_path / "a.mm")
    assert found.status == 0, found.err
    known = json.loads((tmp_path / "state.search").read_text())["scores"]
    assert len({(C, gamma) for C, gamma, *_ in known}) == found.facts["search"]["tried"]
    fits.count = 0
    again = command(*asked, "-o", tmp_path / "b.mm", "--resume")
    assert again.status == 0 and fits.count == 0
    assert again.facts["search"] == found.facts["search"]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "it is damaged"),
        ("[1, 2]", "it is damaged"),
        ('{"fingerprint": "x"}', "it is damaged"),
        ('{"fingerprint": "x", "scores": [[1, 2]]}', "it is damaged"),
        ('{"fingerprint": "x", "scores": []}', "belongs to another search"),
    ],
)
def test_a_file_that_is_of_no_use(text, sentence, files, tmp_path, command):
    (tmp_path / "state.search").write_text(text)
    asked = ["train", files / "two.svm", "--search", "--checkpoint", tmp_path / "state", "-o", tmp_path / "m.mm"]
    ended = command(*asked, "--resume")
    assert ended.status == 1 and sentence in ended.err
    assert "the search beside --checkpoint" in command(*asked, "--resume", "--report", tmp_path / "state.search").err
