"""The widget without a notebook: the messages that a front end would send, and what comes back to Python."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import InvalidInput, Problem
from maxmargin.kernels import RBF
from maxmargin.losses import EpsilonInsensitive
from maxmargin.studio.frames import unpacked
from tests.studio.conftest import posed

pytest.importorskip("anywidget")
pytestmark = pytest.mark.compiled

from maxmargin.studio import Widget  # noqa: E402 (it needs its extra)

X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0], [4.0, 4.0]])


class Front:
    """What a notebook's front end does: it sends commands and gets buffers."""

    def __init__(self, widget):
        self.widget, self.got = widget, []
        widget.send = lambda content, buffers=None: self.got.append((content, buffers))

    def __call__(self, **command):
        self.widget._handle_custom_msg({"id": len(self.got), **command}, [])
        content, (answer,) = self.got[-1]
        header, arrays = unpacked(answer)
        assert content == {"id": header["id"]}
        return header, arrays


def test_the_problem_is_on_the_page_and_the_result_comes_back():
    widget = Widget(Problem(X, ["no", "no", "yes", "yes"], kernel=RBF(gamma=0.5), C=3.0), solver="smo")
    assert "render" in widget._esm and "{" in widget._css
    front = Front(widget)
    told, arrays = front(op="hello")
    given = told["given"]
    np.testing.assert_array_equal(arrays["X"], X)
    assert arrays["y"].tolist() == [0, 0, 1, 1] and given["points"]["labels"] == ["no", "yes"]
    assert given["problem"]["kernel"] == {"name": "rbf", "gamma": 0.5} and given["problem"]["C"] == 3.0
    problem = {**posed(), "labels": ["a", "b"]}
    run = front(op="solve", problem=problem)[0]["run"]
    assert widget.result is None
    assert front(op="give", run=run)[0]["ok"]
    assert widget.result.converged and widget.result.certificate.holds(1e-6)
    np.testing.assert_array_equal(widget.X, problem["X"])
    assert widget.y.tolist() == [["a", "b"][int(k)] for k in problem["y"]]


def test_what_is_given_poses_the_same_problem_again():
    problem = Problem(
        X[:, :1],
        [0.0, 0.5, 1.0, 3.0],
        loss=EpsilonInsensitive(0.2),
        bias="augmented",
        C=2.0,
        sample_weight=[1, 2, 1, 1],
    )
    front = Front(Widget(problem))
    given, arrays = front(op="hello")
    points = {"X": arrays["X"].tolist(), "y": arrays["y"].tolist(), "weights": arrays["weights"].tolist()}
    _, again = front(op="problem", **points, **given["given"]["problem"])
    for name, own in (("lower", problem.bounds[0]), ("upper", problem.bounds[1]), ("weight", problem.C)):
        np.testing.assert_array_equal(again[name][0], own)


def test_without_a_problem_the_page_begins_by_itself():
    assert Front(Widget())(op="hello")[0]["given"] is None


def test_what_cannot_be_drawn_is_refused():
    for wrong in (Problem(np.eye(4, 3), [0, 0, 1, 1]), Problem(np.eye(4), [0, 0, 1, 1], kernel="precomputed")):
        with pytest.raises(InvalidInput, match="one or two features"):
            Widget(wrong)
