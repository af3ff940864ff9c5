"""Dask arrays and frames as parts, and functions of rows applied to them lazily."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.cluster.dask_engine import Dask, distributed
from maxmargin.cluster.shard import part_of
from maxmargin.errors import InvalidInput, missing_extra


def is_collection(thing: Any) -> bool:
    """Whether this is a Dask array or frame; asks nothing of Dask."""
    return hasattr(thing, "__dask_graph__")


def client_of(client: Any) -> Any:
    """The client that is given, or the one that the program has."""
    if client is not None:
        return client
    try:
        return distributed().get_client()
    except ValueError:
        raise InvalidInput(
            "there is no cluster to fit on; start one: from dask.distributed import Client; client = Client()"
        ) from None


def engine_of(client: Any, X: Any, y: Any, sample_weight: Any) -> Dask:
    """The parts of a collection, as futures; one for each partition of its rows."""
    import dask

    if not is_collection(X):
        raise InvalidInput(f"X is {type(X).__name__}; a fit on a cluster needs a Dask array or data frame")
    columns = row_chunks(X)
    targets = _aligned("y", y, X, len(columns))
    weights = (
        [None] * len(columns) if sample_weight is None else _aligned("sample_weight", sample_weight, X, len(columns))
    )
    made = [
        dask.delayed(part_of)(chunk, target, weight, k)
        for k, (chunk, target, weight) in enumerate(zip(columns, targets, weights, strict=True))
    ]
    return Dask(client, client.compute(made), "partition")


def row_chunks(X: Any) -> list[list[Any]]:
    """The delayed chunks of each partition of the rows: one, or several side by side."""
    delayed = X.to_delayed()
    if not hasattr(X, "chunks"):  # a frame
        return [[one] for one in delayed]
    if X.ndim != 2:
        raise InvalidInput(f"X has {X.ndim} dimension(s); it must be a table of rows and columns")
    return [list(row) for row in delayed]


def _aligned(name: str, vector: Any, X: Any, count: int) -> list[Any]:
    """The delayed chunks of y or the weights, cut where the rows are cut."""
    try:
        import dask.array as da
    except ImportError:
        raise missing_extra("dask", "dask") from None
    rows: Any = X.chunks[0] if hasattr(X, "chunks") else None
    if not is_collection(vector):
        if rows is None or np.isnan(rows).any():
            raise InvalidInput(
                f"{name} is {type(vector).__name__}, and the lengths of the partitions of X are not known: give"
                f" {name} as a Dask array or series with the same partitions"
            )
        vector = np.asarray(vector)
        if vector.shape != (sum(rows),):
            raise InvalidInput(f"{name} has shape {vector.shape}; X has {sum(rows)} rows")
        vector = da.from_array(vector, chunks=(rows,))
    elif hasattr(vector, "chunks"):
        if vector.ndim == 2 and vector.shape[1] == 1:
            vector = vector.rechunk({1: -1})[:, 0]
        known = rows is not None and not np.isnan(rows).any() and not np.isnan(vector.chunks[0]).any()
        if known and sum(rows) != vector.shape[0]:
            raise InvalidInput(f"{name} has {vector.shape[0]} rows, X has {sum(rows)}")
        if known and vector.chunks[0] != rows:
            vector = vector.rechunk((rows,))
    chunks = list(np.ravel(vector.to_delayed()))
    if len(chunks) != count:
        raise InvalidInput(f"{name} has {len(chunks)} partitions, X has {count}; give both the same")
    return chunks


def lazily(function: Callable[[Any], np.ndarray], X: Any, outputs: int, dtype: Any) -> Any:
    """function(rows) of every partition, when it is asked for: an array for an array, else a series or a frame."""
    if hasattr(X, "chunks"):
        X = X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})
        shape = {"drop_axis": 1} if outputs == 1 else {"chunks": (X.chunks[0], (outputs,))}
        meta = np.empty((0,) if outputs == 1 else (0, outputs), dtype)
        return X.map_blocks(_on_block, function, outputs, dtype=dtype, meta=meta, **shape)
    import pandas as pd

    empty = np.empty((0,) if outputs == 1 else (0, outputs), dtype)
    meta = pd.Series(empty) if outputs == 1 else pd.DataFrame(empty)
    return X.map_partitions(_on_frame, function, outputs, dtype, meta=meta)


def _on_block(X: Any, function: Callable[[Any], np.ndarray], outputs: int) -> np.ndarray:
    return function(X) if X.shape[0] else np.empty((0,) if outputs == 1 else (0, outputs))


def _on_frame(X: Any, function: Callable[[Any], np.ndarray], outputs: int, dtype: Any) -> Any:
    import pandas as pd

    # The frame itself: its columns are checked by their names.
    values = function(X) if len(X) else np.empty((0,) if outputs == 1 else (0, outputs), dtype)
    return pd.Series(values, index=X.index) if outputs == 1 else pd.DataFrame(values, index=X.index)
