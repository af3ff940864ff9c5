"""What the README shows is what the code does."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.compiled
def test_the_ten_lines_print_what_the_readme_says():
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", README, re.S) if "load_breast_cancer" in block]
    (shown,) = re.findall(r"prints\n\n```text\n(.*?)```", README, re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    ours, theirs = printed.getvalue().splitlines(), shown.splitlines()
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        if one.startswith(("gap", "KKT", "infeasibility")):
            continue  # the last digits of a gap near rounding differ from one processor to the next
        assert one == other


def test_every_solver_is_in_the_table():
    from maxmargin.solvers.base import registry

    for name in registry.names():
        assert f"`{name}`" in README, name


def test_everything_linked_is_there():
    root = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (root / target).exists(), target


@pytest.mark.compiled
def test_all_blocks_run_one_after_the_other(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in re.findall(r"```python\n(.*?)```", README, re.S):
            exec(compile(block, "README.md", "exec"), scope)
    assert (tmp_path / "fit.html").exists()
