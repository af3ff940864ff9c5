"""Which column of a table is what: the features, the target, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maxmargin.data.table_lines import SKIPPED, TARGET
from maxmargin.errors import InvalidInput
from maxmargin.files import shown

#: A column of this name (in any case) is the target unless another is named.
USUAL_TARGETS = ("target", "label", "class", "y")


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table by their roles."""

    names: tuple[str, ...]
    #: Per column the position of a feature, TARGET or SKIPPED.
    roles: np.ndarray
    #: The names of the features, in their order in X.
    features: tuple[str, ...]

    @property
    def target(self) -> int | None:
        """The column of the target; None where there is none."""
        found = np.flatnonzero(self.roles == TARGET)
        return int(found[0]) if found.size else None

    @property
    def target_name(self) -> str | None:
        """What the file calls its target; None where columns have numbers only."""
        name = None if self.target is None else self.names[self.target]
        return None if name is None or name.isdecimal() else name


def columns(
    source: str,
    names: Sequence[str],
    target: str | None,
    features: Sequence[str] | None,
    needed: bool,
    drop: Sequence[str] = (),
) -> Columns:
    """Find the target and the features by name; the target may be missing where it is not `needed`.

    Columns without names are called 1, 2, 3, ...: where there are as many as features, the target is not among them.
    """
    names = tuple(name.strip() for name in names)
    known = set(names)
    if len(known) < len(names):
        raise InvalidInput(f"{source} has two columns called {_twice(names)!r}; rename one")
    if features is not None and _numbered(names, features):
        return Columns(names, np.arange(len(names)), tuple(features))
    place = _target(source, names, target, needed)
    for name in drop:
        if name not in known or (place is not None and names[place] == name):
            what = "no column" if name not in known else "only one target,"
            raise InvalidInput(f"{source} has {what} {name!r} to leave out; it has: {_shown(names)}")
    if features is None:
        features = [name for k, name in enumerate(names) if k != place and name not in drop]
    if not features:
        raise InvalidInput(f"{source} has no column besides the target; features are needed")
    missing = next((name for name in features if name not in known), None)
    if missing is not None:
        raise InvalidInput(f"{source} has no column {missing!r}, which the model needs; it has: {_shown(names)}")
    if len(set(features)) < len(features):
        raise InvalidInput(f"the column {_twice(features)!r} is asked for twice")
    roles = np.full(len(names), SKIPPED, np.int64)
    position = {name: k for k, name in enumerate(features)}
    for k, name in enumerate(names):
        roles[k] = TARGET if k == place else position.get(name, SKIPPED)
    return Columns(names, roles, tuple(features))


def _numbered(names: Sequence[str], features: Sequence[str]) -> bool:
    """Whether columns without names are just the features, which have other numbers where the target was among them."""
    return (
        len(names) == len(features)
        and list(names) == [str(k + 1) for k in range(len(names))]
        and all(name.isdecimal() for name in features)
        and list(map(int, features)) == sorted({int(name) for name in features})
    )


def _twice(names: Sequence[str]) -> str:
    """The first name that comes again."""
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def _target(source: str, names: Sequence[str], target: str | None, needed: bool) -> int | None:
    if target is not None:
        if target in names:
            return names.index(target)
        if not needed:
            return None
        raise InvalidInput(f"{source} has no column {target!r}; it has: {_shown(names)}")
    usual = [k for k, name in enumerate(names) if name.lower() in USUAL_TARGETS]
    if len(usual) == 1:
        return usual[0]
    if not needed:
        return None
    raise InvalidInput(f"which column of {source} is the target? Name one of: {_shown(names)}")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:8])) + (", ..." if len(names) > 8 else "")
