"""Trainings that are not one binary problem after the other: ν-machines, and Crammer and Singer's; by their estimators.

Their proofs are for problems of their own, which `certify` does not know: a model of theirs cannot be checked again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.models.solved import Solved
from maxmargin.training.recipe import Recipe

if TYPE_CHECKING:
    from maxmargin.training.budget import Budget


def refusal(recipe: Recipe) -> str | None:
    """Why a recipe with nu, or of Crammer and Singer's scheme, means nothing; None where it does."""
    if recipe.regularizer != "l2" and concerns(recipe):
        return f"nu and crammer-singer are for the penalty l2, not {recipe.regularizer}"
    if recipe.nu is not None:
        if recipe.loss.name not in ("hinge", "epsilon-insensitive"):
            return f"the loss {recipe.loss.name!r} has no nu"
        if recipe.bias != "free":
            return "nu needs bias='free': its threshold is part of the problem"
        if recipe.multiclass == "crammer-singer":
            return "nu is for binary problems; drop it, or choose multiclass ovr or ovo"
    elif recipe.multiclass == "crammer-singer":
        if recipe.loss.name != "hinge" or not isinstance(recipe.kernel, Linear):
            return "multiclass crammer-singer is for the hinge and the linear kernel"
        if recipe.bias == "free":
            return "multiclass crammer-singer needs bias augmented or none"
        if recipe.solver != "auto":
            return f"multiclass crammer-singer has a method of its own; drop the solver {recipe.solver!r}"
        if np.isinf(recipe.C):
            return "multiclass crammer-singer needs a finite C"
    return None


def concerns(recipe: Recipe) -> bool:
    """Whether a recipe is trained here."""
    return recipe.multiclass == "crammer-singer"


def estimated(X: Any, data: Data, weights: np.ndarray | None, recipe: Recipe, scheme: str, budget: Budget) -> Any:
    """The fitted estimator of a recipe, on the scaled rows X of the data."""
    from sklearn.exceptions import ConvergenceWarning

    from maxmargin.estimators import LinearSVC, NuSVC, NuSVR

    if data.y is None or (recipe.kind == "regression" and data.y.dtype.kind == "U"):
        raise InvalidInput("a regression needs targets that are numbers")
    if budget.checkpoint is not None:
        raise InvalidInput("nu and crammer-singer go without checkpoints; drop --checkpoint")
    common: dict[str, Any] = {
        "tol": recipe.tol,
        "max_iter": -1 if recipe.max_iter is None else recipe.max_iter,
        "max_time": budget.share(1),
        "random_state": recipe.seed,
        "verbose": budget.progress,
    }
    if recipe.kind == "classification":
        common["class_weight"] = recipe.class_weight_of(np.unique(data.y))
    made: Any
    if recipe.nu is None:
        made = LinearSVC(
            loss="hinge",
            C=recipe.C,
            multi_class="crammer_singer",
            fit_intercept=recipe.bias == "augmented",
            bias=recipe.bias if recipe.bias == "augmented" else None,
            intercept_scaling=recipe.bias_scale,
            **common,
        )
    elif recipe.kind == "classification":
        multi_class = "ovr" if scheme == "ovr" else "ovo"
        made = NuSVC(nu=recipe.nu, kernel=recipe.kernel, multi_class=multi_class, solver=recipe.chosen_solver, **common)
    else:
        made = NuSVR(nu=recipe.nu, C=recipe.C, kernel=recipe.kernel, solver=recipe.chosen_solver, **common)
    with warnings.catch_warnings(), budget.breaking_off():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict tells the same
        return made.fit(X, data.y, weights)


def solved_of(estimator: Any, recipe: Recipe, names: Sequence[str]) -> list[Solved]:
    """What was proved of each problem; Crammer and Singer's is one for all classes."""
    coef = estimator._expansion()
    certificates = list(estimator.certificate_.values()) if hasattr(estimator.certificate_, "values") else None
    status = estimator.status_
    found = []
    for k, one in enumerate(certificates or [estimator.certificate_]):
        beta = coef[k] if certificates or len(names) == 1 else np.abs(coef).max(axis=0)
        found.append(
            Solved(
                w=np.empty(0),
                b=None,
                beta=beta,
                linked=True,
                reason=status.reason,
                status=str(status),
                solver=recipe.solver,
                primal=one.primal,
                dual=one.dual,
                relative_gap=one.relative_gap,
                iterations=int(np.max(estimator.n_iter_)),
            )
        )
    return found
