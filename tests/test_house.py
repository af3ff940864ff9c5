"""The sizes that keep the house readable: short functions, few arguments, modules of a few screens, plain names."""

import ast
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(maxmargin.__file__).parent
FILES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}

#: Lines of a function (its docstring apart), arguments (self apart), lines of a module.
MOST_LINES, MOST_ARGUMENTS, MOST_OF_A_MODULE = 60, 10, 400

#: Functions whose arguments are an interface of their users, each a parameter by itself: a class of them would only be
#: another name to learn.
INTERFACES = {
    "loop/loop.py": ("solve",),
    "dask.py": ("solve",),
    "problem/problem.py": ("Problem.__init__",),
    # Commands: every option is an argument, and its help text a line or more.
    "cli/train.py": ("train",),
    "cli/race.py": ("race",),
    "cli/scale.py": ("scale",),
    "cli/split.py": ("split",),
}


def is_interface(module, name):
    # scikit-learn reads the parameters of an estimator off its constructor.
    constructor = module.startswith("estimators/") and name.endswith(".__init__")
    return constructor or name in INTERFACES.get(module, ())


def functions(module):
    """The functions of a module: full name, lines without the docstring, and arguments without self."""
    found = []

    def walk(node, prefix, in_class):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                name = prefix + child.name
                given = child.args
                count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
                count += (given.vararg is not None) + (given.kwarg is not None)
                static = any(ast.unparse(one) == "staticmethod" for one in child.decorator_list)
                first = child.body[0]
                documented = ast.get_docstring(child) is not None
                lines = child.end_lineno - child.lineno + 1
                lines -= first.end_lineno - first.lineno + 1 if documented else 0
                found.append((name, lines, count - (in_class and not static)))
                walk(child, f"{name}.", False)
            else:
                nested = isinstance(child, ast.ClassDef)
                walk(child, f"{prefix}{child.name}." if nested else prefix, nested or (in_class and prefix != ""))

    walk(ast.parse(FILES[module].read_text()), "", False)
    return found


@pytest.mark.parametrize("module", FILES)
def test_functions_are_short_and_take_few_arguments(module):
    for name, lines, arguments in functions(module):
        if not is_interface(module, name):
            assert lines <= MOST_LINES, f"{name} has {lines} lines: give its parts names"
            assert arguments <= MOST_ARGUMENTS, f"{name} takes {arguments} arguments: let related ones travel together"


def test_every_exception_is_needed():
    for module, names in INTERFACES.items():
        known = {name: (lines, arguments) for name, lines, arguments in functions(module)}
        for name in names:
            lines, arguments = known[name]
            assert lines > MOST_LINES or arguments > MOST_ARGUMENTS, f"{module}: {name} needs no exception"


@pytest.mark.parametrize("module", FILES)
def test_modules_are_a_few_screens_long(module):
    lines = FILES[module].read_text().count("\n")
    assert lines <= MOST_OF_A_MODULE, f"{module} has {lines} lines: it does more than one thing"


def test_no_module_is_called_by_a_word_that_says_nothing():
    for module in FILES:
        assert Path(module).stem not in ("util", "utils", "helpers", "misc", "common", "tools"), module
