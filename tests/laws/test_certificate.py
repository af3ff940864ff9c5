"""The certificate is true: its numbers are those of MATH.md, written down here a second time from the formulas.

The reference below knows the data, the parameters and the point (w, b, β), and nothing of how the package computes.
"""

import itertools
import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from maxmargin import Iterate, Problem, certify
from maxmargin.certificate import KINDS, examine
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Polynomial, list_kernels
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.losses import list_losses

# The reference: sections 1, 2 and 5 of MATH.md

INFINITY = float("inf")


@dataclass(frozen=True)
class LossFormula:
    """One row of the table in section 2; p are the loss's parameters."""

    value: object  #: ℓ(z)
    dual: object  #: −C ℓ*(−β/C)
    ends: object  #: the domain of β
    gradient: object  #: ∂/∂β of the dual term: to the right and to the left


def entropy(a):
    return sum(part * math.log(part) if part > 0 else 0.0 for part in (a, 1.0 - a))


def one_side(y, reach):
    return (0.0, reach) if y > 0 else (-reach, 0.0)


def both(gradient):
    return gradient, gradient


def with_tube(smooth, beta, epsilon):
    return smooth - (epsilon if beta >= 0 else -epsilon), smooth - (epsilon if beta > 0 else -epsilon)


def log_odds(a):
    return math.log(a / (1.0 - a)) if 0.0 < a < 1.0 else (a - 0.5) * INFINITY


LOSSES = {
    "hinge": LossFormula(
        lambda z, y, p: max(0.0, 1.0 - y * z),
        lambda v, y, C, p: y * v,
        lambda y, C: one_side(y, C),
        lambda v, y, C, p: both(y),
    ),
    "squared-hinge": LossFormula(
        lambda z, y, p: max(0.0, 1.0 - y * z) ** 2,
        lambda v, y, C, p: y * v - v * v / (4 * C),
        lambda y, C: one_side(y, INFINITY),
        lambda v, y, C, p: both(y - v / (2 * C)),
    ),
    "least-squares": LossFormula(
        lambda z, t, p: (t - z) ** 2,
        lambda v, t, C, p: t * v - v * v / (4 * C),
        lambda t, C: (-INFINITY, INFINITY),
        lambda v, t, C, p: both(t - v / (2 * C)),
    ),
    "logistic": LossFormula(
        lambda z, y, p: max(0.0, -y * z) + math.log1p(math.exp(-abs(z))),
        lambda v, y, C, p: -C * entropy(y * v / C),
        lambda y, C: one_side(y, C),
        lambda v, y, C, p: both(-y * log_odds(y * v / C)),
    ),
    "epsilon-insensitive": LossFormula(
        lambda z, t, p: max(0.0, abs(z - t) - p.epsilon),
        lambda v, t, C, p: t * v - p.epsilon * abs(v),
        lambda t, C: (-C, C),
        lambda v, t, C, p: with_tube(t, v, p.epsilon),
    ),
    "squared-epsilon-insensitive": LossFormula(
        lambda z, t, p: max(0.0, abs(z - t) - p.epsilon) ** 2,
        lambda v, t, C, p: t * v - p.epsilon * abs(v) - v * v / (4 * C),
        lambda t, C: (-INFINITY, INFINITY),
        lambda v, t, C, p: with_tube(t - v / (2 * C), v, p.epsilon),
    ),
    "one-class": LossFormula(
        lambda z, t, p: max(0.0, -z),
        lambda v, t, C, p: 0.0,
        lambda t, C: (0.0, C),
        lambda v, t, C, p: both(0.0),
    ),
}


def squares(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)


def lengths(X, Z):
    return np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2)


def sine_of_product(X, Z):
    """A function of the user's own, for the kernel "custom"; dense or sparse."""
    inner = X @ Z.T
    return np.sin(np.asarray(inner.todense() if sp.issparse(inner) else inner)) + inner.shape[0] * 0.0


KERNELS = {
    "linear": lambda X, p: X @ X.T,
    "polynomial": lambda X, p: (p.gamma * (X @ X.T) + p.coef0) ** p.degree,
    "sigmoid": lambda X, p: np.tanh(p.gamma * (X @ X.T) + p.coef0),
    "rbf": lambda X, p: np.exp(-p.gamma * squares(X, X)),
    "laplacian": lambda X, p: np.exp(-p.gamma * lengths(X, X)),
    "custom": lambda X, p: np.sin(X @ X.T),
    "precomputed": lambda X, p: X,
}


def reference(problem, point):
    """Primal, dual, the terms of the gap, the KKT violation; `size` is that of the terms, to judge rounding by."""
    X = (problem.X.toarray() if sp.issparse(problem.X) else problem.X).astype(np.float64)
    t, C, formula, p = problem.target, problem.C, LOSSES[problem.loss.name], problem.loss
    constant = problem.bias_scale if problem.bias == "augmented" else 0.0
    K = KERNELS[problem.kernel.name](X, problem.kernel) + constant**2
    w, b, beta = point.w, 0.0 if point.b is None else point.b, point.beta
    total = p.nu * math.fsum(C) if problem.loss.name == "one-class" else 0.0
    if problem.kernel.name == "linear":
        rows = np.c_[X, np.full(len(X), constant)]
        scores, sqnorm = rows @ w, math.fsum(w * w)
        difference = w - rows.T @ beta
        apart = math.fsum(difference * difference)
    else:
        scores, sqnorm = K @ w, math.fsum(w * (K @ w))
        apart = math.fsum((w - beta) * (K @ (w - beta)))
    z = scores + b
    samples = range(len(t))
    loss = [C[i] * formula.value(z[i], t[i], p) for i in samples]
    gain = [formula.dual(beta[i], t[i], C[i], p) for i in samples]
    quadratic = math.fsum(beta * (K @ beta))
    primal = 0.5 * sqnorm + math.fsum(loss) + total * b
    dual = math.fsum(gain) - 0.5 * quadratic
    # ∂D/∂β to the right where β may grow, to the left where it may fall
    rise, fall = [-INFINITY], [INFINITY]
    for i in samples:
        lower, upper = formula.ends(t[i], C[i])
        right, left = formula.gradient(beta[i], t[i], C[i], p)
        slope = float(K[i] @ beta)
        rise += [right - slope] if beta[i] < upper else []
        fall += [left - slope] if beta[i] > lower else []
    if problem.bias == "free":
        violation = max(0.0, max(rise) - min(fall))
    else:
        violation = max(0.0, max(rise), -min(fall))
    return SimpleNamespace(
        primal=primal,
        dual=dual,
        brackets=[loss[i] - gain[i] + beta[i] * z[i] for i in samples],
        apart=apart,
        mismatch=b * (math.fsum(beta) - total),
        infeasibility=abs(math.fsum(beta) - total) if problem.bias == "free" else 0.0,
        outside=max(max(lower - v, v - upper) for v, (lower, upper) in zip(beta, map(formula.ends, t, C), strict=True)),
        violation=violation,
        size=0.5 * abs(sqnorm) + math.fsum(loss) + abs(total * b) + math.fsum(map(abs, gain)) + 0.5 * abs(quadratic),
        z=z,
    )


def test_every_loss_and_kernel_has_its_formula_here():
    assert set(list_losses()) == set(LOSSES)
    assert set(list_kernels()) == set(KERNELS)


# Every loss × kernel × bias × storage

STORAGES = {
    "dense": np.asarray,
    "CSR": sp.csr_array,
    "dense float32": lambda X: X.astype(np.float32),
    "CSR float32": lambda X: sp.csr_array(X.astype(np.float32)),
}
ACCEPTED = [
    (loss, kernel, bias, storage)
    for loss, kernel, bias, storage in itertools.product(LOSSES, KERNELS, ("none", "augmented", "free"), STORAGES)
    if (loss != "one-class" or bias == "free") and (kernel != "precomputed" or not storage.startswith("CSR"))
]


def make_problem(loss, kernel, bias, storage="dense", n=11, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.8)
    labels = np.arange(n) % 2
    if kernel == "precomputed":
        X = X @ X.T
    X = X.astype(np.float32).astype(np.float64)  # exact in float32: whatever the storage, the problem is the same
    y = {"one-class": None, "hinge": labels, "squared-hinge": labels, "logistic": labels}.get(loss, rng.normal(size=n))
    return Problem(
        STORAGES[storage](X),
        y,
        loss=loss,
        kernel=sine_of_product if kernel == "custom" else kernel,
        bias=bias,
        bias_scale=1.5 if bias == "augmented" else 1.0,
        C=0.7,
        sample_weight=rng.uniform(0.5, 2.0, n),
    )


def points(problem, rng):
    """A feasible β, one that must be repaired, a hyperplane with its bias, one without."""
    w = rng.normal(size=problem.space.size)
    if problem.linear and problem.bias != "augmented":
        w[-1] = 0.0
    b = float(rng.normal()) if problem.bias == "free" else None
    beta = problem.feasible(rng.normal(size=problem.n))
    return {
        "feasible": Iterate(beta=beta),
        "repaired": Iterate(beta=10.0 * rng.normal(size=problem.n)),
        "primal": Iterate(w=w, b=b),
        "primal without its bias": Iterate(w=w),
        "pair": Iterate(w=w, b=b, beta=beta, linked=False),
    }


@pytest.mark.parametrize(("loss", "kernel", "bias", "storage"), ACCEPTED)
def test_numbers_are_those_of_the_formulas(loss, kernel, bias, storage):
    problem = make_problem(loss, kernel, bias, storage)
    for name, iterate in points(problem, np.random.default_rng(1)).items():
        examined = examine(problem, iterate)
        certificate = certify(problem, iterate)
        expected = reference(problem, examined.point)
        close = {"rel": 0.0, "abs": 1e-9 * expected.size}
        assert certificate.primal == pytest.approx(expected.primal, **close), name
        assert certificate.dual == pytest.approx(expected.dual, **close), name
        assert certificate.gap == pytest.approx(max(0.0, expected.primal - expected.dual), **close), name
        scale = max(abs(expected.primal), abs(expected.dual))
        assert certificate.relative_gap == pytest.approx(certificate.gap / scale, rel=1e-9), name
        if np.isfinite(expected.violation):
            assert certificate.kkt_violation == pytest.approx(expected.violation, rel=1e-9, abs=1e-9), name
        else:  # the entropy of the logistic loss is infinitely steep at the ends of the box; it may be reported as huge
            assert certificate.kkt_violation > 100.0, name
        # What is certified is feasible, by our own account of the constraints.
        assert expected.outside <= 0.0, name
        assert certificate.infeasibility <= 1e-12 * np.abs(examined.point.beta).sum(), name
        assert expected.infeasibility <= 2e-12 * np.abs(examined.point.beta).sum(), name
        # The gap splits per sample.
        split = 0.5 * expected.apart + math.fsum(expected.brackets) - expected.mismatch
        assert certificate.primal - certificate.dual == pytest.approx(split, abs=1e-9 * expected.size), name
        assert min(expected.brackets) >= -1e-12 * expected.size, name


@pytest.mark.parametrize(("loss", "kernel", "bias"), sorted({accepted[:3] for accepted in ACCEPTED}))
def test_what_is_given_is_kept_and_what_is_missing_is_completed_well(loss, kernel, bias):
    problem = make_problem(loss, kernel, bias)
    given_points = points(problem, np.random.default_rng(2))
    seen = {name: examine(problem, iterate) for name, iterate in given_points.items()}
    # A feasible β and a hyperplane are kept as they are.
    for name in ("feasible", "pair"):
        assert_allclose(seen[name].point.beta, given_points[name].beta, rtol=0.0, atol=0.0)
    for name in ("primal", "primal without its bias", "pair"):
        assert_allclose(seen[name].point.w, given_points[name].w, rtol=0.0, atol=0.0)
    assert seen["primal"].point.b == given_points["primal"].b
    # A missing bias is the best one: no other gives a smaller primal value.
    if bias == "free":
        point = seen["feasible"].point
        for b in point.b + np.r_[-np.logspace(-6, 2, 30), np.logspace(-6, 2, 30)]:
            other = reference(problem, Iterate(w=point.w, b=b, beta=point.beta))
            assert other.primal >= seen["feasible"].certificate.primal - 1e-12 * other.size
    else:
        assert seen["feasible"].point.b is None


def test_a_bias_that_the_problem_does_not_have_proves_nothing():
    """With bias="none" a smaller loss bought with b must not pass for a smaller primal value."""
    X = np.array([[1.0], [-1.0], [1.0]])
    for bias in ("none", "augmented"):
        problem = Problem(X, [1, 1, -1], bias=bias)
        w = np.array([0.0, 0.0])
        honest = certify(problem, Iterate(w=w)).primal
        try:
            assert certify(problem, Iterate(w=w, b=1.0)).primal == honest
        except InvalidInput:
            pass  # a refusal is as good


@pytest.mark.parametrize("loss", list_losses())
def test_blocks_change_nothing(loss, monkeypatch):
    """Losses are summed in blocks, to save memory; their sums are those of all samples."""
    problem = make_problem(loss, "rbf", "free")
    iterate = Iterate(beta=np.random.default_rng(3).normal(size=problem.n))
    whole = certify(problem, iterate)
    monkeypatch.setattr("maxmargin.problem.problem.BLOCK", 4)
    in_blocks = certify(problem, iterate)
    assert in_blocks.primal == pytest.approx(whole.primal, rel=1e-12)
    assert in_blocks.dual == pytest.approx(whole.dual, rel=1e-12)
    assert in_blocks.kkt_violation == pytest.approx(whole.kkt_violation, rel=1e-9)
    assert in_blocks.kinds.codes.tolist() == whole.kinds.codes.tolist()


def test_running_numbers_are_not_believed():
    """A fresh certificate ignores what the solver says of w(β) and Kβ."""
    problem = make_problem("hinge", "rbf", "free")
    beta = problem.feasible(np.random.default_rng(0).normal(size=problem.n))
    honest = certify(problem, Iterate(beta=beta))
    lying = certify(problem, Iterate(beta=beta, w=np.zeros(problem.n), scores=100.0 * problem.target, estimate=0.0))
    assert (lying.primal, lying.dual) == (honest.primal, honest.dual)


# Weak duality

EPS = np.finfo(np.float64).eps


@st.composite
def random_data(draw):
    """Rows with columns of any size, a random generator for the rest, and a kernel."""
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = 10.0 ** np.array(draw(st.lists(st.integers(-6, 6), min_size=d, max_size=d)))
    X = columns * (rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 0.0, 3.0])))
    if draw(st.booleans()):
        X[0] = 0.0
        X[-1] = X[n // 2]  # equal rows, perhaps with opposite labels
    kernel = draw(st.sampled_from(["linear", "linear", "rbf", "polynomial", "laplacian"]))
    return sp.csr_array(X) if draw(st.booleans()) else X, rng, kernel


def random_labels(rng, n):
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = -1.0, 1.0
    return y


@st.composite
def random_problems(draw, loss, bias):
    """A problem of any scale, and a point of it: a dual point, feasible or not, or a hyperplane."""
    X, rng, kernel = draw(random_data())
    n = X.shape[0]
    y = None
    if loss.task == "classification":
        y = random_labels(rng, n)
    elif loss.task == "regression":
        y = 10.0 ** draw(st.integers(-6, 6)) * rng.normal(size=n)
    spread = draw(st.integers(0, 6))
    C, weights = 10.0 ** draw(st.integers(-8, 8)), 10.0 ** rng.uniform(-spread, spread, n)
    numbers = kernel_by_name(kernel).fitted(X)  # "scale" by weights over twelve decades would be that of one row
    problem = Problem(X, y, loss=loss, kernel=numbers, bias=bias, C=C, sample_weight=weights)
    size = 10.0 ** draw(st.integers(-8, 8))
    if draw(st.booleans()):
        return problem, Iterate(beta=size * rng.normal(size=n))
    w = size * rng.normal(size=problem.space.size)
    if problem.linear and bias != "augmented":
        w[-1] = 0.0
    return problem, Iterate(w=w)


@st.composite
def solved_problems(draw, loss, bias):
    """A problem made for its solution: any β, and then targets and weights for which β_i = −C_i ℓ_i'(z_i) at b = 0."""
    X, rng, kernel = draw(random_data())
    n = X.shape[0]
    y = random_labels(rng, n)
    fitted = Problem(X, y, kernel=kernel).kernel
    dense = X.toarray() if sp.issparse(X) else X
    K = KERNELS[kernel](dense, fitted) + (bias == "augmented")
    beta = y * rng.uniform(0.1, 1.0, n)
    if bias == "free":
        beta[y > 0] *= -beta[y < 0].sum() / beta[y > 0].sum()
    beta *= 0.5 / max(1e-300, float(np.abs(K @ beta).max()))  # |z| ≤ ½: nobody is beyond the margin
    z = K @ beta
    t = y if loss.task == "classification" else z + y * (getattr(loss, "epsilon", 0.0) + rng.uniform(0.1, 1.0, n))
    weights = -beta / loss.slope(z, t)
    return Problem(X, t, loss=loss, kernel=fitted, bias=bias, sample_weight=weights), Iterate(beta=beta)


def rounding(problem, point):
    """What the rounding of the terms of P and D may come to: their size, and what the error of a score costs."""
    constant = problem.bias_scale if problem.bias == "augmented" else 0.0
    norms = np.sqrt(np.asarray(problem.kernel.diag(problem.X)) + constant**2)  # |K_ij| ≤ norm_i · norm_j
    length = np.linalg.norm(point.w) if problem.linear else np.abs(point.w) @ norms
    dual_length = np.abs(point.beta) @ norms
    b = abs(point.b or 0.0)
    z = problem.space.scores(point.w) + (point.b or 0.0)
    score_sizes = norms * length + b + np.abs(problem.target) + 1.0
    curvature = problem.loss.curvature if problem.loss.smooth else 0.0
    slopes = np.abs(problem.loss.slope(z, problem.target)) + 1.0 + curvature * EPS * score_sizes
    dual_terms = problem.C @ np.abs(problem.loss.value(z, problem.target)) + np.abs(point.beta) @ score_sizes
    if problem.form is not None:
        dual_terms += problem.form.ridge @ point.beta**2 + problem.form.tube @ np.abs(point.beta)
    else:
        dual_terms += problem.C.sum()
    sizes = length**2 + dual_length**2 + (problem.C * slopes) @ score_sizes + dual_terms + (problem.total or 0.0) * b
    worst = 20.0 * problem.n * EPS
    if problem.kernel.name == "rbf":  # ‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩ cancels
        squared = np.asarray(abs(problem.X).max()) ** 2 * problem.X.shape[1]
        worst *= 1.0 + problem.kernel.gamma * float(squared)
    return worst * sizes + b * abs(point.beta.sum() - (problem.total or 0.0)) * (problem.bias == "free")


@given(data=st.data())
def test_weak_duality(loss_and_bias, data):
    """P ≥ D for every pair that can be certified, whatever the scales: more than 2,000 problems in all."""
    problem, iterate = data.draw(random_problems(*loss_and_bias))
    examined = examine(problem, iterate)
    certificate = examined.certificate
    assert np.isfinite(certificate.primal) and np.isfinite(certificate.dual)
    assert certificate.primal - certificate.dual >= -rounding(problem, examined.point)
    assert certificate.gap >= 0.0 and certificate.relative_gap >= 0.0
    assert problem.is_feasible(examined.point.beta)
    # A kernel that is known to be positive semi-definite stays so, whatever rounding does to βᵀKβ.
    assert certificate.positive is True


@given(data=st.data())
def test_the_gap_vanishes_at_an_optimum(supervised_loss, data):
    bias = data.draw(st.sampled_from(["none", "augmented", "free"]))
    problem, iterate = data.draw(solved_problems(supervised_loss, bias))
    examined = examine(problem, iterate)
    certificate = examined.certificate
    assert_allclose(examined.point.beta, iterate.beta, rtol=1e-6)
    assert abs(certificate.primal - certificate.dual) <= rounding(problem, examined.point)


@pytest.mark.parametrize("loss", list_losses())
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "laplacian"])
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_values_of_any_size_give_a_true_certificate_or_a_refusal(loss, kernel, scale):
    rng = np.random.default_rng(0)
    X = scale * rng.uniform(-1.0, 1.0, size=(6, 2))
    y = None if loss == "one-class" else np.array([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    try:
        problem = Problem(X, y, loss=loss, kernel=kernel)
        certificate = certify(problem, Iterate(beta=rng.normal(size=6) / max(1.0, scale**2)))
    except InvalidInput:
        return
    assert not np.isnan([certificate.primal, certificate.dual, certificate.gap, certificate.kkt_violation]).any()
    assert certificate.primal >= certificate.dual - 1e-12 * max(abs(certificate.primal), abs(certificate.dual))


# The hard margin


def separable(seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    return rng.normal(size=(12, 2)) + 4.0 * y[:, None], y


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_hard_margin_pair_is_scaled_to_be_feasible(kernel, bias):
    X, y = separable()
    problem = Problem(X, y, kernel=kernel, bias=bias, C=np.inf)
    beta = problem.feasible(0.01 * y)
    examined = examine(problem, Iterate(beta=beta))
    point, certificate = examined.point, examined.certificate
    z = reference_scores(problem, point.w) + (point.b or 0.0)
    assert (y * z).min() == pytest.approx(1.0, rel=1e-9)  # feasible, and no longer than it must be
    constant = 1.0 if bias == "augmented" else 0.0
    K = KERNELS[kernel](X, problem.kernel) + constant
    w2 = float(point.w @ point.w) if problem.linear else float(point.w @ K @ point.w)
    assert certificate.primal == pytest.approx(0.5 * w2, rel=1e-9)
    # The best multiple of β: D = yᵀβ − ½βᵀKβ has no larger value along it.
    value = float(y @ point.beta - 0.5 * point.beta @ K @ point.beta)
    assert certificate.dual == pytest.approx(value, rel=1e-9)
    for theta in (0.5, 0.9, 1.1, 2.0):
        other = theta * point.beta
        assert float(y @ other - 0.5 * other @ K @ other) <= value
    assert certificate.primal >= certificate.dual > 0.0
    assert (y * point.beta >= 0.0).all()


def reference_scores(problem, w):
    constant = problem.bias_scale if problem.bias == "augmented" else 0.0
    if problem.linear:
        return np.c_[problem.X, np.full(problem.n, constant)] @ w
    return (KERNELS[problem.kernel.name](problem.X, problem.kernel) + constant**2) @ w


def test_hard_margin_by_hand():
    """Two points at −1 and +3: the margin is 2 on either side of 1, so w = ½, b = −½ and P = D = 1/8."""
    problem = Problem(np.array([[-1.0], [3.0]]), [0, 1], C=np.inf)
    certificate = certify(problem, Iterate(beta=np.array([-1.0, 1.0])))
    assert certificate.primal == pytest.approx(0.125) and certificate.dual == pytest.approx(0.125)
    assert certificate.holds(1e-12)
    assert certificate.kinds.counts == {"outside": 0, "candidate": 0, "free": 2, "bound": 0}


def test_hard_margin_that_does_not_separate_proves_nothing():
    problem = Problem(np.array([[-1.0], [1.0], [0.0]]), [0, 1, 1], C=np.inf)
    wrong = certify(problem, Iterate(w=np.array([-1.0, 0.0])))
    assert wrong.primal == np.inf and wrong.gap == np.inf and wrong.relative_gap == np.inf
    assert not wrong.holds(1e9)


# Kinds of vectors


def hand_made():
    """An optimum on a line, w = 1 and b = 0: β = ±¼ and ±½ give w = 2·¼·1 + 2·½·½ = 1, and Σβ = 0."""
    x = np.array([1.0, -1.0, 0.5, -0.5, 3.0, -2.0, 1.0])
    y = np.array([1, -1, 1, -1, 1, -1, 1])
    beta = np.array([0.25, -0.25, 0.5, -0.5, 0.0, 0.0, 0.0])
    return Problem(x[:, None], y, C=0.5), beta


def test_kinds_by_hand():
    problem, beta = hand_made()
    certificate = certify(problem, Iterate(beta=beta))
    assert certificate.gap == pytest.approx(0.0, abs=1e-12) and certificate.kkt_violation <= 1e-12
    kinds = certificate.kinds
    assert kinds.free.tolist() == [0, 1]
    assert kinds.bound.tolist() == [2, 3]
    assert kinds.outside.tolist() == [4, 5]
    assert kinds.candidate.tolist() == [6]  # on the margin, and not needed
    assert kinds.counts == {"outside": 2, "candidate": 1, "free": 2, "bound": 2}
    assert np.flatnonzero(kinds.support).tolist() == [0, 1, 2, 3]


def test_a_row_of_weight_zero_is_outside():
    problem, beta = hand_made()
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    problem = Problem(problem.X, problem.target, C=0.5, sample_weight=weights)
    assert certify(problem, Iterate(beta=beta)).kinds.counts["candidate"] == 0


def test_kinds_of_a_regression_by_hand():
    """On the tube, |z − t| = ε; in it; and beyond it at the bound."""
    problem = Problem(np.zeros((4, 1)), [0.0, 0.1, 5.0, -5.0], loss="epsilon-insensitive", C=2.0)
    kinds = certify(problem, Iterate(beta=np.array([0.0, 0.0, 2.0, -2.0]), b=0.0, linked=False, w=np.zeros(2))).kinds
    assert kinds.outside.tolist() == [0] and kinds.candidate.tolist() == [1] and kinds.bound.tolist() == [2, 3]


@pytest.mark.parametrize(("loss", "bias"), sorted({(accepted[0], accepted[2]) for accepted in ACCEPTED}))
def test_every_vector_has_one_kind(loss, bias):
    problem = make_problem(loss, "rbf", bias)
    kinds = certify(problem, Iterate(beta=np.random.default_rng(0).normal(size=problem.n))).kinds
    assert sum(kinds.counts.values()) == problem.n
    assert sorted(np.concatenate([kinds[kind] for kind in KINDS]).tolist()) == list(range(problem.n))


# What is proved, and what is only said


def test_holds_is_the_relative_gap():
    problem, beta = hand_made()
    certificate = certify(problem, Iterate(beta=0.9 * beta))
    assert 0.0 < certificate.relative_gap < 1.0
    assert certificate.holds(certificate.relative_gap) and not certificate.holds(0.99 * certificate.relative_gap)
    assert certificate.relative_gap == pytest.approx(
        certificate.gap / max(abs(certificate.primal), abs(certificate.dual))
    )


def test_nothing_to_do_has_no_gap():
    """Both sides 0: a regression whose targets all lie in the tube."""
    problem = Problem(np.ones((3, 1)), [0.0, 0.05, -0.05], loss="epsilon-insensitive", bias="none")
    certificate = certify(problem, Iterate(beta=np.zeros(3)))
    assert certificate.primal == certificate.dual == certificate.relative_gap == 0.0 and certificate.holds(0.0)


def test_an_indefinite_kernel_is_not_said_to_be_proved():
    problem = Problem(np.array([[1.0], [2.0], [-1.0]]), [0, 1, 1], kernel="sigmoid")
    certificate = certify(problem, Iterate(beta=np.array([-0.5, 0.3, 0.2])))
    assert certificate.positive is False and not certificate.holds(np.inf)
    assert "indefinite" in certificate.remark and "indefinite" in str(certificate)


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_a_matrix_found_to_be_indefinite_is_not_said_to_be_proved(scale):
    """βᵀKβ < 0 at some β is a proof that K is indefinite, whatever the unit that K is measured in."""
    K = scale * np.array([[1.0, 2.0], [2.0, 1.0]])
    problem = Problem(K, [0, 1], kernel="precomputed", C=1.0)
    certificate = certify(problem, Iterate(beta=np.array([-1.0, 1.0])))
    assert certificate.positive is False and not certificate.holds(np.inf)


@pytest.mark.parametrize("kernel", ["precomputed", "polynomial"])
def test_rounding_does_not_make_a_kernel_indefinite(kernel):
    """Nearly equal large rows: K is of rank one but for rounding, and βᵀKβ is rounding alone where Σβ = 0."""
    rng = np.random.default_rng(0)
    X = 1e3 * (1.0 + 1e-9 * rng.normal(size=(20, 1)))
    if kernel == "precomputed":
        problem = Problem((X @ X.T) ** 2, np.arange(20) % 2, kernel="precomputed")
    else:
        problem = Problem(X, np.arange(20) % 2, kernel=Polynomial(degree=2, gamma=1.0))
    for seed in range(20):
        beta = problem.feasible(np.random.default_rng(seed).normal(size=20))
        assert certify(problem, Iterate(beta=beta)).positive is problem.kernel.positive


def test_a_kernel_that_nobody_has_checked_is_remarked_on():
    problem = Problem(np.eye(2), [0, 1], kernel=lambda A, B: A @ B.T)
    certificate = certify(problem, Iterate(beta=np.array([-0.5, 0.5])))
    assert certificate.positive is None and "positive semi-definite" in certificate.remark
    assert certify(*positive_example()).remark == ""


def positive_example():
    problem, beta = hand_made()
    return problem, Iterate(beta=beta)


@pytest.mark.parametrize("storage", STORAGES)
def test_precision_says_what_the_data_were(storage):
    problem = make_problem("hinge", "linear", "free", storage)
    text = certify(problem, Iterate(beta=np.zeros(problem.n))).precision
    assert "float64" in text and ("float32" in text) == ("float32" in storage)


def test_prints_as_a_small_table():
    text = str(certify(*positive_example()))
    lines = text.splitlines()
    names = [line.split("  ")[0].strip() for line in lines]
    assert names == ["primal", "dual", "gap", "KKT violation", "infeasibility", "vectors", "precision"]
    values = [line[15:] for line in lines]
    assert all(value and not value.startswith(" ") for value in values)  # one column, in line
    assert max(map(len, lines)) <= 110
    assert float(values[0]) == pytest.approx(1.0) and float(values[1]) == pytest.approx(1.0)
    assert "2 outside, 1 candidate, 2 free, 2 bound" in text
