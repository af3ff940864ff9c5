"""What the lesson of `maxmargin demo` says: the theory figures, and one part a method of the textbooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maxmargin.data import toys
from maxmargin.problem import Bias

INTRODUCTION = (
    "Every figure on this page was computed just now, by the methods it tells of. Each fit carries a certificate: the"
    " primal value, the dual value, and the gap between them, which bounds how far it is from the best hyperplane."
)

#: Figure, title, caption, paragraph.
THEORY = (
    (
        "losses",
        "The loss",
        "Four losses for a positive sample: what a score costs, how hard it pulls, and the conjugate",
        "A sample on the right side of its margin costs nothing; one inside the margin or on the wrong side costs"
        " in proportion (the hinge), to the square (squared hinge), or softly (logistic). Least squares also"
        " punishes samples that are too right. The slope of the loss says how hard a sample pulls at the hyperplane.",
    ),
    (
        "lagrangian",
        "Weak and strong duality",
        "The function, its Lagrangians, and the dual function whose top meets the minimum",
        "Minimise x² where x must be at least 1. Every multiplier λ ≥ 0 makes a curve L(x, λ) = x² + λ(1 − x) that"
        " lies below x² wherever the constraint holds; so its lowest point is a lower bound on the answer. The best"
        " of these bounds, the top of the dual function, meets the answer: that is strong duality, and it is why a"
        " gap of zero is a proof.",
    ),
    (
        "conjugate",
        "The conjugate",
        "The hinge, a line of slope −½, and the largest gap between them",
        "Draw a line of slope u through the origin. The conjugate ℓ*(u) is the largest amount by which it exceeds"
        " the loss. It turns the minimum over w into a maximum over one number a sample, the dual variables, each"
        " confined to an interval: the dual problem that most of the methods below climb.",
    ),
)


@dataclass(frozen=True)
class Part:
    """One part of the lesson: a method on a data set, told in a paragraph."""

    title: str
    method: str
    text: str
    solver: str
    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    bias: Bias = "free"
    C: float = 1.0
    kernel: str = "linear"
    tol: float = 1e-3
    animated: bool = False

    @property
    def file(self) -> str:
        """The stem of its files."""
        return self.solver


PARTS = (
    Part(
        "Part 1: sub-gradient descent on the primal",
        "Sub-gradient descent",
        "The hinge has no slope at its corner, but it has sub-gradients. Each step lets all samples inside the"
        " margin pull at the hyperplane. It is not a descent method: the loss jumps about, so the best point is"
        " remembered. The average of the pulls is a dual point, so even this method comes with a certificate; but a"
        " crumb of weight stays on nearly every sample. Crisp support vectors come from the methods below.",
        "subgradient",
        toys.overlapping,
    ),
    Part(
        "Part 2: projected gradient ascent on the dual",
        "Projected gradient ascent",
        "The dual is smooth and concave, and its constraints are a box (and a plane, for a free bias). Step along"
        " the gradient by one over the largest eigenvalue of the kernel matrix, then go back to the nearest feasible"
        " point. Dual variables that reach zero stay there: their samples are no support vectors.",
        "projected-gradient",
        toys.overlapping,
    ),
    Part(
        "Part 3: box-constrained coordinate ascent",
        "Coordinate ascent",
        "One dual variable at a time has a closed answer: the unconstrained maximiser, clipped to its interval."
        " There is no step size, one step costs one row of the data, and the order may be shuffled. It needs the box"
        " alone, so the bias is one more, constant, feature.",
        "coordinate-ascent",
        toys.overlapping,
        bias="augmented",
        tol=1e-8,
    ),
    Part(
        "Part 4: gradient ascent on the dual",
        "Gradient ascent",
        "With full gradients the step size can be read off the last two of them. The feasible set is the box cut by"
        " the plane where the duals of both classes balance, and the projection onto it is exact.",
        "gradient-ascent",
        toys.overlapping,
        tol=1e-6,
    ),
    Part(
        "Part 5: stochastic ascent on the dual",
        "Stochastic ascent",
        "Draw a sample at random and move its dual variable along its own gradient, clipped to the interval. The"
        " step size must be safe for the longest row; choosing it for each row instead gives back coordinate ascent.",
        "stochastic-ascent",
        toys.overlapping,
        bias="augmented",
    ),
    Part(
        "Part 6: the penalty method",
        "The penalty method",
        "Instead of keeping the duals balanced, punish imbalance with a weight c that grows. For every c this is"
        " exactly a problem with an augmented bias of scale √c; only in the limit is it the one with a free bias."
        " Watch the support vectors leave, until only the few that hold the margin are left.",
        "penalty",
        toys.separable,
        C=np.inf,
        animated=True,
    ),
    Part(
        "Part 7: sequential minimal optimisation",
        "SMO",
        "Two variables at a time keep the balance by themselves: one rises, one falls. Choosing the pair that gains"
        " most makes it the method of choice for kernels, where the hyperplane bends.",
        "smo",
        toys.moons,
        kernel="rbf",
        tol=1e-8,
    ),
    Part(
        "Part 8: quadratic programming for the hard margin",
        "Quadratic programming",
        "The dual is a quadratic program, and small ones can be handed to a library whole. For a hard margin it"
        " finds the nearest points of the two convex hulls: the hyperplane lies half-way between them. If the hulls"
        " meet, they prove that no hyperplane separates the classes.",
        "qp",
        toys.separable,
        C=np.inf,
        tol=1e-8,
    ),
    Part(
        "Part 9: the perceptron, for comparison",
        "The perceptron",
        "It corrects itself by one sample whenever it is wrong, and stops when it is not. Its hyperplane, too, is a"
        " sum of samples, each counted as often as it caused a correction. But it maximises nothing: the gap says"
        " how much margin it gives away.",
        "perceptron",
        toys.separable,
        C=np.inf,
    ),
)
