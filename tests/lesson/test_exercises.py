"""Every exercise's solution runs, as it is printed, and takes less than three seconds."""

from __future__ import annotations

import inspect

import pytest

from maxmargin.lesson.course import PARTS
from maxmargin.lesson.exercises import PRELUDE, sheet, source000, source001, source002, source003, source004

pytest.importorskip("qpsolvers")
pytestmark = pytest.mark.compiled

MODULES = (source000, source001, source002, source003, source004)
WRITTEN = [
    function
    for module in MODULES
    for _, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
]
SET = [exercise for part in PARTS for exercise in part.exercises]


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What is compiled when it is first used must not count."""
    for exercise in SET:
        exercise()


@pytest.mark.parametrize("exercise", SET, ids=lambda exercise: exercise.__name__)
def test_the_solution_runs_as_it_is_printed(exercise, capsys):
    """After the lines that the page gives, and with nothing else."""
    scope: dict = {}
    exec(PRELUDE, scope)
    exec(sheet(exercise).solution, scope)
    answer = capsys.readouterr().out.strip()
    assert len(answer) > 10 and "\n" not in answer and not answer.endswith(".")


def test_every_exercise_is_set_once_and_every_part_has_two():
    assert sorted(e.__name__ for e in WRITTEN) == sorted(e.__name__ for e in SET)
    assert len(SET) >= 40
    for part in PARTS:
        assert 2 <= len(part.exercises) <= 3, part.key


@pytest.mark.parametrize("exercise", SET, ids=lambda exercise: exercise.__name__)
def test_the_question_is_a_question_or_a_task(exercise):
    asked = sheet(exercise)
    assert 3 <= len(asked.title) <= 60 and len(asked.question) > 60
    assert "assert" in asked.solution and "\nprint(" in asked.solution
