"""Ours in the place of scikit-learn's: parameters as they are written there, and what others wrap around a machine."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as TheirLinearSVC

from maxmargin import SVC, SVCCV, SVR, C_path, InvalidInput, LinearSVC, LinearSVCCV, LinearSVR, NuSVC, OneClassSVM

pytestmark = pytest.mark.compiled

X, y = load_iris(return_X_y=True)
CANCER, malignant = load_breast_cancer(return_X_y=True)
SCALED = StandardScaler().fit_transform(CANCER)


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), "1", None, True, [1.0]])
@pytest.mark.parametrize("machine", [SVC, LinearSVC, SVR, LinearSVR])
def test_a_bad_C_names_C(machine, bad):
    with pytest.raises(InvalidInput, match=r"^C is "):
        machine(C=bad).fit(X, y)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("gamma", 0), ("gamma", None), ("cache_size", 0), ("cache_size", "a"), ("coef0", "a"), ("coef0", np.inf)],
)
@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, OneClassSVM])
def test_a_bad_number_is_named(machine, name, bad):
    with pytest.raises(InvalidInput, match=rf"^{name} is "):
        machine(**{name: bad}).fit(X, y)


@pytest.mark.parametrize("machine", [SVC, LinearSVC, SVR, LinearSVR])
def test_scikit_learns_max_iter_written_out_is_enough(machine):
    """liblinear's default of 1000 counts passes over the data; a machine of ours must not stop early by it."""
    numbers = load_diabetes(return_X_y=True)
    for rows, targets in ((X, y), (CANCER, malignant), *([] if machine in (SVC, LinearSVC) else [numbers])):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            machine(max_iter=1000).fit(rows, targets)


def test_intercept_scaling_asks_for_the_penalised_intercept():
    ours = LinearSVC(intercept_scaling=10.0, tol=1e-8).fit(SCALED, malignant)
    theirs = TheirLinearSVC(intercept_scaling=10.0, tol=1e-10, max_iter=100_000, dual=True).fit(SCALED, malignant)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    with pytest.raises(InvalidInput, match="intercept_scaling"):
        LinearSVC(intercept_scaling=10.0, bias="free").fit(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_l1_finds_what_liblinear_finds(C):
    """The objective, at liblinear's own intercept; ours is proved, and its weights are as sparse."""
    ours = LinearSVC(penalty="l1", dual=False, C=C, bias="augmented", tol=1e-8).fit(SCALED, malignant)
    theirs = TheirLinearSVC(penalty="l1", dual=False, C=C, tol=1e-10, max_iter=100_000).fit(SCALED, malignant)

    def objective(machine):
        slack = np.maximum(0.0, 1.0 - np.where(malignant == 1, 1, -1) * machine.decision_function(SCALED))
        return np.abs(machine.coef_).sum() + abs(machine.intercept_[0]) + C * (slack**2).sum()

    assert ours.certificate_.holds(1e-8)
    assert objective(ours) == pytest.approx(ours.certificate_.primal, rel=1e-12)
    assert objective(ours) <= objective(theirs) * (1 + 1e-8)
    assert np.count_nonzero(ours.coef_) == np.count_nonzero(theirs.coef_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_l1_selects_features_in_a_pipeline():
    select = SelectFromModel(LinearSVC(penalty="l1", dual=False, C=0.02))
    pipeline = make_pipeline(StandardScaler(), select, LinearSVC())
    search = GridSearchCV(pipeline, {"selectfrommodel__estimator__C": [0.01, 0.1]}, cv=3).fit(CANCER, malignant)
    assert search.best_score_ > 0.95
    assert 0 < search.best_estimator_[1].get_support().sum() < 15


def test_l1_for_several_classes_begins_again_and_refuses_what_it_cannot_do():
    machine = LinearSVC(penalty="l1", loss="logistic", warm_start=True, tol=1e-6)
    first = machine.fit(X, y).coef_.copy()
    np.testing.assert_allclose(machine.fit(X, y).coef_, first, atol=1e-2)
    for wrong in ({"loss": "hinge"}, {"dual": True}, {"multi_class": "crammer_singer"}):
        with pytest.raises(InvalidInput, match="l1"):
            LinearSVC(penalty="l1", **wrong).fit(X, y)


@pytest.mark.parametrize(
    "machine",
    [SVC(), SVC(probability=True), LinearSVC(), LinearSVC(penalty="l1"), SVR(), OneClassSVM(), NuSVC(nu=0.2)],
    ids=repr,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_trip_through_skops(machine, classes):
    io = pytest.importorskip("skops.io")
    some = y < classes
    machine.fit(X[some], y[some])
    data = io.dumps(machine)
    again = io.loads(data, trusted=io.get_untrusted_types(data=data))
    np.testing.assert_array_equal(again.predict(X), machine.predict(X))
    assert again.status_ == machine.status_
    assert again.certificate_.relative_gap == machine.certificate_.relative_gap


def test_code_that_names_the_module_can_be_sent_away():
    cloudpickle = pytest.importorskip("cloudpickle")
    import maxmargin as mm

    namespace = {"mm": mm, "X": X, "y": y, "__name__": "__main__"}
    exec("def score(C): return mm.SVC(C=C).fit(X, y).score(X, y)", namespace)
    sent = cloudpickle.loads(cloudpickle.dumps(namespace["score"]))
    assert sent(1.0) == namespace["score"](1.0)


def test_a_search_tells_what_it_tried_as_scikit_learn_does():
    search = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.1, 1.0]).fit(X, y)
    results = search.cv_results_
    theirs = GridSearchCV(SVC(tol=1e-3), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}).fit(X, y).cv_results_
    assert results["params"] == theirs["params"]
    np.testing.assert_allclose(results["mean_test_score"], theirs["mean_test_score"], atol=0.02)
    np.testing.assert_array_equal(results["param_C"], theirs["param_C"].astype(float))
    assert results["rank_test_score"][results["params"].index(search.best_params_)] == 1


def test_a_search_by_several_scores_as_scikit_learn_does():
    grid = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.1, 1.0], "scoring": ["accuracy", "f1_macro"]}
    search = SVCCV(**grid, refit="f1_macro", n_jobs=1).fit(X, y)
    theirs = GridSearchCV(
        SVC(tol=1e-3), {"C": grid["Cs"], "gamma": grid["gammas"]}, scoring=grid["scoring"], refit="f1_macro"
    ).fit(X, y)
    for name in grid["scoring"]:
        mean = search.cv_results_[f"mean_test_{name}"]
        np.testing.assert_allclose(mean, theirs.cv_results_[f"mean_test_{name}"], atol=0.02)
        np.testing.assert_allclose(mean, SVCCV(**{**grid, "scoring": name}).fit(X, y).cv_results_["mean_test_score"])
    assert search.best_score_ == pytest.approx(theirs.best_score_, abs=0.02)
    assert search.best_score_ == search.cv_results_["mean_test_f1_macro"].max()
    worst = SVCCV(**grid, refit=lambda results: int(np.argmin(results["mean_test_accuracy"])), n_jobs=-1).fit(X, y)
    assert worst.best_estimator_.C == worst.best_params_["C"]
    assert worst.best_score_ == worst.cv_results_["mean_test_accuracy"].min()
    np.testing.assert_array_equal(worst.fold_scores_, SVCCV(**grid, refit=False).fit(X, y).fold_scores_)
    for wrong in ({"refit": True}, {"refit": "recall"}, {"scoring": "accuracy", "refit": "accuracy"}):
        with pytest.raises(InvalidInput, match="refit"):
            SVCCV(**{**grid, **wrong}).fit(X, y)
    with pytest.raises(InvalidInput, match="n_jobs"):
        SVCCV(n_jobs=0).fit(X, y)


def test_groups_stay_together():
    groups = np.arange(len(y)) % 10
    search = LinearSVCCV(Cs=[0.1, 1.0], cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert search.n_splits_ == 5
    with pytest.raises(InvalidInput, match="groups"):
        LinearSVCCV(Cs=[1.0]).fit(X, y, groups=groups)


def test_a_path_is_a_sequence_of_results():
    path = C_path(SCALED, malignant, (C for C in (1.0, 0.1)), kernel="rbf")
    assert len(path) == 2
    assert [result is other for result, other in zip(path, path.results, strict=True)] == [True, True]
    assert path[0].certificate.primal < path[-1].certificate.primal
    sparse = C_path(SCALED, malignant, [0.01, 0.015], loss="squared-hinge", regularizer="l1")
    assert all(result.converged for result in sparse)
