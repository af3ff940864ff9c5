"""What the independent oracle says of a `Result`: the bridge between the tests and `maxmargin.oracle`."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np

from maxmargin.oracle import Judgement, Setting, judge


def setting_of(problem):
    """A problem's names and numbers, as the oracle takes them."""

    def numbers(one):
        values = {each.name: getattr(one, each.name) for each in fields(one)}
        return {name: float(value) for name, value in values.items() if isinstance(value, int | float | np.number)}

    return Setting(
        loss=problem.loss.name,
        kernel=problem.kernel.name,
        bias=problem.bias,
        bias_scale=problem.bias_scale,
        regularizer=problem.regularizer.name,
        loss_parameters=numbers(problem.loss),
        kernel_parameters=numbers(problem.kernel),
    )


def judged(result, numbers="auto") -> Judgement:
    """The truth about the point that a result hands over: its own w (or coefficients), b and β."""
    problem, point = result.problem, result.point
    w = point.w[: problem.X.shape[1]] if problem.linear else point.w
    return judge(setting_of(problem), problem.X, problem.target, problem.C, w, result.b, point.beta, numbers)


def rounding_of(certificate):
    """How much rounding may have changed primal − dual, as the certificate itself says; its gap includes it."""
    return float(getattr(certificate, "rounding", 0.0))


def false_claims(result, tol=None, small=1e-6):
    """What a result claims and the oracle refutes, in words; in 60 digits where long double cannot tell."""
    certificate = result.certificate
    tol = result.tol if tol is None else tol

    def refuted(truth):
        found = []
        if truth.outside > 0.0:
            found.append(f"β is outside its box by {truth.outside:.3g}")
        if certificate.gap < np.inf:
            excess = truth.gap - certificate.gap * (1.0 + small) - rounding_of(certificate)
            if excess > truth.rounding:
                found.append(f"the gap is {truth.gap:.6g}, claimed {certificate.gap:.6g}")
        claimed = certificate.positive is not False and (result.converged or certificate.holds(tol))
        if claimed and truth.least > tol * (1.0 + small):
            found.append(f"the relative gap is {truth.relative_gap:.6g}, 'converged' to {tol:g} (P {truth.primal:.6g})")
        return found

    truth = judged(result)
    found = refuted(truth)
    doubtful = truth.rounding > 0.5 * max(abs(truth.gap - certificate.gap), 1e-3 * certificate.gap)
    if found and doubtful and result.problem.n <= 100:
        truth = judged(result, "decimal")
        found = refuted(truth)
    return found, truth


# Separability by exact rationals


def exactly_separable(X, y, bias="free"):
    """Whether a hyperplane separates the rows exactly; decided in rational arithmetic, for small data.

    By Gordan's theorem there is none exactly when some α ≥ 0 with Σα = 1 has Σ α_i y_i (x_i, 1) = 0 (without the 1
    where the hyperplane passes through the origin). Phase one of the simplex method, with Bland's rule: it ends, and
    in rationals its answer is the truth.
    """
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if bias != "none":
        rows = np.c_[rows, np.ones(len(rows))]  # an augmented bias is a coordinate like any other
    signed = [[Fraction(float(value)) * int(sign) for value in row] for row, sign in zip(rows, y, strict=True)]
    n, m = len(signed), rows.shape[1] + 1
    table = [[signed[j][i] for j in range(n)] + [Fraction(0)] for i in range(m - 1)]
    table.append([Fraction(1)] * n + [Fraction(1)])
    # Σ of the artificial variables, which begin as the basis, is driven to 0; their columns need not be kept.
    basis = [n + i for i in range(m)]
    cost = [sum(row[j] for row in table) for j in range(n + 1)]
    while True:
        enter = next((j for j in range(n) if cost[j] > 0 and j not in basis), None)
        if enter is None or cost[n] == 0:
            return cost[n] != 0
        ratios = [(table[i][n] / table[i][enter], basis[i], i) for i in range(m) if table[i][enter] > 0]
        if not ratios:  # impossible: Σ α is bounded
            raise AssertionError("unbounded")
        _, _, leave = min(ratios)
        pivot = table[leave][enter]
        table[leave] = [value / pivot for value in table[leave]]
        for row in [*table, cost]:
            if row is not table[leave] and row[enter] != 0:
                factor = row[enter]
                row[:] = [a - factor * b for a, b in zip(row, table[leave], strict=True)]
        basis[leave] = enter
