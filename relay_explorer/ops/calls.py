"""The namespace `relay` for gradient rules, loaded when the first rule is applied.

The gradient of an operator calls operators of other files. Through this namespace it reaches them without
an import between the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import LazyModule

if TYPE_CHECKING:
    from . import namespaces as relay
else:
    relay = LazyModule("relay_explorer.ops.namespaces")

__all__ = ["relay"]
