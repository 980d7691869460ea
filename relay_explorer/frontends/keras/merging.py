"""Converters of layers that join several tensors."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.products import matmul
from .call import Call, Results, Value, layer

_MERGES: dict[str, Callable[[Expr, Expr], Expr]] = {
    "Add": relay.add, "Multiply": relay.multiply, "Subtract": relay.subtract, "Maximum": relay.maximum,
    "Minimum": relay.minimum, "Average": relay.add,
}  # fmt: skip


@layer(*_MERGES)
def _merge(call: Call) -> Results:
    operands, first = call.alike()
    if not first:
        operands = _aligned(call, operands)
    result, *others = operands
    for other in others:
        result = _MERGES[call.kind](result, other)
    if call.kind == "Average":
        result = relay.divide(result, call.number(float(len(operands))))
    return Value(result, first)


def _aligned(call: Call, operands: list[Expr]) -> list[Expr]:
    """Give operands of lower rank axes of extent 1 after the batch."""
    most = max(call.context.rank(x) for x in operands)
    return [
        relay.expand_dims(x, 1, most - call.context.rank(x)) if call.context.rank(x) < most else x
        for x in operands
    ]


@layer("Concatenate")
def _concatenate(call: Call) -> Results:
    operands, first = call.alike()
    rank = call.context.rank(operands[0])
    axis = call.moved_axis(call.axis(int(call.attr("axis"))), rank, first)
    return Value(relay.concatenate(operands, axis), first)


@layer("Dot")
def _dot(call: Call) -> Results:
    result = _product(call)
    if all(value.first for value in call.inputs) and call.context.rank(result) == 3:
        return Value(call.importer.to_first(result), True)
    return result


def _product(call: Call) -> Expr:
    x, y = call[0], call[1]
    axes = call.attr("axes")
    left, right = (axes, axes) if isinstance(axes, int) else (int(axes[0]), int(axes[1]))
    rank_x, rank_y = call.context.rank(x), call.context.rank(y)
    left, right = left % rank_x, right % rank_y
    if left == 0 or right == 0:
        raise RelayError("Dot along the batch axis cannot be imported")
    if call.attr("normalize", False):
        x, y = (_normalized(call, operand, axis) for operand, axis in ((x, left), (y, right)))
    x = relay.transpose(x, (0, *[axis for axis in range(1, rank_x) if axis != left], left))
    y = relay.transpose(y, (0, right, *[axis for axis in range(1, rank_y) if axis != right]))
    if rank_x == rank_y == 2:
        return relay.sum(relay.multiply(x, y), [1], keepdims=True)
    if rank_x > 3 or rank_y > 3:
        raise RelayError(f"Dot can be imported only for operands with 2 or 3 axes, not {rank_x} and {rank_y}")
    a = relay.expand_dims(x, 1) if rank_x == 2 else x
    b = relay.expand_dims(y, 2) if rank_y == 2 else y
    result = matmul(call.context, a, b)
    if rank_x == 2:
        return relay.squeeze(result, [1])
    return relay.squeeze(result, [2]) if rank_y == 2 else result


def _normalized(call: Call, x: Expr, axis: int) -> Expr:
    norm = relay.sqrt(relay.sum(relay.multiply(x, x), [axis], keepdims=True))
    return relay.divide(x, relay.maximum(norm, call.number(1e-12)))
