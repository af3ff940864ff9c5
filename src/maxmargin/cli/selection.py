"""Cross-validation and the search of `train`: what was asked for, what was found, as text, CSV and picture."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxmargin.cli.recipes import refuse_if
from maxmargin.files import replacing

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.training.recipe import Recipe
    from maxmargin.training.selection import Found, Tried

#: More values than this in one range are a slip of the pen.
MOST = 200


@dataclass(frozen=True)
class Asked:
    """How to choose C and gamma, as the options say it."""

    cv: int | None = None
    search: bool = False
    #: The values to try; None for the usual ones.
    Cs: tuple[float, ...] | None = None
    gammas: tuple[float, ...] | None = None
    #: Search once more around the best, with half the step.
    refine: bool = False
    csv: Path | None = None
    plot: Path | None = None


def powers_of(text: str | None, option: str) -> tuple[float, ...] | None:
    """The powers of 2 that begin,end,step describes, as in LIBSVM's grid.py."""
    if text is None:
        return None
    try:
        begin, end, step = (float(word) for word in text.split(","))
    except ValueError:
        begin = end = step = float("nan")
    wrong = not (step == step and abs(begin) <= 60 and abs(end) <= 60 and step != 0 and (end - begin) / step >= 0)
    refuse_if(wrong, f"{option} is {text!r}; write begin,end,step: powers of 2 such as -5,15,2")
    count = int((end - begin) / step + 1e-9) + 1
    refuse_if(count > MOST, f"{option} {text} has {count} values; at most {MOST} are tried")
    return tuple(sorted(2.0 ** (begin + k * step) for k in range(count)))


def select(rows: Data, recipe: Recipe, given: Any, budget: Any, asked: Asked, silent: bool) -> tuple[Recipe, Any]:
    """The recipe with the best C and gamma (or as it is), and what to tell about it."""
    if asked.search:
        return _search(rows, recipe, given, budget, asked, silent)
    if not asked.cv:
        return recipe, {}
    from maxmargin.training.selection import cross_validate

    mean, spread = cross_validate(rows, recipe, given, asked.cv, budget)
    if not silent:
        what = "accuracy" if recipe.kind == "classification" else "mean squared error"
        print(f"{asked.cv}-fold {what}: {abs(mean):.4f} ± {spread:.4f}")
    return recipe, {"cross_validation": {"folds": asked.cv, "score": mean, "deviation": spread}}


def _search(rows: Data, recipe: Recipe, given: Any, budget: Any, asked: Asked, silent: bool) -> tuple[Recipe, Any]:
    from maxmargin.training.selection import search

    with _telling(budget.progress and not silent) as tell:
        found = search(rows, recipe, given, asked.cv or 5, budget, asked.Cs, asked.gammas, tell)
        if asked.refine:
            Cs = _between([one.C for one in found.tried], found.best.C)
            gammas = None
            if found.best.gamma is not None:
                gammas = _between([one.gamma for one in found.tried if one.gamma], found.best.gamma)
            going_on = replace(budget, resume=True)  # in the file of the first search
            again = search(rows, recipe, given, asked.cv or 5, going_on, Cs, gammas, tell)
            found = _together(found, again)
    _write(found.tried, asked)
    best = found.best
    if not silent:
        chosen = f"C = {best.C:.6g}" + ("" if best.gamma is None else f", gamma = {best.gamma:.4g}")
        what = "accuracy" if recipe.kind == "classification" else "mean squared error"
        print(f"best of {len(found.tried)}: {chosen} with {what} {abs(best.score):.4f} ± {best.spread:.4f}")
        if not found.complete:
            more = "; --resume goes on with it" if budget.checkpoint is not None else ""
            print(f"the search was stopped before all combinations were tried{more}")
        for name in found.at_the_edge:
            option = "--C-range" if name == "C" else "--gamma-range"
            print(f"the best {name} is at the edge of what was tried: look beyond it with {option}")
    told: dict[str, Any] = {"C": best.C, "gamma": best.gamma, "score": best.score, "deviation": best.spread}
    told |= {"tried": len(found.tried), "complete": found.complete, "at_the_edge": list(found.at_the_edge)}
    return found.recipe, {"search": told}


def _between(values: list[float], best: float) -> tuple[float, ...]:
    """The best value and those half-way (in powers) to its neighbours."""
    known = sorted(set(values))
    place = known.index(best)
    around = {best}
    for other in known[max(0, place - 1) : place + 2]:
        around.add((best * other) ** 0.5)
    return tuple(sorted(around))


def _together(first: Found, second: Found) -> Found:
    from maxmargin.training.selection import Found

    seen = {(one.C, one.gamma) for one in first.tried}
    tried = first.tried + [one for one in second.tried if (one.C, one.gamma) not in seen]
    complete = first.complete and second.complete
    best = Found(first.recipe, tried, complete).best
    better = (best.C, best.gamma) not in seen
    return Found(second.recipe if better else first.recipe, tried, complete, () if better else first.at_the_edge)


def _write(tried: list[Tried], asked: Asked) -> None:
    if asked.csv is not None:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["C", "gamma", "score", "deviation"])
        for one in tried:
            gamma = "" if one.gamma is None else repr(one.gamma)
            table.writerow([repr(one.C), gamma, repr(one.score), repr(one.spread)])
        with replacing(asked.csv) as file:
            file.write(text.getvalue().encode("utf-8"))
    if asked.plot is not None:
        import numpy as np

        from maxmargin import plots

        Cs = sorted({one.C for one in tried})
        gammas = sorted({one.gamma if one.gamma is not None else float("nan") for one in tried})
        scores = np.full((len(Cs), len(gammas)), np.nan)
        for one in tried:
            scores[Cs.index(one.C), 0 if one.gamma is None else gammas.index(one.gamma)] = one.score
        picture = io.BytesIO()
        plots.grid(scores, Cs, gammas).figure.savefig(picture, format="png", dpi=120)
        with replacing(asked.plot) as file:
            file.write(picture.getvalue())


@contextmanager
def _telling(wanted: bool) -> Iterator[Any]:
    """A line on the terminal that says how many fits are done."""
    if not wanted or not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    from rich.console import Console

    with Console(stderr=True).status("searching") as status:
        yield lambda done, whole: status.update(f"searching: {done} of {whole} fits")
