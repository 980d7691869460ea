"""Reductions, and cumulative sums, products and extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .comparison import truth
from .context import Aten
from .conversion import converted
from .dtypes import is_float
from .registry import aten
from .values import Int, Scalar, Value

Axes = int | Sequence[int] | None


def _axes(ctx: Aten, x: Expr, dims: Axes) -> list[int]:
    return ctx.axes(ctx.integers(dims, "the axes") if isinstance(dims, (list, tuple)) else dims, ctx.rank(x))


def _summed_type(ctx: Aten, x: Expr, dtype: str | None) -> Expr:
    """Return the operand of a sum or product: integers and bools are added as int64."""
    wanted = dtype or (ctx.dtype(x) if is_float(ctx.dtype(x)) else "int64")
    return converted(ctx, x, wanted)


def reduced(ctx: Aten, reduce: Callable[..., Expr], x: Expr, dims: Axes, keepdim: bool) -> Expr:
    """Reduce over axes; a tensor without axes is its own reduction."""
    if not ctx.rank(x):
        return x
    return reduce(x, axis=_axes(ctx, x, dims), keepdims=keepdim)


def extent(ctx: Aten, x: Expr, dims: Axes) -> Int:
    """Return the number of elements that a reduction over axes combines."""
    count: Int = 1
    for axis in _axes(ctx, x, dims):
        size = ctx.size(x, axis) if ctx.rank(x) else 1
        if isinstance(count, int) and isinstance(size, int):
            count *= size
        else:
            count = ctx.scalar(relay.multiply(ctx.tensor(count, "int64"), ctx.tensor(size, "int64")))
    return count


@aten("sum")
def sum_all(ctx: Aten, x: Value, dtype: str | None = None) -> Value:
    if isinstance(x, list):
        return (
            sum(ctx.integers(x)) if all(isinstance(v, (int, Scalar)) for v in x) else sum(map(ctx.number, x))
        )
    assert isinstance(x, Expr)
    return reduced(ctx, relay.sum, _summed_type(ctx, x, dtype), None, False)


@aten("sum.dim_IntList")
def sum_dims(ctx: Aten, x: Expr, dims: Axes, keepdim: bool = False, dtype: str | None = None) -> Value:
    return reduced(ctx, relay.sum, _summed_type(ctx, x, dtype), dims, keepdim)


@aten("nansum")
def nansum(ctx: Aten, x: Expr, dims: Axes = None, keepdim: bool = False, dtype: str | None = None) -> Value:
    if is_float(ctx.dtype(x)):
        x = relay.where(relay.isnan(x), relay.zeros_like(x), x)
    return sum_dims(ctx, x, dims, keepdim, dtype)


@aten("mean")
def mean_all(ctx: Aten, x: Expr, dtype: str | None = None) -> Value:
    return mean_dims(ctx, x, None, False, dtype)


@aten("mean.dim")
def mean_dims(ctx: Aten, x: Expr, dims: Axes, keepdim: bool = False, dtype: str | None = None) -> Value:
    x = converted(ctx, x, dtype)
    if not is_float(ctx.dtype(x)):
        raise RelayError(f"the mean of a tensor of type {ctx.dtype(x)} requires a floating-point dtype")
    return reduced(ctx, relay.mean, x, dims, keepdim)


@aten("prod")
def prod_all(ctx: Aten, x: Expr, dtype: str | None = None) -> Value:
    return reduced(ctx, relay.prod, _summed_type(ctx, x, dtype), None, False)


@aten("prod.dim_int")
def prod_dim(ctx: Aten, x: Expr, dim: int, keepdim: bool = False, dtype: str | None = None) -> Value:
    return reduced(ctx, relay.prod, _summed_type(ctx, x, dtype), dim, keepdim)


def _quantifier(reduce: Callable[..., Expr], name: str) -> None:
    def over_all(ctx: Aten, x: Value) -> Value:
        if isinstance(x, list):
            known = [bool(ctx.number(value)) for value in x]
            return all(known) if name == "all" else any(known)
        return reduced(ctx, reduce, truth(ctx, x), None, False)

    def over_dims(ctx: Aten, x: Expr, dims: Axes, keepdim: bool = False) -> Value:
        return reduced(ctx, reduce, truth(ctx, x), dims, keepdim)

    aten(name)(over_all)
    aten(f"{name}.dim", f"{name}.dims")(over_dims)


_quantifier(relay.all, "all")
_quantifier(relay.any, "any")


def _position(ctx: Aten, find: Callable[..., Expr], x: Expr, dim: int | None, keepdim: bool) -> Expr:
    if ctx.dtype(x) == "bool":
        x = relay.cast(x, "uint8")
    if dim is None:
        flat = ctx.reshape(x, [-1])
        result = find(flat, axis=0)
        if keepdim:
            result = relay.reshape(result, (1,) * ctx.rank(x))
    elif not ctx.rank(x):
        return const(0, "int64")
    else:
        result = find(x, axis=ctx.axis(dim, ctx.rank(x)), keepdims=keepdim)
    return ctx.cast(result, "int64")


@aten("argmax")
def argmax(ctx: Aten, x: Expr, dim: int | None = None, keepdim: bool = False) -> Value:
    return _position(ctx, relay.argmax, x, dim, keepdim)


@aten("argmin")
def argmin(ctx: Aten, x: Expr, dim: int | None = None, keepdim: bool = False) -> Value:
    return _position(ctx, relay.argmin, x, dim, keepdim)


def _without_bools(ctx: Aten, x: Expr) -> Expr:
    return relay.cast(x, "uint8") if ctx.dtype(x) == "bool" else x


def _extreme_values(ctx: Aten, reduce: Callable[..., Expr], x: Expr, dims: Axes, keepdim: bool) -> Expr:
    result = reduced(ctx, reduce, _without_bools(ctx, x), dims, keepdim)
    return ctx.cast(result, ctx.dtype(x))


@aten("amax")
def amax(ctx: Aten, x: Expr, dims: Axes = None, keepdim: bool = False) -> Value:
    return _extreme_values(ctx, relay.max, x, dims, keepdim)


@aten("amin")
def amin(ctx: Aten, x: Expr, dims: Axes = None, keepdim: bool = False) -> Value:
    return _extreme_values(ctx, relay.min, x, dims, keepdim)


@aten("aminmax")
def aminmax(ctx: Aten, x: Expr, dim: int | None = None, keepdim: bool = False) -> Value:
    return amin(ctx, x, dim, keepdim), amax(ctx, x, dim, keepdim)


@aten("max")
def max_all(ctx: Aten, x: Expr) -> Value:
    return amax(ctx, x)


@aten("min")
def min_all(ctx: Aten, x: Expr) -> Value:
    return amin(ctx, x)


@aten("max.dim")
def max_dim(ctx: Aten, x: Expr, dim: int, keepdim: bool = False) -> Value:
    return amax(ctx, x, dim, keepdim), argmax(ctx, x, dim, keepdim)


@aten("min.dim")
def min_dim(ctx: Aten, x: Expr, dim: int, keepdim: bool = False) -> Value:
    return amin(ctx, x, dim, keepdim), argmin(ctx, x, dim, keepdim)


@aten("median.dim")
def median_dim(ctx: Aten, x: Expr, dim: int, keepdim: bool = False) -> Value:
    """Return the lower median and its index."""
    if not ctx.rank(x):
        return x, const(0, "int64")
    axis = ctx.axis(dim, ctx.rank(x))
    middle = (ctx.integer(ctx.size(x, axis), "the extent of the axis") - 1) // 2
    order = relay.argsort(x, axis=axis, dtype="int64")
    index = relay.take(order, const([middle] if keepdim else middle, "int64"), axis=axis)
    index_with_axis = index if keepdim else relay.expand_dims(index, axis)
    value = relay.gather(x, axis, index_with_axis)
    return (value if keepdim else relay.squeeze(value, [axis])), index


@aten("median")
def median(ctx: Aten, x: Expr) -> Value:
    result = median_dim(ctx, ctx.reshape(x, [-1]), 0)
    return cast("tuple[Expr, Expr]", result)[0]


def variance(ctx: Aten, x: Expr, dims: Axes, correction: float | None, keepdim: bool) -> tuple[Expr, Expr]:
    """Return the variance and the mean. The sum of squared deviations is divided by the number of elements
    less the correction, 1 by default.
    """
    if not is_float(ctx.dtype(x)):
        raise RelayError(f"the variance is not defined for {ctx.dtype(x)} tensors")
    correction = 1 if correction is None else correction
    dtype = ctx.dtype(x)
    mean = reduced(ctx, relay.mean, x, dims, True)
    deviation = relay.subtract(x, mean)
    total = reduced(ctx, relay.sum, relay.multiply(deviation, deviation), dims, keepdim)
    count = extent(ctx, x, dims)
    if isinstance(count, int):
        divisor = max(count - correction, 0)
        result = relay.divide(total, const(divisor, dtype))
    else:
        less = relay.subtract(ctx.tensor(count, dtype), const(correction, dtype))
        result = relay.divide(total, relay.maximum(less, const(0, dtype)))
    return result, reduced(ctx, relay.mean, x, dims, keepdim)


def _moments(name: str, finish: Callable[[Expr, Expr], Value]) -> None:
    """Declare the overloads of `var`, `std`, `var_mean` and `std_mean`."""

    def over_all(ctx: Aten, x: Expr, unbiased: bool = True) -> Value:
        return finish(*variance(ctx, x, None, 1 if unbiased else 0, False))

    def over_dims(ctx: Aten, x: Expr, dims: Axes, unbiased: bool = True, keepdim: bool = False) -> Value:
        return finish(*variance(ctx, x, dims, 1 if unbiased else 0, keepdim))

    def corrected(
        ctx: Aten, x: Expr, dims: Axes = None, correction: float | None = None, keepdim: bool = False
    ) -> Value:
        return finish(*variance(ctx, x, dims, correction, keepdim))

    aten(name)(over_all)
    aten(f"{name}.dim")(over_dims)
    aten(f"{name}.correction")(corrected)


_moments("var", lambda var, mean: var)
_moments("std", lambda var, mean: relay.sqrt(var))
_moments("var_mean", lambda var, mean: (var, mean))
_moments("std_mean", lambda var, mean: (relay.sqrt(var), mean))


def p_norm(ctx: Aten, x: Expr, p: float, dims: Axes, keepdim: bool) -> Expr:
    """Return the p-norm of the elements along axes."""
    x = ctx.floating(x)
    dtype = ctx.dtype(x)
    magnitude = relay.abs(x)
    if p == math.inf:
        return reduced(ctx, relay.max, magnitude, dims, keepdim)
    if p == -math.inf:
        return reduced(ctx, relay.min, magnitude, dims, keepdim)
    if p == 0:
        nonzero = relay.cast(relay.not_equal(x, const(0, dtype)), dtype)
        return reduced(ctx, relay.sum, nonzero, dims, keepdim)
    if p == 1:
        return reduced(ctx, relay.sum, magnitude, dims, keepdim)
    if p == 2:
        return relay.sqrt(reduced(ctx, relay.sum, relay.multiply(x, x), dims, keepdim))
    total = reduced(ctx, relay.sum, relay.power(magnitude, const(p, dtype)), dims, keepdim)
    return relay.power(total, const(1 / p, dtype))


@aten("norm")
def norm(ctx: Aten, x: Expr, p: float = 2) -> Value:
    return p_norm(ctx, x, p, None, False)


@aten("norm.ScalarOpt_dim")
def norm_dims(ctx: Aten, x: Expr, p: float | None, dims: Axes, keepdim: bool = False) -> Value:
    return p_norm(ctx, x, 2 if p is None else p, dims, keepdim)


@aten("norm.ScalarOpt_dtype")
def norm_dtype(ctx: Aten, x: Expr, p: float | None, dtype: str) -> Value:
    return p_norm(ctx, converted(ctx, x, dtype), 2 if p is None else p, None, False)


@aten("norm.ScalarOpt_dim_dtype")
def norm_dims_dtype(
    ctx: Aten, x: Expr, p: float | None, dims: Axes, keepdim: bool, dtype: str | None
) -> Value:
    return p_norm(ctx, converted(ctx, x, dtype), 2 if p is None else p, dims, keepdim)


@aten("linalg_vector_norm")
def vector_norm(
    ctx: Aten, x: Expr, p: float = 2, dims: Axes = None, keepdim: bool = False, dtype: str | None = None
) -> Value:
    return p_norm(ctx, converted(ctx, x, dtype), p, dims, keepdim)


@aten("frobenius_norm", "frobenius_norm.dim")
def frobenius_norm(ctx: Aten, x: Expr, dims: Axes = None, keepdim: bool = False) -> Value:
    return p_norm(ctx, x, 2, dims, keepdim)


@aten("linalg_norm")
def linalg_norm(
    ctx: Aten,
    x: Expr,
    order: float | None = None,
    dims: Axes = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Value:
    axes = _axes(ctx, x, dims)
    if order is not None and len(axes) != 1:
        return matrix_norm(ctx, x, order, axes, keepdim, dtype)
    return p_norm(ctx, converted(ctx, x, dtype), 2 if order is None else order, dims, keepdim)


@aten("linalg_matrix_norm")
def matrix_norm(
    ctx: Aten, x: Expr, order: Value, dims: Axes = (-2, -1), keepdim: bool = False, dtype: str | None = None
) -> Value:
    """Return the greatest (or least) sum of magnitudes of a column (1) or a row (inf)."""
    x = ctx.floating(converted(ctx, x, dtype))
    if not isinstance(order, (int, float)) or order not in (1, -1, math.inf, -math.inf):
        raise RelayError(
            f"the matrix norm of order {order} needs singular values, which Relay cannot compute"
        )
    rows, columns = [ctx.axis(dim, ctx.rank(x)) for dim in cast("Sequence[int]", dims)]
    added, compared = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = relay.sum(relay.abs(x), axis=[added], keepdims=True)
    reduce = relay.max if order > 0 else relay.min
    result = reduce(sums, axis=[compared], keepdims=True)
    return result if keepdim else relay.squeeze(result, sorted([rows, columns]))


@aten("linalg_matrix_norm.str_ord", "linalg_norm.ord_str")
def matrix_norm_named(
    ctx: Aten,
    x: Expr,
    order: str = "fro",
    dims: Axes = (-2, -1),
    keepdim: bool = False,
    dtype: str | None = None,
) -> Value:
    if order != "fro":
        raise RelayError(f"the matrix norm {order!r} needs singular values, which Relay cannot compute")
    return p_norm(ctx, converted(ctx, x, dtype), 2, dims, keepdim)


@aten("dist")
def dist(ctx: Aten, x: Expr, y: Expr, p: float = 2) -> Value:
    a, b = ctx.operands(x, y)
    return p_norm(ctx, relay.subtract(a, b), p, None, False)


@aten("logsumexp", "special_logsumexp")
def logsumexp(ctx: Aten, x: Expr, dims: Axes, keepdim: bool = False) -> Value:
    """Return log Σ exp(x), with the maximum taken out against overflow, unless it is infinite."""
    x = ctx.floating(x)
    largest = reduced(ctx, relay.max, x, dims, True)
    zero = const(0, ctx.dtype(x))
    shift = relay.where(relay.isinf(largest), zero, largest)
    total = reduced(ctx, relay.sum, relay.exp(relay.subtract(x, shift)), dims, keepdim)
    if not keepdim and ctx.rank(x):
        shift = relay.squeeze(shift, _axes(ctx, x, dims))
    return relay.add(relay.log(total), shift)


@aten("count_nonzero.dim_IntList", "count_nonzero")
def count_nonzero(ctx: Aten, x: Expr, dims: Axes = None) -> Value:
    return reduced(ctx, relay.sum, relay.cast(truth(ctx, x), "int64"), dims, False)


@aten("cumsum")
def cumsum(ctx: Aten, x: Expr, dim: int, dtype: str | None = None) -> Value:
    x = _summed_type(ctx, x, dtype)
    return relay.cumsum(x, axis=ctx.axis(dim, ctx.rank(x))) if ctx.rank(x) else x


@aten("cumprod")
def cumprod(ctx: Aten, x: Expr, dim: int, dtype: str | None = None) -> Value:
    x = _summed_type(ctx, x, dtype)
    return relay.cumprod(x, axis=ctx.axis(dim, ctx.rank(x))) if ctx.rank(x) else x
