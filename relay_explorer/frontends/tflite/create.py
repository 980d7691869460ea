"""Converters of operators that create tensors, or read shapes."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from .operation import Operation, converter


@converter("SHAPE", mode="own")
def _shape(op: Operation) -> Expr:
    return relay.shape_of(op[0], dtype=op.result().dtype)


@converter("RANK", mode="own")
def _rank(op: Operation) -> Expr:
    return const(op.rank(0), op.result().dtype)


@converter("FILL", mode="own")
def _fill(op: Operation) -> Expr:
    sizes = op.sizes(0, "the shape")
    if isinstance(sizes, tuple) and any(size < 0 for size in sizes):
        raise RelayError(f"the extents of FILL must not be negative, but the shape is {list(sizes)}")
    return relay.full(op[1], sizes, op.dtype(1))


@converter("RANGE", mode="own")
def _range(op: Operation) -> Expr:
    bounds = [relay.reshape(op[index], ()) if op.rank(index) else op[index] for index in range(3)]
    return relay.arange(bounds[0], bounds[1], bounds[2], dtype=op.result().dtype)
