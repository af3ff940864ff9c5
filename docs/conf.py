"""The configuration of the site: `make docs` builds it, offline, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from site_parts import gallery, mathml, pages  # noqa: E402

import maxmargin  # noqa: E402

pages.write(HERE / "generated")

project = "maxmargin"
author = "The maxmargin developers"
copyright = "the maxmargin developers"
version = release = maxmargin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.zip",
    "jupyter_execute",
    "generated/extra",
]
templates_path = ["_templates"]
html_static_path = ["_static"]
default_role = "py:obj"
nitpicky = False
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False
nb_execution_mode = "cache"
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_merge_streams = True

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_use_plots = False
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "image_scrapers": (gallery.displays, "matplotlib"),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__str__"),
    "ignore_repr_types": r"maxmargin\.plots|matplotlib",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "ExampleTitleSortKey",
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "doc_module": ("maxmargin",),
    "backreferences_dir": "generated/examples",
    "abort_on_example_error": True,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = f"maxmargin {release}"
html_extra_path = ["generated/extra"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "install": []}


def setup(app) -> None:
    """Formulas as MathML: browsers draw them without a script."""
    mathml.setup(app)
    app.connect("autodoc-process-docstring", pages.readable)
    app.connect("autodoc-skip-member", pages.skipped)
    app.connect("source-read", pages.inside)
    app.connect("html-page-context", pages.wide, priority=100)
