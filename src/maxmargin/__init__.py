"""maxmargin: support vector machines with proof.

>>> from maxmargin import Problem, solve
>>> result = solve(Problem(X, y, kernel="rbf", C=10.0), solver="smo", tol=1e-4)
>>> print(result.certificate)

The names here are all that most users need. Below them: `data` (files in and out), `models` (what was fitted),
`losses`, `regularizers`, `kernels`, `transforms` and `solvers` (one file each), `plots`, `estimators` (scikit-learn's
contract).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin import (
        dask,
        data,
        errors,
        estimators,
        kernels,
        losses,
        models,
        plots,
        regularizers,
        solvers,
        transforms,
    )
    from maxmargin.certificate import Certificate, certify
    from maxmargin.data import read
    from maxmargin.errors import InvalidInput, MaxMarginError, Refused
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
    from maxmargin.kernels import list_kernels
    from maxmargin.loop import solve
    from maxmargin.loop.run import Look
    from maxmargin.losses import list_losses
    from maxmargin.models import Model, load, model_of, save
    from maxmargin.problem import Problem
    from maxmargin.quadratic import QuadraticProgram, dual_qp, primal_qp
    from maxmargin.regularizers import list_regularizers
    from maxmargin.result import Event, Iterate, Reason, Result, Status, Trace
    from maxmargin.saddle import Saddle
    from maxmargin.solvers import Solver, list_solvers

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
    "CrammerSingerProblem": "problem",
    "NuProblem": "problem",
    "Problem": "problem",
    "QuadraticProgram": "quadratic",
    "dual_qp": "quadratic",
    "primal_qp": "quadratic",
    "Event": "result",
    "Iterate": "result",
    "Reason": "result",
    "Result": "result",
    "Saddle": "saddle",
    "Status": "result",
    "Trace": "result",
    "solve": "loop",
    "Solver": "solvers",
    "InvalidInput": "errors",
    "MaxMarginError": "errors",
    "Refused": "errors",
    "Look": "loop.run",
    "Model": "models",
    "load": "models",
    "model_of": "models",
    "save": "models",
    "read": "data",
    "list_kernels": "kernels",
    "list_losses": "losses",
    "list_regularizers": "regularizers",
    "list_solvers": "solvers",
}
_SUBMODULES = (
    "dask",
    "data",
    "errors",
    "estimators",
    "kernels",
    "losses",
    "models",
    "plots",
    "regularizers",
    "solvers",
    "transforms",
)

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "C_path",
    "Certificate",
    "CrammerSingerProblem",
    "Event",
    "InvalidInput",
    "Iterate",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "Look",
    "MaxMarginError",
    "Model",
    "NuProblem",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Problem",
    "QuadraticProgram",
    "Reason",
    "Refused",
    "Result",
    "SVCPath",
    "Saddle",
    "Solver",
    "Status",
    "Trace",
    "certify",
    "dask",
    "data",
    "dual_qp",
    "errors",
    "estimators",
    "kernels",
    "list_kernels",
    "list_losses",
    "list_regularizers",
    "list_solvers",
    "load",
    "losses",
    "model_of",
    "models",
    "plots",
    "primal_qp",
    "read",
    "regularizers",
    "save",
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
