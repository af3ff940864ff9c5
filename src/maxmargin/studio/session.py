"""One page's session: commands in, answers out; what it has posed and run is kept under handles."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput, MaxMarginError, MissingExtra, Refused
from maxmargin.loop import solve
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.solvers import candidates
from maxmargin.solvers import solver as solver_by_name
from maxmargin.studio import arguments, imports, views
from maxmargin.studio.arguments import LIMITS, Malformed, TooMuch
from maxmargin.studio.catalog import algorithm, catalog
from maxmargin.studio.exports import export
from maxmargin.studio.field import Fields, grid_of
from maxmargin.studio.frames import packed
from maxmargin.studio.problems import Setting, posed
from maxmargin.studio.recording import Recording, whole
from maxmargin.studio.running import Running
from maxmargin.studio.shown import PARTS, shown
from maxmargin.studio.toys import made as toy

log = logging.getLogger("maxmargin.studio")

#: The header and the arrays of an answer.
Answer = tuple[dict[str, Any], dict[str, np.ndarray]]


class Gone(InvalidInput):
    """A handle that is not there."""


class Session:
    """Answers the commands of one page.

    Parameters
    ----------
    given : tuple of dict and dict of arrays, default None
        The points and the problem that the page begins with: the header and the arrays.
    give : function, default None
        Called with the points and the result that the page hands to Python; without it that is refused.
    """

    def __init__(self, given: Answer | None = None, give: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.given, self.give = given, give
        self.settings: OrderedDict[str, tuple[Setting, Fields]] = OrderedDict()
        self.runs: OrderedDict[str, Running] = OrderedDict()
        self._made = 0

    def answer(self, message: str | bytes | Mapping[str, Any]) -> bytes:
        """The answer to a command, which is always one: what goes wrong is told in it."""
        number: Any = None
        try:
            command = _parsed(message)
            number = command.get("id")
            if not isinstance(number, int) or isinstance(number, bool) or abs(number) > 2**53:
                number = None
                raise Malformed("a command needs a whole number as its id")
            name = command.get("op")
            if not isinstance(name, str) or name not in OPERATIONS:
                raise Malformed(f"there is no command {str(name)[:40]!r}; there are: {', '.join(OPERATIONS)}")
            with one_blas_thread():  # matrices are small here: threads would only wait for one another
                header, arrays = OPERATIONS[name](self, command)
            return packed({"id": number, "ok": True, **header}, arrays)
        except MaxMarginError as error:
            return _refused(number, str(error), _kind(error))
        except MemoryError:
            return _refused(number, "there is not enough memory for this; use fewer points", "limit")
        except Exception as error:  # the page must go on, whatever it was
            log.exception("a command of the studio failed")
            return _refused(number, f"this failed inside the program ({type(error).__name__}: {error})", "internal")

    # Commands

    def hello(self, command: Mapping[str, Any]) -> Answer:
        header, arrays = self.given or (None, {})
        return {**catalog(), "given": header}, arrays

    def toy(self, command: Mapping[str, Any]) -> Answer:
        sizes = {
            "n": None if command.get("n") is None else arguments.whole(command, "n", None, 2, LIMITS["rows"]),
            "noise": None if command.get("noise") is None else arguments.number(command, "noise", None, 0.0, 10.0),
            "classes": None if command.get("classes") is None else arguments.whole(command, "classes", None, 2, 10),
        }
        chosen, X, y = toy(arguments.text(command, "name"), **sizes, seed=arguments.whole(command, "seed", 0))  # type: ignore[arg-type]
        labels = [str(k) for k in range(int(y.max()) + 1)] if chosen.task == "classification" else []
        points = {"task": chosen.task, "labels": labels, "names": None, "note": chosen.doc}
        return {"points": points}, {"X": X, "y": np.asarray(y, dtype=np.float64)}

    def load(self, command: Mapping[str, Any]) -> Answer:
        columns = command.get("columns")
        if columns is not None:
            columns = _numbers_of(arguments.array(command, "columns", (None,)))
        target = None if command.get("target") is None else arguments.text(command, "target")
        task = command.get("task")
        if task not in (None, "classification", "regression", "novelty"):
            raise InvalidInput(f"task is {str(task)[:40]!r}; it must be classification, regression or novelty")
        name = arguments.text(command, "name", "data.csv")
        made = imports.imported(name, arguments.contents(command, "data"), columns, target, task)
        return {"points": imports.described(made)}, {"X": made.X, "y": made.y}

    def problem(self, command: Mapping[str, Any]) -> Answer:
        handle = self._pose(command)
        header, arrays = self.settings[handle][0].told()
        return {"problem": handle, **header}, arrays

    def run(self, command: Mapping[str, Any]) -> Answer:
        handle, setting, told = self._setting(command)
        solver = solver_by_name(self._solver(command, setting), setting.machines[0].problem)
        options = _options(solver, arguments.fields(command, "options"))
        try:
            solver = solver_by_name(solver, setting.machines[0].problem, **options)
        except (TypeError, OverflowError) as error:
            raise InvalidInput(f"{solver.name} cannot use these options: {error}") from None
        for machine in setting.machines:
            if refused := solver.accepts(machine.problem):
                raise Refused(f"{solver.name} refuses this problem: {refused}")
        seed = arguments.whole(command, "seed", 0)
        every = arguments.whole(command, "every", 1, 1, 10**6)
        tol = arguments.number(command, "tol", 1e-6, 0.0, 1.0)
        starts = [self._start(command, k) for k in range(len(setting.machines))]
        recordings = [
            Recording(machine.problem, solver, tol, start, seed, every)
            for machine, start in zip(setting.machines, starts, strict=True)
        ]
        name = self._keep(Running(setting, handle, recordings, self.settings[handle][1], options, seed))
        header, arrays = told
        about = {"run": name, "solver": solver.name, "options": options, "frames": 0}
        about["algorithm"] = algorithm(recordings[0].pseudocode)
        return {**about, "problem": header or handle}, arrays

    def step(self, command: Mapping[str, Any]) -> Answer:
        name, run = self._running(command)
        count = arguments.whole(command, "k", 1, 1, LIMITS["steps"])
        seconds = arguments.number(command, "seconds", 0.2, 0.0, 5.0)
        for one in run.recordings:
            others = sum(each.bytes for other in self.runs.values() for each in other.recordings) - one.bytes
            one.advance(count, seconds / len(run.recordings), LIMITS["recorded"] - others)
        return self._frame(name, run, run.frames - 1, command, since=True)

    def frame(self, command: Mapping[str, Any]) -> Answer:
        name, run = self._running(command)
        last = run.frames - 1
        index = arguments.whole(command, "index", -1, -last - 1, max(last, 0))
        return self._frame(name, run, index if index >= 0 else last + 1 + index, command, since=False)

    def solve(self, command: Mapping[str, Any]) -> Answer:
        handle, setting, (header, arrays) = self._setting(command)
        which = command.get("solver") or "auto"
        problem = setting.machines[0].problem
        options: dict[str, Any] = {}
        if which != "auto":
            options = _options(solver_by_name(str(which), problem), arguments.fields(command, "options"))
        seconds = arguments.number(command, "seconds", 5.0, 0.001, 30.0) / len(setting.machines)
        tol, seed = arguments.number(command, "tol", 1e-6, 0.0, 1.0), arguments.whole(command, "seed", 0)
        recordings = [
            whole(solve(one.problem, str(which), tol=tol, max_time=seconds, random_state=seed, **options))
            for one in setting.machines
        ]
        run = Running(setting, handle, recordings, self.settings[handle][1], options, seed, which == "auto")
        made, values = self._frame(self._keep(run), run, 0, command, since=False)
        return {**made, "problem": header or handle}, {**arrays, **values}

    def view(self, command: Mapping[str, Any]) -> Answer:
        if command.get("run") is None:
            _, setting, _ = self._setting(command)
            machine, track = setting.machines[self._machine(command, setting)], []
        else:
            _, run = self._running(command)
            setting = run.setting
            place = self._machine(command, setting)
            machine, recording = setting.machines[place], run.recordings[place]
            last = len(recording.frames) - 1
            index = arguments.whole(command, "index", -1, -1, max(last, run.frames - 1, 0))
            track = [frame.point for frame in recording.frames[: min(index, last) + 1 if index >= 0 else None]]
        name, point = arguments.text(command, "name"), track[-1] if track else None
        header, arrays = views.view(views.Seen(machine.problem, machine.rows, setting.n, point, track), name, command)
        return {"name": name, **header}, arrays

    def export(self, command: Mapping[str, Any]) -> Answer:
        _, run = self._running(command)
        if not run.frames:
            raise InvalidInput("this run has not begun; step it first")
        others = [self._running({"run": other})[1] for other in arguments.texts(command, "others", 3)]
        made = export(run, others, command)
        return {"name": made.name, "type": made.type}, {"file": np.frombuffer(made.contents, np.uint8)}

    def hand_over(self, command: Mapping[str, Any]) -> Answer:
        if self.give is None:
            raise InvalidInput("only a notebook's widget hands points and results to Python; use export")
        run = None if command.get("run") is None else self._running(command)[1]
        self.give({"points": command.get("points"), "run": run})
        return {}, {}

    def drop(self, command: Mapping[str, Any]) -> Answer:
        for known, what in ((self.runs, "run"), (self.settings, "problem")):
            if command.get(what) is not None:
                known.pop(arguments.text(command, what), None)  # type: ignore[attr-defined]
        return {}, {}

    # Parts

    def _pose(self, command: Mapping[str, Any]) -> str:
        setting = posed(command)
        self._made += 1
        handle = f"p{self._made}"
        self.settings[handle] = setting, Fields(setting)
        while len(self.settings) > LIMITS["problems"]:
            self.settings.popitem(last=False)
        return handle

    def _keep(self, run: Running) -> str:
        self._made += 1
        self.runs[f"r{self._made}"] = run
        while len(self.runs) > LIMITS["runs"]:
            self.runs.popitem(last=False)
        return f"r{self._made}"

    def _setting(self, command: Mapping[str, Any]) -> tuple[str, Setting, tuple[dict[str, Any], dict[str, np.ndarray]]]:
        """The setting that a command names, or poses itself; and then the answer to that."""
        given = command.get("problem")
        if isinstance(given, dict):
            handle = self._pose(given)
            setting = self.settings[handle][0]
            header, arrays = setting.told()
            return handle, setting, ({"problem": handle, **header}, arrays)
        handle = arguments.text(command, "problem")
        if handle not in self.settings:
            raise Gone(f"there is no problem {handle!r} any more; pose it again")
        return handle, self.settings[handle][0], ({}, {})

    def _running(self, command: Mapping[str, Any]) -> tuple[str, Running]:
        name = arguments.text(command, "run")
        if name not in self.runs:
            raise Gone(f"there is no run {name!r} any more; start it again")
        self.runs.move_to_end(name)
        return name, self.runs[name]

    def _machine(self, command: Mapping[str, Any], setting: Setting) -> int:
        return arguments.whole(command, "machine", 0, 0, len(setting.machines) - 1)

    def _solver(self, command: Mapping[str, Any], setting: Setting) -> str:
        name = arguments.text(command, "solver", "auto")
        return next(iter(candidates(setting.machines[0].problem)), name) if name == "auto" else name

    def _start(self, command: Mapping[str, Any], k: int) -> Any:
        """Where the machine k begins: nowhere special, a dual point, a hyperplane, or a frame of another run."""
        told = arguments.fields(command, "start")
        if not told:
            return None
        if "run" in told:
            _, other = self._running(told)
            if k >= len(other.recordings) or not other.recordings[k].frames:
                raise InvalidInput("the run to start from has no such frame")
            frames = other.recordings[k].frames
            return frames[arguments.whole(told, "index", -1, -len(frames), len(frames) - 1)].point.beta
        if "beta" in told:
            return arguments.array(told, "beta", (None,))
        return arguments.array(told, "w", (None,)), arguments.number(told, "b", 0.0)

    def _frame(self, name: str, run: Running, index: int, command: Mapping[str, Any], since: bool) -> Answer:
        if not run.frames:
            raise InvalidInput("this run has no frame yet; step it first")
        machine = self._machine(command, run.setting)
        want = PARTS if command.get("want") is None else arguments.texts(command, "want", 10)
        recording, place = run.recordings[machine], run.place(machine, index)
        header, arrays = shown(run.setting, machine, recording, place, want)
        header |= {
            "run": name,
            "solver": recording.solver.name,
            "index": index,
            "frames": run.frames,
            "machine": machine,
            "ended": all(one.ended for one in run.recordings),
            "machines": [_summary(one, run.place(k, index)) for k, one in enumerate(run.recordings)],
        }
        if "trace" in want:
            first = min(run.told.get(machine, 0), place + 1) if since else 0
            header["first"], arrays["trace"] = first, recording.trace(first, place)
            run.told[machine] = max(run.told.get(machine, 0), place + 1)
        if (grid := grid_of(command)) is not None:
            points = [one.frames[run.place(k, index)].point for k, one in enumerate(run.recordings)]
            arrays |= run.fields.arrays(grid, points)
        return header, arrays


OPERATIONS: dict[str, Callable[[Session, Mapping[str, Any]], Answer]] = {
    "hello": Session.hello,
    "toy": Session.toy,
    "import": Session.load,
    "problem": Session.problem,
    "run": Session.run,
    "step": Session.step,
    "frame": Session.frame,
    "solve": Session.solve,
    "view": Session.view,
    "export": Session.export,
    "give": Session.hand_over,
    "drop": Session.drop,
}


def _parsed(message: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message, Mapping):
        return message
    if len(message) > LIMITS["message"]:
        raise TooMuch(f"a command has at most {LIMITS['message'] // 10**6} MB")
    try:
        command = json.loads(message, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise Malformed("a command must be JSON") from None
    if not isinstance(command, dict):
        raise Malformed("a command must be a JSON object")
    return command


def _numbers_of(values: np.ndarray) -> list[int]:
    """Numbers of columns; what cannot be one is −1."""
    return [int(value) if abs(value) < LIMITS["features"] else -1 for value in values]


def _whole_number(digits: str) -> float:
    """A whole number of JSON; one of more digits than a double has is a double."""
    return int(digits) if len(digits) < 17 else float(digits)


def _options(solver: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The options of a solver, a whole number where its field is one and JSON has made it a float."""
    whole_fields = {one.name for one in fields(solver) if "int" in str(one.type)}
    for name, value in given.items():
        if value is not None and not isinstance(value, str | int | float):
            raise InvalidInput(f"the option {name[:40]} cannot be {str(value)[:40]}")
        if name in whole_fields and isinstance(value, float) and value.is_integer():
            given[name] = int(value)
    return given


def _summary(recording: Recording, place: int) -> dict[str, Any]:
    row = recording.frames[place].row
    names = ("relative_gap", "primal", "dual")
    return {"k": recording.frames[place].point.k, "ended": recording.ended, **{name: row[name] for name in names}}


def _refused(number: int | None, sentence: str, kind: str) -> bytes:
    return packed({"id": number, "ok": False, "error": " ".join(sentence.split()), "kind": kind}, {})


def _kind(error: MaxMarginError) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (Malformed, "protocol"),
        (TooMuch, "limit"),
        (Gone, "missing"),
        (MissingExtra, "missing"),
        (Refused, "refused"),
    )
    return next((kind for known, kind in kinds if isinstance(error, known)), "input")
