"""What the options of `train` ask for together: a recipe and a search; what does not go together is refused."""

from __future__ import annotations

import os
from types import SimpleNamespace

import typer

from maxmargin.cli import options
from maxmargin.cli.model_output import Destination, refuse_data_name
from maxmargin.cli.recipes import class_weights_of, cost_of, recipe_of, refuse_if
from maxmargin.cli.selection import Asked, powers_of
from maxmargin.training.recipe import Recipe
from maxmargin.training.search_checkpoint import place_of


def asked_for(given: SimpleNamespace) -> tuple[Recipe, Asked]:
    """The recipe and the search of the options; a mistake of usage is told in one sentence."""
    with options.usage():
        one_class = given.loss == "one-class"
        solver, solver_options = _solver_of(given)
        recipe = recipe_of(
            given.loss,
            {"epsilon": given.epsilon, "nu": given.nu if one_class else None},
            given.kernel,
            {"gamma": given.gamma, "degree": given.degree, "coef0": given.coef0},
            C=cost_of(given.cost, given.lam),
            class_weight=class_weights_of(given.class_weight),
            bias=given.bias,
            bias_scale=given.bias_scale,
            regularizer=given.penalty,
            multiclass=given.multiclass,
            scaling=given.scale,
            solver=solver,
            solver_options=solver_options,
            tol=given.tol,
            max_iter=given.max_iter,
            seed=given.seed,
            cache_bytes=given.cache_bytes,
            task=given.task,
            nu=None if one_class else given.nu,
        )
        _refuse_problem(given, recipe)
        _refuse_selection(given, recipe)
        _refuse_files(given, recipe)
        if given.cluster is not None:
            from maxmargin.cli.train_cluster import refuse_on_cluster

            refuse_on_cluster(given, recipe)
        asked = Asked(
            given.cv,
            given.search,
            powers_of(given.C_range, "--C-range"),
            powers_of(given.gamma_range, "--gamma-range"),
            given.refine,
            given.search_csv,
            given.search_plot,
        )
    return recipe, asked


def _solver_of(given: SimpleNamespace) -> tuple[str, list[str]]:
    """The solver and its fields; an approximation is a solver by another name."""
    if given.approximation is None:
        refuse_if(given.landmarks is not None, "--landmarks goes with --approximation nystroem")
        return given.solver, given.solver_option
    refuse_if(given.approximation != "nystroem", f"--approximation is {given.approximation!r}; it must be nystroem")
    refuse_if(given.solver != "auto", "--approximation is a solver of its own: drop --solver")
    fields = [] if given.landmarks is None else [f"landmarks={given.landmarks}"]
    return given.approximation, [*given.solver_option, *fields]


def _refuse_problem(given: SimpleNamespace, recipe: Recipe) -> None:
    by_nu = recipe.nu is not None
    refuse_if(
        by_nu and recipe.kind == "classification" and any((given.cost, given.lam, given.search)),
        "--nu takes the place of C: drop -C, --lam and --search",
    )
    refuse_if(by_nu and given.epsilon is not None, "--nu takes the place of --epsilon: give one of them")
    refuse_if(given.max_time is not None and not given.max_time > 0, "--max-time must be > 0")


def _refuse_selection(given: SimpleNamespace, recipe: Recipe) -> None:
    refuse_if(given.cv is not None and given.cv < 2, "--cv needs at least 2 folds")
    outputs = given.output, given.search, given.probability, given.report, given.trace, given.checkpoint
    refuse_if(
        given.no_model and (given.cv is None or any(outputs)),
        "--no-model goes with --cv alone: drop -o, --search, --probability, --report, --trace and --checkpoint",
    )
    refuse_if(
        not given.search and any((given.C_range, given.gamma_range, given.refine, given.search_csv, given.search_plot)),
        "--C-range, --gamma-range, --refine, --search-csv and --search-plot go with --search",
    )
    refuse_if(
        given.gamma_range is not None and not hasattr(recipe.kernel, "gamma"),
        f"the kernel {given.kernel!r} has no gamma; drop --gamma-range",
    )
    refuse_if(
        given.probability and recipe.kind != "classification",
        f"--probability is for classification, not for {recipe.kind}",
    )


def _refuse_files(given: SimpleNamespace, recipe: Recipe) -> None:
    kept = given.checkpoint is not None
    refuse_if(given.resume and not kept, "--resume needs --checkpoint, to say where from")
    refuse_if(given.overwrite and not kept, "--overwrite needs --checkpoint, to say what may be replaced")
    refuse_if(
        given.overwrite and given.resume,
        "give --resume, to go on from the checkpoint, or --overwrite, to begin afresh",
    )
    refuse_if(given.checkpoint_work is not None and not given.checkpoint_work > 0, "--checkpoint-work must be > 0")
    others = given.search, given.cv, given.probability, given.report, given.checkpoint, given.weights, given.trace
    refuse_if(
        given.stream and any(others),
        "--stream goes with neither --search, --cv, --probability, --report, --trace, --checkpoint nor --weights",
    )
    if given.stream:
        from maxmargin.training.stream import refusal

        if sentence := refusal(recipe):
            raise typer.BadParameter(sentence)


def refuse_places(given: SimpleNamespace, place: Destination) -> None:
    """Refuse outputs that are inputs or each other, that are named as data is, or that would replace a checkpoint."""
    refuse_if(
        place.stream is not None and given.as_json,
        "--json and -o - cannot share standard output; name a file with -o",
    )
    states = {} if given.checkpoint is None else {"--checkpoint": given.checkpoint}
    if states and given.search:
        states["the search beside --checkpoint"] = place_of(given.checkpoint)
    options.outputs(
        {"DATA": given.data, "--weights": given.weights},
        {
            "-o": place.path,
            "--trace": given.trace,
            "--report": given.report,
            "--search-csv": given.search_csv,
            "--search-plot": given.search_plot,
            **states,
        },
    )
    refuse_data_name(place.path)
    if not (given.resume or given.overwrite):
        for path in states.values():
            refuse_if(
                os.path.isfile(path),
                f"{path} is there already: give --resume to go on from it, or --overwrite to begin afresh",
            )
