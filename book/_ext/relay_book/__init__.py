"""The book's Sphinx extension: its theme, the explorers' bundle, directives, and chapter furniture."""

from __future__ import annotations

import os
from typing import Any

from sphinx.application import Sphinx

from . import assets, chapters, directives, links, operators, outdated, own_compiler, progress, streams, terms


def setup(app: Sphinx) -> dict[str, Any]:
    """Entry point for Sphinx."""
    # The kernels that run the cells inherit this: an explorer then leaves only its data and picture in the
    # page, and the page loads the bundle once, for all of them.
    os.environ["RELAY_EXPLORER_BUNDLE"] = "shared"
    # And the reader's compiler is the book's: no file is written, and no reader's own is read.
    os.environ["RELAY_EXPLORER_BOOK_BUILD"] = "1"
    # Jupyter Book sets this for an extension that the book leaves out.
    app.add_config_value("comments_config", None, "")
    assets.setup(app)
    chapters.setup(app)
    directives.setup(app)
    links.setup(app)
    operators.setup(app)
    outdated.setup(app)
    own_compiler.setup(app)
    progress.setup(app)
    streams.setup(app)
    terms.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
