"""The namespace `relay`, for gradient rules: it is loaded when the first of them is applied.

Gradients of operators call other operators, in other files; so these files do not import each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import LazyModule

if TYPE_CHECKING:
    from . import namespaces as relay
else:
    relay = LazyModule("relay_explorer.ops.namespaces")

__all__ = ["relay"]
