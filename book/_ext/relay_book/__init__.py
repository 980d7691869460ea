"""The book's Sphinx extension: its theme, the explorers' bundle, directives, and navigation."""

from __future__ import annotations

import importlib
import os
from typing import Any

from sphinx.application import Sphinx

from . import (
    assets,
    chapters,
    directives,
    links,
    operators,
    outdated,
    own_compiler,
    playground,
    progress,
    streams,
    terms,
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts of the extension with Sphinx, and return its metadata."""
    # The kernels that run the cells inherit this variable. An explorer then writes only its data and picture
    # into the page, and the page loads the bundle once for all explorers.
    os.environ["RELAY_EXPLORER_BUNDLE"] = "shared"
    # The first import of matplotlib on a machine lists its fonts, and may print that this takes a while. In a
    # cell, that would be an error.
    importlib.import_module("matplotlib.font_manager")
    # With this variable, cells use the book's version of the reader's compiler, and write no files.
    os.environ["RELAY_EXPLORER_BOOK_BUILD"] = "1"
    # Jupyter Book sets this option of an extension that the book does not use.
    app.add_config_value("comments_config", None, "")
    assets.setup(app)
    chapters.setup(app)
    directives.setup(app)
    links.setup(app)
    operators.setup(app)
    outdated.setup(app)
    own_compiler.setup(app)
    playground.setup(app)
    progress.setup(app)
    streams.setup(app)
    terms.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
