"""Data at the border: what passes at once passes scikit-learn's checks unchanged, and all else goes through them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import validate_data

from maxmargin import SVC, SVR, LinearSVC
from maxmargin.estimators import checked

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = np.repeat([0, 1, 2], 10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", [y, y.astype(float), y.astype(bool)])
def test_ready_arrays_are_handed_on_as_they_are(monkeypatch, dtype, target):
    rows = X.astype(dtype)
    for_sklearn = SVC()
    expected = validate_data(for_sklearn, rows, target, **checked.ROWS)
    monkeypatch.setattr(checked, "validate_data", lambda *_, **__: pytest.fail("a second look was not needed"))
    ours = SVC()
    found = checked.checked_training(ours, rows, target)
    assert found[0] is rows and found[1] is target
    assert expected[0] is rows
    assert ours.n_features_in_ == for_sklearn.n_features_in_ == 3
    assert checked.checked_new(ours, rows[:2]).shape == (2, 3)


@pytest.mark.parametrize(
    "rows, target, message",
    [
        (np.where(X > 2, np.nan, X), y, "NaN"),
        (np.where(X > 2, np.inf, X), y, "infinity"),
        (X[:, 0], y, "2D array"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X, y[:-1], "inconsistent numbers"),
        (X, None, "requires y"),
        (X, np.where(y == 1, np.nan, y), "NaN"),
    ],
)
def test_what_is_wrong_is_refused_in_scikit_learns_words(rows, target, message):
    for machine in (SVC(), LinearSVC(), SVR()):
        with pytest.raises(ValueError, match=message):
            machine.fit(rows, target)


def test_values_whose_sum_overflows_are_finite_all_the_same():
    large = np.full((4, 2), 1.7e308)
    assert checked.checked_training(SVC(), large, np.array([0, 1, 0, 1]))[0] is large


def test_names_of_features_come_and_go():
    machine = SVC().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert list(machine.feature_names_in_) == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="feature names"):
        machine.predict(X)
    machine.fit(X, y)
    assert not hasattr(machine, "feature_names_in_")
    with pytest.raises(ValueError, match="expecting 3 features"):
        machine.predict(X[:, :2])
