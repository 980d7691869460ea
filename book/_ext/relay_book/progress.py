"""Read pages in parallel, and print the name of each page when it begins; `tools/build_book.py` counts them.

Sphinx itself prints names only after a whole batch of pages has been read.
"""

from __future__ import annotations

from sphinx.application import Sphinx


def _begin(app: Sphinx, page: str, content: list[str]) -> None:
    print(f"executing and reading {page}", flush=True)


# Jupyter Book always loads these extensions (chapter numbers, LaTeX), which do not change this book's pages.
_SILENT = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def _declare_safe(app: Sphinx) -> None:
    """Mark the extensions in `_SILENT`, which do not declare whether they are safe for parallel reading, as
    safe.
    """
    for name in _SILENT:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("source-read", _begin)
    app.connect("builder-inited", _declare_safe)
