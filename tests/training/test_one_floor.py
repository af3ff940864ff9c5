"""The law of the training floor: the same data and parameters give the same bits, whatever the door.

The command line trains by `fit(data, recipe)`, the estimators by `fit(X, y)`, and a binary problem can be solved by
`solve`: coefficients, biases, certificates, probabilities and the winner of a search must agree to the last bit.
"""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.data import Data, write
from maxmargin.estimators import SVC, SVCCV, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
from maxmargin.losses import EpsilonInsensitive, Hinge, OneClass, SquaredEpsilonInsensitive, SquaredHinge
from maxmargin.models import load, model_of
from maxmargin.training.budget import Budget
from maxmargin.training.fit import fit, with_probabilities
from maxmargin.training.prepare import prepared
from maxmargin.training.recipe import Recipe
from maxmargin.training.selection import folds_of, search
from tests.cli.conftest import command  # noqa: F401

pytestmark = pytest.mark.compiled


def make(classes=2, n=120, storage="dense", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 3.0, 0.5, 1.0]
    y = np.argmax(X @ rng.normal(size=(4, classes)) + 0.5 * rng.normal(size=(n, classes)), axis=1)
    X = np.where(rng.random(X.shape) < 0.3, 0.0, X)
    y[:classes] = np.arange(classes)
    values = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=n)
    if storage == "csr":
        X = sp.csr_array(np.hstack([X, np.zeros((n, 16))]))  # few enough entries to stay sparse on both ways
    return X, y, values


def weights_of(kind, n):
    rng = np.random.default_rng(1)
    return {"none": None, "random": rng.uniform(0.5, 3.0, n), "zeros": rng.integers(0, 3, n) * 1.0}[kind]


def assert_same(model, estimator):
    """A model of the command line and an estimator: every number that they share."""
    other = model_of(estimator)
    np.testing.assert_array_equal(model.b, other.b)
    for name in ("w", "coef", "classes", "vector_classes"):
        mine, theirs = getattr(model, name), getattr(other, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None and name != "vector_classes":
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert model.scheme == other.scheme and model.kernel == other.kernel
    if model.training is not None:
        for proof, theirs in zip(model.training.proofs, other.training.proofs, strict=True):
            assert (proof.primal, proof.dual, proof.relative_gap) == (theirs.primal, theirs.dual, theirs.relative_gap)
            np.testing.assert_array_equal(proof.rows, theirs.rows)
            np.testing.assert_array_equal(proof.beta, theirs.beta)


CLASSIFIERS = {
    "svc rbf": (lambda **more: SVC(C=2.0, **more), lambda: Recipe(Hinge(), RBF(), C=2.0)),
    "svc linear": (lambda **more: SVC(kernel="linear", **more), lambda: Recipe(Hinge(), Linear())),
    "svc poly": (
        lambda **more: SVC(kernel="poly", degree=2, coef0=1.0, bias="augmented", **more),
        lambda: Recipe(Hinge(), Polynomial(2, "scale", 1.0), bias="augmented"),
    ),
    "svc laplacian": (
        lambda **more: SVC(kernel=Laplacian(0.5), bias="none", **more),
        lambda: Recipe(Hinge(), Laplacian(0.5), bias="none"),
    ),
    "linear squared hinge": (
        lambda **more: LinearSVC(C=0.5, **more),
        lambda: Recipe(SquaredHinge(), Linear(), C=0.5, multiclass="ovr"),
    ),
    "linear hinge augmented": (
        lambda **more: LinearSVC(loss="hinge", bias="augmented", intercept_scaling=3.0, **more),
        lambda: Recipe(Hinge(), Linear(), bias="augmented", bias_scale=3.0, multiclass="ovr"),
    ),
    "nu": (lambda **more: NuSVC(nu=0.2, **more), lambda: Recipe(Hinge(), RBF(), nu=0.2)),
}


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("weights", ["none", "random", "zeros"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, classes, weights, storage):
    machine, recipe = CLASSIFIERS[name]
    X, y, _ = make(classes, storage=storage)
    given = weights_of(weights, len(y))
    model = fit(Data(X, y), recipe(), given).model
    assert_same(model, machine().fit(X, y, given))


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("name", ["svc rbf", "linear squared hinge"])
def test_schemes_and_class_weights(name, class_weight, scheme):
    from dataclasses import replace

    machine, recipe = CLASSIFIERS[name]
    X, y, _ = make(3)
    texts = class_weight if isinstance(class_weight, str) else {str(k): v for k, v in class_weight.items()}
    asked = replace(recipe(), class_weight=texts, multiclass=scheme)
    given = weights_of("random", len(y))
    assert_same(
        fit(Data(X, y), asked, given).model, machine(class_weight=class_weight, multi_class=scheme).fit(X, y, given)
    )


REGRESSORS = {
    "svr": (lambda: SVR(C=2.0), Recipe(EpsilonInsensitive(0.1), RBF(), C=2.0)),
    "linear svr": (lambda: LinearSVR(epsilon=0.2), Recipe(EpsilonInsensitive(0.2), Linear())),
    "linear squared": (
        lambda: LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, fit_intercept=False),
        Recipe(SquaredEpsilonInsensitive(0.1), Linear(), bias="none"),
    ),
    "nu": (lambda: NuSVR(nu=0.3), Recipe(EpsilonInsensitive(0.1), RBF(), nu=0.3)),
}


@pytest.mark.parametrize("weights", ["none", "random", "zeros"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, weights):
    machine, recipe = REGRESSORS[name]
    X, _, t = make()
    given = weights_of(weights, len(t))
    assert_same(fit(Data(X, t), recipe, given).model, machine().fit(X, t, given))


@pytest.mark.parametrize("weights", ["none", "zeros"])
def test_novelty(weights):
    X, _, _ = make()
    given = weights_of(weights, len(X))
    model = fit(Data(X, None), Recipe(OneClass(0.3), RBF()), given).model
    assert_same(model, OneClassSVM(nu=0.3).fit(X, sample_weight=given))


@pytest.mark.parametrize("kernel", [Linear(), RBF(), Polynomial(2, "scale", 1.0)], ids=str)
@pytest.mark.parametrize("weights", ["none", "random"])
def test_one_binary_problem_by_solve(kernel, weights):
    X, y, _ = make()
    given = weights_of(weights, len(y))
    result = solve(Problem(X, y, kernel=kernel, C=2.0, sample_weight=given), random_state=0)
    machine = SVC(C=2.0, kernel=kernel).fit(X, y, given)
    model = fit(Data(X, y), Recipe(Hinge(), kernel, C=2.0), given).model
    assert_same(model, machine)
    assert model.b[0] == result.b
    proof = model.training.proofs[0]
    assert (proof.primal, proof.dual) == (result.certificate.primal, result.certificate.dual)
    np.testing.assert_array_equal(proof.beta, result.beta[result.beta != 0.0])


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities(classes):
    X, y, _ = make(classes)
    machine = SVC(probability=True).fit(X, y)
    data, recipe = Data(X, y), Recipe(Hinge(), RBF())
    model = with_probabilities(fit(data, recipe), data, recipe, None, Budget()).model
    assert model.temperature == machine.temperature_
    scores = model.scores(X)
    np.testing.assert_array_equal(model.probabilities(scores), machine.predict_proba(X))
    np.testing.assert_array_equal(model.labels(scores), machine.predict(X))
    np.testing.assert_array_equal(model.classes[np.argmax(model.probabilities(scores), axis=1)], model.labels(scores))
    carried = model_of(machine)
    assert carried.temperature == machine.temperature_


@pytest.mark.parametrize("classes", [2, 3])
def test_the_winner_of_a_search(classes):
    X, y, _ = make(classes, n=150)
    recipe = Recipe(Hinge(), RBF())
    Cs, gammas = (0.1, 1.0, 10.0), (0.01, 0.1, 1.0)
    found = search(Data(X, y), recipe, None, 4, Budget(), Cs, gammas)
    folds = folds_of(prepared(Data(X, y), recipe, None), recipe, 4)
    machine = SVCCV(Cs=Cs, gammas=gammas, cv=folds).fit(X, y)
    assert {"C": found.best.C, "gamma": found.best.gamma} == machine.best_params_
    assert found.best.score == pytest.approx(machine.best_score_, abs=1e-12)
    assert len(found.tried) == machine.scores_.size


def test_through_the_shell(tmp_path, command):  # noqa: F811
    """The file that `train` writes is the model of the estimator."""
    X, y, _ = make(3)
    write(tmp_path / "d.svm", Data(X, y))
    ended = command("train", tmp_path / "d.svm", "--kernel", "rbf", "-C", "2", "-o", tmp_path / "m.mm", "--json")
    assert ended.status == 0 and json.loads(ended.out)["converged"]
    assert_same(load(tmp_path / "m.mm"), SVC(C=2.0).fit(X, y))
