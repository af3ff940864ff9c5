"""`maxmargin info`: what a data or model file is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from maxmargin.cli import options
from maxmargin.files import shown

#: A file of at most so many bytes is read as plain Python: importing Numba takes longer.
SMALL = 40_000


def info(
    file: Path = typer.Argument(..., help="A data or model file; - is data on standard input."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    zero_based: bool | None = options.BASE,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Say what a data or model file is: its format, size, labels; or its kernel, classes, and what was proved.

    Example: maxmargin info a9a.mm
    """
    kind = options.model_format(file, format)
    if kind is not None:
        facts = _of_model(file, kind)
    else:
        from maxmargin.numeric.compiled import interpreted

        small = file.is_file() and file.stat().st_size <= SMALL
        with options.reading(str(file), not quiet) as progress, interpreted(small):
            facts = _of_data(str(file), format, target, zero_based, progress)
    if as_json:
        options.put(facts)
    else:
        for name, value in facts.items():
            print(f"{name.replace('_', ' '):<16} {shown(value)}")


def _of_model(file: Path, kind: str) -> dict[str, Any]:
    from maxmargin.data.dataset import label_text
    from maxmargin.models import load

    model = load(file, kind)
    facts: dict[str, Any] = {
        "file": str(file),
        "format": f"{kind} model",
        "task": model.task,
        "kernel": str(model.kernel),
    }
    facts["columns"] = model.columns
    if model.classes is not None:
        facts["classes"] = ", ".join(label_text(label) for label in model.classes.tolist()[:20])
        facts["machines"] = f"{model.machines} ({model.scheme})"
    if model.vectors is not None:
        facts["vectors"] = model.vectors.shape[0]
    if model.scaling is not None:
        facts["scaling"] = model.scaling.kind
    if model.training is not None:
        training = model.training
        facts["trained"] = (
            f"{training.n} rows, loss {training.loss}, bias {training.bias}, C = {training.C:g}, by {training.solver}"
        )
        worst = max(training.proofs, key=lambda proof: proof.relative_gap)
        facts["proof"] = f"worst relative gap {worst.relative_gap:.3g}, asked for {training.tol:g}: {worst.status}"
    return facts


def _of_data(
    file: str, format: str | None, target: str | None, zero_based: bool | None, progress: Any
) -> dict[str, Any]:
    import numpy as np
    import scipy.sparse as sp

    from maxmargin.data.dataset import label_text
    from maxmargin.data.formats import blocks, recognised

    rows, width, values, sparse = 0, 0, 0, False
    labels: dict[str, int] = {}
    low, high = np.inf, -np.inf
    kind, opened = recognised(file, format, progress)
    for part in blocks(opened, kind, target=target, zero_based=zero_based, needed=False, progress=progress):
        rows, width = rows + part.n, max(width, part.X.shape[1])
        sparse = sp.issparse(part.X)
        values += part.X.nnz if sparse else int(np.count_nonzero(part.X))
        if part.y is not None:
            if part.y.dtype.kind != "U":
                low, high = min(low, float(part.y.min())), max(high, float(part.y.max()))
            found, counts = np.unique(part.y, return_counts=True)
            for label, times in zip(found.tolist(), counts.tolist(), strict=True):
                text = label_text(label)
                if text in labels or len(labels) < 1000:
                    labels[text] = labels.get(text, 0) + times
    facts: dict[str, Any] = {"file": file, "format": kind, "rows": rows, "columns": width}
    facts["non_zeros"] = f"{values} ({values / max(1, rows * width):.2%})"
    if labels and len(labels) <= 50:
        facts["labels"] = ", ".join(f"{label}: {times}" for label, times in sorted(labels.items()))
    elif labels:
        facts["targets"] = f"from {low:g} to {high:g}" if np.isfinite(low) else f"{len(labels)} or more different texts"
    return facts
