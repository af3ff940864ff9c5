"""The numbers that the oracle computes with: long doubles, or decimals of 60 digits."""

from __future__ import annotations

import decimal
from typing import Any, Literal

import numpy as np

#: Products of kernel values that are made in long double at most: about a second of work.
LONG_WORK = 2**25

Precision = Literal["auto", "float64", "long", "decimal"]


class Long:
    """Long doubles, or float64 where the platform has nothing longer."""

    dtype: Any = np.longdouble
    unit: Any = np.finfo(np.longdouble).eps / 2

    def of(self, values: Any) -> np.ndarray:
        return np.asarray(values, dtype=self.dtype)

    def exp(self, x: np.ndarray) -> np.ndarray:
        return np.exp(x)

    def log(self, x: np.ndarray) -> np.ndarray:
        return np.log(x)

    def context(self) -> Any:
        return np.errstate(all="ignore")


class Decimals:
    """Decimals of 60 digits and any exponent, in arrays of objects."""

    dtype: Any = object
    unit: Any = decimal.Decimal("1e-59")

    def of(self, values: Any) -> np.ndarray:
        values = np.asarray(values)
        if values.dtype == object:
            return values
        flat = [decimal.Decimal(value) for value in values.astype(np.float64).ravel().tolist()]
        out = np.empty(len(flat), dtype=object)
        out[:] = flat
        return out.reshape(values.shape)

    def exp(self, x: np.ndarray) -> np.ndarray:
        return np.frompyfunc(lambda one: one.exp(), 1, 1)(x)

    def log(self, x: np.ndarray) -> np.ndarray:
        return np.frompyfunc(lambda one: one.ln(), 1, 1)(x)

    def context(self) -> Any:
        return decimal.localcontext(
            decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[decimal.InvalidOperation])
        )


#: Whether a long double has more digits than a float64 here.
LONGER = float(np.finfo(np.longdouble).eps) < 1e-18


def numbers_for(wanted: Precision, work: float) -> tuple[Any, bool]:
    """The arithmetic for so much work, and whether kernel values come from compiled float64 loops."""
    if wanted == "decimal" or (wanted == "auto" and not LONGER and work <= LONG_WORK / 256):
        return Decimals(), False
    return Long(), wanted == "float64" or (wanted == "auto" and work > LONG_WORK)
