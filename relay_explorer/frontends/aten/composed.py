"""Functions that are short programs of other operators: differences, membership, sums of patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from . import scalars
from .context import Aten
from .convolution import batched
from .registry import aten, call, tensor_call
from .values import Value

aten("_local_scalar_dense")(scalars.item)


@aten("diff")
def diff(
    ctx: Aten, x: Expr, n: int = 1, dim: int = -1, prepend: Expr | None = None, append: Expr | None = None
) -> Value:
    """Subtract from each element along an axis the one before it, `n` times."""
    axis = ctx.axis(dim, ctx.rank(x))
    parts = [part for part in (prepend, x, append) if part is not None]
    x = parts[0] if len(parts) == 1 else tensor_call(ctx, "cat", cast(Value, parts), axis)
    for _ in range(n):
        extent = ctx.size(x, axis)
        if isinstance(extent, int) and extent < 2:
            raise RelayError("diff along an axis with fewer than two elements cannot be imported")
        after = relay.strided_slice(x, [1], [1 << 31], axes=[axis])
        before = relay.strided_slice(x, [0], [-1], axes=[axis])
        x = relay.not_equal(after, before) if ctx.dtype(x) == "bool" else relay.subtract(after, before)
    return x


@aten("isin")
def isin(ctx: Aten, x: Value, elements: Value, assume_unique: bool = False, invert: bool = False) -> Value:
    """Return for each element whether it is among some others."""
    a, b = ctx.operands(x, elements)
    rank = ctx.rank(a)
    others = relay.reshape(b, (-1,))
    is_member = relay.any(relay.equal(relay.expand_dims(a, rank), others), axis=[rank])
    return relay.logical_not(is_member) if invert else is_member


@aten("heaviside")
def heaviside(ctx: Aten, x: Expr, values: Expr) -> Value:
    """Return 0 below zero, 1 above it, and a given value at it."""
    a, b = ctx.operands(x, values)
    zero = const(0, ctx.dtype(a))
    step = relay.cast(relay.greater(a, zero), ctx.dtype(a))
    return relay.where(relay.equal(a, zero), b, step)


@aten("isposinf")
def isposinf(ctx: Aten, x: Expr) -> Value:
    return relay.equal(ctx.floating(x), const(float("inf"), ctx.dtype(ctx.floating(x))))


@aten("isneginf")
def isneginf(ctx: Aten, x: Expr) -> Value:
    return relay.equal(ctx.floating(x), const(float("-inf"), ctx.dtype(ctx.floating(x))))


@aten("float_power")
def float_power(ctx: Aten, x: Value, y: Value) -> Value:
    """Raise to a power in double precision."""
    return relay.power(ctx.tensor(x, "float64"), ctx.tensor(y, "float64"))


@aten("ldexp")
def ldexp(ctx: Aten, x: Expr, y: Expr) -> Value:
    """Multiply by a power of two."""
    return call(ctx, "mul", x, tensor_call(ctx, "exp2", y))


@aten("narrow_copy")
def narrow_copy(ctx: Aten, x: Expr, dim: int, start: Value, length: Value) -> Value:
    return call(ctx, "narrow", x, dim, start, length)


def _indices(ctx: Aten, rows: int, columns: int, offset: int, dtype: str | None, *, lower: bool) -> Expr:
    """Return the indices of the elements of a triangle: rows, then columns."""
    import numpy as np

    indices = np.tril_indices(rows, offset, columns) if lower else np.triu_indices(rows, offset, columns)
    return Constant(NDArray.from_numpy(np.stack(indices).astype(dtype or "int64")))


@aten("tril_indices")
def tril_indices(
    ctx: Aten, rows: int, columns: int, offset: int = 0, dtype: str | None = None, *_: Value
) -> Value:
    return _indices(ctx, rows, columns, offset, dtype, lower=True)


@aten("triu_indices")
def triu_indices(
    ctx: Aten, rows: int, columns: int, offset: int = 0, dtype: str | None = None, *_: Value
) -> Value:
    return _indices(ctx, rows, columns, offset, dtype, lower=False)


@aten("bilinear")
def bilinear(ctx: Aten, x: Expr, y: Expr, weight: Expr, bias: Expr | None = None) -> Value:
    """Return xᵀ·Wₖ·y for each k, and add a bias."""
    *lead, _ = ctx.sizes(x)
    out, first, second = ctx.static_shape(weight)
    rows, columns = relay.reshape(x, (-1, first)), relay.reshape(y, (-1, second))
    flat = relay.reshape(weight, (out * first, second))
    products = relay.reshape(relay.nn.dense(columns, flat), (-1, out, first))
    result = relay.sum(relay.multiply(products, relay.expand_dims(rows, 1)), axis=[2])
    if bias is not None:
        result = relay.nn.bias_add(result, bias, axis=1)
    return ctx.reshape(result, [*lead, out])


@aten("col2im")
def col2im(
    ctx: Aten,
    x: Expr,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    """Add patches, the columns of `x`, up to an image."""
    import numpy as np

    padded = [extent + 2 * pad for extent, pad in zip(size, padding)]
    counts = [
        (extent - by * (window - 1) - 1) // step + 1
        for extent, by, window, step in zip(padded, dilation, kernel, stride)
    ]
    places = [
        np.arange(window)[:, None] * by + np.arange(count)[None] * step
        for window, by, count, step in zip(kernel, dilation, counts, stride)
    ]
    # Element (i, j) of the patch at (r, c) goes to the row places[0][i, r] and the column places[1][j, c].
    where = places[0][:, None, :, None] * padded[1] + places[1][None, :, None, :]
    index = Constant(NDArray.from_numpy(where.reshape(1, -1).astype("int64")))

    def convert(data: Expr) -> Expr:
        n, channels, _ = ctx.static_shape(data)
        count = channels // (kernel[0] * kernel[1])
        updates = relay.reshape(data, (n * count, -1))
        image = relay.zeros((n * count, padded[0] * padded[1]), ctx.dtype(data))
        spread = relay.broadcast_to(index, ctx.static_shape(updates))
        total = relay.scatter_elements(image, spread, updates, 1, "add")
        whole = relay.reshape(total, (n, count, *padded))
        ends = [pad + extent for pad, extent in zip(padding, size)]
        return relay.strided_slice(whole, list(padding), ends, axes=[2, 3]) if any(padding) else whole

    return batched(ctx, x, 3, convert)
