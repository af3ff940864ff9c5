"""The options that say what the problem is: the same words, defaults and help for every command that trains."""

from __future__ import annotations

import typer

#: Panels of the help, in the order in which `train` shows them.
PROBLEM, KERNEL_PANEL, SOLVER_PANEL = "Problem", "Kernel", "Solver and budget"

#: Other people's names for kernels.
KERNEL_ALIASES = {"poly": "polynomial", "gaussian": "rbf"}

LOSS = typer.Option("hinge", "--loss", help="The loss: see `maxmargin losses`.", rich_help_panel=PROBLEM)
COST = typer.Option(
    None,
    "--cost",
    "-C",
    "-c",
    "--C",
    help="The weight of the loss, C; inf is the hard margin.",
    rich_help_panel=PROBLEM,
)
LAM = typer.Option(None, "--lam", help="1/C, instead of C.", rich_help_panel=PROBLEM)
EPSILON = typer.Option(
    None, "--epsilon", "-p", help="Half the width of the tube of the ε-insensitive losses.", rich_help_panel=PROBLEM
)
NU = typer.Option(
    None,
    "--nu",
    "-n",
    help="A share of the rows: outliers (one-class), margin errors in place of C (hinge), or errors in place of ε.",
    rich_help_panel=PROBLEM,
)
PENALTY = typer.Option(
    "l2",
    "--penalty",
    help="The regulariser: l2, or l1, which leaves most weights of a linear model at 0.",
    rich_help_panel=PROBLEM,
)
TASK = typer.Option(
    None, "--task", help="What least squares is used for: classification or regression.", rich_help_panel=PROBLEM
)
BIAS = typer.Option(
    "free", "--bias", help="The bias: free, augmented (penalised like a weight) or none.", rich_help_panel=PROBLEM
)
BIAS_SCALE = typer.Option(
    1.0, "--bias-scale", help="The constant feature of an augmented bias.", rich_help_panel=PROBLEM
)
CLASS_WEIGHT = typer.Option(
    None,
    "--class-weight",
    help="Multiplies C for each class: balanced, or label=weight,label=weight.",
    rich_help_panel=PROBLEM,
)
WEIGHTS = typer.Option(
    None,
    "--weights",
    "-W",
    help="A text or .npy file with one weight a row, which multiplies C.",
    rich_help_panel=PROBLEM,
)
SCALE = typer.Option(
    None,
    "--scale",
    help="Scale the features: standard, min-max or max-abs; kept in the model.",
    rich_help_panel=PROBLEM,
)

KERNEL = typer.Option("linear", "--kernel", help="The kernel: see `maxmargin kernels`.", rich_help_panel=KERNEL_PANEL)
GAMMA = typer.Option(
    None,
    "--gamma",
    "-g",
    help="Of the kernel: a number, scale (1/(columns · variance)) or auto (1/columns).",
    rich_help_panel=KERNEL_PANEL,
)
DEGREE = typer.Option(None, "--degree", "-d", help="The degree of the polynomial kernel.", rich_help_panel=KERNEL_PANEL)
COEF0 = typer.Option(
    None, "--coef0", "-r", help="The constant of the polynomial and sigmoid kernels.", rich_help_panel=KERNEL_PANEL
)

CACHE = typer.Option(
    1e9, "--cache-bytes", help="How much may be kept of a kernel matrix.", rich_help_panel=SOLVER_PANEL
)
APPROXIMATION = typer.Option(
    None,
    "--approximation",
    help="nystroem: a kernel model made of landmarks, proved as one of the exact problem.",
    rich_help_panel=SOLVER_PANEL,
)
LANDMARKS = typer.Option(
    None,
    "--landmarks",
    help="How many landmarks at most, or auto: as many as pay, then the exact solver.",
    rich_help_panel=SOLVER_PANEL,
)
TOL = typer.Option(1e-4, "--tol", help="The relative duality gap to prove.", rich_help_panel=SOLVER_PANEL)
