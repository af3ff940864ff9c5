"""scikit-learn's own tests of its support vector machines, loaded with our classes in the place of theirs.

The tests are those of the installed scikit-learn; nothing of them is kept here. `load("test_svm")` runs the module of
that name in an environment where `sklearn.svm` holds our estimators (and, for the rest, what it always held).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
import sklearn
import sklearn.svm

import maxmargin

NAMES = ("SVC", "LinearSVC", "NuSVC", "SVR", "LinearSVR", "NuSVR", "OneClassSVM")
TESTS = "sklearn.svm.tests"


@contextmanager
def our_machines() -> Iterator[None]:
    """`sklearn.svm` with our estimators in it, as long as this lasts."""
    theirs = sys.modules["sklearn.svm"]
    ours = ModuleType("sklearn.svm")
    vars(ours).update(vars(theirs))
    vars(ours).update({name: getattr(maxmargin, name) for name in NAMES if hasattr(maxmargin, name)})
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


def load(name: str, reasons: dict[str, str]) -> dict[str, object]:
    """The tests of one module, by name; those that show a documented difference are expected to fail."""
    with our_machines():
        module = importlib.import_module(f"{TESTS}.{name}")
    tests = {key: value for key, value in vars(module).items() if key.startswith("test_") and callable(value)}
    for key, reason in reasons.items():
        tests[key] = pytest.mark.xfail(reason=reason, strict=True)(tests[key])
    return tests
