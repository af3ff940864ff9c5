"""The scores of a search in a file, as they come, so that a search that was stopped goes on where it was.

The file stands beside the checkpoint of the training. It belongs to one recipe, data set and number of folds; each
score is known by its C, its gamma and its fold, so that a finer search around the best finds those of the first.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.files import replacing, shown

#: What is put behind the name of the checkpoint.
SUFFIX = ".search"
#: Seconds between two writes: a search may have hundreds of fits in a second.
PAUSE = 1.0

logger = logging.getLogger("maxmargin")

Key = tuple[float, float | None, int]


def place_of(checkpoint: str | os.PathLike[str]) -> str:
    """The file of the scores, by that of the checkpoint."""
    return os.fspath(checkpoint) + SUFFIX


class SearchCheckpoint:
    """The scores that are known, and the file that keeps them."""

    def __init__(self, checkpoint: str, fingerprint: str, resume: bool) -> None:
        self.path, self.fingerprint = place_of(checkpoint), fingerprint
        self.known: dict[Key, float] = {}
        self._lock = threading.Lock()
        self._written = -np.inf
        if resume and os.path.exists(self.path):
            self.known = _loaded(self.path, fingerprint)
        self._write()  # a folder that cannot be written to is told before the work, not after it

    def scores(self, Cs: np.ndarray, kernels: Sequence[Any], folds: int) -> np.ndarray:
        """What is known of a grid, of shape (Cs, kernels, folds); NaN elsewhere."""
        keys = self._keys(Cs, kernels, folds)
        return np.array([self.known.get(key, np.nan) for key in keys]).reshape(len(Cs), len(kernels), folds)

    def keep(self, Cs: np.ndarray, kernels: Sequence[Any], scores: np.ndarray, now: bool = False) -> None:
        """Add what a grid has found so far, and write it, at most once in `PAUSE` seconds unless it must be now."""
        with self._lock:
            keys = self._keys(Cs, kernels, scores.shape[2])
            found = zip(keys, scores.ravel().tolist(), strict=True)
            self.known |= {key: score for key, score in found if np.isfinite(score)}
            if now or monotonic() - self._written >= PAUSE:
                try:
                    self._write()
                except (InvalidInput, OSError) as error:  # a full disk costs the file, not the search
                    logger.warning("maxmargin: %s; the search goes on", shown(error))

    def _keys(self, Cs: np.ndarray, kernels: Sequence[Any], folds: int) -> list[Key]:
        gammas = [getattr(kernel, "gamma", None) for kernel in kernels]
        return [(float(C), gamma, fold) for C in Cs for gamma in gammas for fold in range(folds)]

    def _write(self) -> None:
        rows = [[C, gamma, fold, score] for (C, gamma, fold), score in self.known.items()]
        with replacing(self.path) as file:  # JSON keeps every bit of a float
            file.write(json.dumps({"fingerprint": self.fingerprint, "scores": rows}).encode())
        self._written = monotonic()


def _loaded(path: str, fingerprint: str) -> dict[Key, float]:
    """The scores in a file, if it belongs to the same search."""
    try:
        with open(path, "rb") as file:
            document = json.load(file)
        belongs = document["fingerprint"] == fingerprint
        known = {
            (float(C), None if gamma is None else float(gamma), int(fold)): float(score)
            for C, gamma, fold, score in document["scores"]
        }
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidInput(
            f"cannot load {path}: it is damaged ({shown(error)}); begin afresh with --overwrite"
        ) from None
    if not belongs:
        raise InvalidInput(
            f"{path} belongs to another search: other data or other options; repeat those of the interrupted command,"
            " or begin afresh with --overwrite"
        )
    return known
