"""scikit-learn's contract: the estimators. One import changed, and every fit comes with a certificate.

Each is imported when it is first used. They translate scikit-learn's words; the training itself is in `training`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin.estimators.classifiers import SVC
    from maxmargin.estimators.linear_classifier import LinearSVC
    from maxmargin.estimators.linear_regressor import LinearSVR
    from maxmargin.estimators.novelty import OneClassSVM
    from maxmargin.estimators.nu import NuSVC, NuSVR
    from maxmargin.estimators.regressors import SVR
    from maxmargin.estimators.searches import SVCCV, SVRCV, LinearSVCCV
    from maxmargin.training.path import C_path, SVCPath

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "C_path",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "SVCPath",
]

_HOMES = {
    "SVC": "classifiers",
    "LinearSVC": "linear_classifier",
    "OneClassSVM": "novelty",
    "NuSVC": "nu",
    "NuSVR": "nu",
    "SVR": "regressors",
    "LinearSVR": "linear_regressor",
    "SVCCV": "searches",
    "SVRCV": "searches",
    "LinearSVCCV": "searches",
}


def __getattr__(name: str) -> object:
    if name in ("C_path", "SVCPath"):
        return getattr(import_module("maxmargin.training.path"), name)
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'maxmargin.estimators' has no attribute {name!r}") from None
    return getattr(import_module(f"maxmargin.estimators.{home}"), name)
