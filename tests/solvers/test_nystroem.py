"""Landmarks: the certificate is that of the exact problem, whatever they leave out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons

from maxmargin import Problem, solve
from maxmargin.data import Data
from maxmargin.errors import InvalidInput, MaxMarginError, Refused
from maxmargin.estimators import SVC, SVR
from maxmargin.kernels import RBF, Laplacian, Polynomial
from maxmargin.losses import Hinge
from maxmargin.models import load, model_of
from maxmargin.models.certify import certify
from maxmargin.solvers import Nystroem
from maxmargin.solvers.kernel.landmarks import LandmarkFeatures
from maxmargin.training.fit import fit
from maxmargin.training.recipe import Recipe
from tests.cli.conftest import command  # noqa: F401
from tests.oracle import judged

KERNELS = {"rbf": RBF(2.0), "laplacian": Laplacian(0.5), "polynomial": Polynomial(3, 1.0, 1.0)}
CASES = [
    (loss, kernel, bias, landmarks)
    for loss in ("hinge", "squared-hinge", "logistic", "epsilon-insensitive")
    for kernel, bias in (("rbf", "free"), ("laplacian", "augmented"), ("polynomial", "none"))
    for landmarks in (3, 30)
]


def moons(n=200, seed=0):
    X, y = make_moons(n, noise=0.25, random_state=seed)
    return X, y


def posed(loss, kernel, bias, C=5.0, **more):
    X, y = moons()
    y = X[:, 0] + np.sin(3.0 * X[:, 1]) if loss == "epsilon-insensitive" else y
    return Problem(X, y, loss=loss, kernel=KERNELS[kernel], bias=bias, C=C, **more)


@pytest.mark.parametrize(("loss", "kernel", "bias", "landmarks"), CASES)
def test_the_interval_holds_the_exact_optimum(loss, kernel, bias, landmarks):
    problem = posed(loss, kernel, bias)
    found = solve(problem, "nystroem", landmarks=landmarks, tol=1e-7)
    assert np.count_nonzero(found.point.w) <= landmarks
    best = judged(solve(problem, tol=1e-7))  # by arithmetic that shares nothing with either
    mine = found.certificate
    assert mine.primal + mine.rounding >= best.dual - best.rounding
    assert mine.dual - mine.rounding <= best.primal + best.rounding
    truth = judged(found)
    assert truth.gap <= mine.gap + truth.rounding
    assert mine.gap <= truth.gap + 2.0 * mine.rounding + truth.rounding + 1e-9 * abs(mine.primal)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_auto_reaches_the_gap_that_is_asked_for(loss):
    for C in (0.1, 100.0):
        result = solve(posed(loss, "laplacian", "free", C=C), "nystroem", tol=1e-6)
        assert result.converged and judged(result).relative_gap <= 1e-6


def test_the_features_are_those_of_the_approximate_kernel():
    problem = posed("hinge", "rbf", "augmented")
    features = LandmarkFeatures(problem, 60)
    for some in (np.arange(0, 40, 2), np.arange(40, 160, 4)):
        features.extend(some)
    K = problem.kernel.block(problem.X, problem.X) + 1.0
    z = features.index
    nystroem = K[:, z] @ np.linalg.lstsq(K[np.ix_(z, z)], K[z], rcond=1e-12)[0]
    np.testing.assert_allclose(features.values @ features.values.T, nystroem, atol=1e-6)
    np.testing.assert_allclose(features.rest, np.diag(K - nystroem), atol=1e-6)
    w = np.random.default_rng(0).normal(size=features.size)
    c = features.coefficients(w)
    np.testing.assert_allclose(K @ c, features.values @ w, atol=1e-6 * np.abs(c).sum())
    assert c @ K @ c == pytest.approx(w @ w, rel=1e-6)


def test_large_features_are_single_and_grow_in_place(monkeypatch):
    from maxmargin.solvers.kernel import landmarks

    rough = landmarks.NystroemSettings(double_bytes=0.0, first=16, rows=64, chunk=1)
    monkeypatch.setattr(landmarks, "settings", rough)
    monkeypatch.setattr("maxmargin.solvers.kernel.nystroem.settings", rough)
    problem = posed("hinge", "rbf", "free")
    result = solve(problem, "nystroem", landmarks=80, tol=1e-3)
    assert result.converged and judged(result).relative_gap <= 1e-3


def test_more_landmarks_than_memory_are_not_taken():
    X, y = moons()
    small = Problem(X, y, kernel=RBF(50.0), C=10.0, cache_bytes=200 * 4 * 20.0)
    assert np.count_nonzero(solve(small, Nystroem(60), tol=1e-9).point.w) <= 20
    with pytest.raises(MaxMarginError, match="raise cache_bytes"):
        solve(Problem(X, y, kernel=RBF(1.0), cache_bytes=100.0), Nystroem(60))


def test_what_has_no_landmarks_is_refused():
    X, y = moons()
    for problem, reason in [
        (Problem(X, y), "linear kernel"),
        (Problem(X, y, kernel="sigmoid"), "indefinite"),
        (Problem(X, y, kernel="rbf", C=np.inf), "hard margin"),
        (Problem(X, loss="one-class", kernel="rbf"), "one-class"),
    ]:
        with pytest.raises(Refused, match=reason):
            solve(problem, "nystroem")
    for landmarks in (0, 2.5, True, "many"):
        with pytest.raises(InvalidInput, match="landmarks is"):
            Nystroem(landmarks)


def test_dense_sparse_and_repeated_rows_agree():
    X, y = moons(120)
    weights = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    whole = np.repeat(np.arange(120), weights.astype(int))
    options = {"kernel": RBF(1.0), "C": 3.0}
    one = solve(Problem(X, y, sample_weight=weights, **options), "nystroem", tol=1e-6)
    for rows, labels, more in ((sp.csr_array(X), y, weights), (X[whole], y[whole], None)):
        other = solve(Problem(rows, labels, sample_weight=more, **options), "nystroem", tol=1e-6)
        gaps = one.certificate.gap + other.certificate.gap
        assert abs(one.certificate.primal - other.certificate.primal) <= gaps
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_door_gives_the_same_bits(classes, tmp_path, command):  # noqa: F811
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.digitize(X[:, 0] + 0.4 * rng.normal(size=150), [0.0] if classes == 2 else [-0.5, 0.5])
    estimator = SVC(C=2.0, approximation="nystroem", n_landmarks=12, tol=1e-9)
    with pytest.warns(match="nystroem|landmarks|gap"):
        estimator.fit(X, y)
    recipe = Recipe(Hinge(), RBF("scale"), C=2.0, solver="nystroem", solver_options={"landmarks": 12}, tol=1e-9, seed=0)
    model = fit(Data(X, y), recipe).model
    assert model.vectors.shape[0] <= 12 * (1 if classes == 2 else 3)
    np.testing.assert_array_equal(model.coef, model_of(estimator).coef)
    np.testing.assert_array_equal(model.b, estimator.intercept_)
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    # The file holds the landmarks and the proof, and the oracle finds the same gap in the data.
    np.savetxt(tmp_path / "rows.csv", np.column_stack([y, X]), delimiter=",", fmt="%.17g")
    options = ["--kernel", "rbf", "-C", "2", "--approximation", "nystroem", "--landmarks", "12", "--tol", "1e-9"]
    options += ["--target", "1"]
    assert command("train", tmp_path / "rows.csv", *options, "-o", tmp_path / "rows.mm").status == 3
    saved = load(tmp_path / "rows.mm")
    np.testing.assert_array_equal(saved.coef, model.coef)
    for proof, finding in zip(saved.training.proofs, certify(saved, [Data(X, y)]), strict=True):
        assert finding.holds() and finding.relative_gap == pytest.approx(proof.relative_gap, rel=1e-6)


def test_estimators_take_it_and_refuse_what_does_not_go_with_it():
    X, y = moons()
    model = SVC(approximation="nystroem", tol=1e-3, probability=True).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3 and model.predict_proba(X).shape == (200, 2)
    assert SVR(approximation="nystroem", tol=1e-3).fit(X, X[:, 0]).certificate_.relative_gap <= 1e-3
    for options, reason in [
        ({"approximation": "fourier"}, "approximation is"),
        ({"approximation": "nystroem", "solver": "smo"}, "a solver of its own"),
        ({"approximation": "nystroem", "kernel": "sigmoid"}, "indefinite"),
        ({"approximation": "nystroem", "n_landmarks": -1}, "landmarks is"),
        ({"n_landmarks": 10}, "goes with approximation"),
    ]:
        with pytest.raises(MaxMarginError, match=reason):
            SVC(**options).fit(X, y)


def test_a_time_limit_keeps_the_landmarks_and_what_can_be_proved():
    X, y = moons(3000)
    result = solve(Problem(X, y, kernel="rbf", C=10.0), "nystroem", tol=1e-12, max_time=0.3)
    assert np.isfinite(result.certificate.gap) and (result.predict(X) == y).mean() > 0.8
