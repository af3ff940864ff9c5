"""A result with what the sections of its report have in common: scores, labels, figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maxmargin.errors import MaxMarginError
from maxmargin.page import embedded, picture
from maxmargin.report.words import count, paragraph, sentence, short
from maxmargin.result import Result

#: Looks at a run that make a curve.
FEWEST = 3
#: What is said below each figure, by its name in `maxmargin.plots`.
CAPTIONS = {
    "convergence": "Primal, dual and the gap between them as the run went on.",
    "boundary": "The fit among its samples; the filled ones are support vectors.",
    "support": "The number of support vectors during the run, each sample's dual variable, and its share of the gap.",
}


@dataclass(frozen=True, eq=False)
class Fit:
    """A result with the scores of its own samples; computed once, when first asked for."""

    result: Result

    @cached_property
    def z(self) -> np.ndarray:
        """Scores, from the rows as the problem keeps them: `decision_function` would transform them again."""
        problem, point = self.result.problem, self.result.point
        assert point.w is not None
        return problem.space.decision(problem.X, point.w) + (point.b or 0.0)

    @cached_property
    def used(self) -> np.ndarray:
        """A mask of the samples that count: those of weight 0 do not."""
        return self.result.problem.C > 0

    @cached_property
    def confusion(self) -> np.ndarray:
        """Samples by true label (rows) and predicted label (columns)."""
        true, predicted = (side[self.used] > 0 for side in (self.result.problem.target, self.z))
        return np.bincount(2 * true.astype(int) + predicted, minlength=4).reshape(2, 2)

    @property
    def accuracy(self) -> float:
        """The share of training samples that are classified correctly."""
        return float(self.confusion.trace() / self.confusion.sum())

    def label(self, side: int) -> str:
        """What the user calls a class: 0 is the negative one, 1 the positive one."""
        classes = self.result.problem.classes
        assert classes is not None
        return short(classes[side])

    def drawn(self, name: str) -> str:
        """A figure inside the page, or the reason why there is none."""
        from maxmargin import plots  # needs an extra, so not at the top

        looks = len(self.result.trace)
        if name == "convergence" and looks < FEWEST:
            return paragraph(f"No curves: {count(looks, 'look')} at the run. For more of them use solve(…, every=1).")
        try:
            figure = getattr(plots, name)(self.result).figure
        except MaxMarginError as refusal:
            # What comes after the semicolon is advice for a caller of the function.
            return paragraph(sentence(f"no figure: {str(refusal).partition(';')[0]}"))
        framed = picture(embedded(figure), CAPTIONS[name])
        # Panels side by side would be too small to read on a narrow screen: it shows a part, and scrolls.
        return framed if name == "boundary" else f'<div class="panels">{framed}</div>\n'
