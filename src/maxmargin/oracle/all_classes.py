"""The oracle for all classes in one problem (Crammer and Singer's, linear): both objectives of (W, b) and α.

    primal   ½ Σ_m (‖w_m‖² + b_m²/s²) + Σ_i C_i max_m (f_im + e_im − f_iy),   f_im = ⟨w_m, x_i⟩ + b_m
    dual     −½ Σ_m ‖Σ_i α_im (x_i, s)‖² − Σ_i Σ_{m ≠ y_i} α_im

The α of the other classes are clipped to what is not above 0, and the own one makes up for them: Σ_m α_im = 0 exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.oracle.numbers import Precision, numbers_for
from maxmargin.oracle.rows import combined, rows_of, scored
from maxmargin.oracle.setting import Judgement

#: Rows that are looked at together.
ROWS = 2**12


class ClassesOracle:
    """Rows come in blocks: `add` them all, then ask for the `judgement`."""

    def __init__(self, w: np.ndarray, b: np.ndarray, constant: float, numbers: Precision = "auto") -> None:
        self.numbers, _ = numbers_for(numbers, 0.0)
        number = self.numbers.of
        self.k, self.d = w.shape
        self.w, self.b, self.s = number(w), number(b), number([constant])[0]
        self.v, self.v_size = number(np.zeros((self.k, self.d + 1))), number(np.zeros((self.k, self.d + 1)))
        self.zero = number([0.0])[0]
        self.loss = self.loss_error = self.terms = self.size = self.zero
        self.outside = self.infeasible = 0.0
        self.n = 0

    def add(self, X: Any, codes: np.ndarray, C: np.ndarray, alpha: np.ndarray) -> None:
        """Some more rows: their classes, weights and dual variables, one column a class."""
        with self.numbers.context():
            for start in range(0, len(codes), ROWS):
                part = slice(start, start + ROWS)
                self._add(rows_of(X, np.arange(len(codes))[part]), codes[part], C[part], alpha[part])

    def _add(self, rows: Any, codes: np.ndarray, C: np.ndarray, alpha: np.ndarray) -> None:
        number, unit = self.numbers.of, self.numbers.unit
        n, mine = len(codes), (np.arange(len(codes)), codes)
        f, error = number(np.zeros((n, self.k))), number(np.zeros((n, self.k)))
        for m in range(self.k):
            f[:, m], error[:, m] = scored(self.numbers, rows, self.w[m])
        f = f + self.b
        error = error + 4 * unit * (np.abs(f) + 1)
        wrong = f + 1
        wrong[mine] = f[mine]
        losses = number(C) * (wrong.max(axis=1) - f[mine])
        self.loss = self.loss + losses.sum()
        self.loss_error = self.loss_error + (2 * number(C) * error.max(axis=1)).sum() + 8 * unit * losses.sum()
        given = number(alpha)
        others = np.minimum(given, self.zero)
        others[mine] = self.zero
        own = -others.sum(axis=1)
        over = own > number(C)
        share = number(np.ones(n))
        share[over] = number(C)[over] / own[over]
        others = others * share[:, None]
        made = others.copy()
        made[mine] = -others.sum(axis=1)
        self.infeasible = max(self.infeasible, float(np.abs(given.sum(axis=1)).max(initial=0.0)))
        self.outside = max(self.outside, float(np.abs(made - given).max(initial=0.0)))
        self.terms = self.terms - others.sum()
        self.size = self.size + np.abs(made).sum()
        for m in range(self.k):
            v, size = combined(self.numbers, rows, made[:, m], self.d)
            total = np.array([made[:, m].sum(), np.abs(made[:, m]).sum()]) * self.s
            self.v[m] = self.v[m] + np.append(v, total[0])
            self.v_size[m] = self.v_size[m] + np.append(size, total[1])
        self.n += n

    def judgement(self) -> Judgement:
        """Both objectives, the gap between them, and how far rounding may have changed it."""
        with self.numbers.context():
            unit = self.numbers.unit
            own = (self.w * self.w).sum()
            if self.s:
                own = own + (self.b * self.b).sum() / (self.s * self.s)
            square = (self.v * self.v).sum()
            slip = (self.n + 8) * unit * self.v_size
            primal, dual = own / 2 + self.loss, self.terms - square / 2
            rounding = self.loss_error + (self.n + self.w.size + 8) * unit * (own + self.loss)
            rounding = rounding + (np.abs(self.v) * slip + slip * slip).sum() + (self.v.size + 4) * unit * square
            rounding = rounding + (self.n * self.k + 8) * unit * self.size
            gap = float(primal - dual)
            numbers = float(primal), float(dual), gap, float(rounding)
            return Judgement(*numbers, self.infeasible, self.outside, float(self.size))
