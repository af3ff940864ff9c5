"""What the oracle is asked about, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True, eq=False)
class Setting:
    """All of a problem but its samples: names and numbers."""

    loss: str = "hinge"
    kernel: str = "linear"
    bias: str = "free"
    bias_scale: float = 1.0
    #: "l2" or, for the linear kernel, "l1".
    regularizer: str = "l2"
    #: epsilon or nu of the loss; gamma, coef0 and degree of the kernel.
    loss_parameters: dict[str, float] = field(default_factory=dict)
    kernel_parameters: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """What is true of a point."""

    primal: float
    dual: float
    #: P − D before either was rounded to a float.
    gap: float
    #: The gap is right up to this much.
    rounding: float
    #: |Σβ − total| where the bias is free, and the farthest that a β_i was outside its box.
    infeasibility: float
    outside: float
    #: Σ|β|, to judge the two by.
    size: float

    @property
    def scale(self) -> float:
        """max(|P|, |D|)."""
        return max(abs(self.primal), abs(self.dual))

    @property
    def relative_gap(self) -> float:
        """(P − D)/max(|P|, |D|); 0 if both are 0, infinite if one side is not there."""
        return self._relative(self.gap)

    @property
    def least(self) -> float:
        """The relative gap that is there beyond the oracle's own rounding."""
        return self._relative(max(0.0, self.gap - self.rounding)) if self.rounding < inf else 0.0

    @property
    def most(self) -> float:
        """The relative gap that may be there."""
        return self._relative(self.gap + self.rounding)

    def _relative(self, gap: float) -> float:
        if not gap < inf or not self.scale < inf:
            return inf
        return gap / self.scale if self.scale > 0.0 else 0.0 if gap == 0.0 else inf
