"""The command lines side by side: `maxmargin train` and `predict` with those of LIBSVM and LIBLINEAR.

    MAXMARGIN_DATA=/path/to/data python benchmarks/command_line.py

Each program trains with its own defaults (tolerance included) on the same text file and predicts another; the clock
runs from the start of a command to its end, reading and writing included. The programs take turns; the first turn is
not counted, and the median of the others is. The table says how good both models are: the share of held-out rows that
they get right, and the relative duality gap of the problem that they both solve.

`command_line_search.py` compares the same programs with a search for C and gamma.

Needs `svm-train`, `svm-predict` (Debian: libsvm-tools) and `train`, `predict` of LIBLINEAR (liblinear-tools).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.data import Data, read, write
from maxmargin.models import Model, load
from maxmargin.models.certify import certify
from maxmargin.models.classes import pairs
from racing import data as sets
from racing.machine import described

RESULT = Path(__file__).resolve().parent / "results" / "command_line.md"
#: The share of the rows that is held out, where a set has no test set of its own.
HELD_OUT = 0.2
#: How well the optimum is known that LIBLINEAR's model, which has no dual point, is compared with.
REFERENCE = 1e-7


@dataclass(frozen=True)
class Peer:
    """Another program: its commands (by any of their names), and the options of ours that mean its default problem."""

    name: str
    package: str
    train: tuple[str, ...]
    predict: tuple[str, ...]
    ours: tuple[str, ...]
    #: The relative gap of a model of its making, from the training rows.
    gap: Callable[[Model, Data], float]


@dataclass(frozen=True)
class Case:
    """A data set, and who is compared on it."""

    data: str
    peer: str
    #: The name of its test set; None where a part of the rows is held out.
    test: str | None = None


CASES = (
    Case("a9a", "LIBLINEAR", "a9a.t"),
    Case("news20_bigram_bin", "LIBLINEAR"),
    Case("covtype_bin", "LIBLINEAR"),
    Case("usps", "LIBSVM", "usps.t"),
    Case("letter.scale", "LIBSVM", "letter.scale.t"),
    Case("ijcnn1:20000", "LIBSVM"),
)


def main() -> None:
    """Prepare, take turns, write."""
    options = arguments().parse_args()
    chosen = [case for case in CASES if options.data is None or case.data in options.data.split(",")]
    if not chosen:
        sys.exit(f"--data names none of: {', '.join(case.data for case in CASES)}")
    for peer in {case.peer for case in chosen}:
        for names in (PEERS[peer].train, PEERS[peer].predict):
            if command(names) is None:
                sys.exit(f"{names[0]} is not installed; in Debian it is in {PEERS[peer].package}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            rows.append(compared(case, Path(folder), options.turns))
            print(rows[-1], flush=True)
    text = "\n".join(["# The command lines side by side", "", facts(chosen), "", *HEADER, *rows, "", NOTES, ""])
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    print(text)


def arguments() -> argparse.ArgumentParser:
    """The flags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help=f"names with commas between, of: {', '.join(case.data for case in CASES)}")
    parser.add_argument("--turns", type=int, default=5, help="how many turns count, after the first (default: 5)")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"the table (default: {RESULT.name} in results)")
    return parser


# Data


def prepared(case: Case, folder: Path) -> tuple[Path, Path]:
    """The training and the test rows as svmlight files, with labels that are whole numbers."""
    if case.test is not None:
        parts = [read(sets._file(name)) for name in (case.data, case.test)]
    else:
        X, y = sets.load(case.data)
        X, y = sp.csr_array(X), y.astype(np.int64)
        order = np.random.default_rng(sets.SEED).permutation(len(y))
        cut = round(HELD_OUT * len(y))
        parts = [Data(X[order[cut:]], y[order[cut:]]), Data(X[order[:cut]], y[order[:cut]])]
    paths = folder / "train.svm", folder / "test.svm"
    for path, part in zip(paths, parts, strict=True):
        write(path, part)
    return paths


# Turns


def compared(case: Case, folder: Path, turns: int) -> str:
    """One row of the table."""
    peer = PEERS[case.peer]
    train, test = prepared(case, folder)
    ours, theirs = folder / "ours.mm", folder / "theirs.model"
    program = [sys.executable, "-c", "from maxmargin.cli import main; main()"]
    commands = {
        "ours": (
            [*program, "train", train, *peer.ours, "-o", ours, "-q"],
            [*program, "predict", ours, test, "-o", folder / "ours.txt", "-q"],
        ),
        "theirs": (
            [command(peer.train), "-q", train, theirs],
            [command(peer.predict), test, theirs, folder / "theirs.txt"],
        ),
    }
    seconds: dict[tuple[str, int], list[float]] = {}
    for turn in range(turns + 1):
        for who, (first, second) in commands.items():
            for step, arguments in enumerate((first, second)):
                taken = timed(arguments)
                if turn:
                    seconds.setdefault((who, step), []).append(taken)
    medians = {key: statistics.median(values) for key, values in seconds.items()}
    data = read(train)
    truth = read(test).y
    scores = [float((np.loadtxt(folder / f"{who}.txt") == truth).mean()) for who in commands]
    model = load(ours)
    gaps = max(finding.relative_gap for finding in certify(model, [data])), peer.gap(load(theirs), data)
    cells = [f"{case.data} ({data.n} × {data.X.shape[1]}, {len(np.unique(data.y))} classes)", case.peer]
    for step in range(2):
        cells += [f"{medians['ours', step]:.2f}", f"{medians['theirs', step]:.2f}"]
    whole = [medians[who, 0] + medians[who, 1] for who in ("ours", "theirs")]
    cells += [f"{whole[0]:.2f}", f"{whole[1]:.2f}", f"**{whole[1] / whole[0]:.2f}**"]
    cells += [f"{score:.4f}" for score in scores] + [f"{gap:.1e}" for gap in gaps]
    return f"| {' | '.join(cells)} |"


def timed(arguments: list[Any]) -> float:
    """The seconds of a command from its start to its end."""
    began = time.perf_counter()
    subprocess.run([str(part) for part in arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def command(names: tuple[str, ...]) -> str | None:
    """The first of these programs that is there."""
    return next((found for name in names if (found := shutil.which(name))), None)


# How good the others' models are


def libsvm_gap(model: Model, data: Data) -> float:
    """The largest relative gap over the pairs of classes: the file holds the dual points."""
    scores = model.scores(data.X)
    assert model.classes is not None and model.coef is not None and data.y is not None
    gaps = []
    for k in range(model.machines):
        if model.scheme == "binary":
            positive, negative = model.classes[1], model.classes[0]
        else:
            i, j = pairs(len(model.classes))[k]
            positive, negative = model.classes[i], model.classes[j]
        rows = np.isin(data.y, [positive, negative])
        margins = np.where(data.y[rows] == positive, 1.0, -1.0) * scores[rows, k]
        used = np.flatnonzero(model.coef[k])
        vectors, c = model.vectors[used], model.coef[k, used]
        square = float(c @ model.kernel.block(vectors, vectors) @ c)
        primal = 0.5 * square + float(np.maximum(0.0, 1.0 - margins).sum())
        dual = float(np.abs(c).sum()) - 0.5 * square
        gaps.append((primal - dual) / max(abs(primal), abs(dual)))
    return max(gaps)


def liblinear_gap(model: Model, data: Data) -> float:
    """Against the best dual value that is known: the file holds w only."""
    assert model.w is not None and model.classes is not None and data.y is not None
    y = np.where(data.y == model.classes[1], 1.0, -1.0)
    reference = solve(Problem(data.X, y, loss="squared-hinge", bias="none"), tol=REFERENCE).certificate.dual
    margins = y * model.scores(data.X)[:, 0]
    primal = 0.5 * float(model.w[0] @ model.w[0]) + float((np.maximum(0.0, 1.0 - margins) ** 2).sum())
    return (primal - reference) / max(abs(primal), abs(reference))


PEERS = {
    "LIBSVM": Peer(
        "LIBSVM",
        "libsvm-tools",
        ("svm-train",),
        ("svm-predict",),
        ("--kernel", "rbf", "--gamma", "auto"),
        libsvm_gap,
    ),
    "LIBLINEAR": Peer(
        "LIBLINEAR",
        "liblinear-tools",
        ("liblinear-train", "train"),
        ("liblinear-predict", "predict"),
        ("--loss", "squared-hinge", "--bias", "none"),
        liblinear_gap,
    ),
}


# The page

HEADER = (
    "| data | against | train | | predict | | both | | times as fast | held-out accuracy | | relative gap | |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    "| | | ours | theirs | ours | theirs | ours | theirs | | ours | theirs | ours | theirs |",
)
NOTES = (
    "Seconds from the start of a command to its end, medians; both read and write the same text. Defaults on both"
    " sides: LIBSVM's RBF kernel with gamma = 1/columns, C = 1, tolerance 1e−3; LIBLINEAR's squared hinge without a"
    " bias, C = 1, tolerance 0.1; ours a relative gap of 1e−4, and all cores. The gap is (P − D)/max(|P|, |D|), the"
    " largest of the pairs of classes: ours as `check` recomputes it; LIBSVM's from the dual points in its model file;"
    f" LIBLINEAR's against the best dual value known (to {REFERENCE:g}), as its file has none."
)


def facts(chosen: list[Case]) -> str:
    """When, on what, and with which versions."""
    return facts_of(sorted({PEERS[case.peer].package for case in chosen}))


def facts_of(packages: list[str]) -> str:
    """The same, by the packages of the other programs."""
    versions = [f"{package} {debian_version(package)}" for package in packages]
    return f"{described([]).rstrip('.')}, {', '.join(versions)}."


def debian_version(package: str) -> str:
    """The version of a Debian package, where there is one."""
    if shutil.which("dpkg-query") is None:
        return "(version unknown)"
    asked = ["dpkg-query", "-W", "-f", "${Version}", package]
    told = subprocess.run(asked, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout.strip()
    return told or "(version unknown)"


if __name__ == "__main__":
    main()
