"""maxmargin: support vector machines with proof.

>>> from maxmargin import Problem, solve, solvers
>>> result = solve(Problem(X, y, kernel="rbf", C=10.0), solver="smo", tol=1e-4)
>>> print(result.certificate)
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin import kernels, losses, plots, transforms
    from maxmargin.certificate import Certificate, certify
    from maxmargin.estimators import (
        SVC,
        SVCCV,
        SVR,
        SVRCV,
        C_path,
        LinearSVC,
        LinearSVCCV,
        LinearSVR,
        NuSVC,
        NuSVR,
        OneClassSVM,
        SVCPath,
    )
    from maxmargin.problem import Problem
    from maxmargin.result import Iterate, Result, Status, Trace
    from maxmargin.solve import solve
    from maxmargin.solvers import Solver, solvers

__version__ = "0.1.0"

#: Public names and where they live; each is imported when it is first used, so that `import maxmargin` is light.
_HOMES = {
    "SVC": "estimators",
    "SVR": "estimators",
    "SVCCV": "estimators",
    "SVRCV": "estimators",
    "C_path": "estimators",
    "LinearSVCCV": "estimators",
    "SVCPath": "estimators",
    "Certificate": "certificate",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "NuSVC": "estimators",
    "NuSVR": "estimators",
    "OneClassSVM": "estimators",
    "certify": "certificate",
    "Problem": "problem",
    "Iterate": "result",
    "Result": "result",
    "Status": "result",
    "Trace": "result",
    "solve": "solve",
    "Solver": "solvers",
    "solvers": "solvers",
}
_SUBMODULES = ("kernels", "losses", "plots", "transforms")

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "C_path",
    "Certificate",
    "Iterate",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Problem",
    "Result",
    "SVCPath",
    "Solver",
    "Status",
    "Trace",
    "certify",
    "kernels",
    "losses",
    "plots",
    "solve",
    "solvers",
    "transforms",
]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"maxmargin.{name}")
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}") from None
    return getattr(import_module(f"maxmargin.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `solve` and `solvers` the functions: the import system would bind the modules of that name over them."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
