"""scikit-learn's contract: the estimators. One import changed, and every fit comes with a certificate."""

from maxmargin.estimators.classifiers import SVC
from maxmargin.estimators.linear_classifier import LinearSVC
from maxmargin.estimators.novelty import OneClassSVM
from maxmargin.estimators.nu import NuSVC, NuSVR
from maxmargin.estimators.path import C_path, SVCPath
from maxmargin.estimators.regressors import SVR, LinearSVR
from maxmargin.estimators.search import SVCCV, SVRCV, LinearSVCCV

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
