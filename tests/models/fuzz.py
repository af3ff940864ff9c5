"""Fuzzing of model readers and checkpoints: whatever the bytes, it gives a model that predicts, or one sentence.

The suite runs a few hundred inputs of each kind; `tests.faults.fuzz` runs millions.
"""

from __future__ import annotations

import hashlib
import io
import random
import tempfile
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from maxmargin.data import Data
from maxmargin.errors import MaxMarginError
from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.hinge import Hinge
from maxmargin.losses.one_class import OneClass
from maxmargin.models import load, save
from maxmargin.models.model import Model
from maxmargin.training import checkpoint
from maxmargin.training.budget import Budget
from maxmargin.training.fit import fit
from maxmargin.training.recipe import Recipe
from tests.data.fuzz import MEMORY, mutated, outcomes

KINDS = ("native", "libsvm", "liblinear", "checkpoint")
FINGERPRINT = "0123456789abcdef"


def models() -> dict[str, Model]:
    """Small models of all sorts: damage hits more than numbers."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(14, 3)), 3)
    two, three = np.where(X[:, 0] > 0, 1, -1), np.digitize(X[:, 0], [-0.5, 0.5])
    text, names = np.where(two > 0, "b", "ä"), ("p", "q", "r")
    sparse = sp.csr_array(X * (X > -0.5))
    found = {
        "rbf": fit(Data(X, two), Recipe(Hinge(), RBF(0.5))),
        "sparse": fit(Data(sparse, two, zero_based=False), Recipe(Hinge(), RBF(0.5))),
        "text": fit(Data(X, text, names), Recipe(Hinge(), Polynomial(2, 0.5, 1.0), scaling="standard")),
        "linear": fit(Data(X, two), Recipe(Hinge(), Linear(), scaling="max-abs", class_weight="balanced")),
        "pairs": fit(Data(X, three), Recipe(Hinge(), Sigmoid(0.1), C=0.1)),
        "rest": fit(Data(X, three), Recipe(Hinge(), Linear(), multiclass="ovr")),
        "regression": fit(Data(X, X[:, 1]), Recipe(EpsilonInsensitive(0.1), RBF(0.5))),
        "line": fit(Data(X, X[:, 1] + X[:, 0]), Recipe(EpsilonInsensitive(0.1), Linear())),
        "novelty": fit(Data(X, None), Recipe(OneClass(0.3), RBF(0.5))),
    }
    made = {name: one.model for name, one in found.items()}
    made["sigmoids"] = replace(made["rbf"], sigmoids=np.array([[-1.5, 0.25]]))
    return made


FORMS = {
    "native": ("rbf", "sparse", "text", "linear", "pairs", "rest", "regression", "novelty", "sigmoids"),
    "libsvm": ("rbf", "sparse", "linear", "pairs", "regression", "novelty", "sigmoids"),
    "liblinear": ("linear", "rest", "line"),
}


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Good files of each kind, as contents."""
    path = folder / "model"
    found: dict[str, list[bytes]] = {}
    known = models()
    for kind, names in FORMS.items():
        for name in names:
            save(known[name], path, kind)
            found.setdefault(kind, []).append(path.read_bytes())
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 2)), 3)
    for y in (np.arange(12) % 2, np.arange(12) % 3):
        state = folder / "state"
        state.unlink(missing_ok=True)
        recipe = Recipe(Hinge(), RBF(0.5), bias="augmented", solver="coordinate-ascent", tol=1e-12, max_iter=3)
        saved = checkpoint.fingerprint
        try:
            checkpoint.fingerprint = lambda *parts: FINGERPRINT
            import maxmargin.training.fit as fitting

            before, fitting.fingerprint = fitting.fingerprint, checkpoint.fingerprint
            fit(Data(X, y), recipe, budget=Budget(checkpoint=str(state), work=1.0))
        finally:
            checkpoint.fingerprint, fitting.fingerprint = saved, before
        found.setdefault("checkpoint", []).append(state.read_bytes())
    return found


def repacked(raw: bytes, rng: random.Random, name: str) -> bytes:
    """An archive with one of its parts mutated and the checksums made right, so that the damage goes deeper."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        contents = {member: archive.read(member) for member in archive.namelist()}
    document = f"{name}.json"
    chosen = document if rng.random() < 0.5 else rng.choice(list(contents))
    before = contents[chosen]
    contents[chosen] = mutated(before, rng)
    if chosen.endswith(".npy"):
        old, new = (hashlib.sha256(part).hexdigest().encode() for part in (before, contents[chosen]))
        contents[document] = contents[document].replace(old, new)
    contents[f"{name}.sha256"] = hashlib.sha256(contents[document]).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, part in contents.items():
            archive.writestr(zipfile.ZipInfo(member), part)  # no time in it
    return out.getvalue()


def made(known: dict[str, list[bytes]], kind: str, rng: random.Random) -> bytes:
    """A damaged file of a kind."""
    raw = rng.choice(known[kind])
    if kind in ("native", "checkpoint") and rng.random() < 0.8:
        return repacked(raw, rng, "model" if kind == "native" else "checkpoint")
    return mutated(raw, rng)


def attempt(path: Path, kind: str) -> str:
    """Load a file and predict: "loaded" or "refused"; anything else is raised."""
    try:
        if kind == "checkpoint":
            found = checkpoint.load(path, FINGERPRINT)
            assert all(np.isfinite(one.beta).all() and np.isfinite(one.w).all() for one in found.done)
            return "loaded"
        model = load(path, kind)
        assert model.columns < 2**31
        scores = model.scores(sp.csr_array((2, model.columns)))
        assert np.isfinite(scores).all() and len(model.labels(scores)) == 2
        if model.sigmoids is not None and model.classes is not None:
            shares = model.probabilities(scores)
            assert np.isfinite(shares).all() and shares.shape == (2, len(model.classes))
    except MaxMarginError as error:
        assert str(error) and "\n" not in str(error).strip()
        return "refused"
    return "loaded"


def run(inputs: int, seconds: float, seed: int) -> Counter:
    """Try so many inputs of each kind, or for so long; counts what came of them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        known = seeds(Path(folder))
    return outcomes(KINDS, lambda kind, rng: made(known, kind, rng), attempt, inputs, seconds, seed)
