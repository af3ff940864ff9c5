"""ONNX export: the decision function as a graph of plain float64 operators (the extra `onnx`).

Input ``X`` (rows × columns, float64); outputs ``label`` (or ``value``) and ``scores`` (one column a machine). The graph
scales, takes the kernel between rows and vectors, and counts votes exactly as the model does.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text, missing_extra
from maxmargin.files import replacing
from maxmargin.models.classes import pairs
from maxmargin.models.model import Model

#: An ONNX file is one message of at most 2 GB.
LARGEST = 1.9e9
OPSET = 17


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model as an ONNX graph."""
    try:
        import onnx
    except ImportError:
        raise missing_extra("onnx", "onnx") from None
    size = 8.0 * model.columns * (model.machines if model.vectors is None else model.vectors.shape[0])
    if size > LARGEST:
        raise InvalidInput(f"the model needs {bytes_text(size)} as dense arrays; an ONNX file holds 2 GB at most")
    graph = _Graph()
    scores = graph.op("Add", _products(graph, model, _scaled(graph, model)), graph.constant(model.b), out="scores")
    answer = _answer(graph, model, scores)
    kinds = {"label": onnx.TensorProto.INT64, "value": onnx.TensorProto.DOUBLE}
    if model.classes is not None and model.classes.dtype.kind == "U":
        kinds["label"] = onnx.TensorProto.STRING
    elif model.classes is not None and model.classes.dtype.kind == "f":
        kinds["label"] = onnx.TensorProto.DOUBLE
    value = onnx.helper.make_tensor_value_info
    made = onnx.helper.make_graph(
        graph.nodes,
        "maxmargin",
        [value("X", onnx.TensorProto.DOUBLE, ["rows", model.columns])],
        [
            value(answer, kinds[answer], ["rows"]),
            value("scores", onnx.TensorProto.DOUBLE, ["rows", model.machines]),
        ],
        graph.constants,
    )
    whole = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", OPSET)], producer_name="maxmargin")
    whole.ir_version = 8
    onnx.checker.check_model(whole)
    with replacing(path) as file:
        file.write(whole.SerializeToString(deterministic=True))


class _Graph:
    """Nodes and constants, named as they come."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        from onnx import numpy_helper

        array = np.asarray(value)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        return self.constants[-1].name

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = out or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name


def _scaled(graph: _Graph, model: Model) -> str:
    rows = "X"
    if model.scaling is not None:
        if model.scaling.shift is not None:
            rows = graph.op("Sub", rows, graph.constant(model.scaling.shift))
        rows = graph.op("Mul", rows, graph.constant(model.scaling.factor))
    return rows


def _products(graph: _Graph, model: Model, rows: str) -> str:
    """Σ coef_i k(x_i, x), or ⟨w, x⟩: one column a machine."""
    if model.w is not None:
        return graph.op("MatMul", rows, graph.constant(np.ascontiguousarray(model.w.T)))
    assert model.coef is not None
    vectors = model.vectors.toarray() if sp.issparse(model.vectors) else model.vectors
    kernel: Any = model.kernel
    name = kernel.name
    if name in ("polynomial", "sigmoid"):
        inner = graph.op("MatMul", rows, graph.constant(np.ascontiguousarray(vectors.T)))
        shifted = graph.op(
            "Add", graph.op("Mul", inner, graph.constant(float(kernel.gamma))), graph.constant(float(kernel.coef0))
        )
        K = (
            graph.op("Tanh", shifted)
            if name == "sigmoid"
            else graph.op("Pow", shifted, graph.constant(float(kernel.degree)))
        )
    elif name == "rbf":
        K = _exponential(graph, _squared_distances(graph, rows, vectors), kernel.gamma)
    elif name == "laplacian":
        wide = graph.op("Unsqueeze", rows, graph.constant(np.array([1])))
        apart = graph.op("Abs", graph.op("Sub", wide, graph.constant(vectors[None])))
        K = _exponential(graph, graph.op("ReduceSum", apart, graph.constant(np.array([2])), keepdims=0), kernel.gamma)
    else:
        raise InvalidInput(f"the kernel {name!r} cannot be written as an ONNX graph")
    return graph.op("MatMul", K, graph.constant(np.ascontiguousarray(model.coef.T)))


def _squared_distances(graph: _Graph, rows: str, vectors: np.ndarray) -> str:
    """‖x‖² + ‖v‖² − 2⟨x, v⟩, not below 0."""
    own = graph.op("ReduceSumSquare", rows, axes=[1], keepdims=1)
    inner = graph.op("MatMul", rows, graph.constant(np.ascontiguousarray(-2.0 * vectors.T)))
    total = graph.op("Add", graph.op("Add", inner, own), graph.constant((vectors**2).sum(axis=1)))
    return graph.op("Max", total, graph.constant(0.0))


def _exponential(graph: _Graph, distances: str, gamma: float) -> str:
    return graph.op("Exp", graph.op("Mul", distances, graph.constant(-float(gamma))))


def _answer(graph: _Graph, model: Model, scores: str) -> str:
    """The label, the value, or +1 and −1; gives the name of the output."""
    first = graph.constant(np.array([1]))
    if model.task == "regression":
        return graph.op("Squeeze", scores, first, out="value")
    if model.task == "novelty":
        usual = graph.op("Squeeze", graph.op("GreaterOrEqual", scores, graph.constant(0.0)), first)
        return graph.op("Where", usual, graph.constant(np.int64(1)), graph.constant(np.int64(-1)), out="label")
    assert model.classes is not None
    classes = model.classes.astype(np.int64) if model.classes.dtype.kind in "iub" else model.classes
    if model.scheme in ("ovr", "crammer-singer"):
        place = graph.op("ArgMax", scores, axis=1, keepdims=0)
    else:
        wins = graph.op("Cast", graph.op("Greater", scores, graph.constant(0.0)), to=11)  # 11: float64
        if model.scheme == "binary":
            place = graph.op("Cast", graph.op("Squeeze", wins, first), to=7)  # 7: int64
        else:
            place = graph.op("ArgMax", _votes(graph, wins, len(classes)), axis=1, keepdims=0)
    return graph.op("Gather", graph.constant(classes), place, out="label")


def _votes(graph: _Graph, wins: str, classes: int) -> str:
    """Each pair votes for its first class where it is won, else for its second."""
    change = np.zeros((classes * (classes - 1) // 2, classes))
    always = np.zeros(classes)
    for k, (i, j) in enumerate(pairs(classes)):
        change[k, i], change[k, j] = 1.0, -1.0
        always[j] += 1.0
    return graph.op("Add", graph.op("MatMul", wins, graph.constant(change)), graph.constant(always))
