"""scikit-learn's contract: the estimators. One import changed, and every fit comes with a certificate."""

from maxmargin.estimators.classifiers import SVC
from maxmargin.estimators.linear_classifier import LinearSVC
from maxmargin.estimators.novelty import OneClassSVM
from maxmargin.estimators.nu import NuSVC, NuSVR
from maxmargin.estimators.regressors import SVR, LinearSVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]
