"""NuSVC and NuSVR: a share nu of the samples instead of a cost C or a tube epsilon, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Data, check_nu
from maxmargin.estimators.classifiers import KernelClassifier
from maxmargin.estimators.nu_search import Margin, Search, Tube, search
from maxmargin.estimators.regressors import KernelRegressor
from maxmargin.estimators.training import Budget, Solution
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.problem import Problem


class NuMachine:
    """What the two share: a search in the place of one solve; the threshold of the search is a free bias."""

    bias = "free"
    nu: float
    _search: type[Search]

    def _method(
        self, problem: Problem, start: np.ndarray | None, budget: Budget, problems: int, watch: Any
    ) -> Solution:
        solution, _ = search(self._search(problem, self.nu), start, budget, problems, watch)
        return solution


class NuSVC(NuMachine, KernelClassifier):
    """ν-support vector classification: at most a share nu of margin errors, at least as many support vectors."""

    _search = Margin

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-4,
        cache_size: float = 1000,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start

    def _cost(self) -> float:
        return 1.0

    def _check_splits(self, data: Data, splits: Any) -> None:
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


class NuSVR(NuMachine, KernelRegressor):
    """ν-support vector regression: nu bounds the share of samples outside the tube, whose width follows from it."""

    _search = Tube

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-4,
        cache_size: float = 1000,
        verbose: bool = False,
        max_iter: int = -1,
        random_state: Any = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.random_state = random_state
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start

    def _loss(self) -> Loss:
        check_nu(self.nu)
        return EpsilonInsensitive(0.0)
