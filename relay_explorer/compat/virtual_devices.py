"""`expr.virtual_device_`: the device on which old code placed an expression.

It is stored beside the expression and has no effect; passes only see `relay.annotation.on_device`.
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
