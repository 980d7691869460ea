"""`expr.virtual_device_`: where old code said that an expression is computed.

It is stored beside the expression and changes nothing: `relay.annotation.on_device` is what passes see.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from ..ir.expr import Expr
from ..ir.virtual_device import VirtualDevice

_of: WeakKeyDictionary[Expr, Any] = WeakKeyDictionary()


def _read(expr: Expr) -> Any:
    return _of.get(expr, VirtualDevice())


def enable() -> None:
    """Give expressions the property `virtual_device_`, to be read and assigned."""
    Expr.virtual_device_ = property(_read, _of.__setitem__)  # type: ignore[attr-defined]
