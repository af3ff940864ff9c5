"""Models of every kind, trained on small real data, with rows to predict."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import StandardScaler

from maxmargin import Problem, kernels, solve
from maxmargin.data import scaling
from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.one_class import OneClass
from maxmargin.models import model_of


def rows(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X[::3], y[::3], X[1::3], y[1::3]


KERNELS = {
    "linear": kernels.Linear(),
    "rbf": kernels.RBF(0.05),
    "polynomial": kernels.Polynomial(2, 0.1, 1.0),
    "sigmoid": kernels.Sigmoid(0.01, 0.0),
    "laplacian": kernels.Laplacian(0.02),
}
BINARY = [f"binary {kernel}" for kernel in KERNELS] + [
    "binary sparse",
    "binary scaled",
    "binary text",
    "binary logistic",
]
SEVERAL = ["ovo rbf", "ovo linear", "ovr linear", "ovr rbf"]
OTHERS = ["regression rbf", "regression linear", "novelty rbf"]
EVERY = BINARY + SEVERAL + OTHERS


@cache
def fitted(name):
    """A model, new rows, and what the fit itself says of them: decision values and answers."""
    kind, kernel = name.split()
    if kind == "binary":
        X, y, Z, _ = rows(load_breast_cancer)
        y, more = np.where(y == 1, 1, -1), {}
        if kernel == "text":
            y = np.where(y == 1, "benign", "malignänt")
        problem = Problem(X, y, kernel=KERNELS.get(kernel, KERNELS["rbf"]))
        new = Z
        if kernel == "sparse":
            problem = Problem(sp.csr_array(X * (X > 0.3)), y, kernel=KERNELS["rbf"])
            Z = new = sp.csr_array(Z * (Z > 0.3))
        elif kernel == "scaled":
            more["scaling"] = scaling("standard", 3.0 + 5.0 * X)
            problem = Problem(more["scaling"].apply(3.0 + 5.0 * X), y)
            Z, new = 3.0 + 5.0 * Z, more["scaling"].apply(3.0 + 5.0 * Z)
        elif kernel == "logistic":
            problem = Problem(X, y, loss="logistic", bias="augmented")
        result = solve(problem, tol=1e-3)
        return model_of(result, **more), Z, result.decision_function(new), result.predict(new)
    if kind in ("ovo", "ovr"):
        X, y, Z, _ = rows(load_wine)
        chosen = LinearSVC if kernel == "linear" else SVC
        estimator = chosen(multi_class=kind, tol=1e-3)
        estimator.set_params(**({"decision_function_shape": kind, "gamma": 0.05} if chosen is SVC else {})).fit(X, y)
        decision = estimator._scores(Z)
        return model_of(estimator), Z, decision, estimator.predict(Z)
    X, y, Z, _ = rows(load_diabetes)
    if kind == "novelty":
        result = solve(Problem(X, loss=OneClass(0.2), kernel=KERNELS[kernel]), tol=1e-3)
    else:
        result = solve(Problem(X, y / 100.0, loss=EpsilonInsensitive(0.1), kernel=KERNELS[kernel]), tol=1e-3)
    return model_of(result), Z, result.decision_function(Z), result.predict(Z)


ESTIMATORS = [SVC(), SVC(kernel="linear"), LinearSVC(), NuSVC(nu=0.2), SVR(), LinearSVR(), NuSVR(), OneClassSVM()]
