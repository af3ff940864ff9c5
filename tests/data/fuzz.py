"""Fuzzing of every data reader: whatever the bytes, it gives data or one sentence, soon and in little memory.

The suite runs a few hundred inputs of each kind; `tests.faults.fuzz` runs millions.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import resource
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from maxmargin.data import FORMATS, Data, blocks, read, weights, write
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
    b"2147483645:1",
    b"99999999999999999999",
    b"1e-400",
    b"0." + b"1" * 30,
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\0\0\0\0\0",
    b"(1000000000000, 2)",
    b"(65536, 65536, 65536, 65536)",
    b"'O'",
    b"\x1b[2J",
    b"\r",
    b'"' * 5,
    b"target",
    b"e",
]
#: The formats, and other forms of them: compressed, deflated, streamed; and files of weights.
KINDS = (*FORMATS, "svmlight.gz", "csv.xz", "svmlight.zst", "npz deflated", "arrow stream", "parquet dictionary")
KINDS += ("weights text", "weights.gz", "weights npy")
SUFFIX = {"svmlight": "svm"}
#: Seconds of the processor that no input of a few hundred bytes may take (the first of a kind loads compiled code).
SLOW = 30.0
#: The memory that an input may take: so many bytes, and so many times its own size.
MEMORY_AT_LEAST, TIMES = 200 * 2**20, 20
#: Files in memory, where the system has that: the disk would be what takes the time.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
ROWS = 6


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Good files of each kind, as contents; of a compressed one, what is inside."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(ROWS, 3)), 2)
    y = np.array([0, 1, 0, 1, 1, 0])
    text = np.array(["a", "b", "a", "ü", "b", "a"])
    variants = [Data(X, y), Data(sp.csr_array(X * (X > 0)), y), Data(X, None), Data(X, text, ("p", "q", "r"))]
    found: dict[str, list[bytes]] = {}
    for kind in FORMATS:
        for data in variants[: 3 if kind == "npy" else 4]:
            path = folder / f"seed.{SUFFIX.get(kind, kind)}"
            write(path, data)
            found.setdefault(kind, []).append(path.read_bytes())
    for kind in ("svmlight.gz", "csv.xz", "svmlight.zst"):
        found[kind] = found[kind.partition(".")[0]]
    found["npz deflated"] = [deflated(raw) for raw in found["npz"]]
    found["arrow stream"], found["parquet dictionary"] = _with_pyarrow(variants)
    lines = "".join(f"{value!r}\n" for value in np.abs(X[:, 0]).tolist())
    found["weights text"] = found["weights.gz"] = [lines.encode(), b"# of rows\n" + lines.encode()]
    buffer = io.BytesIO()
    np.save(buffer, np.abs(X[:, 0]))
    found["weights npy"] = [buffer.getvalue()]
    return found


def _with_pyarrow(variants: list[Data]) -> tuple[list[bytes], list[bytes]]:
    """Forms that our writer does not make: an Arrow stream, and Parquet with dictionaries and compression."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    streams, tables = [], []
    for data in variants:
        X = data.X.toarray() if sp.issparse(data.X) else data.X
        columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
        columns["small"] = np.arange(ROWS, dtype=np.int8)
        if data.y is not None:
            columns["target"] = pa.array(data.y.tolist()).dictionary_encode()
        table = pa.table(columns)
        out = io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        streams.append(out.getvalue())
        for compression in ("snappy", "zstd", "gzip"):
            out = io.BytesIO()
            parquet.write_table(table, out, compression=compression, use_dictionary=True)
            tables.append(out.getvalue())
    return streams, tables


def deflated(raw: bytes) -> bytes:
    """A zip archive with its members compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED)  # no time in it
    return out.getvalue()


def compressed(raw: bytes, kind: str) -> bytes:
    """What stands in a file of this kind."""
    if kind.endswith(".gz"):
        return gzip.compress(raw, 1, mtime=0)
    if kind.endswith(".xz"):
        return lzma.compress(raw, preset=0)
    if kind.endswith(".zst"):
        import zstandard

        return zstandard.ZstdCompressor(level=1).compress(raw)
    return raw


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut, doubled or put in."""
    out = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(7):
            case 0 if out:
                out[at % len(out)] = rng.randrange(256)
            case 1:
                out[at:at] = rng.choice(WORDS)
            case 2:
                del out[at : at + rng.randint(1, 8)]
            case 3:
                out[at:at] = out[at : at + rng.randint(1, 40)]
            case 4:
                if rng.random() < 0.3:  # what is cut short is refused at once: not too often
                    del out[at:]
            case 5 if out:
                out[at % len(out)] ^= 1 << rng.randrange(8)
            case _:
                word = rng.choice(WORDS)
                out[at : at + len(word)] = word
    return bytes(out)


def made(known: dict[str, list[bytes]], kind: str, rng: random.Random) -> bytes:
    """A damaged file of a kind; a compressed one is damaged inside or outside."""
    raw = rng.choice(known[kind])
    if "." in kind and rng.random() < 0.5:
        return mutated(compressed(raw, kind), rng)
    return compressed(mutated(raw, rng), kind)


def attempt(path: Path, kind: str) -> str:
    """Read a file in both ways: "read" or "refused"; anything else is raised."""
    try:
        if kind.startswith("weights"):
            if kind.endswith("npy"):
                path = path.rename(path.with_suffix(".npy"))
            found = weights.read(path, ROWS)
            assert found.shape == (ROWS,) and np.isfinite(found).all()
            return "read"
        kind = kind.split(" ")[0].split(".")[0]
        whole = read(path, kind, needed=False)
        assert whole.n > 0 and np.isfinite(whole.X.data if sp.issparse(whole.X) else whole.X).all()
        assert sum(part.n for part in blocks(path, kind, needed=False)) == whole.n
    except MaxMarginError as error:
        assert str(error) and "\n" not in str(error).strip()
        return "refused"
    return "read"


def run(inputs: int, seconds: float, seed: int) -> Counter:
    """Try so many inputs of each kind, or for so long; counts what came of them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        known = seeds(Path(folder))
        return outcomes(KINDS, lambda kind, rng: made(known, kind, rng), attempt, inputs, seconds, seed)


def outcomes(
    kinds: Iterable[str],
    made: Callable[[str, random.Random], bytes],
    attempt: Callable[[Path, str], str],
    inputs: int,
    seconds: float,
    seed: int | str,
) -> Counter:
    """Try inputs of each kind by turns: how often each kind had which outcome. A failure names the input; so does one
    that took longer than `SLOW`, or more memory than it may."""
    rng = random.Random(seed)
    found: Counter = Counter()
    kinds = tuple(kinds)
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "input"
        while sum(found.values()) < inputs * len(kinds) and time.monotonic() < until:
            for kind in kinds:
                raw = made(kind, rng)
                path.write_bytes(raw)
                began, before = time.process_time(), peak()
                try:
                    outcome = attempt(path, kind)
                    assert time.process_time() - began < SLOW, "too slow"
                    # The first of a kind loads compiled code and libraries.
                    if found[kind, outcome]:
                        assert peak() - before < MEMORY_AT_LEAST + TIMES * len(raw), "too much memory"
                    found[kind, outcome] += 1
                except BaseException as error:
                    error.add_note(f"input of kind {kind}: {raw!r}")
                    raise
    return found


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10
