"""Fuzzing of every model reader: whatever the bytes, it gives a model that predicts, or one sentence.

The suite runs a few hundred inputs of each kind. For more, apart from it:

    python -m tests.models.fuzz --seconds 3600
"""

from __future__ import annotations

import hashlib
import io
import random
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import MaxMarginError
from maxmargin.models import load, save
from tests.data.fuzz import MEMORY, main, mutated, outcomes
from tests.models.fitted import fitted

SEEDS = {
    "native": ("binary rbf", "binary sparse", "ovo linear", "binary scaled"),
    "libsvm": ("binary rbf", "ovo rbf", "regression rbf", "binary linear"),
    "liblinear": ("binary linear", "ovr linear", "regression linear"),
}


def shortened(raw: bytes, kind: str) -> bytes:
    """A model of LIBSVM with only a few of its vectors, so that mutations hit more than numbers."""
    if kind != "libsvm":
        return raw
    lines = raw.split(b"\n")
    start = lines.index(b"SV") + 1
    return b"\n".join([*lines[:start], *(line[:200] for line in lines[start : start + 3]), b""])


def repacked(raw: bytes, rng: random.Random) -> bytes:
    """A native model with one of its parts mutated and the checksums made right, so that the damage goes deeper."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(list(contents))
    before = contents[chosen]
    contents[chosen] = mutated(before, rng)
    if chosen.endswith(".npy"):
        old, new = (hashlib.sha256(part).hexdigest().encode() for part in (before, contents[chosen]))
        contents["model.json"] = contents["model.json"].replace(old, new)
    contents["model.sha256"] = hashlib.sha256(contents["model.json"]).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in contents.items():
            archive.writestr(name, part)
    return out.getvalue()


def attempt(path: Path, kind: str) -> str:
    """Load a file and predict: "loaded" or "refused"; anything else is raised."""
    try:
        model = load(path, kind)
        assert model.columns < 2**31
        if model.columns < 10**6:
            with np.errstate(all="ignore"):  # damaged weights may be huge
                assert len(model.predict(sp.csr_array((2, model.columns)))) == 2
    except MaxMarginError as error:
        assert str(error) and "\n" not in str(error).strip()
        return "refused"
    return "loaded"


def run(inputs: int, seconds: float, seed: int) -> Counter:
    """Try so many inputs of each format, or for so long; counts what came of them."""
    known: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "model"
        for kind, names in SEEDS.items():
            for name in names:
                save(fitted(name)[0], path, kind)
                known.setdefault(kind, []).append(shortened(path.read_bytes(), kind))

    def made(kind: str, rng: random.Random) -> bytes:
        raw = rng.choice(known[kind])
        return repacked(raw, rng) if kind == "native" and rng.random() < 0.8 else mutated(raw, rng)

    return outcomes(SEEDS, made, attempt, inputs, seconds, seed)


if __name__ == "__main__":
    main(__doc__, run)
