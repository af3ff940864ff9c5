"""One problem: data, loss, kernel, bias and C, both of its objectives, and where w lives."""

from maxmargin.problem.crammer_singer import CrammerSingerProblem
from maxmargin.problem.nu import NuProblem
from maxmargin.problem.problem import CACHE_BYTES, Problem
from maxmargin.problem.validation import Bias

__all__ = ["CACHE_BYTES", "Bias", "CrammerSingerProblem", "NuProblem", "Problem"]
