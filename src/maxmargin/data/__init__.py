"""Data in and out: svmlight, CSV, Parquet, Arrow and NumPy files; scaling; and the toy sets of the lessons."""

from __future__ import annotations

from maxmargin.data.dataset import Data
from maxmargin.data.formats import FORMATS, blocks, read, write
from maxmargin.data.scaling import Scaling, scaling

__all__ = ["FORMATS", "Data", "Scaling", "blocks", "read", "scaling", "write"]
