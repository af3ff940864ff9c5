"""The pages of the documentation: their code runs, their links lead somewhere, the reference has every name."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    document for document in DOCS.rglob("*.md") if not {"_build", "generated", "gallery"} & set(document.parts)
)
FILES = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"))]
BLOCK = re.compile(r"^```(?:python|\{code-cell\})[^\n]*\n(.*?)^```", re.M | re.S)
#: Pages whose blocks go on with a fit that the reader has: two classes, new rows, a result.
CONTINUED = {"estimators.md", "command-line.md", "pictures.md", "cluster.md", "studio.md", "performance.md"}


def names(pages):
    return [str(document.relative_to(ROOT)) for document in pages]


def begun():
    """What the blocks of a document may take for granted."""
    from maxmargin import Problem, solve
    from maxmargin.data import toys

    X, y = toys.moons()
    return {"X": X, "y": y, "Z": X[:5], "result": solve(Problem(X, y, kernel="rbf"))}


WITH_CODE = [document for document in PAGES if BLOCK.search(document.read_text(encoding="utf-8"))]


@pytest.mark.compiled
@pytest.mark.parametrize("document", WITH_CODE, ids=names(WITH_CODE))
def test_every_block_of_code_runs(document, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": f"blocks_of_{document.stem.replace('-', '_')}"}
    # A dataclass looks its module up by this name.
    monkeypatch.setitem(sys.modules, scope["__name__"], type(sys)(scope["__name__"]))
    if document.name in CONTINUED:
        scope |= begun()
    with contextlib.redirect_stdout(io.StringIO()):
        for block in BLOCK.findall(document.read_text(encoding="utf-8")):
            exec(compile(block, str(document), "exec", dont_inherit=True), scope)


@pytest.mark.compiled
def test_the_commands_of_the_tutorial_run_as_they_are_printed(tmp_path, monkeypatch, capsys):
    """From the file that the page makes; a newcomer types them in this order."""
    from maxmargin.cli import main

    monkeypatch.chdir(tmp_path)
    text = (DOCS / "tutorials/command-line.md").read_text(encoding="utf-8")
    (made,) = BLOCK.findall(text)
    exec(compile(made, "tumours.py", "exec"), {})
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            main()
        assert sys.argv[0] == "maxmargin" and ended.value.code in (0, None), f"{line}: {capsys.readouterr().err}"


def anchors(text):
    """The anchors of the headings of a document, as the site and the usual hosts make them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
        found.add(plain.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("document", FILES, ids=names(FILES))
def test_every_link_leads_somewhere(document):
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        if "generated/" in path or "gallery/" in path:  # the build makes these, and fails where they are not
            continue
        other = document if not path else (document.parent / path).resolve()
        assert other.exists(), f"{document.name} links to {target}"
        if anchor and other.suffix == ".md":
            assert anchor in anchors(other.read_text(encoding="utf-8")), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", PAGES, ids=names(PAGES))
def test_every_page_is_in_a_table_of_contents(document):
    """A new document is found only where a menu leads to it."""
    if document == DOCS / "index.md":
        return
    listed = set()
    for index in PAGES:
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", index.read_text(encoding="utf-8"), re.M | re.S):
            for entry in tree.splitlines():
                if entry and not entry.startswith(":"):
                    listed |= {found.resolve() for found in index.parent.glob(f"{entry}.md")}
    assert document.resolve() in listed


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("site_parts.pages")
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.compiled
def test_the_reference_has_every_public_name(pages):
    import maxmargin
    from maxmargin import losses, solvers

    text = pages.api()
    for name in maxmargin.__all__:
        if not isinstance(getattr(maxmargin, name), type(sys)):
            assert re.search(rf"^ +maxmargin\.{name}$", text, re.M), name
    assert all(f"solvers/{name}.md" in pages.cards.overview() for name in solvers.list_solvers())
    assert all(name in pages.loss_page() for name in losses.list_losses())


@pytest.mark.compiled
def test_the_tables_for_users_of_scikit_learn_say_every_difference(pages):
    import sklearn.svm

    import maxmargin

    for name in pages.ESTIMATORS:
        theirs, ours = getattr(sklearn.svm, name), getattr(maxmargin, name)
        for parameter, remark in pages.parameters(theirs, ours):
            same = pages._default(theirs, parameter) == pages._default(ours, parameter)
            assert same or len(remark) > 10, f"{name}.{parameter} differs and its docstring does not say how"


@pytest.mark.compiled
def test_every_solver_has_a_card_with_its_algorithm_its_answers_and_a_run(pages):
    from maxmargin import solvers

    for name in solvers.list_solvers():
        card = pages.cards.card(name)
        for part in ("## Problem and algorithm", "## What it takes and what it refuses", f"tapes/solver-{name}.html"):
            assert part in card, name
        run = pages.cards.recorded(name)
        assert len(run.trace) and run.certificate.relative_gap >= 0.0, name


@pytest.mark.slow
@pytest.mark.compiled
def test_every_part_of_the_course_is_a_notebook_with_a_run_and_exercises(pages, tmp_path):
    """Their cells run when the site is built, and in tests/lesson."""
    import nbformat

    from maxmargin.lesson.course import PARTS

    pages.lessons.write(tmp_path)
    names = [path.stem for path in sorted(tmp_path.glob("*.ipynb"))]
    assert names == [pages.lessons.name_of(part.key) for part in PARTS]
    for part, name in zip(PARTS, names, strict=True):
        notebook = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert text.count("### Exercise") == len(part.exercises)
        assert not re.search(r"<<\w+>>|\[\[[a-z]+(?:\.\d)?\]\]", text) and not pages.lessons.COMMAND.search(text), name
        for target in re.findall(r"\]\(([\w-]+\.ipynb)\)", text):
            assert (tmp_path / target).exists()
        runs = pages.lessons.runs_of(part)
        assert runs and all(f'src="../tapes/{one.name}.html"' in text for one in runs)


@pytest.mark.slow
@pytest.mark.compiled
def test_every_lesson_and_every_solver_has_its_recorded_run(pages, tmp_path):
    from maxmargin import solvers
    from maxmargin.lesson.course import PARTS

    pages.lessons.write_tapes(tmp_path)
    pages.cards.write_tapes(tmp_path)
    runs = [one.name for part in PARTS for one in pages.lessons.runs_of(part)]
    expected = {f"{name}.html" for name in [*runs, *(f"solver-{name}" for name in solvers.list_solvers())]}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_the_benchmarks_page_has_every_line_those_where_we_are_behind_first(pages):
    found = pages.benchmarks.lines(ROOT / "benchmarks/results")
    ratios = [line.ratio for line in found]
    assert len(found) > 200 and ratios == sorted(ratios) and ratios[0] < 1
    page = pages.benchmarks.page(ROOT / "benchmarks/results")
    assert page.count("<tr data-data=") == len(found)
    for path in {line.file for line in found}:
        assert re.search(rf"^- \[{path}\]\(measurements/{path}.md\): \d{{4}}-\d\d-\d\d.*cores.*numpy", page, re.M)


def test_the_command_line_page_has_every_option(pages):
    text = pages.command_line()
    for option in ("--search", "--resume", "--stream", "--tol", "--solvers"):
        assert f"`{option}`" in text


def test_the_version_is_in_one_place():
    import maxmargin

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert f"version: {maxmargin.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_readme_on_an_index_has_no_link_to_a_file():
    """An index shows it without the repository beside it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert not re.search(r"\]\((?!https?:|#)", text) and "![" not in text
    assert "certificate" in text


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_have_a_title_and_words(example):
    """The build runs them; here only what a reader sees first."""
    text = example.read_text(encoding="utf-8")
    assert re.match(r'"""\n.+\n=+\n\n.+', text), "a title, underlined, and a sentence"
    assert example.name.startswith("plot_") or 'if __name__ == "__main__":' in text, "a part of the build, or a program"
    compile(text, str(example), "exec")


def test_there_are_enough_examples():
    assert len(list((ROOT / "examples").glob("plot_*.py"))) >= 20
