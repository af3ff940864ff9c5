"""The peak of this process's memory between two moments; NaN where the system does not tell (it is Linux that does).

And memory at hand: a virtual machine may lend what is free to its host, and to get it back costs up to 2 s a gigabyte.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

#: What is touched before each fit, at most: the memory that kernel solvers may use.
AT_HAND = 2**31


def get_at_hand() -> None:
    """Touch that much memory, or half of what is free, and free it: no fit shall pay for the pause before it."""
    try:
        page, free = os.sysconf("SC_PAGESIZE"), os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError):  # a system that does not tell
        return
    np.empty(min(AT_HAND, page * free // 2), np.uint8)[::page] = 1


def start_peak() -> float:
    """Hand back what is free, forget the peak so far; returns the bytes in use now."""
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return np.nan
    return _status("VmRSS")


def peak() -> float:
    """The most bytes in use since `start_peak`."""
    return _status("VmHWM")


def _status(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return np.nan
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith(field)), np.nan)
