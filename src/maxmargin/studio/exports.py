"""What can be taken away from a run: code, a notebook, data, a model, figures, and a tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InvalidInput
from maxmargin.studio import arguments

if TYPE_CHECKING:
    from maxmargin.studio.session import Running, Session


@dataclass(frozen=True, eq=False)
class Exported:
    """A file."""

    name: str
    type: str
    contents: bytes


def export(session: Session, name: str, run: Running, command: Mapping[str, Any]) -> Exported:
    """The file of a run in the format that was asked for."""
    wanted = arguments.text(command, "format")
    if wanted not in FORMATS:
        raise InvalidInput(f"there is no export {wanted!r}; there are: {', '.join(FORMATS)}")
    return FORMATS[wanted](session, name, run, command)


FORMATS: dict[str, Callable[..., Exported]] = {}
