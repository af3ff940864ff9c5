"""scikit-learn's own checks of an estimator, all of them."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM

pytestmark = pytest.mark.compiled

ESTIMATORS = [SVC(), SVR(), LinearSVC(), LinearSVR(), OneClassSVM()]

#: Two checks that scikit-learn's own machines declare as failing: they compare two fits to seven digits, which the
#: default tolerance does not promise. `test_weights_are_repetitions` passes them at a tight one.
SEVEN_DIGITS = {
    f"check_sample_weight_equivalence_on_{storage}_data": "two fits at tol=1e-4 agree to about four digits"
    for storage in ("dense", "sparse")
}
#: Relative gaps at which two fits agree to seven digits.
TIGHT = {"SVR": 1e-12, "LinearSVC": 1e-15}


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: {} if isinstance(estimator, SVR) else SEVEN_DIGITS
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # at the floor of float64
@pytest.mark.parametrize("made", [type(estimator) for estimator in ESTIMATORS], ids=lambda made: made.__name__)
def test_weights_are_repetitions(made):
    tight = made(tol=TIGHT.get(made.__name__, 1e-14))
    check_sample_weight_equivalence_on_dense_data(made.__name__, tight)
    check_sample_weight_equivalence_on_sparse_data(made.__name__, tight)
