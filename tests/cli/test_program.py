"""The program as a shell sees it: python -m, completion, and an import that stays light."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "maxmargin", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


def test_python_m(files, tmp_path):
    assert run("--version").stdout.startswith("maxmargin ")
    assert "Usage: maxmargin" in run("--help").stdout
    assert run("train", files / "two.svm", "-o", tmp_path / "m.mm").returncode == 0
    ended = run("train", files / "nowhere.svm")
    assert ended.returncode == 1 and ended.stderr.startswith("maxmargin: cannot read ")
    assert run().returncode == 2


@pytest.mark.parametrize(
    "words, place, found",
    [
        ("maxmargin tr", 1, {"train"}),
        ("maxmargin s", 1, {"scale", "split", "solvers"}),
        ("maxmargin train --ga", 2, {"--gamma", "--gamma-range"}),
        ("maxmargin predict --pro", 2, {"--probability"}),
    ],
)
def test_completion(words, place, found):
    ended = run(_MAXMARGIN_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(place))
    assert set(ended.stdout.split()) == found, ended.stdout + ended.stderr
    zsh = run(_MAXMARGIN_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=words)
    assert next(iter(sorted(found))) in zsh.stdout


def test_the_commands_are_listed_without_heavy_imports():
    code = (
        "import sys; from maxmargin.cli.app import app\n"
        "assert not {'numba', 'scipy', 'sklearn', 'numpy', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
