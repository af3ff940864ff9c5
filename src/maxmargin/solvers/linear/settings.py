"""The tuning constants of the solvers for linear problems, each with its unit and the reason for its value.

They change speed, never what is proved: the loop stops by the certificate alone. A benchmark tries another value by
putting another instance into the module that reads them, such as ``replace(settings, patience=8.0)``. *Tuned* says that
no formula stands behind a value: the races of docs/performance.md were run with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SweepSettings:
    """`coordinate_newton.py`: sweeps, and when Newton's method or steps on the free block follow them."""

    #: Features up to which Newton's matrix is factored in every step: it takes d³/3 multiply-adds.
    most_features: int = 1000
    #: Passes after which the sweeps are judged, again and again: the first few are quicker than those that follow.
    #: Tuned.
    patience: float = 4.0
    #: Passes that Newton's method takes to the relative gap below, wherever it begins (a few dozen steps of one to two
    #: passes each): sweeps that take more are slow.
    newton_passes: float = 50.0
    newton_gap: float = 1e-5
    #: All samples are surveyed when the active ones have this share of their gap left. Tuned.
    survey_share: float = 0.3
    #: ... or after so many passes. A survey costs half a pass, so that this is an eighth of the work.
    survey_passes: float = 4.0
    #: The share is divided by this where it was not enough: the gap of all samples is as large as before.
    stricter: float = 10.0
    #: Relative gap from which on w is computed anew before a survey: the rounding of many changes is in it. Tuned.
    fresh_gap: float = 1e-5
    #: Passes after which steps on the free block begin: before, sweeps raise the dual ten times as much for their work.
    free_block_after: float = 20.0
    #: ... and where the relative gap is still this large (a large C), after so few passes.
    large_gap: float = 0.1
    free_block_soon: float = 5.0
    #: Conjugate gradient steps that a step on the free block must be able to pay for: fewer do not repay the copy of
    #: its rows, which costs six passes. Tuned.
    fewest_gradients: int = 20
    #: Conjugate gradient steps in one step on the free block, at most: bounds cut the step off. Tuned.
    most_gradients: int = 400
    #: The work of steps on the free block in units of that of the sweeps, at least and at most. It doubles while they
    #: raise the dual more for their work than the sweeps do, and halves where they do not.
    least_share: float = 0.5
    most_share: float = 4.0
    #: Newton steps on all rows after which it pays to leave out their zeros: the copy costs two passes. Tuned.
    long_newton: int = 6
    #: Newton steps for one σ, at most: a few are the rule, and where these do not suffice, more will not.
    most_newton_steps: int = 200
    #: The largest σ in units of the first one: then 1/σ is below the rounding of the equations.
    largest_sigma: float = 1e12
    #: The first σ, in units of the width of the box over the largest slope: such a step leads across the box. Tuned.
    first_sigma: float = 3.0


@dataclass(frozen=True)
class GrowingSampleSettings:
    """`growing_sample.py`: samples of the rows, for tall problems."""

    #: Rows per feature of a tall problem. A sample of few rows per feature is another problem: on w8a and mnist, which
    #: have fewer, samples lost.
    rows_per_feature: int = 250
    #: Rows of the smallest sample. Tuned.
    fewest_rows: int = 2000
    #: The most passes over the data that d³ multiply-adds may take: beyond that, factoring is too expensive. Tuned.
    most_passes_of_matrix: float = 30.0
    #: How many times as large each sample is as the one before: all samples together cost 8/7 of the largest. Tuned.
    growth: int = 8
    #: The share of the samples that the first smoothing has inside: of a sample, whose w is far from the answer, and of
    #: all rows, whose w is near it. Tuned.
    inside_sample: float = 0.4
    inside_all: float = 0.05
    #: The relative gap to which a sample is solved: the next sample has another answer anyway. Tuned.
    sample_gap: float = 0.05
    #: Newton steps for one sample, at most; few are the rule.
    most_steps: int = 50
    #: A model of what sweeps take to a gap of a thousandth: passes at least, and passes more for each step that leads
    #: across the box. Tuned.
    sweep_passes: float = 4.0
    sweep_passes_per_box: float = 5.0
    #: Multiply-adds of a visit to a sample besides its row. Tuned.
    visit_work: float = 25.0
    #: A model of what growing samples take to the same gap: passes over the data, and multiply-adds that the
    #: interpreter takes meanwhile (some 12 ms). Tuned.
    sample_passes: float = 7.5
    sample_work: float = 1.2e7
    #: Where no larger share of the samples moves in one sweep, most are soon left out, and sweeps suffice, too.
    few_moving: float = 0.05
    #: Rows on which that is seen: so many, or one in 64 of all: a 64th of a sweep is cheap beside a wrong choice.
    probed_rows: int = 2000
    probed_part: int = 64
    #: Numbers in a sample, at most, where the rows are not in memory: 8 MB.
    sample_numbers: int = 2**20
    #: Samples that are looked at to find the width of the smoothing, a quantile: it need not be exact.
    quantile_samples: int = 20_000


@dataclass(frozen=True)
class NewtonSettings:
    """`newton.py`: the augmented Lagrangian."""

    #: Samples in a block of the n-vectors, 256 kB for each: they stay in the processor's cache.
    block: int = 2**15
    #: Multiply-adds per sample that a step spends on the n-vectors: most of its time where features are few. Where
    #: they were not counted, looks came too late.
    vector_work: float = 60.0
    #: σ grows so many times from one problem to the next; less if the last took more than `few_steps` Newton steps.
    #: Tuned.
    growth: float = 5.0
    slow_growth: float = 2.0
    few_steps: int = 4
    #: A problem is settled where ‖∇φ‖² is below this share of ‖u − β‖²/σ, which is (½)²: the error of the inner
    #: problem is a fixed share of what the outer step moves (Rockafellar 1976, criterion B).
    settled_share: float = 0.25


@dataclass(frozen=True)
class NewtonStepSettings:
    """`newton_step.py`: the matrix of Newton's equations, and the length of a step."""

    #: Rows in a block of the matrix: their copy stays in the processor's cache.
    block: int = 1024
    #: Share of non-zeros below which rows go into the matrix entry by entry, others through BLAS: BLAS is faster for
    #: each multiply-add, and entries save the square of the share. Tuned.
    sparse_share: float = 0.15
    #: Multiply-adds up to which the matrix is computed in float64; beyond it in float32, at twice the speed: then many
    #: samples are inside, and the step is not one of the last.
    precise_work: float = 1e9
    #: What a free bias has on the diagonal instead of 1, relative to the sum of the weights: it is not penalised, and
    #: the matrix must be positive definite.
    bias_diagonal: float = 1e-12
    #: Features for which BLAS takes as long for the matrix as a pass over its rows takes. Tuned.
    features_per_pass: float = 80.0
    #: Trial steps in one search, at most; and trials by false position before much shorter steps are tried: the
    #: direction is then far too long, as no curvature was known there.
    most_trials: int = 24
    false_position: int = 10


@dataclass(frozen=True)
class FreeBlockSettings:
    """`free_block.py`: conjugate gradients on the samples inside their bounds."""

    #: The share of the slope at which conjugate gradients end: bounds cut the step off long before more digits count.
    slope_share: float = 0.1
    #: Shorter steps that are tried where the dual does not rise, and their ratio: the last is 0.005 of the first.
    trials: int = 6
    shorter: float = 0.35
    #: Rows whose scores one thread computes at a time, at least; and parts, at most.
    rows: int = 512
    parts: int = 16
    #: What the copy of the rows costs, in passes over them. Tuned.
    copy_passes: float = 6.0


@dataclass(frozen=True)
class NonZerosSettings:
    """`nonzeros.py`: the non-zeros of a dense array."""

    #: Share of non-zeros below which a row costs less as a list of them: an entry takes 12 bytes instead of 8, and its
    #: products are not vectorised. Tuned.
    few: float = 0.35
    #: Rows that are looked at to learn the share, and rows in a block.
    looked: int = 1000
    block: int = 4096


@dataclass(frozen=True)
class TruncatedNewtonSettings:
    """`truncated_newton.py`."""

    #: Samples in a block of the n-vectors, 128 kB for each: they stay in the processor's cache.
    block: int = 2**14
    #: Multiply-adds for one evaluation of a loss (a logarithm or an exponential), and for the interpreter in a line or
    #: two of NumPy. Tuned.
    evaluation_work: float = 20.0
    overhead: float = 2e4
    #: Features up to which Newton's matrix may be factored, as for `coordinate-newton`.
    most_features: int = 1000
    #: Multiply-adds of a matrix that is factored at once (some 2 ms): conjugate gradients are hardly quicker.
    small_matrix: float = 2e6
    #: Conjugate gradient steps in one Newton step, at most.
    most_steps: int = 1000
    #: Newton steps in a row that may gain nothing before rounding must be the reason.
    patience: int = 5
    #: The square of the residual of conjugate gradients, in units of that of the gradient, at most; it shrinks with the
    #: gradient, which makes the steps converge faster than linearly (Dembo & Steihaug).
    residual_share: float = 0.25


@dataclass(frozen=True)
class InteriorPointSettings:
    """`interior_point.py`."""

    #: Rows in a block: with their float64 copy they stay in the processor's cache.
    block: int = 4096
    #: Parts whose sums are added in order, whatever the number of threads.
    parts: int = 8
    #: Numbers of the data up to which the free variables are guessed on the way, and the relative gaps at which: where
    #: a guess is right, nothing is left to do. Tuned.
    small: float = 1e5
    guesses: tuple[float, ...] = (1e-3, 1e-6)
    #: A β that was cleaned up to this relative gap needs no w beside it.
    clean_gap: float = 1e-11
    #: Features up to which its matrix is factored in every round.
    most_features: int = 2000
    #: Multiply-adds of BLAS in the time of one that a pass over the rows makes. Tuned.
    blas_speed: float = 20.0
    #: Multiply-adds per sample that a round spends on the n-vectors. Tuned.
    vector_work: float = 80.0
    #: The share of the longest step that is taken, so that slacks stay positive (Mehrotra).
    back_off: float = 0.995


@dataclass(frozen=True)
class ProximalNewtonSettings:
    """`proximal_newton.py`, with `columns.py` and `lasso_steps.py`."""

    #: Features that W has at least; up to 1/0.5 of them W is all.
    least_features: int = 100
    all_share: float = 0.5
    #: The share of the whole gap down to which the problem on W is solved.
    inner_share: float = 0.1
    #: The share of the largest violation down to which a model is minimised: the next Newton step would undo more.
    model_share: float = 0.1
    #: Newton steps on one W, and rounds without any gain before rounding must be the reason.
    most_steps: int = 50
    patience: int = 3
    #: Sweeps between two steps on faces, faces, and the share of its diagonal that a face gets on top: equal features
    #: leave none.
    sweeps: int = 20
    most_faces: int = 200
    face_ridge: float = 1e-9
    #: Features up to which the matrix of the model is formed (128 MB), the most non-zeros of a sparse row, and the most
    #: multiply-adds of dense rows for that (some seconds of BLAS).
    most_features: int = 4000
    most_entries: float = 150.0
    most_work: float = 5e10
    #: Parts of the rows, side by side, in which a sparse matrix is summed, and rows of one at least.
    parts: int = 4
    least_rows: int = 2000
    #: Columns with this share of non-zeros count as dense.
    dense_share: float = 0.25
    #: Multiply-adds for one evaluation of a loss, and for the interpreter in one Newton step. Tuned.
    evaluation_work: float = 20.0
    overhead: float = 2e5
