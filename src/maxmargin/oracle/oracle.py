"""Oracle: the two objectives of any point, recomputed by arithmetic that shares nothing with the rest of the package.

It takes plain data (rows, targets, C per sample, names and parameters) and a point (w, b, β), and says

    primal   P(w,b) = ½‖w‖² + Σ C_i ℓ_i(z_i) (+ total·b);  C = ∞:  ½‖w‖²/m²  with  m = min y_i z_i > 0
    dual     D(β)   = −½βᵀKβ − Σ C_i ℓ_i*(−β_i/C_i)
    l1       P has ‖w‖₁ for ½‖w‖², D has no −½βᵀKβ, and β must have |Σ β_i x_ij| ≤ 1 for every feature
    gap      P − D,  with a bound on what rounding may have changed of it

How it keeps rounding out:

    1. ‖a − b‖² and ‖a − b‖₁ are sums over differences, never ‖a‖² + ‖b‖² − 2⟨a, b⟩; so k(x, x) = 1 exactly.
    2. Numbers are long doubles, or decimals of 60 digits (`numbers="decimal"`, small problems). Kernel matrices that
       are too large for that come from float64 differences (`loops.py`), with a bound, and compensated sums.
    3. Every sum carries Σ|terms|, times the unit roundoff and the number of operations: the usual forward error bound.
    4. Weak duality needs a feasible β. What is outside its box is clipped into it; with a free bias Σβ − total = r is
       taken off one dual variable with enough room, exactly: D(β − r e_i) is a true lower bound. `outside` and
       `infeasibility` say how much there was to mend.

Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.oracle.kernels import BLOCK, Kernel, work_of_value
from maxmargin.oracle.losses import Loss, box
from maxmargin.oracle.numbers import Precision, numbers_for
from maxmargin.oracle.rows import combined, equal, rows_of, scored
from maxmargin.oracle.setting import Judgement, Setting

#: Dual variables that are kept as candidates for mending Σβ.
CANDIDATES = 4


def judge(
    setting: Setting,
    X: Any,
    target: np.ndarray,
    C: np.ndarray,
    w: np.ndarray,
    b: float,
    beta: np.ndarray,
    numbers: Precision = "auto",
) -> Judgement:
    """The truth about a point: w has d numbers for a linear kernel, else n coefficients of the rows of X."""
    linear = setting.kernel == "linear"
    oracle = Oracle(setting, w, b, None if linear else X, n=X.shape[0], numbers=numbers)
    oracle.add(X, target, C, beta)
    return oracle.judgement()


class Oracle:
    """The same for rows that come in blocks: `add` them all, then ask for the `judgement`.

    `vectors` are the rows that the coefficients `w` belong to, for any but the linear kernel.
    """

    def __init__(
        self,
        setting: Setting,
        w: np.ndarray,
        b: float,
        vectors: Any = None,
        n: int = 0,
        numbers: Precision = "auto",
    ) -> None:
        self.setting, self.linear = setting, setting.kernel == "linear"
        used = np.flatnonzero(w)
        width = 1.0 if self.linear else work_of_value(setting, vectors)
        self.numbers, compiled = numbers_for(numbers, n * width * (1.0 if self.linear else len(used)))
        self.losses, self.kernel = Loss(setting, self.numbers), Kernel(setting, self.numbers, compiled)
        number = self.numbers.of
        self.b = number([b])[0]
        self.zero = number([0.0])[0]
        self.vectors: Any = None
        if self.linear:
            self.w = number(w)
        else:
            whole = setting.kernel == "precomputed"
            self.w, self.vectors = (w, vectors) if whole else (w[used], rows_of(vectors, used))
        self.hard: bool | None = None
        self.n = 0
        self.loss = self.loss_error = self.terms = self.terms_error = self.sum_C = self.beta_sum = self.zero
        self.size = self.zero
        self.margin: Any = inf
        self.safe_margin: Any = inf
        self.outside = 0.0
        self.v = number(np.zeros(len(w))) if self.linear else None
        self.v_size = number(np.zeros(len(w))) if self.linear else None
        #: The largest |x_ij|: what mending Σβ may change of v. Only "l1" asks for it.
        self.largest = 0.0
        self.held: list[Any] = []
        self.betas: list[np.ndarray] = []
        self.held_scores: list[tuple[np.ndarray, np.ndarray]] = []
        #: Target, C and β of all rows, where D is wanted at a multiple of β ("l1").
        self.terms_of: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        #: Rows, C and β, where the total may leave no room (one-class).
        self.kept: list[tuple[Any, np.ndarray, np.ndarray]] = []
        #: Room below and above, rows and a place among them, target, C and β.
        self.candidates: list[tuple[float, float, Any, Any, float, float, float]] = []

    # The rows

    def add(self, X: Any, target: np.ndarray, C: np.ndarray, beta: np.ndarray) -> None:
        """Some more rows with their targets, weights and dual variables; a weight of 0 leaves a row out."""
        with self.numbers.context():
            self._add(X, target, C, beta)

    def _add(self, X: Any, target: np.ndarray, C: np.ndarray, beta: np.ndarray) -> None:
        if X.shape[0] == 0:
            return
        if (np.asarray(beta)[C <= 0] != 0.0).any():
            self.outside = max(self.outside, float(np.abs(beta[C <= 0]).max()))
        precomputed = self.setting.kernel == "precomputed"
        some = np.flatnonzero(C > 0)
        target, C, beta = (np.asarray(values, dtype=np.float64)[some] for values in (target, C, beta))
        self.hard = bool(np.isinf(C).any()) or bool(self.hard)
        lower, upper = box(self.setting.loss, target, C)
        clipped = np.clip(beta, lower, upper)
        self.outside = max(self.outside, float(np.abs(clipped - beta).max(initial=0.0)))
        width = X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
        step = int(max(1, BLOCK // max(1, width)))
        for start in range(0, len(some), step):
            part = slice(start, start + step)
            rows = rows_of(X, some[part])
            s, error = self._scores(rows)
            self._primal(s, error, target[part], C[part])
            self._dual(rows, target[part], C[part], clipped[part], lower[part], upper[part])
            if not self.linear and not precomputed:
                self._hold(rows, clipped[part], s, error)
        if precomputed:
            self.betas = [np.zeros(X.shape[0])]
            self.betas[0][some] = clipped
        self.n += len(some)

    def _scores(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """⟨w, φ(x)⟩ for all rows, and a bound of the rounding."""
        if self.linear:
            return scored(self.numbers, rows, self.w)
        return self.kernel.products(rows, self.vectors, self.w)

    def _primal(self, s: np.ndarray, error: np.ndarray, target: np.ndarray, C: np.ndarray) -> None:
        number, unit = self.numbers.of, self.numbers.unit
        z, t = s + self.b, number(target)
        error = error + 4 * unit * (np.abs(z) + np.abs(t) + abs(self.b) + 1 + self.losses.parameter("epsilon", 0.0))
        self.sum_C = self.sum_C + number(C[np.isfinite(C)]).sum()
        if self.hard:
            m = t * z
            self.margin, self.safe_margin = min(self.margin, m.min()), min(self.safe_margin, (m - error).min())
            return
        value, slope, curvature = self.losses.value(z, t)
        weights = number(C)
        terms = weights * value
        self.loss = self.loss + terms.sum()
        self.loss_error = (
            self.loss_error + (weights * error * (slope + curvature * error)).sum() + 8 * unit * terms.sum()
        )

    def _dual(
        self, rows: Any, target: np.ndarray, C: np.ndarray, beta: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> None:
        number = self.numbers.of
        terms, error = self.losses.dual_terms(number(target), number(C), number(beta))
        self.terms = self.terms + terms.sum()
        self.terms_error = self.terms_error + error.sum()
        self.beta_sum = self.beta_sum + number(beta).sum()
        self.size = self.size + np.abs(number(beta)).sum()
        room = np.minimum(beta - lower, upper - beta)
        if self.setting.bias == "free":
            chosen = {i for order in (-room, lower - beta, beta - upper) for i in np.argsort(order)[:CANDIDATES]}
            for i in sorted(chosen):
                sides = (float(beta[i] - lower[i]), float(upper[i] - beta[i]))
                self.candidates.append((*sides, rows, i, float(target[i]), float(C[i]), float(beta[i])))
            if len(self.candidates) > 16 * CANDIDATES:
                self._fewer_candidates()
        if self.setting.loss == "one-class":
            self.kept.append((rows, C, beta))
        if self.v is not None:
            if self.setting.regularizer == "l1":
                self.terms_of.append((target, C, beta))
                self.largest = max(self.largest, float(abs(rows).max()) if min(rows.shape) else 0.0)
            used = np.flatnonzero(beta)
            v, size = combined(self.numbers, rows_of(rows, used), number(beta[used]), len(self.v))
            self.v, self.v_size = self.v + v, self.v_size + size

    def _hold(self, rows: Any, beta: np.ndarray, s: np.ndarray, error: np.ndarray) -> None:
        """Keep the rows with β ≠ 0, and their scores."""
        used = np.flatnonzero(beta)
        if used.size:
            self.held.append(rows_of(rows, used))
            self.betas.append(beta[used])
            self.held_scores.append((s[used], error[used]))

    def _fewer_candidates(self) -> None:
        """Those with the most room on both sides, and on either."""
        sides = (lambda one: min(one[0], one[1]), lambda one: one[0], lambda one: one[1])
        kept = [one for side in sides for one in sorted(self.candidates, key=side, reverse=True)[: 2 * CANDIDATES]]
        self.candidates = list({id(one): one for one in kept}.values())

    # The end

    def judgement(self) -> Judgement:
        """Both objectives at the point, the gap between them, and how far rounding may have changed it."""
        with self.numbers.context():
            return self._judgement()

    def _judgement(self) -> Judgement:
        number, unit = self.numbers.of, self.numbers.unit
        bias = self.setting.bias
        s2 = number([self.setting.bias_scale])[0] ** 2 if bias == "augmented" else None
        total = self.sum_C * self.losses.parameter("nu", 0.5) if self.setting.loss == "one-class" else self.zero
        # The primal.
        own, own_error, square, square_error, scores = self._squares()
        sparse = self.setting.regularizer == "l1"
        if s2 is not None:
            own = own + self.b * self.b / s2
            own_error = own_error + 4 * unit * (self.b * self.b / s2)
        if self.hard:
            safe = self.safe_margin
            if not self.margin > 0:
                primal, primal_error = inf, self.zero
            else:
                primal = own / (2 * self.margin * self.margin)
                primal_error = inf if safe <= 0 else (own + own_error) / (2 * safe * safe) - primal
        else:
            reward = total * self.b if bias == "free" else self.zero
            primal = own / 2 + self.loss + reward
            primal_error = own_error / 2 + self.loss_error
            primal_error = primal_error + (self.n + 8) * unit * (own + self.loss + abs(reward))
        if sparse:
            own, own_error = self._sizes()
            primal, primal_error = (
                own + self.loss,
                own_error + self.loss_error + (self.n + 8) * unit * (own + self.loss),
            )
            square = square_error = self.zero
        # The dual, at a feasible point.
        theta = self.zero + 1
        terms, terms_error = self.terms, self.terms_error
        if sparse:
            theta, slip = self._multiple(abs(self.beta_sum) if bias == "free" else self.zero)
            terms, terms_error = self._terms_at(theta)
            terms_error = terms_error + abs(terms) * slip
        dual = terms - square / 2
        dual_error = terms_error + square_error / 2 + (self.n + 8) * unit * (abs(terms) + abs(square))
        infeasible = self.zero
        if s2 is not None and not sparse:
            more = s2 * self.beta_sum * self.beta_sum
            dual = dual - more / 2
            slip = self.n * unit * self.size
            dual_error = dual_error + s2 * slip * (abs(self.beta_sum) + slip) + 8 * unit * more
        elif bias == "free":
            infeasible = self.beta_sum - total
            change, change_error = self._mended(infeasible, scores, theta)
            dual, dual_error = (dual + change, dual_error + change_error) if change is not None else (-inf, self.zero)
        gap = inf if not primal < inf or not dual > -inf else float(primal - dual)
        return Judgement(
            float(primal),
            float(dual),
            gap,
            abs(float(primal_error)) + abs(float(dual_error)),
            abs(float(infeasible)),
            self.outside,
            float(self.size),
        )

    @property
    def _constant(self) -> Any:
        """The constant feature of an augmented bias; 0 where there is none."""
        return self.numbers.of([self.setting.bias_scale])[0] if self.setting.bias == "augmented" else self.zero

    def _sizes(self) -> tuple[Any, Any]:
        """‖w‖₁, the weight of the constant feature included, and a bound of its rounding."""
        own = np.abs(self.w).sum() + (abs(self.b) / self._constant if self._constant else self.zero)
        return own, (len(self.w) + 4) * self.numbers.unit * own

    def _multiple(self, off: Any) -> tuple[Any, Any]:
        """The multiple of β that has |v_j| ≤ 1 ("l1"), and what share of D its rounding may be worth.

        As D is concave and D(0) ≥ 0, a multiple that is smaller by a share has a D that is smaller by no more.
        """
        assert self.v is not None
        unit = self.numbers.unit
        slips = (self.n + 4) * unit * self.v_size + off * self.numbers.of([self.largest])[0]
        sizes, reached = np.abs(self.v), abs(self._constant * self.beta_sum)
        largest = max(1 + self.zero, reached, *sizes)
        most = max(largest, reached + self._constant * self.n * unit * self.size, *(sizes + slips))
        return 1 / largest, most - largest + 4 * unit

    def _terms_at(self, theta: Any) -> tuple[Any, Any]:
        """Σ −C ℓ*(−θβ/C), and a bound of its rounding."""
        number, terms, error = self.numbers.of, self.zero, self.zero
        for target, C, beta in self.terms_of:
            some, slips = self.losses.dual_terms(number(target), number(C), theta * number(beta))
            terms, error = terms + some.sum(), error + slips.sum()
        return terms, error

    def _squares(self) -> tuple[Any, Any, Any, Any, Callable]:
        """‖w‖² and ‖w(β)‖², each with a bound of its rounding; and a function: (Kβ)_i, its bound, k(x_i, x_i)."""
        unit = self.numbers.unit
        if self.v is not None:
            own = (self.w * self.w).sum()
            v, slip = self.v, (self.n + 4) * unit * self.v_size
            square = (v * v).sum()
            error = (2 * np.abs(v) * slip + slip * slip).sum() + (len(v) + 2) * unit * square

            def linear_scores(rows: Any) -> tuple[Any, Any, Any]:
                s, wrong = scored(self.numbers, rows, v)
                return s, wrong + scored(self.numbers, abs(rows), slip)[0], self.kernel.diagonal(rows, self.vectors)

            return own, (len(self.w) + 2) * unit * own, square, error, linear_scores
        if self.setting.kernel == "precomputed":
            held, beta = self.vectors, self.betas[0] if self.betas else np.zeros(len(self.w))
        elif self.held:
            held = sp.vstack(self.held, "csr") if sp.issparse(self.held[0]) else np.vstack(self.held)
            beta = np.concatenate(self.betas)
        else:
            held, beta = rows_of(self.vectors, np.zeros(0, dtype=int)), np.zeros(0)

        def scores(rows: Any) -> tuple[Any, Any, Any]:
            return *self.kernel.products(rows, held, beta), self.kernel.diagonal(rows, self.vectors)

        if self.held_scores and np.array_equal(beta, self.w) and equal(held, self.vectors):
            # w is w(β): what the scores were made for has been done.
            s, wrong = (np.concatenate(parts) for parts in zip(*self.held_scores, strict=True))
            square, error = self._form(beta, s, wrong)
            return square, error, square, error, scores
        own = self._form(self.w, *self.kernel.products(self.vectors, self.vectors, self.w))
        return *own, *self._form(beta, *self.kernel.products(held, held, beta)), scores

    def _form(self, coef: np.ndarray, s: np.ndarray, error: np.ndarray) -> tuple[Any, Any]:
        """Σ c_i s_i and a bound of the rounding."""
        terms = self.numbers.of(coef) * s
        slip = (np.abs(self.numbers.of(coef)) * error).sum()
        return terms.sum() + self.zero, slip + (len(coef) + 2) * self.numbers.unit * np.abs(terms).sum()

    def _mended(self, off: Any, scores: Callable, theta: Any) -> tuple[Any, Any]:
        """What D(θβ) changes by when Σβ − total = off is taken off one variable of β, and the rounding; or None."""
        if off == 0:
            return self.zero, self.zero
        number, unit = self.numbers.of, self.numbers.unit
        best, best_error, size = None, self.zero, float(abs(off))
        slip_of_sum = (self.n + 2) * unit * self.size
        self._fewer_candidates()
        for down, up, rows, i, target, C, beta in self.candidates:
            if (down if off > 0 else up) <= size * (1.0 + 1e-9):
                continue
            t, c = number([target]), number([C])
            before, _ = self.losses.dual_terms(t, c, theta * number([beta]))
            after, slip = self.losses.dual_terms(t, c, theta * (number([beta]) - off))
            change, wrong, curved = (after - before)[0], self.zero, self.zero
            if self.setting.regularizer != "l1":  # whose D has no −½βᵀKβ
                s, error, k = scores(rows_of(rows, [i]))
                wrong, curved = abs(off) * error[0], off * off * k[0]
                change = change + off * s[0] - curved / 2
            if best is None or change > best:
                steepness = (abs(change) + curved) / abs(off)
                best, best_error = change, wrong + 4 * slip[0] + (16 * unit) * abs(change)
                best_error = best_error + slip_of_sum * steepness
        if best is None and self.setting.loss == "one-class":
            return self._spread(off, scores)
        return best, best_error

    def _spread(self, off: Any, scores: Callable) -> tuple[Any, Any]:
        """The same where no variable has enough room (ν = 1): all take part by their room. The terms are all 0."""
        number, unit = self.numbers.of, self.numbers.unit
        room = np.concatenate([number(beta) if off > 0 else number(C) - number(beta) for _, C, beta in self.kept])
        whole = room.sum()
        if abs(off) > whole + (self.n + 2) * unit * (self.size + self.sum_C):
            return None, self.zero
        if not whole > 0:
            return self.zero, self.zero  # nothing is missing but the rounding of the sums
        delta, change, error, start = -off * room / whole, self.zero, self.zero, 0
        reach = self.zero
        for rows, _, beta in self.kept:
            part = delta[start : start + len(beta)]
            s, slip, k = scores(rows)
            change, error = change - (part * s).sum(), error + (np.abs(part) * slip).sum()
            error = error + len(beta) * unit * np.abs(part * s).sum()
            reach = reach + (np.abs(part) * k).sum() * abs(off)
            start += len(beta)
        return change - reach / 2, error + 16 * unit * reach
