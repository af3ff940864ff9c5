"""Every numbered item of the five sources: the call that does it, and the part of the lesson that shows it."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One item of a source."""

    source: str
    item: str
    call: str
    part: str


ITEMS: tuple[Item, ...] = (
    Item("000", "soft margin, slack, hinge objective", "`solve(Problem(X, y, C=1.0))`, `result.slack`", "margin"),
    Item("000", "figure 1: hinge loss", '`plots.losses(["hinge"])`', "margin"),
    Item("000", "sub-gradient; algorithm 1", '`Subgradient(step=η, objective="lam")`, `start=(a, 0.0)`', "subgradient"),
    Item("000", "figures 2 and 3: accuracy, loss", "`plots.convergence(result)`", "subgradient"),
    Item("000", "figure 4: hyperplane", "`plots.boundary(result)`", "subgradient"),
    Item("000", "figures 5 and 6: Lagrangian, weak duality", "`plots.lagrangian()`", "duality"),
    Item("000", "dual of the SVM", "`problem.dual(beta)`, `result.certificate.dual`", "conjugate"),
    Item(
        "000", "figure 7: Fenchel conjugate", '`plots.conjugate("hinge", -0.5)`, `Hinge().conjugate(u, y)`', "conjugate"
    ),
    Item("000", "projected gradient; algorithm 2", '`ProjectedGradient(step=η, objective="lam")`', "projected"),
    Item("000", "figures 8 and 9: accuracy, loss", "`plots.convergence(result)`", "projected"),
    Item("000", "figure 10: hyperplane", "`plots.boundary(result)`, `plots.grid_of(results)`", "coordinate"),
    Item("000", "figure 11: support vectors", "`plots.support(result)`", "projected"),
    Item("000", "figure 12: SDCA against SGD", '`plots.race(results, against="iterations")`', "sgd"),
    Item("000", "box-constrained optimisation; algorithm 3", '`CoordinateAscent("cyclic")`', "coordinate"),
    Item("000", "figures 13 and 14: accuracy, loss", "`plots.convergence(result)`", "coordinate"),
    Item("000", "figure 15: hyperplane", "`plots.boundary(result)`, `plots.grid_of(results)`", "coordinate"),
    Item("000", "figure 16: support vectors", "`plots.support(result)`", "coordinate"),
    Item("001", "step 1: get rid of the intercept", '`Problem(..., bias="augmented")`', "multipliers"),
    Item("001", "step 2: pick the problem", "`list_solvers()`; each solver is a primal or a dual one", "multipliers"),
    Item(
        "001",
        "step 3: Lagrangian multipliers, w, β = C − α",
        "`result.alpha`, `result.slack_multipliers`",
        "multipliers",
    ),
    Item("001", "step 4: gradient ascent with η_t", "`GradientAscent(step=lambda t: ...)`", "ascent"),
    Item("001", "step 4: stochastic gradient ascent", "`StochasticAscent(step=η)`", "ascent"),
    Item("002", "loss with the penalty (c/2)(Σλy)²", "`Penalty(c=..., step=..., momentum=False)`", "penalty"),
    Item("002", "gradient; clipping", "`Penalty(c=..., step=..., momentum=False)`, `result.raw_beta`", "penalty"),
    Item("002", "kernel-matrix form", '`Problem(K, y, kernel="precomputed")`', "kernels"),
    Item("002", "animation until 3 support vectors are left", '`plots.animate(result, "penalty.gif")`', "penalty"),
    Item("002", "extra term d Σ max(−λ, 0)", "`Penalty(c=..., d=..., step=..., momentum=False)`", "penalty"),
    Item("002", "kernels instead of inner products", "`Problem(X, y, kernel=RBF(gamma=1.0))`", "kernels"),
    Item("002", "SMO, announced", "`SMO(grain=1)`", "smo"),
    Item("003", "hinge, MSE and logistic loss", "`plots.losses()`, `Problem(..., loss=...)`", "losses"),
    Item("003", "convex? differentiable? SGD", "`SGD()`, `Pegasos()`", "sgd"),
    Item("003", "Q1: G(w, α), α as the slope of a line", '`Saddle(problem, objective="lam")`', "saddle"),
    Item("003", "Q2: min and max exchanged", "`G.best_w(alpha)`, `G.best_alpha(w)`", "saddle"),
    Item("003", "w(α) = XᵀYα/λ and the dual", "`G.best_w(alpha)`, `result.w`", "saddle"),
    Item("003", "Q3: when the dual is easier", "`solve(problem, name)`, `plots.race(results)`", "saddle"),
    Item("003", "three kinds of vectors", "`result.certificate.kinds`, `plots.support(result)`", "kinds"),
    Item("003", "coordinate ascent, random coordinates", '`CoordinateAscent("random")`', "sgd"),
    Item("003", "question: hinge and margin", "`plots.losses()`, `plots.boundary(result, slack=True)`", "margin"),
    Item("003", "question: implement SGD and coordinate ascent", "the plain NumPy of the part", "sgd"),
    Item("003", "question: where support vectors lie, and why", "[[kinds.1]], [[losses.2]]", "kinds"),
    Item("003", "question: regression", "[[sgd.2]]", "sgd"),
    Item("003", "question: several classes", "[[sgd.3]]", "sgd"),
    Item("004", "primal QP (Q, p, A, c)", '`primal_qp(problem)`, `solve(problem, "qp-primal")`', "programs"),
    Item("004", "Lagrangian, strong duality", "`result.certificate`", "duality"),
    Item(
        "004",
        "dual QP, equality or two inequalities",
        '`dual_qp(problem, equality=...)`, `DualQP(hard="multipliers")`',
        "programs",
    ),
    Item("004", "KKT conditions", "`result.kkt`, `plots.kkt(result)`", "kkt"),
    Item("004", "w, and b from any support vector", "`result.w`, `result.support_biases`", "kkt"),
    Item("004", "support vectors ⊆ candidates", "`result.certificate.kinds.candidate`", "kkt"),
    Item("004", "PLA: β counts corrections", '`Perceptron("cyclic")`, `result.coef`', "perceptron"),
    Item("004", "transform Φ, non-linear SVM", "`Problem(..., transform=PolynomialTransform(2))`", "size"),
    Item("004", "N = 30,000: dense Q", '`solve(problem, "qp")` refuses with the memory', "size"),
    Item("004", "d̃ + 1 variables against N variables", '`"qp-primal"` against `"qp"`', "size"),
    Item("004", "fattest hyperplane, geometrically", "`plots.hulls(result)`", "hulls"),
)
