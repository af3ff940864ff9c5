"""Lets the files of this benchmark import `racing`, which lies beside it and serves both benchmarks."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
