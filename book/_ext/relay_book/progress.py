"""Reads pages side by side, and says which one is begun, for `tools/build_book.py` to count.

Sphinx itself names pages only once many of them are read.
"""

from __future__ import annotations

from sphinx.application import Sphinx


def _begin(app: Sphinx, page: str, content: list[str]) -> None:
    print(f"executing and reading {page}", flush=True)


# What Jupyter Book always loads, and what does nothing to this book's pages: numbers of chapters, and LaTeX.
_SILENT = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def _declare_safe(app: Sphinx) -> None:
    """Declare extensions safe for parallel reading that do not say whether they are."""
    for name in _SILENT:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("source-read", _begin)
    app.connect("builder-inited", _declare_safe)
