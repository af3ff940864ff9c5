"""scikit-learn's test_svm.py, run against our classes."""

import pytest

from tests.estimators.sklearn_suite import load

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]

globals().update(load("test_svm"))
