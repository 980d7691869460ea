"""Reshape to extents of which some are known only at run time, with types as precise as Relay can express.

A `reshape` whose shape the program computes has a result all of whose extents are `?`. Most reshapes of
models keep, merge or split axes, which the special values 0, -3 and -4 of Relay's `reshape` express
statically.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr
from ...ir.op import Op
from ...ir.size import Size, SizeVar
from ...ir.types import Any, Dim
from ...ops import namespaces as relay
from .context import Aten
from .values import Int, Scalar

Extent = int | Size
_INFERRED = -1


def reshaped(ctx: Aten, x: Expr, dims: Sequence[Int]) -> Expr:
    """Reshape to extents that may be known only at run time; one of them may be -1."""
    shape = ctx.shape(x)
    source: list[Extent] = [SizeVar(f"axis{i}") if isinstance(d, Any) else d for i, d in enumerate(shape)]
    target = [_extent(ctx, x, dim, source) for dim in dims]
    if len([dim for dim in target if dim == _INFERRED]) > 1:
        raise RelayError("only one extent of a reshape can be -1")
    target = _with_inferred(source, target)
    if target == source:
        return x
    if all(isinstance(dim, int) for dim in target):
        shape_known = tuple(cast("list[int]", target))
        return relay.reshape(x, shape_known, allowzero=0 in shape_known)
    codes = special_values(source, target)
    if codes is not None:
        return relay.reshape(x, codes)
    wanted: list[Int] = [extent if isinstance(extent, int) else dim for dim, extent in zip(dims, target)]
    return with_known_extents(ctx, relay.reshape(x, ctx.vector(wanted)), wanted)


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


def _with_inferred(source: Sequence[Extent], target: Sequence[Extent]) -> list[Extent]:
    """Return the new shape with -1 replaced by what it stands for, where that is a number or a size."""
    result = list(target)
    if _INFERRED not in result:
        return result
    total: Anything = 1
    divisor: Anything = 1
    for dim in source:
        total = total * dim
    for dim in result:
        divisor = divisor if dim == _INFERRED else divisor * dim
    if isinstance(total, Any) or isinstance(divisor, Any) or divisor == 0:
        return result
    if isinstance(total, int) and isinstance(divisor, int) and total % divisor:
        raise RelayError(
            f"{total} elements do not fill a shape whose other extents have the product {divisor}"
        )
    inferred: Anything = total // divisor
    if not isinstance(inferred, Any) and inferred * divisor == total:
        result[result.index(_INFERRED)] = inferred
    return result


def special_values(source: Sequence[Extent], target: Sequence[Extent]) -> list[int] | None:
    """Return the value of `newshape` that reshapes `source` to `target`, or None where none expresses it.

    0 copies an axis, -3 merges two, -4 splits one, and -1, once, is what remains.
    """
    codes: list[int] = []
    inferred = False
    at = position = 0  # the next axis of source and of target
    while position < len(target):
        extent = target[position]
        here = source[at] if at < len(source) else None
        following = source[at + 1] if at + 1 < len(source) else None
        split = _split(here, target[position : position + 2])
        if isinstance(extent, int) and extent > 0 and split is None:
            codes.append(extent)
            at += 1
        elif here is not None and extent == here:
            codes.append(0)
            at += 1
        elif here is not None and following is not None and _product(here, following) == extent:
            codes.append(-3)
            at += 2
        elif split is not None:
            codes += split
            at += 1
            position += 1
        elif not inferred and extent != 0:
            codes.append(_INFERRED)
            inferred = True
            at += 1
        else:
            return None
        position += 1
    return codes


def _split(here: Extent | None, parts: Sequence[Extent]) -> list[int] | None:
    """Return the values that split the axis `here` into two of which one is a number, or None."""
    if not isinstance(here, Size) or len(parts) != 2 or _product(*parts) != here:
        return None
    left, right = parts
    if isinstance(right, int) and right > 1:
        return [-4, -1, right]
    if isinstance(left, int) and left > 1:
        return [-4, left, -1]
    return None


def _product(a: Extent, b: Extent) -> Dim:
    return cast(Dim, cast(Anything, a) * b)
