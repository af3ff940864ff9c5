"""The tuning constants of fits on shards, each with its unit and the reason for its value; they never change proofs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TallSettings:
    """`tall.py`: a sample, Newton's method on sums, and the rows near their kinks."""

    #: Features up to which Newton's matrix is summed over the shards: 2000² numbers are 32 MB.
    most_features: int = 2000
    #: Numbers of a sample and of the rows near their kinks that the client takes, at most (16 MB), and rows of them for
    #: each feature, at least: of fewer, a sample is another problem.
    client_numbers: int = 2**21
    rows_per_feature: int = 20
    #: The relative gap to which the sample is solved: the whole has another answer anyway.
    sample_gap: float = 1e-3
    #: The share of the rows that the first smoothing has inside.
    inside: float = 0.05
    #: The width shrinks by this from step to step where smoothing makes most of the gap: its part shrinks by the
    #: square.
    narrower: float = 0.2
    #: Rows inside the smoothed part for each feature, at least: the matrix needs them.
    inside_per_feature: float = 2.0
    #: A step that has not led down is cut to this.
    shorter: float = 0.25
    #: The last so many points are remembered: rows that are on another side of a kink there are fetched, too.
    visited: int = 4
    #: The share of the near rows that the client's own smoothing has inside at first.
    inside_near: float = 0.2
    #: Steps of the client's own solver on the rows near their kinks, at most.
    most_steps: int = 200
    #: Rounds, at most: a few are the rule.
    most_rounds: int = 60


@dataclass(frozen=True)
class WideSettings:
    """`wide.py`: steps on the duals of each shard; and when one worker does it alone."""

    #: Bytes of rows that one worker takes from the others and solves as one machine would: half a gigabyte. The rounds
    #: of block-diagonal steps take many times as long for so little.
    one_worker_bytes: int = 2**29
    #: The relative gap to which a sample of the rows is solved: the whole has another answer anyway.
    sample_gap: float = 1e-3
    #: All β begin at 0 where Σ|β| would be so many times that of the sample.
    much: float = 1.5
    #: Near rows are solved to this share of the gap that is asked for.
    near_gap: float = 0.1
    #: Times that near rows are gathered, at most: three to twelve are the rule, unless many more rows are near.
    most_gatherings: int = 25
    #: Epochs over a shard in one round, at most, and the share of its gap at which they end before.
    most_epochs: float = 3.0
    local_gap: float = 1e-3
    #: The constant feature behind a free bias, in units of the longest row: all shards share it, so that a large one
    #: ties them together, and a small one makes its multiplier slow. Tuned.
    constant: float = 0.1
    #: The share of the newest w in their mean: that of a few smooths what the shards pull to and fro.
    newest: float = 0.3
    #: Rounds, at most.
    most_rounds: int = 500


@dataclass(frozen=True)
class LandmarkSettings:
    """`landmarks.py`: kernel models on shards."""

    #: Landmarks, at most: Newton's matrix of their features is summed over the shards.
    most: int = 2000
    #: Rows of the sample that the landmarks are chosen on.
    sample_rows: int = 20_000
    #: The sample's gap that is asked for, in units of the last one, where that left too large a gap of all rows.
    sharper: float = 0.25
    #: The squared distance from the span of the others, in units of the largest k(x, x), below which a landmark is left
    #: out: features are float32.
    near: float = 1e-5
    #: Bytes of the rows of a shard, at least: its features have a hundred times as many.
    shard_bytes: int = 2**22
    #: Bytes of rows that are sent to all shards at a time, to sum βᵀKβ.
    sent_bytes: float = 2.0**25
    #: What the sample's own features may take on the client.
    cache_bytes: float = 1e9
