"""The parts that follow the middle of source 000: Lagrangian duality, conjugates, and the dual of the SVM."""

from __future__ import annotations

from maxmargin.lesson import runs
from maxmargin.lesson.exercises import source000 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording

DUALITY = Part(
    key="duality",
    source="000",
    title="Lagrangian duality",
    idea=(
        r"Minimise $f(x)$ subject to $h(x) \le 0$. Instead of forbidding $h(x) > 0$, charge a price $\lambda \ge 0$"
        r" for each unit of it: this is the *Lagrangian* $L(x, \lambda)$. Where the constraint holds, the charge is"
        r" at most 0, so $L(x, \lambda) \le f(x)$. Hence the unconstrained minimum of $L$, the *dual function*"
        r" $g(\lambda)$, is a lower bound for the constrained minimum, whatever $\lambda \ge 0$ is. This is *weak"
        " duality*.",
        "The best of these bounds is the maximum of $g$, the *dual problem*. $g$ is a minimum of functions that are"
        r" straight lines in $\lambda$, so it is concave, even if $f$ is not convex. For a convex problem with linear"
        " constraints that can be met, such as ours, the best bound is equal to the minimum: *strong duality*. Weak"
        " duality makes a gap of zero between a primal value and a dual value a proof; strong duality says that"
        " there always is such a proof.",
    ),
    formulas=(
        Formula("The Lagrangian:", r"L(x, \lambda) = f(x) + \lambda\, h(x), \qquad \lambda \ge 0"),
        Formula(
            r"Maximising over $\lambda$ gives back the constrained problem. The maximum is reached at $\lambda = 0$"
            r" where the constraint holds; where it does not, $L$ grows without limit as $\lambda \to \infty$:",
            r"\max_{\lambda \ge 0} L(x, \lambda) = \begin{cases} f(x) & \text{if } h(x) \le 0 \\ \infty & \text{if }"
            r" h(x) > 0 \end{cases}",
        ),
        Formula(
            "Weak duality:",
            r"\max_{\lambda \ge 0} \; \min_x \; L(x, \lambda) \; \le \; \min_x \; \max_{\lambda \ge 0} \; L(x,"
            r" \lambda)",
        ),
    ),
    shown=(
        Picture(
            "lagrangian",
            r"Minimise $x^2$ subject to $x \ge 1$ (figures 5 and 6 of source 000). First panel: the Lagrangian for"
            " several multipliers. Second panel: its minimum as a function of the multiplier.",
            plot("lagrangian", None, multipliers=(0.0, 1.0, 2.0, 3.0)),
        ),
    ),
    recorded=Recording(
        "duality-run",
        "A solver of the dual at work: the primal value comes from above, the dual value from below.",
        runs.duality,
    ),
    notice=(
        "No curve of the first panel lies above $x^2$ in the allowed region. The lowest point of each curve is one"
        " value in the second panel.",
        "The multiplier 1 proves that the minimum is at least $0.75$; the multiplier 3 proves the same. The"
        " multiplier 2 proves $1$, which is the minimum: strong duality.",
        "All solvers on this page are judged in this way. The certificate compares a primal value with a dual value,"
        " and it does not matter how they were found.",
    ),
    misprints=(
        r"The two cases of $\max_\lambda L$ have $\lambda \to \infty$ and $\lambda \to 0$ exchanged. A constraint"
        r" that holds is not charged ($\lambda = 0$); a violated one is charged without limit.",
    ),
    exercises=(exercises.the_dual_of_the_smallest_example, exercises.every_multiplier_is_a_bound),
)

CONJUGATE = Part(
    key="conjugate",
    source="000",
    title="Conjugates, and the dual of the SVM",
    idea=(
        r"Draw a line of slope $u$ through the origin. The *conjugate* $\ell^*(u)$ is the largest amount by which the"
        " line rises above the loss. Lower the line by this amount and it just touches the loss from below. So a"
        " convex function is the maximum of all lines below it, and the conjugate lists these lines by their slopes.",
        r"Give each sample a variable $v_i$ for its margin, with the constraint $v_i = y_i a^\top x_i$, and a"
        r" multiplier $\lambda_i$ for this constraint. The Lagrangian then splits into one problem per sample"
        r" and one for $a$, and each of them is a conjugate. That of the hinge is $\lambda_i$ on the interval $[-1,"
        " 0]$ and infinite outside; that is where the box of the dual comes from.",
    ),
    formulas=(
        Formula(
            "The conjugate, and that of the hinge:",
            r"\ell^*(u) = \max_v \; (u v - \ell(v)), \qquad \ell^*(u) = \begin{cases} u & \text{if } -1 \le u \le 0"
            r" \\ \infty & \text{otherwise} \end{cases}",
        ),
        Formula(
            r"The dual in the letters of source 000, with $Y = \diag(y)$ and the factor $1/c$ corrected:",
            r"\max_{-1 \le \lambda \le 0} \; - \sum_{i=1}^n \lambda_i - \frac{1}{2 c}\, \lambda^\top Y X X^\top Y"
            r" \lambda, \qquad a = - \frac{1}{c} X^\top Y \lambda",
        ),
        Formula(
            r"The same in ours, $\alpha_i = -\lambda_i / c$ and $\beta_i = y_i \alpha_i$:",
            r"\max_{0 \le \alpha \le C} \; D = \sum_{i=1}^n \alpha_i - \half \left\| \sum_{i=1}^n \alpha_i y_i x_i"
            r" \right\|^2, \qquad w = \sum_{i=1}^n \alpha_i y_i x_i",
        ),
    ),
    shown=(
        Picture(
            "conjugate",
            r"The hinge, a line of slope $-\half$, and the conjugate as the largest value of the line minus the"
            " loss (figure 7 of source 000).",
            plot("conjugate", lambda: "hinge", u=-0.5),
        ),
    ),
    recorded=Recording(
        "conjugate-run",
        "Coordinate ascent with the squared hinge. Its conjugate sets no upper bound: no multiplier is clipped at $C$.",
        runs.conjugate,
    ),
    notice=(
        r"At its best the line of slope $-\half$ is half a unit *below* the hinge, so $\ell^*(-\half) = -\half$.",
        "A line that falls faster than with slope $-1$, or one that rises, gets above the hinge by any amount: the"
        r" conjugate is infinite. So every $\lambda_i$ is confined to $[-1, 0]$ and every $\alpha_i$ to $[0, C]$.",
        r"For any loss $\ell(v) + \ell^*(u) \ge u v$ (Fenchel and Young). Summed over the samples this is weak"
        r" duality, so where $w = w(\beta)$ the gap of a fit splits into one part for each sample ([[conjugate.2]]).",
    ),
    misprints=(
        r"The dual, its gradient and $Q$ carry the factor $c$ where $\frac{c}{2} \|a\|^2$ gives $1/c$. The two agree"
        " for $c = 1$ only.",
        "The text says that a conjugate is always concave. A maximum of straight lines is convex. What is concave is"
        " the dual, because conjugates enter it with a minus sign.",
    ),
    exercises=(exercises.the_conjugate_of_the_hinge, exercises.the_gap_sample_by_sample),
)
