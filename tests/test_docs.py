"""The pages of the documentation: their code runs, their links lead somewhere, the reference has every name."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
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
    cards = pages.solver_cards()
    for name in solvers.list_solvers():
        assert f"## `{name}`" in cards
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
