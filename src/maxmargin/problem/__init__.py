"""One problem: data, loss, kernel, bias and C, both of its objectives, and where w lives."""

from maxmargin.problem.nu import NuProblem
from maxmargin.problem.problem import CACHE_BYTES, Bias, Problem

__all__ = ["CACHE_BYTES", "Bias", "NuProblem", "Problem"]
