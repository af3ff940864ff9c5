"""Race the solvers to a relative duality gap: `python benchmarks/race.py --problems linear --data a9a,ijcnn1`.

See README.md beside this file. Results go to `benchmarks/results/<out>.csv`, `.md` and `.png`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from racing import report
from racing.data import missing
from racing.schedule import Instance, Record, Rules, race
from racing.worker import limit_threads, racer

FOLDER = Path(__file__).resolve().parent
DEFAULTS = {
    "linear": {
        "data": "imdb_bow,news20_bigram_bin,news20_bow,a9a,w8a,covtype_bin,ijcnn1,cod-rna.z,kddcup99_10,mnist",
        "C": "0.1,1,10,100",
        "bias": "augmented",
        "solvers": "auto,liblinear,linearsvc,snapml",
    },
    "kernel": {
        "data": "a9a,ijcnn1,covtype_bin:30000,w8a,usps,mnist:10000,letter.scale,news20_bow:8000",
        "C": "1,10,100",
        "bias": "free",
        "solvers": "auto,svc,sklearnex",
    },
}


def main() -> None:
    """Parse, race, write."""
    options = arguments().parse_args()
    chosen = {key: getattr(options, key) or default for key, default in DEFAULTS[options.problems].items()}
    limit_threads(options.threads)
    try:
        racers = [racer(options.problems, name) for name in chosen["solvers"].split(",")]
    except ValueError as error:
        sys.exit(str(error))
    rules = Rules(numbers(options.gaps), options.repeats, options.cap, options.reference_cap, options.memory)
    record = Record()
    name = options.out or options.problems
    for data in data_sets(chosen["data"].split(","), options.growth):
        gammas = [None] if options.problems == "linear" else numbers(options.gamma)
        instances = [
            Instance(data, C, bias, gamma)
            for bias in chosen["bias"].split(",")
            for gamma in gammas
            for C in numbers(chosen["C"])
        ]
        race(instances, racers, rules, record)
        report.write(record, racers, rules, FOLDER / "results" / name, bool(options.growth))
    if not record.rows:
        sys.exit("nothing was raced: every data set is missing or every solver sat out")
    print((FOLDER / "results" / f"{name}.md").read_text())


def data_sets(names: list[str], growth: str | None) -> list[str]:
    """The data sets that are there, each in several sizes where growth is measured."""
    bases = [name.partition(":")[0] for name in names]
    wanted = [f"{base}:{int(rows)}" for base in bases for rows in numbers(growth)] if growth else names
    there = []
    for name in wanted:
        reason = missing(name)
        if reason is None:
            there.append(name)
        else:
            print(f"left out: {reason}", file=sys.stderr)
    return there


def numbers(text: str) -> tuple[float, ...]:
    """Numbers that commas separate."""
    return tuple(float(part) for part in text.split(","))


def arguments() -> argparse.ArgumentParser:
    """The flags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", choices=sorted(DEFAULTS), default="linear")
    parser.add_argument("--data", help="names with commas; name:rows draws that many rows")
    parser.add_argument("--C", help="values with commas")
    parser.add_argument("--gamma", default="1,10", help="multiples of 'scale', for kernels (default 1,10)")
    parser.add_argument("--bias", help="none, augmented, free; with commas")
    parser.add_argument("--solvers", help="solver files of the benchmark, or names of maxmargin's solvers, ours first")
    parser.add_argument("--gaps", default="1e-2,1e-3,1e-4,1e-6", help="relative gaps to reach")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cap", type=float, default=60.0, help="seconds after which a fit is killed (default 60)")
    parser.add_argument(
        "--reference-cap", type=float, default=120.0, help="seconds for each tight run that finds the best dual value"
    )
    parser.add_argument("--threads", type=int, default=2, help="what every solver may use (default 2)")
    parser.add_argument("--growth", help="numbers of rows with commas: time against n, with the fitted exponent")
    parser.add_argument("--memory", action="store_true", help="a table of the peaks of memory above the data")
    parser.add_argument("--out", help="name of the results (default: linear or kernel)")
    return parser


if __name__ == "__main__":
    main()
