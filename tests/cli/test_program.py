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
        ("maxmargin s", 1, {"scale", "split", "solvers", "studio"}),
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


#: What takes longest to import; `train` needs Numba's runtime, but not its compiler where the code is in the cache.
HEAVY = {"numba", "sklearn", "matplotlib", "scipy.optimize", "scipy.linalg", "pandas"}
COMPILER = {"sklearn", "matplotlib", "scipy.optimize", "scipy.special", "numba.np.arraymath"}


@pytest.mark.parametrize(
    "arguments, avoided",
    [
        (["solvers"], HEAVY),
        (["solvers", "smo"], HEAVY),
        (["kernels"], HEAVY),
        (["losses"], HEAVY),
        (["info", "two.svm"], HEAVY),
        (["info", "model.mm"], HEAVY),
        (["train", "two.svm", "-o", "model.mm"], COMPILER),
        (["train", "two.svm", "--kernel", "rbf", "-o", "model.mm"], COMPILER),
        (["predict", "model.mm", "two.svm"], COMPILER),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_a_command_imports_what_it_needs(arguments, avoided, files, tmp_path):
    """Starting is most of the time of small fits. The first run may compile; the second one must not."""
    head = (files / "two.svm").read_bytes().splitlines(keepends=True)[:30]  # a small file
    (tmp_path / "two.svm").write_bytes(b"".join(head))
    assert run("train", tmp_path / "two.svm", "-o", tmp_path / "model.mm").returncode in (0, 3)
    code = (
        "import sys\n"
        f"sys.argv = ['maxmargin', *{arguments!r}]\n"
        "from maxmargin.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print('LOADED', sorted({avoided!r} & set(sys.modules)))\n"
    )
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert "LOADED []" in ended.stdout, ended.stdout + ended.stderr


def test_a_library_that_is_imported_late_keeps_to_one_blas_thread():
    """SciPy's linear algebra is imported where it is needed, inside the limit: its BLAS must be under it, too."""
    code = (
        "import sys, threadpoolctl\n"
        "from maxmargin.numeric.parallel import one_blas_thread\n"
        "with one_blas_thread():\n"
        "    late = 'scipy.linalg' not in sys.modules\n"
        "    from scipy.linalg import cho_factor\n"
        "    blas = [one for one in threadpoolctl.threadpool_info() if one['user_api'] == 'blas']\n"
        "    print(late, len(blas) > 0, {one['num_threads'] for one in blas})\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert ended.stdout in ("True True {1}\n", "False True {1}\n"), ended.stdout + ended.stderr
