"""Options of svm-train, svm-predict and LIBLINEAR's train, as their users type them.

An option that means one thing in both packages, and the same here, is an ordinary option of the command (-c, -g, -d,
-r, -p, -n, -W). This module rewrites those that are spelt in another way (-t, -b, -B, -w1, -v, -m, and -s where another
option tells which package is meant), and answers those that cannot be taken over with one sentence that names ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer
from typer.core import TyperCommand

KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
#: What -s means, by its number, in svm-train.
LIBSVM_TYPES = {
    "0": "--loss hinge",
    "1": "--loss hinge --nu 0.5",
    "2": "--loss one-class",
    "3": "--loss epsilon-insensitive",
    "4": "--loss epsilon-insensitive --nu 0.5",
}
#: What -s means, by its number, in LIBLINEAR's train.
LIBLINEAR_TYPES = {
    "0": "--loss logistic --bias none",
    "1": "--loss squared-hinge --bias none",
    "2": "--loss squared-hinge --bias none",
    "3": "--loss hinge --bias none",
    "4": "--multiclass crammer-singer --bias none",
    "5": "--loss squared-hinge --penalty l1 --bias none",
    "6": "--loss logistic --penalty l1 --bias none",
    "7": "--loss logistic --bias none",
    "11": "--loss squared-epsilon-insensitive --bias none",
    "12": "--loss squared-epsilon-insensitive --bias none",
    "13": "--loss epsilon-insensitive --bias none",
}
#: Options that svm-train has and LIBLINEAR's train has not.
LIBSVM_ONLY = {"-t", "-d", "-g", "-r", "-b"}
#: Options that have no counterpart, and what to do instead.
ABSENT = {
    "-e": "-e bounds a violation or a gradient, which maxmargin does not use: write --tol, the relative duality gap",
    "-h": "-h is LIBSVM's shrinking, which maxmargin decides itself: leave it out, or ask for --help",
    "-R": "-R keeps LIBLINEAR's bias out of the regulariser: write --bias free",
}


class LibsvmCommand(TyperCommand):
    """A command that knows what users of LIBSVM and LIBLINEAR type."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rewrite the arguments, then parse them as ever."""
        valued = {
            name
            for parameter in self.params
            if not getattr(parameter, "is_flag", False)
            for name in parameter.opts
            if name.startswith("-")
        }
        return super().parse_args(ctx, translated(self.name or "", args, valued))


def translated(command: str, arguments: Iterable[str], valued: set[str]) -> list[str]:
    """The arguments of a command in this program's own words.

    Parameters
    ----------
    command : str
        The name of the command: train, race or predict.
    arguments : list of str
        What was typed behind the name.
    valued : set of str
        The command's own options that take a value: what follows one of them is not looked at.

    Returns
    -------
    list of str
        Arguments that the command knows.
    """
    trains = command in ("train", "race")
    known = TRAIN if trains else PREDICT
    found: list[str] = []
    positional: list[str] = []
    weights: list[str] = []
    seen: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        token = rest.pop(0)
        if token == "--":
            found += [token, *rest]
            positional += rest
            break
        if not token.startswith("--"):
            seen[token[:2]] = token
        if token in valued:
            found += [token, *rest[:1]]
            rest = rest[1:]
        elif trains and token.startswith("-w") and token not in known:
            weights.append(f"{_label(token)}={_value(token, rest)}")
        elif trains and token[:2] in ABSENT:
            raise typer.BadParameter(ABSENT[token[:2]])
        elif trains and token[:2] == "-s" and not token.startswith("--"):
            seen["-s"] = token[2:] or _value(token, rest)
        elif token[:2] in known and not token.startswith("--"):
            found += known[token[:2]](token[2:] or _value(token, rest))
        else:
            found.append(token)
            positional += [] if token.startswith("-") and token != "-" else [token]
    if weights:
        _refuse_if(
            any(token.split("=")[0] == "--class-weight" for token in found),
            "give -w1 WEIGHT or --class-weight, not both",
        )
        found = ["--class-weight", ",".join(weights), *found]
    _one_file_too_many(command, positional)
    if "-v" in seen and not {"-o", "--output", "--search"} & set(found):
        found.append("--no-model")
    types = _type(seen["-s"], set(seen)) if trains and "-s" in seen else []
    return [*types, *found]  # of an option that comes twice, the last one counts


def _one_file_too_many(command: str, positional: list[str]) -> None:
    """The file that LIBSVM's programs write is their last argument; here it is -o."""
    files, what = {"train": (1, "model"), "race": (1, "figure")}.get(command, (2, "answers"))
    if len(positional) == files + 1:
        raise typer.BadParameter(
            f"{command} takes {files} file{'s' * (files > 1)}: write -o {positional[-1]} for the {what}"
        )


def _value(token: str, rest: list[str]) -> str:
    """What follows an option; it is taken from the rest."""
    _refuse_if(not rest, f"the option {token} needs a value")
    return rest.pop(0)


def _label(token: str) -> str:
    """The label in -w1 or -w-1."""
    try:
        float(token[2:])
    except ValueError:
        raise typer.BadParameter(
            f"{token} is not an option; write -w1 5 or --class-weight 1=5 for a class, --weights FILE for rows"
        ) from None
    return token[2:]


def _kernel(value: str) -> list[str]:
    _refuse_if(value not in map(str, range(5)), f"-t is {value!r}; it is a number from 0 to 4, or write --kernel NAME")
    return ["--kernel", KERNELS[int(value)]]


def _probability(value: str) -> list[str]:
    _refuse_if(value not in ("0", "1"), f"-b is {value!r}; it is 0 or 1, or write --probability")
    return ["--probability"] * (value == "1")


def _bias(value: str) -> list[str]:
    try:
        constant = float(value)
    except ValueError:
        raise typer.BadParameter(f"-B is {value!r}; it is a number, or write --bias and --bias-scale") from None
    return ["--bias", "augmented", "--bias-scale", value] if constant > 0 else ["--bias", "none"]


def _type(value: str, seen: set[str]) -> list[str]:
    """What -s means, as far as the other options tell whose it is."""
    for table, own, others in ((LIBSVM_TYPES, LIBSVM_ONLY, {"-B"}), (LIBLINEAR_TYPES, {"-B"}, LIBSVM_ONLY)):
        if value in table and own & seen and not others & seen:
            return table[value].split()
    meanings = [
        f"{table[value]} for {program}"
        for table, program in ((LIBSVM_TYPES, "svm-train"), (LIBLINEAR_TYPES, "LIBLINEAR"))
        if value in table
    ]
    _refuse_if(not meanings, f"-s {value} has no counterpart here; choose a --loss: see `maxmargin losses`")
    raise typer.BadParameter(f"-s {value} means different things in different programs: write {', '.join(meanings)}")


def _refuse_if(wrong: bool, sentence: str) -> None:
    if wrong:
        raise typer.BadParameter(sentence)


def _folds(value: str) -> list[str]:
    return ["--cv", value]


def _cache(value: str) -> list[str]:
    try:
        return ["--cache-bytes", f"{1e6 * float(value):.17g}"]
    except ValueError:
        raise typer.BadParameter(f"-m is {value!r}; it is a number of MB, or write --cache-bytes") from None


TRAIN: dict[str, Callable[[str], list[str]]] = {
    "-t": _kernel,
    "-b": _probability,
    "-B": _bias,
    "-v": _folds,
    "-m": _cache,
}
PREDICT: dict[str, Callable[[str], list[str]]] = {"-b": _probability}
