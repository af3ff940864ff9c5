"""The kernel matrix K as solvers use it: rows on demand in a cache, the square over the active samples, kept rows."""

from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.cached_rows import Gram
from maxmargin.gram.row_store import RowStore

__all__ = ["ActiveSquare", "Gram", "RowStore"]
