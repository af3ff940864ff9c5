"""What the studio's tests share: a session that is asked, and problems to pose."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import count

import numpy as np
import pytest

from maxmargin.studio.frames import DTYPES, unpacked
from maxmargin.studio.session import Session


class Asker:
    """A session as a page talks to it: commands as JSON, answers as bytes."""

    def __init__(self, session=None):
        self.session = session or Session()
        self.numbers = count(1)

    def raw(self, op, **command):
        number = next(self.numbers)
        header, arrays = unpacked(self.session.answer(json.dumps({"id": number, "op": op, **command})))
        assert header["id"] == number
        return header, arrays

    def __call__(self, op, **command):
        if op == "solve":
            command.setdefault("seconds", 30)  # the first run on a machine compiles
        header, arrays = self.raw(op, **command)
        assert header["ok"], header
        return header, arrays

    def refused(self, op, **command):
        header, arrays = self.raw(op, **command)
        assert not header["ok"] and not arrays, header
        assert header["kind"] != "internal", header["error"]
        return header


@pytest.fixture
def ask():
    return Asker()


def posed(name="clouds", n=24, kernel="linear", classes=2, seed=0, noise=None, **more):
    """A toy set as the page poses it."""
    header, arrays = Asker()("toy", name=name, n=n, classes=classes, seed=seed, noise=noise)
    points = header["points"]
    losses = {"classification": "hinge", "regression": "epsilon-insensitive", "novelty": "one-class"}
    problem = {
        "X": arrays["X"].tolist(),
        "y": arrays["y"].tolist(),
        "labels": points["labels"],
        "task": points["task"],
        "loss": losses[points["task"]],
        "kernel": kernel,
        "bias": "free",
        "C": 1.0,
    }
    return {**problem, **more}


def recorded(page):
    """What a tape holds: its header, and a function that gives the numbers of a described array."""
    raw = gzip.decompress(base64.b64decode(re.search(r'id="tape">(.*?)</script>', page, re.S)[1]))
    size = int.from_bytes(raw[:4], "little")
    start = -(-(4 + size) // 8) * 8

    def array(place):
        dtype = np.dtype(DTYPES[place["dtype"]])
        count = int(np.prod(place["shape"]))
        return np.frombuffer(raw, dtype, count, start + place["offset"]).reshape(place["shape"])

    return json.loads(raw[4 : 4 + size]), array


WINDOW = {"x0": -4.0, "x1": 4.0, "y0": -3.0, "y1": 3.0, "nx": 9, "ny": 7}


def targets(problem):
    """The targets of a posed two-class problem as `Problem` takes them."""
    return np.where(np.array(problem["y"]) == max(problem["y"]), 1, -1)
