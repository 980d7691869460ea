"""Normalization over batches, layers, groups and instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import Dim
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .context import Aten
from .registry import aten
from .values import Value

_EVAL = ["call model.eval() before exporting or tracing it"]


def _affine(ctx: Aten, scale: Expr | None, shift: Expr | None, count: Dim, dtype: str) -> tuple[Expr, Expr]:
    """Return scale and shift, one and zero by default, for `count` channels."""
    if not isinstance(count, int):
        raise DynamicShapeError("the number of channels must be known at compile time")
    return (
        relay.ones((count,), dtype) if scale is None else scale,
        relay.zeros((count,), dtype) if shift is None else shift,
    )


def _along(ctx: Aten, vector: Expr, axis: int, rank: int) -> Expr:
    """Reshape a vector so that it broadcasts along an axis."""
    return relay.expand_dims(vector, 1, rank - axis - 1) if rank - axis > 1 else vector


def _standardized(ctx: Aten, x: Expr, axes: Sequence[int], eps: float) -> tuple[Expr, Expr, Expr]:
    """Return data with mean 0 and variance 1 over some axes, the mean, and 1/√(variance + eps)."""
    mean = relay.mean(x, axis=list(axes), keepdims=True)
    centred = relay.subtract(x, mean)
    variance = relay.mean(relay.multiply(centred, centred), axis=list(axes), keepdims=True)
    scale = relay.rsqrt(relay.add(variance, const(eps, ctx.dtype(x))))
    return relay.multiply(centred, scale), mean, scale


def normalized_batch(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    mean: Expr | None,
    variance: Expr | None,
    training: bool,
    eps: float,
) -> Expr:
    """Normalize each channel by statistics that are given or, in training, those of the batch."""
    rank, dtype = ctx.rank(x), ctx.dtype(x)
    if not training:
        if mean is None or variance is None:
            raise RelayError("batch_norm with training=False requires running_mean and running_var")
        gamma, beta = _affine(ctx, weight, bias, ctx.shape(x)[1], dtype)
        return relay.nn.batch_norm(x, gamma, beta, mean, variance, axis=1, epsilon=eps)[0]
    result, _, _ = _standardized(ctx, x, [axis for axis in range(rank) if axis != 1], eps)
    return _scaled(ctx, result, weight, bias, rank)


def _scaled(ctx: Aten, x: Expr, weight: Expr | None, bias: Expr | None, rank: int) -> Expr:
    if weight is not None:
        x = relay.multiply(x, _along(ctx, weight, 1, rank))
    return x if bias is None else relay.add(x, _along(ctx, bias, 1, rank))


@aten("batch_norm")
def batch_norm(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    mean: Expr | None,
    variance: Expr | None,
    training: bool,
    momentum: float,
    eps: float,
    *flags: Value,
) -> Value:
    if training and mean is not None:
        raise RelayError(
            "batch_norm is in training mode, in which it updates its running statistics", help=_EVAL
        )
    return normalized_batch(ctx, x, weight, bias, mean, variance, training, eps)


@aten("_native_batch_norm_legit_no_training")
def batch_norm_no_training(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    mean: Expr,
    variance: Expr,
    momentum: float,
    eps: float,
) -> Value:
    return normalized_batch(ctx, x, weight, bias, mean, variance, False, eps), None, None


@aten("native_batch_norm", "_native_batch_norm_legit")
def native_batch_norm(
    ctx: Aten, x: Expr, weight: Expr | None, bias: Expr | None, mean: Expr | None, variance: Expr | None,
    training: bool, momentum: float, eps: float,
) -> Value:  # fmt: skip
    """Normalize; the running statistics must not change."""
    if training and mean is not None:
        raise RelayError(
            "batch_norm is in training mode, in which it updates its running statistics",
            help=_EVAL,
        )
    whole = batch_norm_functional(ctx, x, weight, bias, mean, variance, training, momentum, eps)
    return tuple(cast("Sequence[Value]", whole)[:3])


@aten("_native_batch_norm_legit_functional")
def batch_norm_functional(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    mean: Expr | None,
    variance: Expr | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Value:
    """Normalize; the last two results are the running statistics after this batch."""
    if not training:
        result = normalized_batch(ctx, x, weight, bias, mean, variance, False, eps)
        return result, None, None, mean, variance
    axes = [axis for axis in range(ctx.rank(x)) if axis != 1]
    standard, batch_mean, scale = _standardized(ctx, x, axes, eps)
    result = _scaled(ctx, standard, weight, bias, ctx.rank(x))
    saved = relay.squeeze(batch_mean, axes), relay.squeeze(scale, axes)
    if mean is None or variance is None:
        return result, *saved
    count = 1
    for axis in axes:
        count *= ctx.static_shape(x)[axis]
    unbiased = relay.variance(x, axis=axes, unbiased=count > 1)
    decay, part = const(1 - momentum, ctx.dtype(x)), const(momentum, ctx.dtype(x))
    new_mean = relay.add(relay.multiply(mean, decay), relay.multiply(saved[0], part))
    new_variance = relay.add(relay.multiply(variance, decay), relay.multiply(unbiased, part))
    return result, *saved, new_mean, new_variance


@aten("_native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    ctx: Aten, x: Expr, weight: Expr | None, bias: Expr | None, training: bool, momentum: float, eps: float
) -> Value:
    axes = [axis for axis in range(ctx.rank(x)) if axis != 1]
    standard, mean, scale = _standardized(ctx, x, axes, eps)
    return (
        _scaled(ctx, standard, weight, bias, ctx.rank(x)),
        relay.squeeze(mean, axes),
        relay.squeeze(scale, axes),
    )


@aten("layer_norm")
def layer_norm(
    ctx: Aten,
    x: Expr,
    shape: Sequence[int],
    weight: Expr | None,
    bias: Expr | None,
    eps: float,
    *flags: Value,
) -> Value:
    """Normalize over the last axes, those of `shape`."""
    if len(shape) == 1:
        gamma, beta = _affine(ctx, weight, bias, ctx.shape(x)[-1], ctx.dtype(x))
        return relay.nn.layer_norm(x, gamma, beta, axis=-1, epsilon=eps)
    result, _, _ = _standardized(ctx, x, _last(ctx, x, shape), eps)
    result = result if weight is None else relay.multiply(result, weight)
    return result if bias is None else relay.add(result, bias)


@aten("native_layer_norm")
def native_layer_norm(
    ctx: Aten, x: Expr, shape: Sequence[int], weight: Expr | None, bias: Expr | None, eps: float
) -> Value:
    _, mean, scale = _standardized(ctx, x, _last(ctx, x, shape), eps)
    return layer_norm(ctx, x, shape, weight, bias, eps), mean, scale


def _last(ctx: Aten, x: Expr, shape: Sequence[int]) -> list[int]:
    rank = ctx.rank(x)
    return list(range(rank - len(shape), rank))


@aten("rms_norm")
def rms_norm(ctx: Aten, x: Expr, shape: Sequence[int], weight: Expr | None, eps: float | None) -> Value:
    """Divide by the root of the mean of the squares over the last axes."""
    return cast("tuple[Value, Value]", fused_rms_norm(ctx, x, shape, weight, eps))[0]


@aten("_fused_rms_norm")
def fused_rms_norm(ctx: Aten, x: Expr, shape: Sequence[int], weight: Expr | None, eps: float | None) -> Value:
    dtype = ctx.dtype(x)
    least = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    squares = relay.mean(relay.multiply(x, x), axis=_last(ctx, x, shape), keepdims=True)
    scale = relay.rsqrt(relay.add(squares, const(least if eps is None else eps, dtype)))
    result = relay.multiply(x, scale)
    return (result if weight is None else relay.multiply(result, weight)), scale


@aten("group_norm")
def group_norm(
    ctx: Aten, x: Expr, groups: int, weight: Expr | None, bias: Expr | None, eps: float, *flags: Value
) -> Value:
    gamma, beta = _affine(ctx, weight, bias, ctx.shape(x)[1], ctx.dtype(x))
    if ctx.rank(x) > 2 and ctx.is_static(x):
        return relay.nn.group_norm(x, gamma, beta, num_groups=groups, axis=1, epsilon=eps)
    channels = ctx.integer(cast(Value, ctx.shape(x)[1]), "the number of channels")
    split = ctx.reshape(x, [ctx.size(x, 0), groups, channels // groups, *ctx.sizes(x)[2:]])
    standard, _, _ = _standardized(ctx, split, list(range(2, ctx.rank(split))), eps)
    return _scaled(ctx, ctx.reshape(standard, ctx.sizes(x)), weight, bias, ctx.rank(x))


@aten("native_group_norm")
def native_group_norm(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    n: Value,
    c: Value,
    size: Value,
    groups: int,
    eps: float,
) -> Value:
    """Normalize; the further results, which the backward pass needs, are the statistics of each group."""
    split = ctx.reshape(x, [ctx.size(x, 0), groups, -1])
    _, mean, scale = _standardized(ctx, split, [2], eps)
    result = group_norm(ctx, x, groups, weight, bias, eps)
    return result, relay.squeeze(mean, [2]), relay.squeeze(scale, [2])


@aten("instance_norm")
def instance_norm(
    ctx: Aten,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    mean: Expr | None,
    variance: Expr | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    *flags: Value,
) -> Value:
    """Normalize each channel of each sample."""
    if not use_input_stats:
        return normalized_batch(ctx, x, weight, bias, mean, variance, False, eps)
    gamma, beta = _affine(ctx, weight, bias, ctx.shape(x)[1], ctx.dtype(x))
    return relay.nn.instance_norm(x, gamma, beta, axis=1, epsilon=eps)


@aten("_weight_norm")
def weight_norm(ctx: Aten, v: Expr, g: Expr, dim: int) -> Value:
    """Scale the slices of a weight along an axis to the norms `g`."""
    rank = ctx.rank(v)
    axes = list(range(rank)) if dim == -1 else [a for a in range(rank) if a != ctx.axis(dim, rank)]
    norm = relay.sqrt(relay.sum(relay.multiply(v, v), axis=axes, keepdims=True))
    return relay.multiply(v, relay.divide(g, norm))


@aten("_weight_norm_interface")
def weight_norm_interface(ctx: Aten, v: Expr, g: Expr, dim: int) -> Value:
    return weight_norm(ctx, v, g, dim), None
