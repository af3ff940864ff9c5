"""Print the oldest versions that pyproject.toml allows, as constraints for pip: `numpy>=2.0` becomes `numpy==2.0.*`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def floors(requirements: list[str]) -> list[str]:
    """The constraint of each requirement that has a floor."""
    found = (re.match(r"([\w.-]+)\s*>=\s*([\d.]+)", one) for one in requirements)
    return [f"{match[1]}=={match[2]}.*" for match in found if match]


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    # The extras of users are those of `all`; what tests and checks need is always the newest.
    names = re.search(r"\[(.*)\]", extras["all"][0])[1].split(",")
    asked = project["dependencies"] + [one for name in names for one in extras[name]]
    print("\n".join(floors(asked)))
