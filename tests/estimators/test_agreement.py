"""The same decision values and labels as scikit-learn, on its data sets, at a tight tolerance."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import maxmargin
from benchmarks.racing import data

pytestmark = pytest.mark.compiled

CLASSES = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits, "iris": load_iris}


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def assert_same(ours, theirs, X):
    expected = theirs.decision_function(X)
    assert np.abs(ours.decision_function(X) - expected).max() <= 1e-3 * np.abs(expected).max()
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("name", CLASSES)
def test_SVC(name, kernel):
    X, y = scaled(CLASSES[name])
    given = {"kernel": kernel, "C": 0.5, "decision_function_shape": "ovo"}
    ours = maxmargin.SVC(**given, tol=1e-7).fit(X, y)
    theirs = sklearn.svm.SVC(**given, tol=1e-6).fit(X, y)
    assert_same(ours, theirs, X)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3 * np.abs(theirs.intercept_).max() + 1e-4)
    assert ours.certificate_.holds(1e-7)
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    if kernel == "linear":
        assert ours.coef_.shape == theirs.coef_.shape


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", ["breast cancer", "wine", "iris"])
def test_LinearSVC_with_the_penalised_intercept_of_liblinear(name, loss):
    X, y = scaled(CLASSES[name])
    ours = maxmargin.LinearSVC(loss=loss, C=0.1, bias="augmented", tol=1e-9).fit(X, y)
    theirs = sklearn.svm.LinearSVC(loss=loss, C=0.1, dual=True, tol=1e-8, max_iter=10**6).fit(X, y)
    assert_same(ours, theirs, X)


@pytest.mark.parametrize("name", ["wine", "iris"])
def test_crammer_singer(name):
    X, y = scaled(CLASSES[name])
    given = {"multi_class": "crammer_singer", "C": 0.1}
    ours = maxmargin.LinearSVC(**given, tol=1e-8).fit(X, y)
    theirs = sklearn.svm.LinearSVC(**given, tol=1e-8, max_iter=10**6).fit(X, y)
    expected = theirs.decision_function(X)
    assert np.abs(ours.decision_function(X) - expected).max() <= 1e-3 * np.abs(expected).max()
    assert ours.certificate_.holds(1e-8)


@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("name", ["breast cancer", "iris"])
def test_NuSVC(name, nu):
    X, y = scaled(CLASSES[name])
    ours = maxmargin.NuSVC(nu=nu, tol=1e-7, decision_function_shape="ovo").fit(X, y)
    theirs = sklearn.svm.NuSVC(nu=nu, tol=1e-7, decision_function_shape="ovo").fit(X, y)
    assert_same(ours, theirs, X)


def regressors():
    for kernel in ("rbf", "linear"):
        yield "SVR", {"kernel": kernel, "C": 10.0, "epsilon": 1.0}
        yield "NuSVR", {"kernel": kernel, "C": 10.0, "nu": 0.3}
    yield "LinearSVR", {"C": 1.0, "epsilon": 1.0, "loss": "squared_epsilon_insensitive"}


@pytest.mark.parametrize("name, given", list(regressors()), ids=str)
def test_regression(name, given):
    X, y = scaled(load_diabetes)
    extra, tight = {}, {"tol": 1e-7}
    if name == "LinearSVR":
        extra, tight = {"bias": "augmented"}, {"tol": 1e-9, "max_iter": 10**6}
    ours = getattr(maxmargin, name)(**given, **extra, tol=1e-8).fit(X, y)
    theirs = getattr(sklearn.svm, name)(**given, **tight).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3 * np.abs(y).max())
    assert ours.certificate_.holds(1e-8)


@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_OneClassSVM(nu):
    X, _ = scaled(load_breast_cancer)
    ours = maxmargin.OneClassSVM(nu=nu, tol=1e-9).fit(X)
    theirs = sklearn.svm.OneClassSVM(nu=nu, tol=1e-8).fit(X)
    expected = theirs.decision_function(X)
    assert np.abs(ours.decision_function(X) - expected).max() <= 1e-3 * np.abs(expected).max()
    off = np.abs(expected) > 1e-6  # the free support vectors are on neither side
    np.testing.assert_array_equal(ours.predict(X)[off], theirs.predict(X)[off])


@pytest.fixture(scope="module")
def a9a():
    """All 32,561 rows, sparse; the set is not ours to keep here."""
    try:
        return data.load("a9a")
    except data.MissingData as missing:
        pytest.skip(f"{missing}")


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"kernel": "rbf"}, {"kernel": "rbf", "gamma": 0.05, "C": 4.0}], ids=str)
def test_SVC_on_a9a(a9a, given):
    X, y = a9a
    ours = maxmargin.SVC(**given, tol=1e-7).fit(X, y)
    theirs = sklearn.svm.SVC(**given, tol=1e-6, cache_size=2000).fit(X, y)
    assert_same(ours, theirs, X)
    assert ours.certificate_.holds(1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_LinearSVC_on_a9a(a9a, loss):
    X, y = a9a
    ours = maxmargin.LinearSVC(loss=loss, C=0.1, bias="augmented", tol=1e-9).fit(X, y)
    theirs = sklearn.svm.LinearSVC(loss=loss, C=0.1, dual=True, tol=1e-6, max_iter=10**6).fit(X, y)
    assert_same(ours, theirs, X)


def test_default_tolerance_gives_the_same_labels():
    for load in CLASSES.values():
        X, y = scaled(load)
        theirs = sklearn.svm.SVC(tol=1e-6).fit(X, y)
        np.testing.assert_array_equal(maxmargin.SVC().fit(X, y).predict(X), theirs.predict(X))


def test_a_search_finds_what_GridSearchCV_finds():
    from sklearn.model_selection import GridSearchCV

    X, y = scaled(load_breast_cancer)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    ours = maxmargin.SVCCV(Cs=grid["C"], gammas=grid["gamma"]).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(), grid, cv=5).fit(X, y)
    np.testing.assert_allclose(ours.scores_.ravel(), theirs.cv_results_["mean_test_score"], atol=2e-3)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=2e-3)
    assert ours.worst_gap_ <= ours.cv_tol


def test_the_certificate_of_a_nu_machine_is_that_of_its_own_problem():
    X, y = scaled(load_breast_cancer)
    gamma, nu, n = 0.05, 0.3, len(y)
    K = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    machine = maxmargin.NuSVC(nu=nu, gamma=gamma, tol=1e-6).fit(X, y)
    sign = np.where(y == 1, 1.0, -1.0)
    scores = machine.decision_function(X) - machine.intercept_[0]
    # The model is the solution divided by the margin ρ, so that the dual variables tell ρ: Σα = νn.
    coef = np.zeros(n)
    coef[machine.support_] = machine.dual_coef_[0]
    rho = nu * n / np.abs(coef).sum()
    alpha = rho * sign * coef
    assert alpha.min() >= 0 and alpha.max() <= 1 + 1e-12 and abs(alpha @ sign) < 1e-8
    w2 = rho**2 * coef @ K @ coef
    np.testing.assert_allclose(scores, K @ coef, rtol=1e-8, atol=1e-10)
    z = rho * machine.decision_function(X)
    primal = 0.5 * w2 + np.maximum(0.0, rho - sign * z).sum() - nu * n * rho
    assert machine.certificate_.dual == pytest.approx(-0.5 * w2, rel=1e-9)
    assert machine.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert 0 <= primal + 0.5 * w2 <= 1e-6 * abs(primal)


def test_the_certificate_of_a_nu_regressor_is_that_of_its_own_problem():
    X, y = scaled(load_diabetes)
    gamma, nu, C, n = 0.02, 0.4, 10.0, len(y)
    K = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    machine = maxmargin.NuSVR(nu=nu, C=C, gamma=gamma, tol=1e-6).fit(X, y)
    beta = np.zeros(n)
    beta[machine.support_] = machine.dual_coef_[0]
    assert np.abs(beta).max() <= C + 1e-9 and abs(beta.sum()) < 1e-7 and np.abs(beta).sum() <= C * nu * n * (1 + 1e-12)
    w2 = beta @ K @ beta
    residual = np.abs(machine.predict(X) - y)
    # The best tube for these residuals.
    primal = min(0.5 * w2 + C * (nu * n * e + np.maximum(0.0, residual - e).sum()) for e in residual)
    dual = beta @ y - 0.5 * w2
    assert machine.certificate_.dual == pytest.approx(dual, rel=1e-9)
    assert machine.certificate_.primal == pytest.approx(primal, rel=1e-6)
    assert primal - dual <= 2e-6 * abs(primal)
