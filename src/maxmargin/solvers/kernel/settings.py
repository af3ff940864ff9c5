"""The tuning constants of the solvers for kernels, each with its unit and the reason for its value.

They change speed, never what is proved: the loop stops by the certificate alone. *Tuned* says that no formula stands
behind a value: the races of docs/performance.md were run with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkingSetSettings:
    """`working_set.py`."""

    #: The first stage sees between this many samples and half of it. Tuned.
    first_stage: int = 500
    #: ε of the stages before the last, in units of the first violation: the next has another answer anyway. Tuned.
    stage_violation: float = 0.1
    #: ε of the first round of the last stage, in the same units. Tuned.
    round_violation: float = 0.05
    #: ε is divided by this after each round of the last stage; by its square where rounds cost the same whatever ε is.
    sharper: float = 4.0
    #: A sample is let go when its margin is this many ε away from its kink: nearer ones may come back. Tuned.
    settled: float = 5.0
    #: A working set is solved to this share of the violation: far while most of its samples run to their bounds, less
    #: far afterwards, as the other samples change its problem. Tuned.
    bulk_share: float = 0.02
    fine_share: float = 0.2
    #: Pair steps in one working set, at most, in units of its size. Tuned.
    steps_per_sample: int = 20
    #: Samples that may become active at once, besides as many as there are support vectors: the worst violators settle
    #: most of the others. Tuned.
    most_entering: int = 1000
    #: Share of support vectors above which all samples are active: then nearly all of K is needed, and by half it costs
    #: no more than the rows of a third.
    all_active_share: float = 1 / 3
    #: Working sets between two iterates; where time is limited, also steps of SMO times the size of their working set
    #: (some hundredths of a second).
    working_sets: int = 32
    limited_steps: float = 1e7
    #: Working sets grow up to this size while samples run to their bounds; 2048 in one piece lost: their matrix costs
    #: more than it saves.
    largest: int = 1536
    #: Multiply-adds per kernel value from which on rows of samples that keep moving are kept. Tuned.
    expensive_value: float = 100.0
    #: The square is packed anew only where fewer than this share of its samples stay: to move the others costs as much
    #: as a few working sets.
    packed_share: float = 0.75
    #: A round is light where it moved more than this share of the support vectors, in steps that cost less than this
    #: share of the kernel values that followed. Tuned.
    light_moved: float = 0.75
    light_work: float = 0.2
    #: What a kernel value costs: a constant for its exponential, and its multiply-adds in units of so many. Tuned.
    value_constant: float = 0.5
    value_work: float = 80.0


@dataclass(frozen=True)
class ScoresSettings:
    """`working_set_scores.py`."""

    #: A sample is far where it would have to move this many times as far as any active one before it violates. Tuned.
    far: float = 2.0
    #: Share of far samples from which on they are late: fewer are not worth a product of their own. Tuned.
    worthwhile: float = 0.5
    #: Scores are compared with float64 where ε is below so many roundings of ‖β‖. Tuned.
    near: float = 16.0
    #: Scores that are compared: their mean error is near that of all. (The largest error is ten to several hundred
    #: times the median, and would ask for the product long before it matters.)
    compared: int = 32


@dataclass(frozen=True)
class ShrinkingSettings:
    """`shrinking_smo.py`."""

    #: Pair steps between two looks at which samples are settled: a look costs about two of them. Tuned.
    steps: int = 1000
    #: A square of K is copied when it has at most this share of the active samples: the copy must be repaid. Tuned.
    copied_share: float = 0.7
    #: The others are looked at when the violation has fallen to this share. Tuned.
    fallen: float = 0.5


@dataclass(frozen=True)
class OutlyingSettings:
    """`outlying.py`."""

    #: Samples that the others are compared with: as many as tell who lies far out, and cheap beside all others. Tuned.
    drawn: int = 200


@dataclass(frozen=True)
class NystroemSettings:
    """`nystroem.py` and `landmarks.py`."""

    #: Landmarks of the first features, and how many times as many the next have: all that came before costs a third of
    #: the last.
    first: int = 256
    growth: int = 2
    #: More landmarks than this share of those that there are, or none.
    few: float = 0.05
    #: Landmarks that "auto" takes at most: the samples divided by this, and so many. With more, the exact solver is
    #: sooner there.
    samples_per_landmark: int = 8
    most: int = 4096
    #: The relative gap to which the first features are solved, and the share of the approximation's part of the gap to
    #: which all are: with more landmarks the answer is another one anyway. Less where no more are to come.
    first_gap: float = 0.05
    inner_share: float = 0.5
    last_share: float = 0.02
    #: The next goal of the features' own gap, where the last was not enough.
    sharper: float = 0.25
    #: The relative gap below which landmarks leave the rest to the exact solver: a w that is another than w(β) is
    #: only as near to it as the root of the gap.
    finest: float = 1e-8
    #: The squared distance from the span, in units of the largest k(x, x), below which a sample adds no landmark: its
    #: column would be rounding, divided by the root of this.
    inside_single: float = 1e-5
    inside_double: float = 1e-11
    #: Support vectors whose scores are computed to estimate βᵀ(K − K̃)β. Tuned.
    looked: int = 1024
    #: Features up to this size are kept in float64, larger ones in float32: half the memory, and twice the speed.
    double_bytes: float = 2.0**27
    #: Rows in a block of the features, and blocks between two looks at the clock.
    rows: int = 2048
    chunk: int = 16
