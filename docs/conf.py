"""Configures Sphinx for these pages."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs import generated
from jupyter_fstools import __version__

project = "jupyter-fstools"
author = "jupyter-fstools contributors"
project_copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
default_role = "code"  # Docstrings spell code as Markdown does.
smartquotes = False  # Quotes in examples are typed as they are shown.

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False}


def setup(app: Sphinx) -> None:
    """Let the pages ask for their generated parts."""
    app.connect("source-read", _put_parts_in)


def _put_parts_in(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = generated.with_parts(source[0])
