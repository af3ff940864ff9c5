"""A run of all machines of a setting, as the page knows it: one handle, one index of frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from maxmargin.studio.field import Fields
from maxmargin.studio.problems import Setting
from maxmargin.studio.recording import Recording


@dataclass(eq=False)
class Running:
    """A run of all machines of a setting, and how much of its trace has been told."""

    setting: Setting
    problem: str
    recordings: list[Recording]
    fields: Fields
    options: dict[str, Any]
    seed: int
    #: Whether the solver was left to the library.
    chosen: bool = False
    told: dict[int, int] = field(default_factory=dict)

    @property
    def frames(self) -> int:
        """How many frames there are: those of the machine with the most."""
        return max(len(one.frames) for one in self.recordings)

    def place(self, machine: int, index: int) -> int:
        """The frame of a machine at an index of the run: its last one, where it has ended before."""
        return min(index, len(self.recordings[machine].frames) - 1)
