"""The book's printed figures, one file each, as SVG in light and dark. `make figures` writes them."""

from __future__ import annotations
