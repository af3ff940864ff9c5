"""When and on what a race was run: date, processor, cores, load, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from racing.worker import Racer

PACKAGES = {
    "liblinear": "liblinear-official",
    "libsvm": "libsvm-official",
    "lightning": "sklearn-contrib-lightning",
    "linearsvc": "scikit-learn",
    "maxmargin": "maxmargin",
    "sklearnex": "scikit-learn-intelex",
    "svc": "scikit-learn",
    "thundersvm": "thundersvm-cpu",
}
ALWAYS = ("numpy", "scipy", "numba")


def described(racers: Sequence[Racer]) -> str:
    """One paragraph."""
    return f"{machine()}, {versions([PACKAGES.get(racer.file, racer.file) for racer in racers])}."


def machine() -> str:
    """The date, the processor and its load."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load average {os.getloadavg()[0]:.1f} (the race itself included)" if hasattr(os, "getloadavg") else ""
    return f"{datetime.now():%Y-%m-%d %H:%M}, {cores} cores of {_processor()}{load}, Python {platform.python_version()}"


def versions(packages: Sequence[str]) -> str:
    """The versions of some packages, and of those that everybody uses."""
    return ", ".join(f"{package} {_version(package)}" for package in dict.fromkeys([*packages, *ALWAYS]))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
