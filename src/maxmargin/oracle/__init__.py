"""The independent oracle: both objectives of any point, by arithmetic that shares nothing with the rest."""

from maxmargin.oracle.all_classes import ClassesOracle
from maxmargin.oracle.oracle import Oracle, judge
from maxmargin.oracle.setting import Judgement, Setting

__all__ = ["ClassesOracle", "Judgement", "Oracle", "Setting", "judge"]
