"""Products of matrices with any number of leading axes, which broadcast as in NumPy's `matmul`."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ir.types import Any, Dim
from ...ops import namespaces as relay
from .context import Context
from .errors import DynamicShapeError


def matmul(
    context: Context,
    a: Expr,
    b: Expr,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out_dtype: str = "",
) -> Expr:
    """Return the product of the matrices in the last two axes; a vector is a row, on the right a column.

    The elements of the result have the type `out_dtype`, or that of the operands.
    """
    if context.rank(a) == 1:
        product = matmul(context, relay.expand_dims(a, 0), b, False, transpose_b, out_dtype)
        return relay.squeeze(product, [context.rank(product) - 2])
    if context.rank(b) == 1:
        product = matmul(context, a, relay.expand_dims(b, 1), transpose_a, False, out_dtype)
        return relay.squeeze(product, [context.rank(product) - 1])
    left, right = context.shape(a), context.shape(b)
    if len(left) == len(right) == 2:
        return relay.nn.matmul(a, b, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b)
    if len(right) == 2 and not transpose_a:  # one matrix for all: the leading axes become rows
        rows = relay.reshape(a, (-1, _known(left[-1], "the inner axis")))
        product = relay.nn.matmul(rows, b, out_dtype=out_dtype, transpose_b=transpose_b)
        return split_rows(context, product, a)
    if len(left) == len(right) == 3:
        return relay.nn.batch_matmul(
            a, b, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b
        )
    leading = broadcast(left[:-2], right[:-2])
    a, b = _batched(context, a, leading), _batched(context, b, leading)
    product = relay.nn.batch_matmul(
        a, b, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b
    )
    return relay.reshape(product, (*_with_one_unknown(leading), *_last(context, product, 2)))


def split_rows(context: Context, product: Expr, like: Expr) -> Expr:
    """Give a matrix the leading axes of `like`, all but its last, in place of its rows."""
    leading = context.shape(like)[:-1]
    columns = _known(context.shape(product)[-1], "the number of columns")
    if sum(not isinstance(extent, int) for extent in leading) <= 1:
        return relay.reshape(product, (*_with_one_unknown(leading), columns))
    shape = relay.strided_slice(relay.shape_of(like, dtype="int64"), [0], [len(leading)])
    return relay.reshape(product, relay.concatenate([shape, const([columns], "int64")], 0))


def broadcast(a: Sequence[Dim], b: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the shape to which two shapes broadcast."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    result: list[Dim] = []
    for x, y in zip(left, right):
        if x == y or (isinstance(y, int) and y == 1):
            result.append(x)
        elif isinstance(x, int) and x == 1:
            result.append(y)
        elif isinstance(x, int) and isinstance(y, int):
            raise RelayError(f"the shapes {tuple(a)} and {tuple(b)} cannot be broadcast to each other")
        else:
            result.append(y if isinstance(y, int) else x if isinstance(x, int) else Any())
    return tuple(result)


def _batched(context: Context, x: Expr, leading: tuple[Dim, ...]) -> Expr:
    """Return `x` with all leading axes, broadcast to `leading`, as one."""
    shape = context.shape(x)
    if tuple(shape[:-2]) != leading:
        if not all(isinstance(extent, int) for extent in (*leading, *shape[-2:])):
            raise DynamicShapeError(
                "a matrix product whose leading axes broadcast requires shapes that are known at compile "
                f"time, but an operand has type {context.type(x)}"
            )
        x = relay.broadcast_to(x, (*leading, *shape[-2:]))  # type: ignore[arg-type]  # ints
    return relay.reshape(x, (-1, *_last(context, x, 2)))


def _last(context: Context, x: Expr, count: int) -> tuple[int, ...]:
    return tuple([_known(extent, "an axis of a matrix") for extent in context.shape(x)[-count:]])


def _with_one_unknown(shape: Sequence[Dim]) -> tuple[int, ...]:
    result = [extent if isinstance(extent, int) else -1 for extent in shape]
    if result.count(-1) > 1:
        raise DynamicShapeError(
            "a matrix product can have at most one leading axis of dynamic extent, but they are "
            f"{tuple(shape)}"
        )
    return tuple(result)


def _known(extent: Dim, what: str) -> int:
    if not isinstance(extent, int):
        raise DynamicShapeError(f"{what} must be known at compile time, but it is `{extent}`")
    return extent
