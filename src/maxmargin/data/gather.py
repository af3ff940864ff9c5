"""Arrays that grow while a file is read, without ever holding the data twice for long."""

from __future__ import annotations

import numpy as np


class Growing:
    """A one-dimensional array that blocks are appended to.

    Memory that has been asked for but not written to costs nothing, so the array is made as large as the share of
    the file that is read suggests, and cut to size at the end.
    """

    def __init__(self, dtype: type) -> None:
        self.used = 0
        self._array: np.ndarray = np.empty(0, dtype)

    def append(self, block: np.ndarray, share: float) -> None:
        """Add a block; `share` of the whole is there with it (0 where nobody knows)."""
        needed = self.used + len(block)
        if needed > len(self._array):
            expected = needed / share if share > 0.01 else 2.0 * needed
            larger = np.empty(max(needed, int(1.03 * min(expected, 100.0 * needed))), self._array.dtype)
            larger[: self.used] = self._array[: self.used]
            self._array = larger
        self._array[self.used : needed] = block
        self.used = needed

    def done(self) -> np.ndarray:
        """The whole array; nothing can be appended after that."""
        self._array.resize(self.used, refcheck=False)
        return self._array
