"""Every public name says what it takes, with defaults, and shows an example that runs."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import maxmargin
from maxmargin import kernels, losses, solvers
from maxmargin.transforms import PolynomialTransform


def is_class_of(thing, parent):
    return inspect.isclass(thing) and issubclass(thing, parent)


#: The estimators describe their attributes, too; submodules have no parameters.
ESTIMATORS = set(maxmargin.estimators.__all__)
PUBLIC = {name: getattr(maxmargin, name) for name in maxmargin.__all__ if name not in ESTIMATORS}
PUBLIC = {name: thing for name, thing in PUBLIC.items() if not inspect.ismodule(thing)}
PUBLIC |= {name: getattr(losses, name) for name in dir(losses) if is_class_of(getattr(losses, name), losses.Loss)}
PUBLIC |= {name: getattr(kernels, name) for name in dir(kernels) if is_class_of(getattr(kernels, name), kernels.Kernel)}
PUBLIC["PolynomialTransform"] = PolynomialTransform

pytestmark = pytest.mark.compiled


def parameters(thing):
    """The parameters of a function or a constructor: name and whether there is a default."""
    if inspect.isclass(thing) and (issubclass(thing, Exception) or issubclass(thing, maxmargin.Reason)):
        return {}
    if inspect.isabstract(thing):
        return {}
    if dataclasses.is_dataclass(thing) and "__init__" not in vars(thing):
        return {}
    given = inspect.signature(thing).parameters.values()
    return {one.name: one for one in given if one.name != "self"}


def described(thing):
    """The parameters (or attributes) that a docstring describes: name and the line of its type."""
    text = inspect.getdoc(thing) or ""
    section = re.search(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.M | re.S)
    found = {}
    for line in section.group(1).splitlines() if section else ():
        if match := re.fullmatch(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+))?", line):
            for name in match.group(1).split(", "):
                found[name.lstrip("*")] = match.group(2) or ""
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_described_with_their_defaults(name):
    thing = PUBLIC[name]
    taken, told = parameters(thing), described(thing)
    assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"
    assert set(told) == set(taken), f"{name} takes {sorted(taken)} and describes {sorted(told)}"
    for key, one in taken.items():
        if one.kind is not inspect.Parameter.VAR_KEYWORD:
            assert told[key], f"{name}: the type of {key} is missing"
            assert ("default" in told[key]) == (one.default is not inspect.Parameter.empty), f"{name}: {told[key]}"


@pytest.mark.parametrize("name", sorted(ESTIMATORS - {"C_path", "SVCPath"}))
def test_estimators_describe_every_parameter_with_its_default(name):
    made = getattr(maxmargin, name)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", made.__doc__, re.M | re.S).group(1)
    told = dict(re.findall(r"^(\w+) : .*, default (.+)$", section, re.M))
    taken = inspect.signature(made).parameters
    assert set(told) == set(taken)
    for key, one in taken.items():
        assert ast.literal_eval(told[key]) == one.default, key


def reference():
    """Every name that the reference of the documentation has a page of, in full."""
    docs = str(Path(__file__).parent.parent / "docs")
    sys.path.insert(0, docs)
    try:
        pages = importlib.import_module("site_parts.pages")
    finally:
        sys.path.remove(docs)
    return sorted({name for names in pages.groups().values() for name in names})


#: What the example of a name needs besides the core.
NEEDS = {
    "plots": "matplotlib",
    "dask": "distributed",
    "studio": "anywidget",
    "DualQP": "qpsolvers",
    "PrimalQP": "qpsolvers",
}


@pytest.mark.parametrize("name", reference())
def test_the_example_runs(name):
    for part in name.split("."):
        if part in NEEDS:
            pytest.importorskip(NEEDS[part])
    home, _, short = name.rpartition(".")
    thing = getattr(importlib.import_module(home), short)
    tests = [test for test in doctest.DocTestFinder(recurse=False).find(thing, short) if test.examples]
    assert tests, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        test.globs = {}
        assert runner.run(test).failed == 0, f"the example of {name} fails: see the output"


def test_every_solver_has_a_docstring_of_its_own():
    for name in solvers.list_solvers():
        made = type(solvers.solver(name, maxmargin.Problem([[0.0], [1.0]], [0, 1])))
        assert "__doc__" in vars(made) and made.__doc__ != maxmargin.Solver.__doc__, name
