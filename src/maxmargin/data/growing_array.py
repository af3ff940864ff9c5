"""Arrays that grow while a file is read, without ever holding the data twice for long."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


class Growing:
    """A one-dimensional array that blocks are appended to.

    Memory that has been asked for but not written to costs nothing, so the array is made as large as the share of
    the file that is read suggests, and cut to size at the end.
    """

    def __init__(self, dtype: type) -> None:
        self.used = 0
        self._array: np.ndarray = np.empty(0, dtype)

    def extend(self, blocks: Iterable[np.ndarray], share: float) -> None:
        """Add blocks; `share` of the whole is there with them (0 where that is not known)."""
        blocks = list(blocks)
        needed = self.used + sum(len(block) for block in blocks)
        if needed > len(self._array):
            expected = 1.05 * needed / share if share > 0.001 else 2.0 * needed
            larger = np.empty(max(needed, int(expected)), self._array.dtype)
            larger[: self.used] = self._array[: self.used]
            self._array = larger
        for block in blocks:
            self._array[self.used : self.used + len(block)] = block
            self.used += len(block)

    def done(self) -> np.ndarray:
        """The whole array; nothing can be appended after that."""
        self._array.resize(self.used, refcheck=False)
        return self._array
