"""Look through `on_device`, which says where a value is computed and leaves the value as it is."""

from __future__ import annotations

from ...ir.expr import Call, Expr
from ...ops.annotation import OnDeviceAttrs


def device_of(expr: Expr) -> OnDeviceAttrs | None:
    """Return the attributes of an `on_device` call that fixes its argument and its result, else None."""
    if not isinstance(expr, Call) or not isinstance(expr.attrs, OnDeviceAttrs):
        return None
    return expr.attrs if expr.attrs.constrain_body and expr.attrs.constrain_result else None


def annotated(expr: Expr) -> Expr:
    """Return the expression inside `on_device` calls; the expression itself if there are none."""
    while isinstance(expr, Call) and isinstance(expr.attrs, OnDeviceAttrs):
        expr = expr.args[0]
    return expr
