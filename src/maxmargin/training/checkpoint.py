"""Checkpoints: where a training stands, in a file that is replaced in one step, so that there is always a whole one."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.files import shown
from maxmargin.models import archive
from maxmargin.models.solved import Solved
from maxmargin.result import COLUMNS, Trace
from maxmargin.training.checkpointed_run import State
from maxmargin.training.recipe import Recipe

NAME, VERSION = "checkpoint", 2

logger = logging.getLogger("maxmargin")


@dataclass
class Checkpoint:
    """The machines that are done, and the state of the one that is not; for one recipe on one data set."""

    path: str
    fingerprint: str
    done: list[Solved]
    state: State | None = None
    #: Whether a machine was left half-way, so that those after it are not worth keeping.
    closed: bool = False
    #: Whether the last attempt to write it failed.
    failing: bool = False

    def rest(self, state: State) -> None:
        """Keep where the machine in work stands."""
        if not self.closed:
            self.state = state
            self.keep()

    def finish(self, solved: Solved) -> None:
        """Keep a machine that is done."""
        if not self.closed:
            self.done.append(solved)
            self.state = None
            self.keep()

    def keep(self) -> None:
        """Write it if that can be: a full disk costs the checkpoint, not the training."""
        try:
            self.save()
        except InvalidInput as error:
            if not self.failing:
                logger.warning("maxmargin: %s; the training goes on, and the last checkpoint stays", shown(error))
            self.failing = True
        else:
            self.failing = False

    def save(self) -> None:
        """Write it in place of the last one."""
        document: dict[str, Any] = {"fingerprint": self.fingerprint, "done": [], "state": None}
        arrays: dict[str, np.ndarray] = {}
        for k, solved in enumerate(self.done):
            part, more = solved.parts(f"done_{k}_")
            document["done"].append(part)
            arrays |= more
        if self.state is not None and self.state.best is not None:
            part, more = self.state.best.parts("state_")
            known = {name: getattr(self.state, name) for name in ("segment", "idle", "iterations")}
            trace = self.state.trace
            document["state"] = known | {"best": part, "work": float(self.state.work).hex()}
            document["state"] |= {"seconds": trace.solver_seconds, "looks": trace.look_seconds}
            arrays |= more | {"trace": np.array(trace.rows, float).reshape(-1, len(COLUMNS))}
        archive.write(self.path, NAME, VERSION, document, arrays)


def load(path: str | os.PathLike[str], fingerprint: str) -> Checkpoint:
    """The checkpoint in a file, if it belongs to the same recipe and data."""
    document, arrays = archive.read(path, NAME, VERSION)
    if document.get("fingerprint") != fingerprint:
        raise InvalidInput(
            f"{os.fspath(path)} belongs to another training: other data or other options;"
            f" repeat those of the interrupted command, or drop --resume to begin afresh"
        )
    try:
        done = [Solved.from_parts(part, arrays, f"done_{k}_") for k, part in enumerate(document["done"])]
        state = None
        if document["state"] is not None:
            known = document["state"]
            rows = [tuple(row) for row in arrays["trace"].tolist()]
            state = State(
                segment=int(known["segment"]),
                work=float.fromhex(known["work"]),
                idle=int(known["idle"]),
                iterations=int(known["iterations"]),
                best=Solved.from_parts(known["best"], arrays, "state_"),
                trace=Trace(rows, [], float(known["seconds"]), float(known["looks"])),
            )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise InvalidInput(f"cannot load {os.fspath(path)}: it is damaged ({shown(error)})") from None
    return Checkpoint(os.fspath(path), fingerprint, done, state)


def fingerprint(recipe: Recipe, X: Any, targets: np.ndarray, weights: np.ndarray) -> str:
    """What a training depends on, as one SHA-256."""
    digest = hashlib.sha256(json.dumps(recipe.facts(), sort_keys=True, default=str).encode())
    parts = [X.data, X.indices, X.indptr] if sp.issparse(X) else [np.ascontiguousarray(X)]
    for part in [*parts, targets, weights]:
        digest.update(f"{part.dtype}{part.shape}".encode())
        digest.update(part.data.cast("B") if part.size else b"")
    return digest.hexdigest()
