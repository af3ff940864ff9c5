"""Fuzzing of all readers of files, as long as wanted: damaged inputs in chunks of one kind.

    python -m tests.faults.fuzz --inputs 2000000 --state fuzz.json

The same seed gives the same inputs. The state is kept after each chunk, so that the same command goes on where it was
stopped; a chunk during which the process crashed or hung counts as failed, as does one with an input that raises
anything but a `MaxMarginError`, or takes too much memory.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.data import fuzz as data
from tests.models import fuzz as models

#: Inputs of one kind that one process tries.
CHUNK = 2000
#: Seconds after which a chunk hangs.
HANGS = 600
#: Memory that may be asked for, whether it is used or not, beyond what a process has before it begins.
ASKED = 4 * 2**30


def kinds() -> dict[str, Callable[[str], Counter]]:
    """How to try a chunk of each kind, by the seed of the chunk."""
    found: dict[str, Callable[[str], Counter]] = {}
    with tempfile.TemporaryDirectory(dir=data.MEMORY) as folder:
        for module in (data, models):
            known = module.seeds(Path(folder))
            for kind in module.KINDS:

                def chunk(seed: str, kind=kind, known=known, module=module) -> Counter:
                    # Good files first: code is loaded before memory is looked at.
                    make = lambda kind, rng: module.made(known, kind, rng)  # noqa: E731
                    return data.outcomes([kind], make, module.attempt, CHUNK, HANGS, seed)

                found[kind] = chunk
    return found


def run(inputs: int, seed: int, state: Path, part: int = 0, parts: int = 1, seconds: float = 1e9) -> dict:
    """Try so many inputs in all (this process its part of the chunks), going on from the state where there is one."""
    fresh = {"seed": seed, "chunk": CHUNK, "done": {}, "failed": {}, "running": None}
    kept = json.loads(state.read_text()) if state.exists() else fresh
    if (kept["seed"], kept["chunk"]) != (seed, CHUNK):
        sys.exit("the state belongs to another seed")
    if kept["running"] is not None:
        kept["failed"][kept["running"]] = "the process crashed, hung or was killed"
    tried = kinds()
    names = list(tried)
    until = time.monotonic() + seconds
    for number in map(str, range(part, -(-inputs // CHUNK), parts)):
        if number in kept["done"] or number in kept["failed"] or time.monotonic() > until:
            continue
        _keep(state, kept | {"running": number})
        kind = names[int(number) % len(names)]
        faulthandler.dump_traceback_later(HANGS, exit=True)
        try:
            found = tried[kind](f"{seed}-{number}")
        except BaseException:
            kept["failed"][number] = f"{kind}: {traceback.format_exc()}"
        else:
            kept["done"][number] = {kind: {outcome: times for (_, outcome), times in found.items()}}
        faulthandler.cancel_dump_traceback_later()
        _keep(state, kept | {"running": None})
    return kept | {"running": None}


def _keep(state: Path, kept: dict) -> None:
    state.with_suffix(".part").write_text(json.dumps(kept))
    os.replace(state.with_suffix(".part"), state)


def total(kept: dict) -> Counter:
    """How often each kind had which outcome."""
    found: Counter = Counter()
    for chunk in kept["done"].values():
        for kind, outcomes in chunk.items():
            for outcome, times in outcomes.items():
                found[kind, outcome] += times
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=2_000_000, help="inputs in all (default: 2000000)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same inputs (default: 0)")
    parser.add_argument("--state", type=Path, default="fuzz.json", help="where the state is kept (default: fuzz.json)")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many seconds")
    parser.add_argument("--part", default="0/1", help="this process tries chunks k, k + n, ... of k/n (default: 0/1)")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ASKED, resource.RLIM_INFINITY))
    kept = run(chosen.inputs, chosen.seed, chosen.state, part, parts, chosen.seconds)
    for (kind, outcome), times in sorted(total(kept).items()):
        print(f"{kind:20} {outcome:8} {times}")
    print(f"{sum(total(kept).values())} inputs; {len(kept['failed'])} chunks failed")
    for number, text in kept["failed"].items():
        print(f"chunk {number}, {text[-2000:]}")
    sys.exit(bool(kept["failed"]))


if __name__ == "__main__":
    main()
