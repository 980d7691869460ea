"""Reshape to named sizes that are the extents of another tensor.

A layer flattens `(n, m, 16)` to `(n * m, 16)`, and reads `n` and `m` from the shape of another tensor to undo
it. No special value of `reshape` splits `n * m` into two names, but `reshape_like` does, with that tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.expr import Call, Expr
from ...ir.op import Op
from ...ir.size import Size
from ...ir.types import TensorType
from ...ir.walk import children
from ...ops import namespaces as relay
from .context import Context
from .reshaping import Extent, named, product, static_reshape

MAX_VISITED = 200  # expressions of a computed shape that are searched for the tensors that it reads


def reshape_like(
    context: Context, x: Expr, source: Sequence[Extent], target: Sequence[Extent], shape: Expr
) -> Expr | None:
    """Reshape `x` from `source` to `target`, whose -1 stands for what remains, with a tensor of which the
    expression `shape` of the new shape reads the extents. Return None where that is not possible.
    """
    tensors = _tensors_read(shape)
    for begin, end in _runs(target):
        run = target[begin:end]
        (merged,) = named([product(run)])
        result = static_reshape(x, source, [*target[:begin], merged, *target[end:]])
        like = None if result is None else _with_extents(context, tensors, run)
        if result is not None and like is not None:
            return relay.reshape_like(result, like, begin, begin + 1, 0, len(run))
    return None


def _with_extents(context: Context, tensors: Sequence[Expr], run: Sequence[Extent]) -> Expr | None:
    """Return a tensor whose first axes have these extents: one of `tensors`, transposed if necessary."""
    orders: list[tuple[Expr, list[int]]] = []
    for tensor in tensors:
        type_ = context.type(tensor)
        if isinstance(type_, TensorType):
            first = [
                next((axis for axis, dim in enumerate(type_.shape) if dim == extent), -1) for extent in run
            ]
            if -1 not in first and len(set(first)) == len(run):
                others = [axis for axis in range(len(type_.shape)) if axis not in first]
                orders.append((tensor, [*first, *others]))
    for tensor, order in orders:
        if order == sorted(order):
            return tensor
    return relay.transpose(*orders[0]) if orders else None


def _tensors_read(shape: Expr) -> list[Expr]:
    """Return the tensors whose extents an expression reads."""
    tensors: dict[Expr, None] = {}
    visited: set[Expr] = set()
    pending = [shape]
    while pending and len(visited) < MAX_VISITED:
        expr = pending.pop()
        if expr in visited:
            continue
        visited.add(expr)
        if isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "shape_of":
            tensors[expr.args[0]] = None
        else:
            pending += children(expr)
    return list(tensors)


def _runs(shape: Sequence[Extent]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of axes that contain at least two named sizes, the longest first."""
    for length in range(len(shape), 1, -1):
        for begin in range(len(shape) - length + 1):
            if sum(isinstance(extent, Size) for extent in shape[begin : begin + length]) > 1:
                yield begin, begin + length
