"""The page's own checks, where Node is installed: its pure functions, and its types."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "page"


def needs(there, reason):
    """Skip with a reason, but never where changes are checked before they go in."""
    if there:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; the set-up of .ci/run installs it")
    pytest.skip(reason)


def run(*command):
    ended = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-3000:]
    return ended.stdout


def test_the_pure_functions_of_the_page():
    needs(shutil.which("node"), "node is not installed")
    assert "# fail 0" in run("node", "--test", "--test-reporter=tap")


def test_the_types_of_the_page():
    compiler = HERE / "node_modules" / ".bin" / "tsc"
    needs(compiler.exists(), f"typescript is not installed: run npm install in {HERE}")
    run(str(compiler), "--noEmit", "-p", "tsconfig.json")
