"""`train --cluster`: a folder of data files, read and solved by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import UNPROVED, Stopped, options
from maxmargin.cli.recipes import refuse_if
from maxmargin.errors import InvalidInput
from maxmargin.result import Reason

if TYPE_CHECKING:
    from maxmargin.cli.model_output import Destination
    from maxmargin.cluster.plan import Fitted, Round
    from maxmargin.training.recipe import Recipe

#: The address that stands for a cluster of this machine.
LOCAL = "local"


def refuse_on_cluster(given: SimpleNamespace, recipe: Recipe) -> None:
    """Refuse what a fit on a cluster does not do."""
    others = given.search, given.cv, given.probability, given.report, given.checkpoint, given.weights, given.trace
    refuse_if(
        any(others) or given.stream,
        "--cluster goes with neither --search, --cv, --probability, --report, --trace, --checkpoint, --weights nor"
        " --stream",
    )
    refuse_if(recipe.kernel.name != "linear", "--cluster is for the linear kernel")
    refuse_if(recipe.regularizer != "l2", "--cluster is for --penalty l2")
    refuse_if(recipe.solver != "auto", "--cluster chooses its method: drop --solver")
    refuse_if(recipe.nu is not None, "--cluster goes without --nu")
    refuse_if(recipe.scaling is not None, "--cluster goes without --scale: scale the files before")
    refuse_if(recipe.multiclass not in (None, "ovr"), "--cluster tells several classes apart by --multiclass ovr")
    refuse_if(recipe.class_weight not in (None, "balanced"), "--cluster knows --class-weight balanced alone")
    refuse_if(not Path(given.data).is_dir(), "--cluster reads a folder of data files; " + given.data + " is none")


def run_on_cluster(given: SimpleNamespace, recipe: Recipe, place: Destination) -> None:
    """Read, fit, save, tell."""
    from maxmargin.cluster.folder import engine_of_folder
    from maxmargin.cluster.plan import Plan
    from maxmargin.cluster.run import fit_parts

    began, watched = perf_counter(), () if given.quiet or given.as_json else (_show,)
    plan = Plan(
        recipe.loss, recipe.bias, recipe.bias_scale, recipe.C, recipe.class_weight, recipe.tol, given.max_time,
        recipe.max_iter, recipe.seed, callbacks=watched,
    )  # fmt: skip
    reader = {name: getattr(given, name) for name in ("format", "target", "drop", "zero_based")}
    with place.messages(), _client(given.cluster) as client:
        engine, names = engine_of_folder(client, Path(given.data), reader)
        with engine:
            fitted = fit_parts(engine, plan, recipe.kind == "classification")
        place.save(replace(fitted.model(names), target=given.target))
        _tell(given, fitted, place, perf_counter() - began)
    if fitted.status.reason is Reason.INTERRUPTED:
        raise Stopped
    if not converged(fitted):
        raise typer.Exit(UNPROVED)


def _show(line: Round) -> None:
    options.say(
        f"pass {line.round}: {line.seconds:.1f} s, {line.bytes / 1e6:.1f} MB, relative gap {line.relative_gap:.2g}"
    )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address, or of processes of this machine."""
    from maxmargin.cluster.dask_engine import distributed

    dask = distributed()
    if address == LOCAL:
        with (
            dask.LocalCluster(threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
            dask.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = dask.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"there is no Dask scheduler at {address!r}: {error}") from None
    with client:
        yield client


def _tell(given: SimpleNamespace, fitted: Fitted, place: Destination, seconds: float) -> None:
    """The certificates and the verdict, as `train` tells them of one machine."""
    from maxmargin.data.dataset import label_text

    several = fitted.classes is not None and len(fitted.certificates) > 1
    names = [label_text(one) for one in fitted.classes] if several and fitted.classes is not None else [""]
    worst = max(proof.relative_gap for proof in fitted.certificates)
    machines = [
        {
            "name": name,
            "primal": proof.primal,
            "dual": proof.dual,
            "relative_gap": proof.relative_gap,
            "support": fitted.rows - proof.counts["outside"],
            "iterations": len(fitted.history),
            "solver": f"cluster ({fitted.method})",
            "status": str(fitted.status),
        }
        for name, proof in zip(names, fitted.certificates, strict=True)
    ]
    if given.as_json:
        facts = {
            "converged": converged(fitted), "relative_gap": worst, "seconds": seconds, "rows": fitted.rows,
            "columns": fitted.coef.shape[1], "shards": fitted.shards, "passes": fitted.history[-1].round,
        }  # fmt: skip
        options.put({**facts, "model": None if place.path is None else str(place.path), "machines": machines})
        return
    if not given.quiet:
        for name, proof in zip(names, fitted.certificates, strict=True):
            options.say(proof if not several else f"{name}: relative gap {proof.relative_gap:.2g}")
    verdict = f"not proved: {fitted.status}"
    if converged(fitted):
        verdict = f"proved: at most {worst:.2g} of the optimum away (asked for {given.tol:g})"
    options.say(f"{verdict}, {fitted.history[-1].round} passes over {fitted.rows} rows, {seconds:.1f} s{place.told}")


def converged(fitted: Fitted) -> bool:
    """Whether all is proved."""
    return fitted.status.reason is Reason.CONVERGED
