"""The command lines with a search for C and gamma: `maxmargin train --search` beside LIBSVM's and LIBLINEAR's methods.

    MAXMARGIN_DATA=/path/to/data python benchmarks/command_line_search.py

Their side is what their guides advise: `svm-scale`, 5-fold cross-validation by `svm-train -v 5` over the grid of
grid.py (C = 2⁻⁵, 2⁻³, …, 2¹⁵; gamma = 2³, 2¹, …, 2⁻¹⁵; `--workers` programs at a time), `svm-train` with the best, and
`svm-predict`; for linear models `train -C`, `train -c` and `predict` of LIBLINEAR. Ours is one `train --search` and one
`predict`. Beside it each program's defaults on the same rows, without a search. The clock runs over all commands.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from command_line import HELD_OUT, command, facts_of
from maxmargin.data import Data, read, write
from racing import data as sets

RESULT = Path(__file__).resolve().parent / "results" / "command_line_search.md"
COSTS, GAMMAS = tuple(2.0**k for k in range(-5, 16, 2)), tuple(2.0**k for k in range(3, -16, -2))
OURS = [sys.executable, "-c", "from maxmargin.cli import main; main()"]


@dataclass(frozen=True)
class Case:
    """A data set (the first rows of a shuffle, where a number is given), its test set, and who is compared on it."""

    data: str
    peer: str
    rows: int | None = None
    test: str | None = None


CASES = (
    Case("heart_scale", "LIBSVM"),
    Case("fourclass_scale", "LIBSVM"),
    Case("australian", "LIBSVM"),
    Case("splice.s", "LIBSVM"),
    Case("satimage", "LIBSVM", 1500),
    Case("svmguide1", "LIBSVM", test="svmguide1.t"),
    Case("a9a", "LIBLINEAR", test="a9a.t"),
    Case("w8a", "LIBLINEAR", 20000),
)


@dataclass(frozen=True)
class Found:
    """How good the answers were, how long all commands took, and what was chosen."""

    accuracy: float
    seconds: float
    chosen: str = ""


def main() -> None:
    """Prepare, run both sides in turn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help=f"names with commas between, of: {', '.join(case.data for case in CASES)}")
    parser.add_argument("--folder", help=f"the folder of the data (default: {sets.VARIABLE} of the environment)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="their programs at a time")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"the table (default: {RESULT.name} in results)")
    options = parser.parse_args()
    if options.folder is not None:
        os.environ[sets.VARIABLE] = options.folder
    rows = []
    for case in CASES:
        if options.data is not None and case.data not in options.data.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append(compared(case, Path(folder), options.workers))
        print(rows[-1], flush=True)
        text = ["# The command lines with a search", "", facts_of(["libsvm-tools", "liblinear-tools"]), "", *HEADER]
        options.out.write_text("\n".join([*text, *rows, "", NOTES, ""]), encoding="utf-8")


def prepared(case: Case, folder: Path) -> tuple[Path, Path]:
    """The training and the test rows as svmlight files."""
    whole = read(sets._file(case.data))
    assert whole.y is not None
    order = np.random.default_rng(sets.SEED).permutation(whole.n)[: case.rows]
    cut = 0 if case.test is not None else round(HELD_OUT * len(order))
    train = Data(whole.X[order[cut:]], whole.y[order[cut:]])
    test = read(sets._file(case.test)) if case.test is not None else Data(whole.X[order[:cut]], whole.y[order[:cut]])
    paths = folder / "train.svm", folder / "test.svm"
    for path, part in zip(paths, (train, test), strict=True):
        write(path, part)
    return paths


def compared(case: Case, folder: Path, workers: int) -> str:
    """One row of the table."""
    train, test = prepared(case, folder)
    linear = case.peer == "LIBLINEAR"
    problem = ["--loss", "squared-hinge", "--bias", "none"] if linear else ["--kernel", "rbf"]
    plain = ours(folder, train, test, problem)
    searched = ours(folder, train, test, [*problem, *([] if linear else ["--scale", "min-max"]), "--search"])
    theirs = liblinear if linear else libsvm
    plain_theirs, searched_theirs = theirs(folder, train, test, None), theirs(folder, train, test, workers)
    data = read(train)
    assert data.y is not None
    cells = [f"{case.data} ({data.n} × {data.X.shape[1]}, {len(np.unique(data.y))} classes)", case.peer]
    for one, other in ((plain, plain_theirs), (searched, searched_theirs)):
        cells += [f"{one.accuracy:.4f}", f"{other.accuracy:.4f}", f"{one.seconds:.2f}", f"{other.seconds:.2f}"]
    ratio = searched_theirs.seconds / searched.seconds
    return f"| {' | '.join([*cells, f'**{ratio:.1f}**', searched.chosen, searched_theirs.chosen])} |"


def ours(folder: Path, train: Path, test: Path, options: list[str]) -> Found:
    """Train and predict by our commands; the second of two runs counts, for which all code is compiled."""
    for _ in range(2):
        began = time.perf_counter()
        told = run(*OURS, "train", train, *options, "-o", folder / "ours.mm", "-q", unproved=True)
        run(*OURS, "predict", folder / "ours.mm", test, "-o", folder / "ours.txt", "-q")
        seconds = time.perf_counter() - began
    chosen = re.search(r"C ([^,]+)(?:, gamma (\S+))? with", told)
    words = "" if chosen is None else ", ".join(part for part in chosen.groups() if part)
    return Found(score(folder / "ours.txt", test), seconds, words)


def libsvm(folder: Path, train: Path, test: Path, workers: int | None) -> Found:
    """Train and predict by LIBSVM's commands, with scaling and a grid where there are workers for it."""
    model, answers = folder / "theirs.model", folder / "theirs.txt"
    began = time.perf_counter()
    chosen: list[str] = []
    if workers is not None:
        scaled = [folder / "train.scaled", folder / "test.scaled"]
        for k, (source, path) in enumerate(zip((train, test), scaled, strict=True)):
            path.write_text(run("svm-scale", "-s" if k == 0 else "-r", folder / "range", source))
        train, scaled_test = scaled

        def rate(pair: tuple[float, float]) -> float:
            told = run("svm-train", "-q", "-v", 5, "-c", pair[0], "-g", pair[1], train)
            return float(told.split("=")[1].strip().rstrip("%"))

        pairs = list(product(COSTS, GAMMAS))
        with ThreadPoolExecutor(workers) as pool:
            rates = list(pool.map(rate, pairs))
        C, gamma = pairs[int(np.argmax(rates))]
        chosen = [f"{C:g}", f"{gamma:.4g}"]
    else:
        scaled_test = test
    options = [] if not chosen else ["-c", C, "-g", gamma]
    run("svm-train", "-q", *options, train, model)
    run("svm-predict", scaled_test, model, answers)
    return Found(score(answers, test), time.perf_counter() - began, ", ".join(chosen))


def liblinear(folder: Path, train: Path, test: Path, workers: int | None) -> Found:
    """Train and predict by LIBLINEAR's commands, with its own search for C where it is wanted."""
    model, answers = folder / "theirs.model", folder / "theirs.txt"
    programs = command(("liblinear-train", "train")), command(("liblinear-predict", "predict"))
    began = time.perf_counter()
    options: list[Any] = []
    if workers is not None:
        told = run(programs[0], "-C", "-s", 2, train)
        found = re.search(r"Best C = (\S+)", told)
        assert found is not None, told
        options = ["-s", 2, "-c", found.group(1)]
    run(programs[0], "-q", *options, train, model)
    run(programs[1], test, model, answers)
    return Found(score(answers, test), time.perf_counter() - began, "".join(map(str, options[3:])))


def run(*arguments: Any, unproved: bool = False) -> str:
    """What a command prints; it may end with status 3 where the model need not be proved to the tolerance."""
    ended = subprocess.run([str(part) for part in arguments], capture_output=True, text=True)
    if ended.returncode and not (unproved and ended.returncode == 3):
        sys.exit(f"{arguments}: {ended.stderr}")
    return ended.stdout


def score(answers: Path, test: Path) -> float:
    """The share of rows that are answered correctly."""
    return float((np.loadtxt(answers) == read(test).y).mean())


HEADER = (
    "| data | against | defaults: accuracy | | seconds | | search: accuracy | | seconds | | times as fast | chosen | |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    "| | | ours | theirs | ours | theirs | ours | theirs | ours | theirs | | ours | theirs |",
)
NOTES = (
    "Accuracy on rows that nothing was trained or chosen on; seconds of all commands from the first to the last,"
    " reading and writing included; one run each, ours after one that compiles."
    " Defaults: `svm-train` (RBF, gamma = 1/columns) and `maxmargin train"
    " --kernel rbf`, or LIBLINEAR's `train` and our squared hinge without a bias. Search: `svm-scale`, the 110"
    " combinations of grid.py in 5 folds, `svm-train`, `svm-predict`; `maxmargin train --kernel rbf --scale min-max"
    " --search` (30 combinations around gamma = scale, in 5 folds) and `maxmargin predict`; LIBLINEAR's `train -C`."
)


if __name__ == "__main__":
    main()
