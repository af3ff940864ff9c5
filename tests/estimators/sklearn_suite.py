"""scikit-learn's own tests of its support vector machines, loaded with our classes in the place of theirs.

The tests are those of the installed scikit-learn; nothing of them is kept here. `load("test_svm")` runs the module of
that name in an environment where `sklearn.svm` holds our estimators (and, for the rest, what it always held). The
tests that show a difference on purpose are listed in `DIFFERENCES`, each with its reason; they are expected to fail,
strictly (but for `LAST_BITS`): one that passes after all is an error. `docs/estimators.md` has the same table.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import sklearn
import sklearn.svm

import maxmargin

NAMES = ("SVC", "LinearSVC", "NuSVC", "SVR", "LinearSVR", "NuSVR", "OneClassSVM")
TESTS = "sklearn.svm.tests"

#: The one reason that may or may not show, as it depends on rounding.
LAST_BITS = "the linear kernel has a solver of its own: two scores, compared bit by bit, agree to 1e-12"

#: Reason → the tests (as regular expressions, by module) that show it.
DIFFERENCES = {
    "private attributes (_dual_coef_, _n_support) are not part of the contract": [
        "test_svm::test_tweak_params",
        "test_svm::test_svc_raises_error_internal_representation",
    ],
    "the intercept is free by default: it is not pulled to 0 (bias='augmented' is liblinear's)": [
        "test_svm::test_dense_liblinear_intercept_handling",
        "test_sparse::test_sparse_liblinear_intercept_handling",
    ],
    "a max_iter of 1 or 2 is not noticed: a solver's first step already solves six samples": [
        "test_svm::test_libsvm_convergence_warnings",
        "test_svm::test_linear_svm_convergence_warnings",
        "test_sparse::test_timeout",
    ],
    "new rows may be sparse though the training rows were dense": [r"test_svm::test_bad_input\["],
    "values near the largest float are refused, with the row and column, in other words": [
        "test_svm::test_svc_nonfinite_params"
    ],
    "a kernel function that returns the wrong shape is refused by fit already": ["test_svm::test_svr_errors"],
    "of equally good intercepts ours is the middle one, so that this data has no ties to break": [
        "test_svm::test_svc_ovr_tie_breaking"
    ],
    "SVR refuses C=inf: the hard margin is a problem of classification": [
        r"test_svm::test_svm_with_infinite_C\[inf.-SVR"
    ],
    "nu=0.5 leaves no margin between two of these classes: refused, where LIBSVM divides 0 by 0": [
        r"test_svm::test_n_iter_libsvm\[4-NuSVC"
    ],
    "probability is not deprecated here, and there is one temperature_ instead of probA_ and probB_": [
        "test_svm::test_probability_raises_futurewarning",
        "test_svm::test_svc_nusvc_probA_probB_deprecated",
    ],
    LAST_BITS: [r"test_svm::test_custom_kernel_not_array_input\[SVR"],
}
if sklearn.__version__ < "1.9":
    DIFFERENCES["weights that leave no sample get one sentence for every machine, as in scikit-learn from 1.9 on"] = [
        "test_svm::test_negative_sample_weights_mask_all_samples.*NuSVC"
    ]


def difference(module: str, test: str) -> str | None:
    """Why a test is expected to fail, or None."""
    for reason, patterns in DIFFERENCES.items():
        if any(re.match(pattern, f"{module}::{test}") for pattern in patterns):
            return reason
    return None


@contextmanager
def our_machines() -> Iterator[None]:
    """`sklearn.svm` with our estimators in it, as long as this lasts."""
    theirs = sys.modules["sklearn.svm"]
    ours = ModuleType("sklearn.svm")
    vars(ours).update(vars(theirs))
    vars(ours).update({name: getattr(maxmargin, name) for name in NAMES})
    cached = {name: module for name, module in sys.modules.items() if name.startswith(TESTS)}
    for name in cached:
        del sys.modules[name]
    sys.modules["sklearn.svm"] = sklearn.svm = ours
    try:
        yield
    finally:
        sys.modules["sklearn.svm"] = sklearn.svm = theirs
        for name in [name for name in sys.modules if name.startswith(TESTS)]:
            del sys.modules[name]
        sys.modules.update(cached)


def load(name: str) -> dict[str, object]:
    """The tests of one module, by name."""
    with our_machines():
        module = importlib.import_module(f"{TESTS}.{name}")
    return {key: value for key, value in vars(module).items() if key.startswith("test_") and callable(value)}
