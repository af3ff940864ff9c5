"""What users of other libraries have complained about for ten years, each with a test."""

from __future__ import annotations

import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, InvalidInput, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, Problem, solve
from maxmargin.certificate.diagnosis import advice
from maxmargin.estimators import kernel_machine
from maxmargin.result import Reason

pytestmark = pytest.mark.compiled

EVERY = [SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM]


def hard_to_fit(n=6000):
    """Noise with a huge C: nobody fits this quickly."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 30)), rng.integers(0, 2, size=n)


def test_unscaled_data_with_huge_values_ends_with_a_diagnosis():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) * [1.0, 1e6, 1e3, 1e-3, 1.0]
    y = (X[:, 0] + X[:, 1] / 1e6 + rng.normal(size=400) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match=r"badly scaled.*standardise"):
        machine = SVC(kernel="linear", C=10.0, max_time=2.0, solver="smo").fit(X, y)
    assert machine.certificate_.gap >= 0 and machine.status_.reason is not Reason.CONVERGED


def test_rows_with_both_labels_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[0, 0], X[10:13] = -0.0, X[:3]
    X[10, 0] = 0.0
    y = np.arange(50) < 25
    y[10:12] = ~y[:2]
    problem = Problem(X, y)
    assert "2 rows appear with both labels" in advice(problem, solve(problem, max_iter=1).certificate, 1e-4)


@pytest.mark.parametrize("made", [SVC, NuSVC])
def test_max_time_returns_in_time_with_a_valid_certificate(made):
    X, y = hard_to_fit()
    given = {"C": 1e4} if made is SVC else {"nu": 0.2}
    made(**given, max_time=0.2).fit(X[:200], y[:200])  # compiles
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = made(**given, gamma=0.01, tol=1e-9, max_time=1.0).fit(X, y)
    certificate = machine.certificate_
    assert machine.status_.reason is Reason.MAX_TIME
    assert np.isfinite(certificate.gap) and certificate.dual <= certificate.primal
    assert time.perf_counter() - began < 30, "a hang; how near to a second it comes depends on the machine"


def test_ctrl_c_keeps_the_best_model():
    X, y = hard_to_fit()
    machine = SVC(C=1e4, gamma=0.01, tol=1e-12)
    SVC().fit(X[:100], y[:100])  # compiles
    # A job that was started in the background may have been told to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            machine.fit(X, y)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert machine.status_.reason is Reason.INTERRUPTED
    assert machine.predict(X[:10]).shape == (10,) and np.isfinite(machine.certificate_.gap)


def test_ctrl_c_among_several_classes_still_gives_a_model(monkeypatch):
    X, y = load_iris(return_X_y=True)
    from maxmargin.training import budget as training

    real = training.solve
    calls, looks = [], []

    def press(look):
        looks.append(look)
        if len(looks) == 1:
            raise KeyboardInterrupt

    def interrupted(problem, **options):
        calls.append(options["max_time"])
        if len(calls) == 1:
            options.update(callbacks=[press], tol=1e-15)
        return real(problem, **options)

    monkeypatch.setattr(training, "solve", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = SVC(solver="smo").fit(X, y)
    assert calls[1:] == [training.SPENT] * 2, "the other problems take one step each"
    assert len(machine.certificate_) == 3 and machine.predict(X).shape == y.shape


def test_two_threads_at_once_do_not_disturb_each_other():
    X, y = make_classification(600, 20, random_state=0)
    alone = [SVC(C=C).fit(X, y) for C in (0.5, 50.0)]
    together = [None, None]

    def fit(k, C):
        together[k] = SVC(C=C).fit(X, y)

    threads = [threading.Thread(target=fit, args=(k, C)) for k, C in enumerate((0.5, 50.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, found in zip(alone, together, strict=True):
        np.testing.assert_array_equal(expected.dual_coef_, found.dual_coef_)
        np.testing.assert_array_equal(expected.intercept_, found.intercept_)
        assert expected.certificate_.primal == pytest.approx(found.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("made", EVERY)
@pytest.mark.parametrize("left_out", [0.0, -1.0])
def test_a_weight_of_zero_leaves_the_row_out(made, left_out):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:200]
    y = y[:200]
    rng = np.random.default_rng(0)
    weights = np.where(rng.uniform(size=200) < 0.3, left_out, rng.uniform(0.5, 2.0, size=200))
    kept = weights > 0
    machine, fewer = made(), made()
    if made is NuSVC:
        machine.set_params(nu=0.2), fewer.set_params(nu=0.2)
    machine.fit(X, y, sample_weight=weights)
    fewer.fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(machine.predict(X), fewer.predict(X))
    np.testing.assert_array_equal(machine.support_, np.flatnonzero(kept)[fewer.support_])


def test_an_infeasible_nu_is_refused_before_any_kernel_value_is_computed(monkeypatch):
    def never(*arguments):
        raise AssertionError("a kernel was made")

    monkeypatch.setattr(kernel_machine.KernelMachine, "_kernel", never)
    X, y = make_classification(100, weights=[0.9], random_state=0)
    with pytest.raises(ValueError, match=r"nu is infeasible.*allows nu ≤ 0\.18"):
        NuSVC(nu=0.5).fit(X, y)
    for made in (NuSVC, NuSVR, OneClassSVM):
        for nu in (0.0, 1.5, "half"):
            with pytest.raises(ValueError, match=r"must be a number in \(0, 1\]"):
                made(nu=nu).fit(X, y)


def test_a_nu_that_leaves_no_margin_is_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"too small for this data.*raise nu above 0\.\d+"):
        NuSVC(nu=0.1, kernel="linear").fit(X, y)


def test_linear_models_have_support_vectors_and_duals():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine = LinearSVC(loss="hinge", tol=1e-8, keep_support=True).fit(X, y)
    np.testing.assert_allclose(machine.dual_coef_ @ machine.support_vectors_, machine.coef_, atol=1e-6)
    assert set(np.unique(machine.support_kinds_)) <= {"outside", "candidate", "free", "bound"}
    assert machine.n_support_.sum() == len(machine.support_) < len(X)


def test_the_intercept_is_not_penalised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 100.0
    y = (X[:, 0] > 100).astype(int)
    shifted = LinearSVC(tol=1e-8).fit(X, y)
    centred = LinearSVC(tol=1e-8).fit(X - 100.0, y)
    np.testing.assert_allclose(shifted.coef_, centred.coef_, rtol=1e-3)
    assert shifted.score(X, y) > 0.97


@pytest.mark.parametrize("made", [SVC, LinearSVC])
def test_weights_that_overflow_together_are_told_so(made):
    X = np.random.default_rng(0).normal(size=(40, 2))
    machine = made(class_weight={0: 1e308, 1: 1.0})
    with pytest.raises(InvalidInput, match="weights of classes times those of the rows overflow"):
        machine.fit(X, (X[:, 0] > 0).astype(int), np.full(40, 1e3))
