"""What the estimators add to the contract: storage, warm starts, several classes, probabilities, callbacks, paths."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    C_path,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Problem,
    plots,
    solve,
)
from maxmargin.errors import InvalidInput
from maxmargin.kernels import RBF
from maxmargin.models import model_of
from maxmargin.result import Reason

pytestmark = pytest.mark.compiled

#: Linear machines keep their support vectors when asked to.
KEPT = {LinearSVC: {"keep_support": True}, LinearSVR: {"keep_support": True}}
EVERY = [SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM]


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def answer(machine, X):
    return machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)


# Storage


def large_indices(X):
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


@pytest.mark.parametrize(
    "store", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.coo_array, large_indices]
)
@pytest.mark.parametrize("made", EVERY)
def test_every_sparse_storage_gives_the_same_model(made, store):
    X, y = scaled(load_iris)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = made(tol=1e-6).fit(X, y), made(tol=1e-6, **KEPT.get(made, {})).fit(store(X), y)
    expected = answer(dense, X)
    np.testing.assert_allclose(answer(sparse, store(X)), expected, atol=1e-3 * np.abs(expected).max())
    np.testing.assert_allclose(answer(sparse, X), answer(sparse, store(X)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(answer(dense, store(X)), expected, rtol=1e-9, atol=1e-12)
    assert sp.issparse(sparse.support_vectors_)


@pytest.mark.parametrize("made", EVERY)
def test_float32_stays_float32(made):
    X, y = scaled(load_iris)
    machine = made(tol=1e-5, **KEPT.get(made, {})).fit(X.astype(np.float32), y)
    expected = answer(made(tol=1e-7).fit(X, y), X)
    assert machine.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(answer(machine, X.astype(np.float32)), expected, atol=2e-2 * np.abs(expected).max())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_feature_names(library):
    frames = pytest.importorskip(library)
    if library == "polars" and sklearn.__version__ < "1.9":
        pytest.skip("scikit-learn reads the names of polars 2 from 1.9 on")
    X, y = scaled(load_iris)
    table = frames.DataFrame({f"column {j}": X[:, j] for j in range(X.shape[1])})
    machine = SVC().fit(table, y)
    assert list(machine.feature_names_in_) == [f"column {j}" for j in range(4)]
    np.testing.assert_array_equal(machine.predict(table), SVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(table.rename(columns={"column 0": "other"}) if library == "pandas" else table[:, ::-1])


@pytest.mark.parametrize("made", EVERY)
def test_pickle_and_clone(made):
    X, y = scaled(load_iris)
    machine = made(tol=1e-3).fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(answer(again, X), answer(machine, X))
    assert str(again.certificate_) == str(machine.certificate_)
    assert clone(machine).get_params() == machine.get_params()


@pytest.mark.parametrize("made", [LinearSVC, LinearSVR])
def test_the_pickle_of_a_linear_model_does_not_grow_with_the_rows(made):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
    machine = made(tol=1e-2).fit(X, y)
    small = pickle.loads(pickle.dumps(machine))
    assert len(pickle.dumps(machine)) < 8000
    np.testing.assert_array_equal(small.predict(X), machine.predict(X))
    assert str(small.certificate_) == str(machine.certificate_)
    assert machine.model_.training is not None and small.model_.training is None
    with pytest.raises(AttributeError, match="keep_support=True"):
        small.support_  # noqa: B018
    with pytest.raises(AttributeError, match=r"X\[support_\].*keep_support=True"):
        machine.support_vectors_  # noqa: B018
    kept = pickle.loads(pickle.dumps(made(tol=1e-2, keep_support=True).fit(X, y)))
    np.testing.assert_array_equal(kept.support_vectors_, X[machine.support_])
    np.testing.assert_array_equal(kept.dual_coef_, machine.dual_coef_)
    assert kept.model_.training is not None


@pytest.mark.parametrize("made", EVERY)
def test_the_model_is_the_fitted_thing(made):
    """What an estimator knows after a fit it reads from its model, which a file holds as well."""
    X, y = scaled(load_iris)
    machine = made(tol=1e-3).fit(X, y)
    assert model_of(machine) is machine.model_
    scores = machine.model_.scores(X)
    np.testing.assert_array_equal(machine.intercept_, machine.model_.b)
    if made not in (SVC, NuSVC):  # which have scores of their own for several classes
        np.testing.assert_allclose(answer(machine, X), scores if scores.shape[1] > 1 else scores[:, 0], atol=1e-9)
    if made is not NuSVR and made is not NuSVC:
        assert machine.model_.training.tol == 1e-3


def test_metadata_routing_brings_the_weights():
    X, y = scaled(load_breast_cancer)
    weights = np.where(y == 1, 5.0, 0.2)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, SVC().set_fit_request(sample_weight=True))
        routed.fit(X, y, sample_weight=weights)
    expected = SVC().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(routed[-1].dual_coef_, expected.dual_coef_)


# Warm starts


def missing(machine):
    """How much of the dual was still missing at the first look, of each problem."""
    traces = machine.trace_ if isinstance(machine.trace_, list) else [machine.trace_]
    return np.array([1.0 - trace["dual"][0] / trace["dual"].max() for trace in traces])


@pytest.mark.parametrize("made", [SVC, LinearSVC, SVR, LinearSVR])
def test_a_warm_start_with_another_C_gets_to_the_same_place(made):
    X, y = scaled(load_breast_cancer)
    warm = made(C=1.0, warm_start=True, tol=1e-8).fit(X, y)
    for C in (3.0, 0.5):
        expected = made(C=C, tol=1e-8).fit(X, y)
        warm.set_params(C=C).fit(X, y)
        assert warm.certificate_.holds(1e-8)
        np.testing.assert_allclose(answer(warm, X), answer(expected, X), atol=1e-3 * np.abs(answer(expected, X)).max())


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_warm_start_saves_work(multi_class):
    X, y = scaled(load_wine)
    given = {"solver": "smo", "tol": 1e-6, "multi_class": multi_class}
    machine = SVC(**given, warm_start=True).fit(X, y)
    first = machine.n_iter_.sum()
    assert machine.fit(X, y).n_iter_.sum() < 0.5 * first, "the same again is next to nothing"
    machine.set_params(C=1.1).fit(X, y)
    cold = SVC(**given, C=1.1).fit(X, y)
    assert (missing(machine) < 0.5 * missing(cold)).all()


def test_a_warm_start_with_more_rows():
    X, y = scaled(load_breast_cancer)
    machine = SVC(warm_start=True, solver="smo", tol=1e-8).fit(X[:566], y[:566])
    machine.fit(X, y)
    expected = SVC(solver="smo", tol=1e-8).fit(X, y)
    assert missing(machine) < 0.5 * missing(expected)
    np.testing.assert_allclose(machine.decision_function(X), expected.decision_function(X), atol=1e-3)


# Several classes


def test_each_pair_has_its_certificate():
    X, y = scaled(load_iris)
    labels = np.array(["a", "b", "c"])[y]
    machine = SVC().fit(X, labels)
    certificate = machine.certificate_
    assert set(certificate) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert certificate.holds(1e-4) and not certificate.holds(0.0)
    assert certificate.gap == pytest.approx(sum(one.gap for one in certificate.values()))
    assert "a vs b" in str(certificate) and "worst relative gap" in str(certificate)
    rows = np.flatnonzero(labels != "b")
    alone = solve(Problem(X[rows], labels[rows], kernel=machine.kernel_), tol=1e-4)
    assert certificate["a", "c"].primal == pytest.approx(alone.certificate.primal, rel=1e-3)


def test_one_against_the_rest_is_what_it_says():
    X, y = scaled(load_wine)
    machine = SVC(multi_class="ovr", tol=1e-8).fit(X, y)
    for k in range(3):
        alone = SVC(tol=1e-8).fit(X, y == k)
        np.testing.assert_allclose(machine.decision_function(X)[:, k], alone.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(machine.predict(X), machine.decision_function(X).argmax(axis=1))
    with pytest.raises(InvalidInput, match="there are no pairs"):
        machine.set_params(decision_function_shape="ovo").decision_function(X)


def test_kernel_rows_are_shared_and_the_model_is_the_same_without(monkeypatch):
    X, y = scaled(load_wine)
    sizes = []
    real = RBF.block
    monkeypatch.setattr(RBF, "block", lambda self, A, B, *n: sizes.append((len(A), len(B))) or real(self, A, B, *n))
    shared = SVC(tol=1e-8).fit(X, y)
    assert sum(a * b for a, b in sizes) <= len(X) ** 2, "each value once, for all pairs"
    sizes.clear()
    apart = SVC(tol=1e-8, cache_size=0.01).fit(X, y)
    assert (len(X), len(X)) not in sizes, "no matrix of all rows where the cache is too small for one"
    np.testing.assert_allclose(shared.decision_function(X), apart.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(shared.support_vectors_, X[shared.support_])


# Probabilities


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("made", [SVC, NuSVC])
def test_probabilities_agree_with_predictions(made, load):
    X, y = scaled(load)
    machine = made(probability=True).fit(X[::2], y[::2])
    P = machine.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(X))
    decision = machine.decision_function(X)
    if decision.ndim == 1:
        order = np.argsort(decision)
        assert (np.diff(P[order, 1]) >= 0).all(), "the same order of samples"
    else:
        np.testing.assert_array_equal(np.argsort(P, axis=1), np.argsort(decision, axis=1))
    again = made(probability=True).fit(X[::2], y[::2])
    np.testing.assert_array_equal(again.predict_proba(X), P)
    assert log_loss(y[1::2], P[1::2]) < 0.35
    assert not hasattr(made(), "predict_proba")


# Callbacks


def test_callbacks_of_scikit_learn():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
    X, y = scaled(load_breast_cancer)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    machine = SVC(solver="smo", tol=1e-10).set_callbacks(monitor).fit(X, y)
    rows = monitor.get_logs().data
    scores = [row["accuracy"] for row in rows if row["task_name"] == "look"]
    assert len(scores) >= 3 and scores[-1] == pytest.approx(machine.score(X, y), abs=0.01)

    class Stop:
        looks = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.looks += context.task_name == "look"
            return self.looks >= 2

    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="stopped by a callback"):
        SVC(solver="smo", tol=1e-12).set_callbacks(Stop()).fit(X, y)


# Paths and searches


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_path_warm_starts_and_certifies(kernel):
    X, y = scaled(load_breast_cancer)
    Cs = [10.0, 0.1, 1.0]
    path = C_path(X, y, Cs, kernel=kernel, solver="smo", tol=1e-6)
    np.testing.assert_array_equal(path.Cs, sorted(Cs))
    for C, result in zip(path.Cs, path.results, strict=True):
        cold = solve(Problem(X, y, kernel=kernel, C=C), solver="smo", tol=1e-6)
        assert result.certify().holds(1e-6) and result.certificate.primal == pytest.approx(
            cold.certificate.primal, rel=2e-6
        )
    near = C_path(X, y, [1.0, 1.1], kernel=kernel, solver="smo", tol=1e-6).results[1]
    cold = solve(Problem(X, y, kernel=kernel, C=1.1), solver="smo", tol=1e-6)
    best = cold.certificate.dual
    assert best - near.trace["dual"][0] < 0.5 * (best - cold.trace["dual"][0])
    assert path.scores(X, y)[-1] > 0.97 and len(str(path).splitlines()) == 4
    display = path.plot()
    np.testing.assert_array_equal(display.Cs, path.Cs)


def test_searches_are_estimators_and_draw_themselves():
    X, y = scaled(load_iris)
    search = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=["scale", 0.1], cv=3).fit(X, y)
    assert search.scores_.shape == (3, 2) and set(search.best_params_) == {"C", "gamma"}
    assert "best: C" in search.summary() and search.best_estimator_.C == search.best_params_["C"]
    display = search.plot()
    assert display.best == pytest.approx((search.best_params_["C"], search.best_params_["gamma"]))
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))
    assert search.score(X, y) > 0.9
    assert cross_val_score(LinearSVCCV(Cs=[0.1, 1.0], cv=3), X, y, cv=3).min() > 0.8
    outer = GridSearchCV(SVCCV(Cs=[0.1, 1.0], cv=3), {"kernel": ["rbf", "linear"]}, cv=3).fit(X, y)
    assert outer.best_score_ > 0.9
    assert isinstance(plots.grid(search.scores_, search.Cs_, search.gammas_).best_score, float)


def test_a_search_without_a_shared_matrix_finds_the_same():
    X, y = scaled(load_breast_cancer)
    given = {"Cs": [0.1, 1.0], "gammas": [0.01, 0.1], "cv": 3, "cv_tol": 1e-6, "refit": False}
    shared, apart = SVCCV(**given).fit(X, y), SVCCV(**given, cache_size=0.5).fit(X, y)
    np.testing.assert_allclose(shared.scores_, apart.scores_, atol=2e-3)
    with pytest.raises(AttributeError, match="refit=False"):
        shared.predict(X)


def test_a_search_takes_any_scorer_and_a_time_budget():
    X, y = scaled(load_breast_cancer)
    auc = SVCCV(Cs=[0.01, 1.0], scoring="roc_auc", cv=3).fit(X, y)
    assert auc.best_score_ > 0.98
    X, y = scaled(load_diabetes)
    regression = SVRCV(Cs=[1.0, 100.0], gammas=[0.01, 0.1], cv=3).fit(X, y)
    assert regression.score(X, y) > 0.3
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="time was up"):  # never without a model
        hurried = SVRCV(Cs=[1.0, 100.0], cv=3, max_time=1e-6).fit(X, y)
    assert hurried.status_.reason is Reason.MAX_TIME
    assert hurried.predict(X[:2]).shape == (2,)


def test_refusals_say_what_to_do():
    X, y = scaled(load_iris)
    with pytest.raises(InvalidInput, match="intercept_scaling is for bias='augmented'"):
        LinearSVC(intercept_scaling=10.0, bias="free").fit(X, y)
    with pytest.raises(InvalidInput, match="use bias='augmented'"):
        LinearSVC(multi_class="crammer_singer", bias="free").fit(X, y)
    with pytest.raises(InvalidInput, match="it must be one of: 'ovo', 'ovr'"):
        SVC(multi_class="all").fit(X, y)
    with pytest.raises(InvalidInput, match="tol is -1"):
        SVC(tol=-1).fit(X, y)
    with pytest.raises(InvalidInput, match="max_time is 0"):
        SVC(max_time=0).fit(X, y)
    with pytest.raises(InvalidInput, match="Cs must be a list of finite numbers"):
        SVCCV(Cs=[]).fit(X, y)
