"""Reshape to extents of which some are expressions that the program computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir.expr import Call, Constant, Expr
from ...ir.op import Op
from ...ir.size import SizeVar
from ...ir.types import Any
from ...ops import namespaces as relay
from ..base.reshaping import Extent, named, static_reshape, with_inferred
from ..base.shared_extents import reshape_like
from .context import Aten
from .values import Int, Scalar


def reshaped(ctx: Aten, x: Expr, dims: Sequence[Int]) -> Expr:
    """Reshape to extents that may be known only at run time; one of them may be -1."""
    source = named(ctx.shape(x))
    target = with_inferred(source, [_extent(ctx, x, dim, source) for dim in dims])
    result = static_reshape(x, source, target)
    if result is not None:
        return result
    wanted: list[Int] = [extent if isinstance(extent, int) else dim for dim, extent in zip(dims, target)]
    shape = ctx.vector(wanted)
    result = reshape_like(ctx.context, x, source, target, shape)
    return with_known_extents(ctx, relay.reshape(x, shape), wanted) if result is None else result


def with_known_extents(ctx: Aten, x: Expr, dims: Sequence[Int]) -> Expr:
    """Return a tensor of a computed shape with those extents in its type that are known numbers."""
    known = [ctx.dim(dim) for dim in dims]
    if not any(isinstance(extent, int) and extent > 0 for extent in known):
        return x
    return relay.reshape(x, [extent if isinstance(extent, int) and extent > 0 else 0 for extent in known])


def _extent(ctx: Aten, x: Expr, dim: Int, source: Sequence[Extent]) -> Extent:
    """Return an extent of the new shape: that of an axis of `x` if it was read there, else a known number or
    size, else a new name.
    """
    if not isinstance(dim, Scalar):
        return int(dim)
    axis = _axis_of(ctx, dim.expr, x)
    if axis is not None:
        return source[axis]
    known = ctx.dim(dim)
    return SizeVar("unknown") if isinstance(known, Any) else known


def _axis_of(ctx: Aten, expr: Expr, x: Expr) -> int | None:
    """Return the axis of `x` whose extent an expression reads, or None."""
    while isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name in ("cast", "reshape"):
        expr = expr.args[0]
    if not (isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "take"):
        return None
    read, index = expr.args
    is_shape = isinstance(read, Call) and isinstance(read.op, Op) and read.op.name == "shape_of"
    if is_shape and cast(Call, read).args[0] is x and isinstance(index, Constant):
        return int(cast(Anything, ctx.context.constant(index)))
    return None
