"""What the gallery shows of an example: every display that a block of it drew."""

from __future__ import annotations

from sphinx_gallery.scrapers import figure_rst

_seen: set[int] = set()
_kept: list[object] = []


def displays(block, block_vars, gallery_conf) -> str:
    """Save the figures of the displays that are new in the example's names; the last expression is one of them."""
    from maxmargin.plots import AnimationDisplay, Display

    paths = []
    for thing in list(block_vars["example_globals"].values()):
        if not isinstance(thing, Display) or isinstance(thing, AnimationDisplay) or id(thing) in _seen:
            continue
        _seen.add(id(thing))
        _kept.append(thing)  # so that no other gets its id
        path = next(block_vars["image_path_iterator"])
        thing.figure.savefig(path, dpi=110, bbox_inches="tight", facecolor="white")
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
