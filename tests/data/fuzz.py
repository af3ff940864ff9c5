"""Fuzzing of every data reader: whatever the bytes, it gives data or one sentence, soon and in little memory.

The suite runs a few hundred inputs of each kind. For more, apart from it:

    python -m tests.data.fuzz --seconds 3600
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from maxmargin.data import FORMATS, Data, blocks, read, write
from maxmargin.errors import MaxMarginError

#: What mutations are made of, besides random bytes.
WORDS = [
    b"1",
    b"-1",
    b":",
    b" ",
    b"\n",
    b"#",
    b"nan",
    b"inf",
    b"1e999",
    b"0",
    b'"',
    b",",
    b"\t",
    b"\r\n",
    b"qid:1",
    b"\0",
]
WORDS += [
    b"2147483647:1",
    b"99999999999999999999",
    b"1e-400",
    b"0." + b"1" * 30,
    b"\xff",
    b"(1000000000000, 2)",
    b"'O'",
]
SUFFIX = {"svmlight": "svm"}
#: Seconds of the processor that no input of a few hundred bytes may take (the first of a kind loads compiled code).
SLOW = 30.0
#: Files in memory, where the system has that: the disk would be what takes the time.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Good files of each format, as contents."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(6, 3)), 2)
    y = np.array([0, 1, 0, 1, 1, 0])
    found: dict[str, list[bytes]] = {}
    for kind in FORMATS:
        for data in (Data(X, y), Data(sp.csr_array(X * (X > 0)), y), Data(X, None)):
            path = folder / f"seed.{SUFFIX.get(kind, kind)}"
            write(path, data)
            found.setdefault(kind, []).append(path.read_bytes())
    return found


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut, doubled or put in."""
    out = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(6):
            case 0 if out:
                out[at % len(out)] = rng.randrange(256)
            case 1:
                out[at:at] = rng.choice(WORDS)
            case 2:
                del out[at : at + rng.randint(1, 8)]
            case 3:
                out[at:at] = out[at : at + rng.randint(1, 40)]
            case 4:
                del out[at:]
            case _:
                word = rng.choice(WORDS)
                out[at : at + len(word)] = word
    return bytes(out)


def attempt(path: Path, kind: str) -> str:
    """Read a file in both ways: "read" or "refused"; anything else is raised."""
    try:
        whole = read(path, kind, needed=False)
        assert whole.n > 0 and np.isfinite(whole.X.data if sp.issparse(whole.X) else whole.X).all()
        assert sum(part.n for part in blocks(path, kind, needed=False)) == whole.n
    except MaxMarginError as error:
        assert str(error) and "\n" not in str(error).strip()
        return "refused"
    return "read"


def run(inputs: int, seconds: float, seed: int) -> Counter:
    """Try so many inputs of each format, or for so long; counts what came of them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        known = seeds(Path(folder))
        return outcomes(
            FORMATS, lambda kind, rng: mutated(rng.choice(known[kind]), rng), attempt, inputs, seconds, seed
        )


def outcomes(
    kinds: Iterable[str],
    made: Callable[[str, random.Random], bytes],
    attempt: Callable[[Path, str], str],
    inputs: int,
    seconds: float,
    seed: int,
) -> Counter:
    """Try inputs of each kind by turns: how often each kind had which outcome. A failure names the input; so does one
    that took longer than `SLOW`."""
    rng = random.Random(seed)
    found: Counter = Counter()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "input"
        while sum(found.values()) < inputs * len(tuple(kinds)) and time.monotonic() < until:
            for kind in kinds:
                raw = made(kind, rng)
                path.write_bytes(raw)
                began = time.process_time()
                try:
                    found[kind, attempt(path, kind)] += 1
                    assert time.process_time() - began < SLOW
                except BaseException as error:
                    error.add_note(f"input of kind {kind}: {raw!r}")
                    raise
    return found


def main(description, run):
    """Fuzz for as long as the command line says, and print what came of it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="for how long (default: 600)")
    parser.add_argument("--inputs", type=int, default=10**9, help="at most so many of each kind")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32, help="the same seed gives the same inputs")
    chosen = parser.parse_args()
    print("seed", chosen.seed, flush=True)
    found = run(chosen.inputs, chosen.seconds, chosen.seed)
    for (kind, outcome), times in sorted(found.items()):
        print(f"{kind:10} {outcome:8} {times}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{sum(found.values())} inputs in {time.process_time():.0f} s of the processor, {memory:.0f} MB at most")


if __name__ == "__main__":
    main(__doc__, run)
