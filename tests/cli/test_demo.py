"""The demonstration: its table is true, its page is whole, and its command line is kind."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from maxmargin import demo
from maxmargin.cli import main
from maxmargin.cli.app import app
from maxmargin.page import picture
from maxmargin.solvers.base import registry

pytestmark = pytest.mark.compiled
runner = CliRunner()


def test_the_hinge_is_for_every_solver_but_those_of_smooth_losses():
    def accepted(name: str) -> bool:
        return any(
            registry[name].accepts(task.problem(bias)) is None for task in demo.TASKS for bias in ("free", "augmented")
        )

    assert {name for name in registry.names() if not accepted(name)} == {"truncated-newton", "proximal-newton"}


@pytest.mark.parametrize("task", demo.TASKS[1:3], ids=lambda task: task.kernel)
def test_every_method_stands_in_the_table_and_agrees(task):
    found = [row for row in demo.rows(task) if isinstance(row, demo.Row)]
    problems = [task.problem(bias) for bias in ("free", "augmented")]
    accepting = {name for name in registry.names() if any(registry[name].accepts(p) is None for p in problems)}
    assert {row.method for row in found} == {"auto", *accepting}
    assert demo.agreement(found).startswith("All methods agree")
    for row in found:
        cells = dict(zip(demo.HEADER, row.cells(), strict=True))
        assert float(cells["primal"]) == pytest.approx(row.result.certify().primal, rel=1e-4)
        assert int(cells["SVs"]) == len(row.result.support)


def test_a_disagreement_is_said():
    """The check can fail: give one method another method's problem."""
    found = [row for row in demo.rows(demo.TASKS[1]) if isinstance(row, demo.Row) and row.method in ("smo", "qp")]
    other = [row for row in demo.rows(demo.TASKS[3]) if isinstance(row, demo.Row) and row.method == "smo"]
    assert "NOT agree" in demo.agreement(found + other)


def written(folder):
    """The page, and the files that it names."""
    page = (folder / "index.html").read_text(encoding="utf-8")
    return page, re.findall(r'(?:src|srcset)="([^"]+)"', page)


def assert_whole(folder):
    page, names = written(folder)
    assert all((folder / name).stat().st_size > 0 for name in names)
    assert {path.name for path in folder.iterdir()} == {"index.html", *names}
    # Offline and without scripts: nothing is fetched, nothing runs.
    assert "http" not in page and "<script" not in page and "javascript" not in page and "url(" not in page
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors
    assert page.count("<details>") == page.count("</details>") == page.count("<summary>")
    return page, names


def test_the_lesson_shows_only_files_that_it_wrote(tmp_path, monkeypatch):
    parts = [part for part in demo.PARTS if part.key in ("duality", "kkt")]
    monkeypatch.setattr(demo, "PARTS", parts)
    monkeypatch.setattr(demo, "TASKS", demo.TASKS[1:2])
    found = [row for row in demo.rows(demo.TASKS[0]) if isinstance(row, demo.Row) and row.method in ("smo", "qp")]
    demo.contest.cache_clear()
    said = []
    assert demo.lesson(tmp_path, found, said.append) == tmp_path / "index.html"
    demo.contest.cache_clear()
    page, names = written(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", *names}
    assert len(names) == 2 * (1 + 2 + 1)  # every figure twice: for a wide page and for a narrow one
    assert len(said) == 3
    for part in parts:
        assert f'<section id="{part.key}">' in page and page.count(f'id="{part.key}-') == len(part.exercises)
    assert "<math" in page and "All methods agree" in page


def test_a_wide_and_a_narrow_figure_in_one_picture():
    html = picture("wide.png", "A <em>caption</em> &amp; $", "narrow.png")
    assert '<source media="(max-width: 40rem)" srcset="narrow.png">' in html
    assert 'alt="A caption &amp; $"' in html and "<figcaption>A <em>caption</em> &amp; $</figcaption>" in html
    assert "<picture>" not in picture("one.png", "one")


@pytest.mark.slow
def test_the_whole_demo(tmp_path):
    done = runner.invoke(app, ["demo", "-o", str(tmp_path / "lesson")])
    assert done.exit_code == 0, done.output
    assert "NOT agree" not in done.output
    page, names = assert_whole(tmp_path / "lesson")
    assert len(names) > 60
    assert sum(path.stat().st_size for path in (tmp_path / "lesson").iterdir()) < 8e6
    for part in demo.PARTS:
        assert f'<section id="{part.key}">' in page


def test_a_file_in_the_way_is_one_sentence(tmp_path, capsys, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr("sys.argv", ["maxmargin", "demo", "-o", str(tmp_path / "taken")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert re.fullmatch(r"maxmargin: .*taken is a file; name a folder with -o\n", capsys.readouterr().err)
    assert (tmp_path / "taken").read_text() == "mine"


def test_help_and_version():
    assert "Example: maxmargin demo -o lesson" in runner.invoke(app, ["demo", "--help"]).output
    assert re.fullmatch(r"maxmargin \d+\.\d+\.\d+\n", runner.invoke(app, ["--version"]).output)
    assert "demo" in runner.invoke(app, []).output
