"""Imports point one way only, `import maxmargin` is light, and its public names are what they say."""

import ast
import importlib
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import maxmargin

ROOT = Path(maxmargin.__file__).parent

#: From the ground up: a module may import, when it is itself imported, from lower layers and from its own folder.
#: Every module has its layer; docs/house.md draws them.
LAYERS = (
    ("errors",),
    ("registry", "numeric", "shown"),
    ("losses", "kernels", "regularizers", "transforms"),
    ("gram",),
    ("problem",),
    ("result",),
    ("certificate",),
    ("solvers",),
    ("small",),
    ("loop",),
    ("saddle", "quadratic"),
    ("files", "oracle"),
    ("data", "page"),
    ("models",),
    ("training",),
    ("cluster",),
    ("estimators", "plots", "report", "lesson"),
    ("notebook",),
    ("studio",),
    ("demo", "dask"),
    ("dask_svc",),
    ("cli",),
    ("__main__",),
)


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def rank(module):
    """The layer of a module, by the first name below maxmargin."""
    if module == "maxmargin":
        return len(LAYERS) + 1  # it only names what is public
    first = module.split(".")[1]
    return next(i for i, layer in enumerate(LAYERS) if first in layer)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def run_at_import(body):
    """The statements that run when a module is imported: not those inside functions, nor those for type checkers."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(node):
            continue
        yield node
        for part in ("body", "orelse", "finalbody", "handlers"):
            yield from run_at_import(getattr(node, part, []))


def imported(module):
    """The modules of ours that a module imports when it is imported."""
    path = FILES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in run_at_import(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "maxmargin")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]) if base else ".".join(above)
            if base.split(".")[0] == "maxmargin":
                for alias in node.names:  # a name may be a module itself
                    yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in FILES else base


def folder(module):
    """The package below maxmargin that a module belongs to, or the module itself."""
    return ".".join(module.split(".")[:2])


def test_every_module_has_a_layer():
    assert {name for layer in LAYERS for name in layer} == {name.split(".")[1] for name in FILES if "." in name}


@pytest.mark.parametrize("module", FILES)
def test_imports_point_one_way(module):
    for other in imported(module):
        assert other in FILES, f"{module} imports {other}, which is not there"
        if folder(other) == folder(module):
            continue
        assert rank(other) < rank(module), f"{module} imports {other}, which is not below it"


def test_imports_do_not_go_in_circles():
    graph = {module: set(imported(module)) - {module} for module in FILES}
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


def test_the_oracle_shares_no_arithmetic():
    """It judges kernels, losses, sums and solvers: it may use threads, the compiler and errors, no more."""
    for module in FILES:
        if folder(module) == "maxmargin.oracle":
            others = {folder(other) for other in imported(module)} - {"maxmargin.oracle"}
            assert others <= {"maxmargin.errors", "maxmargin.numeric"}, (module, others)
            below = {other for other in imported(module) if folder(other) == "maxmargin.numeric"}
            assert below <= {"maxmargin.numeric.compiled", "maxmargin.numeric.parallel"}, (module, below)
            assert "import maxmargin" not in ast.unparse(ast.parse(FILES[module].read_text(encoding="utf-8")))


def in_a_new_interpreter(code):
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_import_is_light():
    loaded = set(in_a_new_interpreter("import maxmargin, sys; print(*sys.modules)").split())
    assert "maxmargin" in loaded
    assert not loaded & {"numba", "sklearn", "matplotlib", "scipy", "rich"}


def test_names_stay_what_they_are_whatever_is_imported_first():
    code = """
import maxmargin.loop, maxmargin.solvers, maxmargin.kernels, maxmargin.losses, maxmargin.certificate
from types import FunctionType, ModuleType
from maxmargin import certify, kernels, losses, solve, solvers
assert isinstance(solve, FunctionType) and isinstance(certify, FunctionType)
assert maxmargin.solve is solve and type(maxmargin) is ModuleType
assert all(isinstance(module, ModuleType) for module in (kernels, losses, solvers))
"""
    in_a_new_interpreter(code)
    in_a_new_interpreter("from maxmargin import kernels, solve, solvers\n" + code)  # and in the other order


@pytest.mark.parametrize("folder", ["kernels", "losses", "regularizers", "solvers"])
def test_every_registered_class_can_be_imported_from_its_folder(folder):
    package = importlib.import_module(f"maxmargin.{folder}")
    registry = importlib.import_module(f"maxmargin.{folder}.base").registry
    for name, made in registry.classes().items():
        assert getattr(package, name) is made
        assert name in dir(package)
    assert getattr(maxmargin, f"list_{folder}")() == registry.names()
    with pytest.raises(AttributeError, match="Nonsense"):
        package.Nonsense  # noqa: B018


def test_public_names():
    for name in maxmargin.__all__:
        value = getattr(maxmargin, name)
        modules = (
            "dask", "data", "errors", "estimators", "kernels", "losses", "models", "plots", "regularizers", "solvers",
            "transforms",
        )  # fmt: skip
        assert isinstance(value, ModuleType) == (name in modules), name
    assert set(dir(maxmargin)) >= set(maxmargin.__all__)
    with pytest.raises(AttributeError, match="no attribute 'margin'"):
        maxmargin.margin  # noqa: B018
