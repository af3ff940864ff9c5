"""scikit-learn's own checks of an estimator, all of them."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from maxmargin.estimators import SVC, SVCCV, SVR, SVRCV, LinearSVC, LinearSVCCV, LinearSVR, NuSVC, NuSVR, OneClassSVM

pytestmark = pytest.mark.compiled

#: The searches are estimators, too; a small grid and two folds are enough to see that.
SEARCHES = [made(Cs=[0.1, 1.0], cv=2) for made in (SVCCV, LinearSVCCV, SVRCV)]
ESTIMATORS = [SVC(), SVR(), LinearSVC(), LinearSVR(), NuSVC(), NuSVR(), OneClassSVM()]

#: Relative gaps at which two fits agree to seven digits.
TIGHT = {"SVR": 1e-12, "LinearSVC": 1e-15, "NuSVC": 1e-12, "NuSVR": 1e-12}


#: What the checks ask of NuSVC is infeasible: with nu=0.5, each class must have a quarter of the weight of all rows.
INFEASIBLE = {
    "check_sample_weight_equivalence_on_dense_data": "its classes are too unequal for nu=0.5",
    "check_sample_weight_equivalence_on_sparse_data": "its classes are too unequal for nu=0.5",
    "check_class_weight_classifiers": "a class weight of 1e-4 makes nu=0.5 infeasible",
}


def expected(estimator):
    return INFEASIBLE if isinstance(estimator, NuSVC) else {}


@parametrize_with_checks([*ESTIMATORS, *SEARCHES], expected_failed_checks=expected)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # at the floor of float64
@pytest.mark.parametrize("made", [type(estimator) for estimator in ESTIMATORS], ids=lambda made: made.__name__)
def test_weights_are_repetitions(made):
    tight = made(tol=TIGHT.get(made.__name__, 1e-14))
    if made is NuSVC:
        tight.set_params(nu=0.3)  # the check's classes are too unequal for more
    check_sample_weight_equivalence_on_dense_data(made.__name__, tight)
    check_sample_weight_equivalence_on_sparse_data(made.__name__, tight)
