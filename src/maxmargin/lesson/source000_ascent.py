"""The parts that follow the second half of source 000: projected gradient ascent and coordinate ascent."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.lesson import fits
from maxmargin.lesson.exercises import source000 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording, Rows, Table
from maxmargin.result import Result

#: Learning rates of algorithm 2, in units of 2c/λ_max: too small, right, too large.
SHARES = (0.02, 0.9, 3.0)


def rates(steps: int = 600) -> dict[str, Result]:
    """Algorithm 2 at three learning rates."""
    limit = fits.stable_step()
    return {f"η = {share * limit:.2g}": fits.projected(share * limit, steps) for share in SHARES}


def rates_table() -> Rows:
    """What became of algorithm 2 at each learning rate."""
    rows = [
        (name, f"{share:g}", f"{run.iterations:,}", str(run.status))
        for share, (name, run) in zip(SHARES, rates().items(), strict=True)
    ]
    return ("learning rate", "in units of the limit", "steps", "how the run ended"), rows


def projected_facts() -> dict[str, Any]:
    """Numbers of the part on projected gradient ascent."""
    limit = fits.stable_step()
    run = fits.projected(SHARES[1] * limit)
    zeros = [snapshot.beta == 0 for snapshot in run.trace.snapshots]
    left = np.sum([before & ~after for before, after in pairwise(zeros[1:])])
    return {"limit": f"{limit:.4f}", "support": len(run.support), "left": int(left), "steps": run.iterations}


PROJECTED = Part(
    key="projected",
    source="000",
    title="Projected gradient ascent on the dual",
    idea=(
        "The dual is smooth and concave, and its constraints form a *box*: each variable has an interval of its own."
        " So climb along the gradient, and after each step put every variable that has left its interval back on the"
        " nearer end. This is the *projection* onto the box, and for a box it is done for each variable on its own:"
        " clipping.",
        r"The gradient of the dual has a meaning. For our $\alpha$ its $i$-th component is $1 - y_i z_i$: positive"
        " for a sample that violates its margin, whose multiplier then rises, and negative for a sample outside the"
        " margin, whose multiplier falls until it is 0.",
    ),
    formulas=(
        Formula(
            "One step, in the letters of source 000:",
            r"\lambda \leftarrow \Proj_{[-1, 0]} \left[ \lambda + \eta \left( -\mathbf{1} - \frac{1}{c}\, Y X X^\top"
            r" Y \lambda \right) \right], \qquad a = - \frac{1}{c} X^\top Y \lambda",
        ),
        Formula(
            "It converges for every learning rate below this limit:",
            r"\eta < \frac{2 c}{\lambda_{\max}(X X^\top)}",
        ),
    ),
    twins=("projected_gradient_ascent",),
    call="""\
X, y = toys.overlapping()
problem = Problem(X, y, lam=10.0, bias="none")  # lam is the text's c
result = solve(problem, ProjectedGradient(step=0.07, objective="lam"), tol=1e-6, every=1, snapshots=True)
solve(problem, "projected-gradient")           # without a step: it finds λ_max and takes 1/λ_max by itself
""",
    shown=(
        Picture(
            "projected-loss",
            "The first 40 steps of algorithm 2 at three learning rates: both objectives, the gap and the accuracy"
            " (figures 8 and 9 of source 000).",
            plot("convergence", lambda: rates(40)),
        ),
        Table("The same three runs to their end. The last column is what the result says about itself.", rates_table),
        Picture(
            "projected-support",
            "The second run after 40 steps: the number of support vectors, the multipliers, and what each sample"
            " contributes to the gap (figure 11 of source 000).",
            plot("support", lambda: list(rates(40).values())[1]),
        ),
    ),
    recorded=Recording(
        "projected-run",
        "The run with the second learning rate to step through: watch multipliers reach 0 and leave it.",
        lambda: list(rates(600).values())[1],
    ),
    notice=(
        r"The limit is $2c/\lambda_{\max} =$ <<limit>>. A shorter step converges for certain; a fiftieth of it"
        " crawls. A step somewhat above it may still be rescued by clipping, but at three times the limit the"
        " iterates swing for ever, and the status says which step would do.",
        "At the end <<support>> of 100 samples are support vectors. A multiplier that has reached 0 may leave it"
        " again: this happened <<left>> times in <<steps>> steps. A sample that is outside the margin now may be"
        " needed later.",
        r"A step costs one product with $X X^\top$, that is, two passes over the data.",
    ),
    misprints=(
        r"Algorithm 2 is printed with the factor $c$ in line 4. With $(c/2) \|a\|^2$ it must be $1/c$. In"
        " [[projected.1]] the certificate finds it.",
    ),
    exercises=(exercises.find_the_misprint_by_its_gap, exercises.the_largest_stable_learning_rate),
    facts=projected_facts,
)


def updates_table() -> Rows:
    """The first single updates of coordinate ascent."""
    run = fits.coordinate(grain=1)
    rows = []
    for number, event in fits.events(run)[:10]:
        i = event.indices[0]
        y = run.problem.target[i]
        before, after, step = y * event.before[0], y * event.after[0], y * event.unclipped
        numbers = (fits.signed(value) for value in (before, after, step, event.gain))
        rows.append((str(number), str(i), *numbers))
    header = ("update", "sample $i$", r"$\alpha_i$ before", r"$\alpha_i$ after", "unclipped step", "gain in $D$")
    return header, rows


def coordinate_facts() -> dict[str, Any]:
    """Numbers of the part on coordinate ascent."""
    run = fits.coordinate()
    single = fits.coordinate(grain=1)
    clipped = sum(
        not np.isclose(event.after[0] - event.before[0], event.unclipped) for _, event in fits.events(single)[:100]
    )
    return {
        "epochs": run.iterations,
        "gap": fits.short(run.certificate.relative_gap),
        "clipped": clipped,
        "gradient": fits.projected(SHARES[1] * fits.stable_step()).iterations,
        "support": len(run.support),
    }


def three_methods() -> dict[str, Result]:
    """The first three algorithms on one problem."""
    return {
        "sub-gradient descent": fits.subgradient(0.01),
        "projected gradient ascent": fits.projected(SHARES[1] * fits.stable_step()),
        "coordinate ascent": fits.coordinate(),
    }


def two_methods() -> dict[str, Result]:
    """The dual methods only: the average of pulls that sub-gradient descent keeps has no true support vectors."""
    return {name: run for name, run in three_methods().items() if not name.startswith("sub")}


COORDINATE = Part(
    key="coordinate",
    source="000",
    title="Coordinate ascent in a box",
    idea=(
        "Change one multiplier at a time and keep all others. As a function of one variable the dual is a parabola,"
        " so its maximum is known in closed form, and clipping it to the interval gives the exact maximum within the"
        " box. There is no learning rate.",
        "With $w$ kept up to date a single update costs one row of the data, not all of them: compute the score"
        r" $z_i$, change $\alpha_i$, and add the difference times $y_i x_i$ to $w$.",
    ),
    formulas=(
        Formula(
            "The update, in the letters of source 000, with $Q = -\\frac{1}{c} Y X X^\\top Y$ and $b = -1$:",
            r"\lambda_k \leftarrow \Proj_{[-1, 0]} \left[ \frac{-b_k - \sum_{i \ne k} \lambda_i Q_{k i}}{Q_{k k}}"
            r" \right]",
        ),
        Formula(
            "The same in ours:",
            r"\alpha_i \leftarrow \Proj_{[0, C]} \left[ \alpha_i + \frac{1 - y_i z_i}{\|x_i\|^2} \right]",
        ),
    ),
    twins=("box_constrained_ascent",),
    call="""\
X, y = toys.overlapping()
problem = Problem(X, y, lam=10.0, bias="none")
result = solve(problem, CoordinateAscent("cyclic"), tol=1e-9, every=1)  # one look per epoch
single = solve(problem, CoordinateAscent("cyclic", grain=1), tol=1e-9, every=1, snapshots=True)
single.trace.snapshots[0].event                                         # the first update
""",
    shown=(
        Table("The first ten single updates.", updates_table),
        Recording(
            "coordinate-run",
            "The first two passes to step through, one update at a time.",
            lambda: fits.coordinate(grain=1),
        ),
        Picture(
            "coordinate-loss",
            "The three algorithms of source 000 on one problem (its figures 2, 3, 8, 9, 13 and 14 in one).",
            plot("convergence", three_methods),
        ),
        Picture(
            "three-hyperplanes",
            "The hyperplane found by each of the two dual methods (figures 10 and 15 of source 000); figure 4 is in"
            " [[subgradient]].",
            plot("grid_of", two_methods, across=2),
        ),
        Picture(
            "coordinate-support",
            "Coordinate ascent after 60 single updates, before its first epoch is over: support vectors, multipliers"
            " and the gap by sample (figure 16 of source 000).",
            plot("support", lambda: fits.coordinate(grain=1, updates=60)),
        ),
    ),
    notice=(
        "No update loses: each gain is at least 0, and together the gains are the dual value.",
        "<<clipped>> of the first 100 updates were clipped at 0 or at $C$.",
        "It reached a gap of <<gap>> after <<epochs>> epochs. Projected gradient ascent needed <<gradient>> steps for"
        " $10^{-6}$, and one of its steps costs at least as much as an epoch.",
        "All three methods find the same hyperplane. Only the dual ones say exactly which <<support>> samples"
        " determine it. Sub-gradient descent gives many samples a little weight, because its dual point is an average"
        " over steps.",
    ),
    misprints=(
        "Algorithm 3 loops over the features. It must loop over the samples, because there is one dual variable per"
        " sample.",
        "Its mask compares $k$ with the epoch counter. It must leave out the coordinate $k$ itself.",
        "It uses $Y$ before defining it, and $Q$ again has $c$ where it must have $1/c$.",
    ),
    exercises=(exercises.one_coordinate_by_hand, exercises.loop_over_features),
    facts=coordinate_facts,
)
