"""The pages of the reference that the code writes itself: what is registered, its signatures and its docstrings.

`write` puts them into docs/generated/ before the build; nothing in them is typed by hand, so that nothing can rot.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import maxmargin
from maxmargin import kernels, losses, plots, regularizers, solvers
from site_parts import benchmarks, lessons
from site_parts import solvers as cards
from site_parts.text import plain, table

ESTIMATORS = ("SVC", "LinearSVC", "NuSVC", "SVR", "LinearSVR", "NuSVR", "OneClassSVM")

#: The public names by what they are for; a test holds that all of them are here.
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Solving one problem": (
        "maxmargin",
        (
            "Problem",
            "NuProblem",
            "CrammerSingerProblem",
            "solve",
            "Result",
            "Status",
            "Reason",
            "Trace",
            "Look",
            "Iterate",
            "Event",
            "Solver",
        ),
    ),
    "Certificates": ("maxmargin", ("certify", "Certificate")),
    "Estimators": ("maxmargin", ESTIMATORS),
    "Model selection": ("maxmargin", ("SVCCV", "LinearSVCCV", "SVRCV", "C_path", "SVCPath")),
    "Models and data": ("maxmargin", ("Model", "model_of", "save", "load", "read")),
    "Theory as calls": ("maxmargin", ("Saddle", "QuadraticProgram", "primal_qp", "dual_qp")),
    "What there is": ("maxmargin", ("list_solvers", "list_losses", "list_kernels", "list_regularizers")),
    "Errors": ("maxmargin", ("MaxMarginError", "InvalidInput", "Refused")),
}


#: Files of the repository that the site has a page of.
COPIES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "src/maxmargin/studio/PROTOCOL.md": "generated/studio-protocol.md",
}


def groups() -> dict[str, list[str]]:
    """The full names of everything public, by what it is for; names that no group has are in the last."""
    found = {title: [f"{home}.{name}" for name in names] for title, (home, names) in GROUPS.items()}
    grouped = {name for names in found.values() for name in names}
    top = [f"maxmargin.{name}" for name in maxmargin.__all__ if not inspect.ismodule(getattr(maxmargin, name))]
    if other := [name for name in top if name not in grouped]:
        found["More"] = other
    found["Losses"] = _registered("losses", losses.base.registry)
    found["Kernels"] = _registered("kernels", kernels.base.registry)
    found["Solvers"] = _registered("solvers", solvers.base.registry)
    found["Regularisers"] = _registered("regularizers", regularizers.base.registry)
    found["Transforms"] = ["maxmargin.transforms.PolynomialTransform"]
    found["Data files"] = [
        f"maxmargin.data.{name}" for name in ("read", "write", "blocks", "scaling", "Data", "Scaling")
    ]
    found["Plots"] = [f"maxmargin.plots.{name}" for name in plots.__all__ if name[0].islower()]
    found["On a cluster"] = [f"maxmargin.dask.{name}" for name in ("LinearSVC", "LinearSVR", "SVC", "solve")]
    found["In a notebook"] = ["maxmargin.studio.Widget"]
    found["Errors"] += [f"maxmargin.errors.{name}" for name in ("MemoryLimit", "MissingExtra")]
    return found


def _registered(folder: str, registry: Any) -> list[str]:
    return [f"maxmargin.{folder}.{made.__name__}" for made in map(_class, registry_entries(registry))]


def registry_entries(registry: Any) -> list[Any]:
    """What is registered, sorted by name."""
    return [registry[name] for name in registry.names()]


def _class(entry: Any) -> type:
    return entry if isinstance(entry, type) else type(entry)


def write(folder: Path) -> None:
    """Write all pages; a page that has not changed keeps its date, so that it is not built again."""
    (folder / "solvers").mkdir(parents=True, exist_ok=True)
    made = {
        "api": api(),
        "solvers": cards.overview(),
        **{f"solvers/{name}": cards.card(name) for name in solvers.list_solvers()},
        "losses": loss_page(),
        "kernels": kernel_page(),
        "cli": command_line(),
        "from-scikit-learn": from_scikit_learn(),
        "benchmarks": benchmarks.page(folder.parent.parent / "benchmarks/results"),
    }
    root = folder.parent.parent
    made["studio-protocol"] = (root / "src/maxmargin/studio/PROTOCOL.md").read_text(encoding="utf-8")
    tape(folder / "extra")
    cards.write_tapes(folder / "extra/tapes")
    lessons.write_tapes(folder / "extra/tapes")
    lessons.write(folder.parent / "lessons")
    benchmarks.measurements(folder / "measurements", root / "benchmarks")
    for name, text in made.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def tape(folder: Path) -> None:
    """A recorded run for the first page: every step of SMO on two clouds, and what is proved after each."""
    from maxmargin.data import toys
    from maxmargin.studio.tape import tape_of

    path = folder / "tape.html"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        problem = maxmargin.Problem(*toys.overlapping(), C=0.2)
        run = maxmargin.solve(problem, "smo", tol=1e-4, grain=1, every=1, snapshots=True)
        path.write_bytes(tape_of(run, "SMO on two clouds"))


def wide(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Notebooks and the widest tables take the room of the list of headings."""
    if name.startswith("lessons/") or name in ("generated/benchmarks", "performance"):
        context["theme_secondary_sidebar_items"] = []


def inside(app: Any, name: str, source: list[str]) -> None:
    """Links to files beside docs/ lead to the pages that the site has of them, from pages at any depth."""
    up = r"\]\(((?:\.\./)*)\.\./"
    for outside, own in COPIES.items():
        source[0] = re.sub(up + re.escape(outside), rf"](\1{own}", source[0])
    place = r"](\1generated/measurements/\2.md)"
    source[0] = re.sub(up + r"benchmarks/(?:results/)?([\w-]+)\.md\)", place, source[0])


def skipped(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """What an estimator only inherits from scikit-learn is told there."""
    theirs = (getattr(obj, "__module__", None) or "").startswith("sklearn.")
    return True if theirs or re.fullmatch(r"set_\w+_request|set_callbacks", name) else None


def api() -> str:
    """Every public name, with a page of its own."""
    about = "All names of `maxmargin` itself are imported from the top: `from maxmargin import SVC`."
    parts = [f"# Every public name\n\n{about}\n"]
    for title, names in groups().items():
        listed = "\n".join(f"   {name}" for name in names)
        parts.append(
            f"## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{listed}\n```\n"
        )
    return "\n".join(parts)


def loss_page() -> str:
    """The losses: what each is for, its curvature and the head of its file."""
    rows = []
    for kind in registry_entries(losses.base.registry):
        head = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "").splitlines()[0]
        name = f"{{py:obj}}`{kind.name} <maxmargin.losses.{kind.__name__}>`"
        smooth = f"smooth, ℓ″ ≤ {kind.curvature:g}" if kind.curvature < float("inf") else "kinked"
        rows.append((name, head, smooth, "yes" if kind.hard_margin else "no"))
    conjugates = (
        "## Conjugates\n\nThe conjugate ℓ*(u) = sup_z uz − ℓ(z) is what the loss puts into the dual; "
        "`loss.conjugate(u, t)` computes it. For labels $m=yz$ and $v=yu$. "
        "[The theory](../theory.md#4-losses-and-conjugates) derives them.\n\n"
        '```{include} ../theory.md\n:start-after: "For labels write $m=yz$ and $v=yu$."\n'
        ':end-before: "Each in two lines:"\n```'
    )
    return f"# Losses\n\n{table(('loss', 'formula', 'slope', 'hard margin'), rows)}\n\n{conjugates}\n"


def kernel_page() -> str:
    """The kernels: the head of each file."""
    rows = []
    for kind in registry_entries(kernels.base.registry):
        head = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "").splitlines()[0]
        name = f"{{py:obj}}`{kind.name} <maxmargin.kernels.{kind.__name__}>`"
        # Whether it is may depend on its parameters; a kernel of the user's own has no default ones.
        positive = kind().positive if kind is not kernels.Custom else None
        rows.append((name, head, {True: "yes", False: "no", None: "not known"}[positive]))
    return f"# Kernels\n\n{table(('kernel', 'formula', 'positive semi-definite'), rows)}\n"


def command_line() -> str:
    """Every command with every option, as `--help` tells them."""
    import typer.main

    from maxmargin.cli.app import app

    group: Any = typer.main.get_command(app)
    about = "The text is that of `--help`. [The command line](../command-line.md) explains it."
    parts = [f"# Every command and option\n\n{about}\n"]
    for name, command in group.commands.items():
        about = "\n\n".join(
            "`" + text.removeprefix("Example:").strip() + "`" if text.startswith("Example:") else plain(text)
            for text in re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
        )
        rows = []
        for one in command.params:
            if getattr(one, "hidden", False):
                continue
            named = (
                ", ".join(f"`{word}`" for word in one.opts)
                if one.param_type_name == "option"
                else f"`{one.name.upper()}`"
            )
            default = "" if one.default in (None, False, [], ()) or callable(one.default) else f"`{one.default}`"
            rows.append((named, plain(one.help or ""), default))
        parts.append(f"## `maxmargin {name}`\n\n{about}\n\n{table(('option', 'what it does', 'default'), rows)}\n")
    return "\n".join(parts)


def from_scikit_learn() -> str:
    """Parameters, defaults and attributes of scikit-learn's machines beside ours, from signatures and fits."""
    import sklearn
    import sklearn.svm

    parts = [
        "# Parameter by parameter\n\nMade from the signatures of both libraries and from a fit of each estimator "
        f"(scikit-learn {sklearn.__version__}, maxmargin {maxmargin.__version__}). A remark stands where defaults or "
        "meanings differ. [The guide](../coming-from/scikit-learn.md) says what to look out for.\n"
    ]
    for name in ESTIMATORS:
        theirs, ours = getattr(sklearn.svm, name), getattr(maxmargin, name)
        rows = [
            (f"`{one}`", _default(theirs, one), _default(ours, one), remark) for one, remark in parameters(theirs, ours)
        ]
        left, right = attributes(theirs), attributes(ours)
        only = f"Attributes that both have: {_list(left & right)}.\n\nOnly ours: {_list(right - left)}."
        if left - right:
            only += f"\n\nOnly scikit-learn's: {_list(left - right)}."
        header = ("parameter", "scikit-learn", "maxmargin", "what ours means, where they differ")
        parts.append(f"## {name}\n\n{table(header, rows)}\n\n{only}\n")
    return "\n".join(parts)


def parameters(theirs: type, ours: type) -> list[tuple[str, str]]:
    """Every parameter of either class, and what our docstring says of those that are not the same."""
    left, right = inspect.signature(theirs).parameters, inspect.signature(ours).parameters
    # A docstring does not repeat what it shares with those of the two classifiers.
    told = _described(maxmargin.LinearSVC) | _described(maxmargin.SVC) | _described(ours)
    return [
        (one, "" if _default(theirs, one) == _default(ours, one) and one != "tol" else told.get(one, "not taken"))
        for one in [*left, *(one for one in right if one not in left)]
    ]


def attributes(kind: type) -> set[str]:
    """The public fitted attributes, those of a class of two labels."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    made = kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.fit(X, X[:, 0] if "SVR" in kind.__name__ else (X[:, 0] > 0).astype(int))
        return {name for name in dir(made) if name.endswith("_") and name[0] != "_" and hasattr(made, name)}


def _default(kind: type, name: str) -> str:
    given = inspect.signature(kind).parameters.get(name)
    if given is None:
        return "–"
    value = given.default
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"`{value:g}`" if number else f"`{value!r}`"


def _described(kind: type) -> dict[str, str]:
    """What a docstring says of each parameter."""
    text = inspect.getdoc(kind) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.M | re.S)
    told: dict[str, str] = {}
    names: list[str] = []
    for line in section.group(1).splitlines() if section else ():
        if line and not line.startswith(" "):
            names = line.partition(" : ")[0].split(", ")
        elif line.strip():
            for name in names:
                told[name] = f"{told.get(name, '')} {line.strip()}".strip()
    return {name: plain(words) for name, words in told.items()}


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _as_text(words: str) -> str:
    return re.sub(r"(\w)_(?=[\s,.;)]|$)", r"\1\\_", words.replace("|", "\\|"))


def readable(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written to be read as text: |x| and offset_ are not markup."""
    for k, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`.*?`)", line)
        lines[k] = "".join(part if part.startswith("`") else _as_text(part) for part in parts)
