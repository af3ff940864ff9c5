"""The independent oracle: both objectives of any point, by arithmetic that shares nothing with the rest."""

from maxmargin.oracle.oracle import Oracle, judge
from maxmargin.oracle.setting import Judgement, Setting

__all__ = ["Judgement", "Oracle", "Setting", "judge"]
