"""Losses, and the distances that they are made of."""

from __future__ import annotations

from typing import cast

from ...ir import const
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .registry import aten, call
from .values import Value

NONE, MEAN, SUM = 0, 1, 2  # PyTorch's codes of reductions


def reduced(ctx: Aten, x: Expr, reduction: Value) -> Expr:
    """Return the elements of a loss, their mean, or their sum."""
    if reduction == NONE:
        return x
    return relay.mean(x) if reduction == MEAN else relay.sum(x)


def _number(ctx: Aten, x: Expr, value: float) -> Expr:
    return const(value, ctx.dtype(x))


def _difference(ctx: Aten, x: Expr, y: Expr) -> Expr:
    a, b = ctx.operands(x, y)
    return relay.subtract(a, b)


@aten("mse_loss")
def mse_loss(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN) -> Value:
    difference = _difference(ctx, x, target)
    return reduced(ctx, relay.multiply(difference, difference), reduction)


@aten("l1_loss")
def l1_loss(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN) -> Value:
    return reduced(ctx, relay.abs(_difference(ctx, x, target)), reduction)


def _huber(ctx: Aten, x: Expr, target: Expr, delta: float) -> Expr:
    """Return d²/2 where |d| is below delta, else delta·(|d| - delta/2)."""
    distance = relay.abs(_difference(ctx, x, target))
    near = relay.multiply(relay.multiply(distance, distance), _number(ctx, distance, 0.5))
    far = relay.multiply(
        relay.subtract(distance, _number(ctx, distance, delta / 2)), _number(ctx, distance, delta)
    )
    return relay.where(relay.less(distance, _number(ctx, distance, delta)), near, far)


@aten("huber_loss")
def huber_loss(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN, delta: float = 1.0) -> Value:
    return reduced(ctx, _huber(ctx, x, target, delta), reduction)


@aten("smooth_l1_loss")
def smooth_l1_loss(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN, beta: float = 1.0) -> Value:
    if beta == 0:
        return l1_loss(ctx, x, target, reduction)
    loss = _huber(ctx, x, target, beta)
    return reduced(ctx, relay.multiply(loss, _number(ctx, loss, 1 / beta)), reduction)


@aten("binary_cross_entropy")
def binary_cross_entropy(
    ctx: Aten, x: Expr, target: Expr, weight: Expr | None = None, reduction: int = MEAN
) -> Value:
    """Compute the cross entropy of probabilities; logarithms are at least -100, as in PyTorch."""
    one, least = _number(ctx, x, 1.0), _number(ctx, x, -100.0)
    hit = relay.maximum(relay.log(x), least)
    miss = relay.maximum(relay.log(relay.subtract(one, x)), least)
    gain = relay.add(relay.multiply(target, hit), relay.multiply(relay.subtract(one, target), miss))
    loss = relay.negative(gain)
    return reduced(ctx, loss if weight is None else relay.multiply(loss, weight), reduction)


@aten("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    ctx: Aten,
    x: Expr,
    target: Expr,
    weight: Expr | None = None,
    pos_weight: Expr | None = None,
    reduction: int = MEAN,
) -> Value:
    """Compute (1 - t)·x + w·softplus(-x), with w = 1 + (pos_weight - 1)·t."""
    one = _number(ctx, x, 1.0)
    shrunk = relay.log(relay.add(one, relay.exp(relay.negative(relay.abs(x)))))
    soft = relay.add(shrunk, relay.maximum(relay.negative(x), _number(ctx, x, 0.0)))
    if pos_weight is not None:
        factor = relay.add(one, relay.multiply(relay.subtract(pos_weight, one), target))
        soft = relay.multiply(soft, factor)
    loss = relay.add(relay.multiply(relay.subtract(one, target), x), soft)
    return reduced(ctx, loss if weight is None else relay.multiply(loss, weight), reduction)


@aten("kl_div")
def kl_div(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN, log_target: bool = False) -> Value:
    if log_target:
        return reduced(ctx, relay.multiply(relay.exp(target), relay.subtract(target, x)), reduction)
    entropy = cast(Expr, call(ctx, "xlogy", target, target))
    return reduced(ctx, relay.subtract(entropy, relay.multiply(target, x)), reduction)


@aten("soft_margin_loss")
def soft_margin_loss(ctx: Aten, x: Expr, target: Expr, reduction: int = MEAN) -> Value:
    one = _number(ctx, x, 1.0)
    loss = relay.log(relay.add(one, relay.exp(relay.negative(relay.multiply(target, x)))))
    return reduced(ctx, loss, reduction)


@aten("poisson_nll_loss")
def poisson_nll_loss(
    ctx: Aten, x: Expr, target: Expr, log_input: bool, full: bool, eps: float, reduction: int
) -> Value:
    if log_input:
        loss = relay.subtract(relay.exp(x), relay.multiply(target, x))
    else:
        loss = relay.subtract(x, relay.multiply(target, relay.log(relay.add(x, _number(ctx, x, eps)))))
    if full:
        stirling = relay.add(
            relay.subtract(relay.multiply(target, relay.log(target)), target),
            relay.multiply(
                relay.log(relay.multiply(target, _number(ctx, x, 6.283185307179586))), _number(ctx, x, 0.5)
            ),
        )
        large = relay.greater(target, _number(ctx, x, 1.0))
        loss = relay.add(loss, relay.where(large, stirling, _number(ctx, x, 0.0)))
    return reduced(ctx, loss, reduction)


@aten("margin_ranking_loss")
def margin_ranking_loss(
    ctx: Aten, x: Expr, y: Expr, target: Expr, margin: float = 0.0, reduction: int = MEAN
) -> Value:
    lead = relay.multiply(relay.negative(target), relay.subtract(x, y))
    loss = relay.maximum(relay.add(lead, _number(ctx, x, margin)), _number(ctx, x, 0.0))
    return reduced(ctx, loss, reduction)


@aten("hinge_embedding_loss")
def hinge_embedding_loss(
    ctx: Aten, x: Expr, target: Expr, margin: float = 1.0, reduction: int = MEAN
) -> Value:
    zero, one = _number(ctx, x, 0.0), const(1, ctx.dtype(target))
    apart = relay.maximum(relay.subtract(_number(ctx, x, margin), x), zero)
    first = relay.where(relay.equal(target, one), zero, apart)
    second = relay.where(relay.equal(target, const(-1, ctx.dtype(target))), zero, x)
    return reduced(ctx, relay.add(first, second), reduction)


def _nll(
    ctx: Aten, x: Expr, target: Expr, weight: Expr | None, reduction: int, ignored: int
) -> tuple[Expr, Expr]:
    """Return the negative log-likelihood of classes on axis 1 (or 0), and the sum of the weights."""
    dtype = ctx.dtype(x)
    single = ctx.rank(x) == 1
    if single:
        x, target = relay.expand_dims(x, 0), relay.expand_dims(target, 0)
    target = ctx.cast(target, "int64")
    is_counted = relay.not_equal(target, const(ignored, "int64"))
    safe = relay.where(is_counted, target, const(0, "int64"))
    chosen = relay.squeeze(relay.gather(x, 1, relay.expand_dims(safe, 1)), [1])
    scale = relay.cast(is_counted, dtype)
    if weight is not None:
        scale = relay.multiply(scale, relay.take(weight, safe, axis=0))
    losses = relay.negative(relay.multiply(chosen, scale))
    total = relay.sum(scale)
    if reduction == NONE:
        return (relay.squeeze(losses, [0]) if single else losses), total
    loss = relay.sum(losses)
    return (relay.divide(loss, total) if reduction == MEAN else loss), total


@aten("nll_loss", "nll_loss_nd", "nll_loss2d")
def nll_loss(
    ctx: Aten,
    x: Expr,
    target: Expr,
    weight: Expr | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Value:
    return _nll(ctx, x, target, weight, reduction, ignore_index)[0]


@aten("nll_loss_forward", "nll_loss2d_forward")
def nll_loss_forward(
    ctx: Aten, x: Expr, target: Expr, weight: Expr | None, reduction: int, ignore_index: int
) -> Value:
    return _nll(ctx, x, target, weight, reduction, ignore_index)


@aten("cross_entropy_loss")
def cross_entropy_loss(
    ctx: Aten,
    x: Expr,
    target: Expr,
    weight: Expr | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Value:
    """Compute the cross entropy of classes, which are given as indices or as probabilities."""
    axis = 0 if ctx.rank(x) == 1 else 1
    logs: Expr = relay.nn.log_softmax(x, axis=axis)
    classes = ctx.integer(cast(Value, ctx.shape(x)[axis]), "the number of classes")
    behind = ctx.rank(x) - axis - 1
    along = weight if weight is None or not behind else relay.expand_dims(weight, 1, behind)
    weighted = logs if along is None else relay.multiply(logs, along)
    if ctx.rank(target) == ctx.rank(x) and ctx.dtype(target).startswith(("float", "bfloat")):
        if label_smoothing:
            shrunk = relay.multiply(target, _number(ctx, x, 1 - label_smoothing))
            target = relay.add(shrunk, _number(ctx, x, label_smoothing / classes))
        losses = relay.negative(relay.sum(relay.multiply(weighted, target), axis=[axis]))
        if reduction != MEAN:
            return reduced(ctx, losses, reduction)
        count = relay.cast(relay.ndarray_size(losses, dtype="int64"), ctx.dtype(x))
        return relay.divide(relay.sum(losses), count)
    loss, total = _nll(ctx, logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss
    is_counted = relay.not_equal(ctx.cast(target, "int64"), const(ignore_index, "int64"))
    smooth = relay.negative(relay.sum(weighted, axis=[axis]))
    smooth = relay.multiply(smooth, relay.cast(is_counted, ctx.dtype(x)))
    if reduction != NONE:
        smooth = relay.sum(smooth)
    if reduction == MEAN:
        smooth = relay.divide(smooth, total)
    return relay.add(
        relay.multiply(loss, _number(ctx, x, 1 - label_smoothing)),
        relay.multiply(smooth, _number(ctx, x, label_smoothing / classes)),
    )


def _norm(ctx: Aten, difference: Expr, p: float, axis: int, keepdims: bool) -> Expr:
    """Return the p-norm along an axis."""
    if p == 2:
        squares = relay.multiply(difference, difference)
        return relay.sqrt(relay.sum(squares, axis=[axis], keepdims=keepdims))
    size = relay.abs(difference)
    if p == 1:
        return relay.sum(size, axis=[axis], keepdims=keepdims)
    if p == float("inf"):
        return relay.max(size, axis=[axis], keepdims=keepdims)
    powers = relay.power(size, _number(ctx, size, p))
    return relay.power(relay.sum(powers, axis=[axis], keepdims=keepdims), _number(ctx, size, 1 / p))


@aten("pairwise_distance")
def pairwise_distance(
    ctx: Aten, x: Expr, y: Expr, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    difference = relay.add(_difference(ctx, x, y), _number(ctx, x, eps))
    return _norm(ctx, difference, p, ctx.rank(difference) - 1, keepdim)


@aten("cdist", "_cdist_forward", "_euclidean_dist")
def cdist(ctx: Aten, x: Expr, y: Expr, p: float = 2.0, mode: int | None = None) -> Value:
    """Return the distances of all rows of `x` to all rows of `y`."""
    rank = ctx.rank(x)
    difference = relay.subtract(relay.expand_dims(x, rank - 1), relay.expand_dims(y, ctx.rank(y) - 2))
    return _norm(ctx, difference, p, ctx.rank(difference) - 1, False)


@aten("triplet_margin_loss")
def triplet_margin_loss(
    ctx: Aten,
    anchor: Expr,
    positive: Expr,
    negative: Expr,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> Value:
    near = cast(Expr, pairwise_distance(ctx, anchor, positive, p, eps))
    far = cast(Expr, pairwise_distance(ctx, anchor, negative, p, eps))
    if swap:
        far = relay.minimum(far, cast(Expr, pairwise_distance(ctx, positive, negative, p, eps)))
    lead = relay.add(relay.subtract(near, far), _number(ctx, anchor, margin))
    return reduced(ctx, relay.maximum(lead, _number(ctx, anchor, 0.0)), reduction)


@aten("cosine_embedding_loss")
def cosine_embedding_loss(
    ctx: Aten, x: Expr, y: Expr, target: Expr, margin: float = 0.0, reduction: int = MEAN
) -> Value:
    axis = ctx.rank(x) - 1
    dot = relay.sum(relay.multiply(x, y), axis=[axis])
    tiny = _number(ctx, x, 1e-12)
    squares = [relay.add(relay.sum(relay.multiply(part, part), axis=[axis]), tiny) for part in (x, y)]
    cosine = relay.divide(dot, relay.sqrt(relay.multiply(*squares)))
    one, zero = _number(ctx, x, 1.0), _number(ctx, x, 0.0)
    same = relay.subtract(one, cosine)
    apart = relay.maximum(relay.subtract(cosine, _number(ctx, x, margin)), zero)
    plus = relay.equal(target, const(1, ctx.dtype(target)))
    minus = relay.equal(target, const(-1, ctx.dtype(target)))
    return reduced(ctx, relay.where(plus, same, relay.where(minus, apart, zero)), reduction)
