"""exp(−γ‖a − b‖²) from a block of ⟨a, b⟩, in place and in one pass while the block is in the processor's cache.

    1. t ← −γ(‖a‖² + ‖b‖² − 2⟨a, b⟩)/ln 2, at most 0 (rounding can make a squared distance negative).
    2. t = k + f with k whole and |f| ≤ ½;  exp = 2^k · 2^f.
    3. 2^f by its Taylor polynomial, to the last bit or two of the type; 2^k by writing the exponent's bits.

Below 2^−126 (float32) or 2^−1022 (float64) the result stops falling: there it is 0 for every purpose.
"""

from __future__ import annotations

from math import factorial, log

import numpy as np

from maxmargin.numeric.compiled import compiled

_SINGLE = tuple(np.float32(log(2.0) ** k / factorial(k)) for k in range(7))
_DOUBLE = tuple(log(2.0) ** k / factorial(k) for k in range(14))


def exponential(K: np.ndarray, a2: np.ndarray, b2: np.ndarray, gamma: float) -> None:
    """K ← exp(−γ(a2 + b2 − 2K)), for a C-contiguous block of either precision."""
    if K.dtype == np.float32:
        _exponential_single(K, a2.astype(np.float32), b2.astype(np.float32), gamma)
    else:
        _exponential_double(K, a2, b2, gamma)


@compiled
def _exponential_single(K, a2, b2, gamma):
    c0, c1, c2, c3, c4, c5, c6 = _SINGLE
    rate, half, zero, least = np.float32(gamma / 0.6931471805599453), np.float32(0.5), np.float32(0), np.float32(-126)
    bits = np.empty(K.shape[1], np.int32)
    for i in range(K.shape[0]):
        row, norm = K[i], a2[i]
        for j in range(len(row)):
            t = max(min((row[j] + row[j] - norm - b2[j]) * rate, zero), least)  # 1.
            k = np.floor(t + half)  # 2.
            f = t - k
            row[j] = c0 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * c6)))))  # 3.
            bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
        power = bits.view(np.float32)
        for j in range(len(row)):
            row[j] *= power[j]


@compiled
def _exponential_double(K, a2, b2, gamma):
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 = _DOUBLE
    rate = gamma / 0.6931471805599453
    bits = np.empty(K.shape[1], np.int64)
    for i in range(K.shape[0]):
        row, norm = K[i], a2[i]
        for j in range(len(row)):
            t = max(min((row[j] + row[j] - norm - b2[j]) * rate, 0.0), -1022.0)  # 1.
            k = np.floor(t + 0.5)  # 2.
            f = t - k
            high = c7 + f * (c8 + f * (c9 + f * (c10 + f * (c11 + f * (c12 + f * c13)))))  # 3.
            row[j] = c0 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * (c6 + f * high))))))
            bits[j] = (np.int64(k) + np.int64(1023)) << np.int64(52)
        power = bits.view(np.float64)
        for j in range(len(row)):
            row[j] *= power[j]
