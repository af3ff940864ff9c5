"""NuSVC and NuSVR: a share nu of the samples instead of a cost C or a tube epsilon, with a certificate."""

from __future__ import annotations

from typing import Any

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import check_nu
from maxmargin.estimators.classifiers import KernelClassifier
from maxmargin.estimators.parameters import CostParameters, NuParameters, estimator
from maxmargin.estimators.regressors import KernelRegressor
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.training.samples import Samples


class NuMachine(NuParameters):
    """What the two share: their problems have a share nu; the threshold is a free bias."""

    bias = "free"

    def _nu(self) -> float:
        check_nu(self.nu)
        return self.nu


@estimator
class NuSVC(NuMachine, KernelClassifier):
    """ν-support vector classification: at most a share nu of margin errors, at least as many support vectors.

    The model is scaled to a margin of 1, as in LIBSVM: it is that of C-SVC with C = 1/ρ.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of the rows are margin errors, and at least this share are support vectors; refused before
        any kernel value is computed where a class is too small for it.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificate_, support_kinds_, status_, trace_
        As for `SVC`; the proof is for the ν-problem itself.
    n_iter_ : array, one a binary problem
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand, looked at after each of its steps (of several iterations).
    - A row of weight w is the row written w times, so that ``gamma="scale"`` (and ``class_weight="balanced"``) count by
      weight; in scikit-learn they do not look at `sample_weight`.
    - New rows may be sparse or dense whatever the training rows were, and indices may be 64 bits wide.
    - `class_weight` and `sample_weight` are used, and count in whether nu is feasible.
    - A nu that leaves no margin to speak of is refused, with one that does.
    - `multi_class`, `solver`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> from maxmargin import NuSVC
    >>> from maxmargin.data import toys
    >>> X, y = toys.overlapping()
    >>> model = NuSVC(nu=0.3).fit(X, y)
    >>> len(model.support_) >= 0.3 * len(y)
    True
    >>> bool(model.certificate_.relative_gap < 1e-4)
    True
    """

    def _check_splits(self, data: Samples, splits: Any) -> None:
        """Refuse a nu that asks for more support vectors than the smaller class of a problem has."""
        check_nu(self.nu)
        for name, rows, signs in splits:
            weights = data.weights[rows]
            most = 2.0 * min(weights[signs > 0].sum(), weights[signs < 0].sum()) / weights.sum()
            if self.nu > most * (1.0 + 1e-12):
                raise InvalidInput(
                    f"specified nu is infeasible: nu={self.nu} needs as many support vectors of each class, and the"
                    f" smaller class of {name!r} allows nu ≤ {most:.4g}"
                )

    def _refuse_one_class(self, label: Any, masked: bool) -> None:
        if masked:
            raise InvalidInput("specified nu is infeasible: all samples with positive weights belong to the same class")
        super()._refuse_one_class(label, masked)


@estimator
class NuSVR(NuMachine, CostParameters, KernelRegressor):
    """ν-support vector regression: a share nu of the samples outside the tube, whose width follows from it.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of the rows is outside the tube, and at least this share are support vectors.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificate_, support_kinds_, status_, trace_
        As for `SVC`; the proof is for the ν-problem itself.
    n_iter_ : int
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand, looked at after each of its steps (of several iterations).
    - A row of weight w is the row written w times, so that ``gamma="scale"`` (and ``class_weight="balanced"``) count by
      weight; in scikit-learn they do not look at `sample_weight`.
    - New rows may be sparse or dense whatever the training rows were, and indices may be 64 bits wide.
    - `random_state`, `solver`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NuSVR
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = NuSVR(nu=0.2, C=10.0, gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> len(model.support_) >= 0.2 * len(X), round(model.score(X, np.sin(X[:, 0])), 1)
    (True, 1.0)
    """

    def _loss(self) -> Loss:
        check_nu(self.nu)
        return EpsilonInsensitive(0.0)
