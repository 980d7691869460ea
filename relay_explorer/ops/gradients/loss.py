"""The gradients of losses."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from .. import logical
from ..calls import relay
from ..create import one_hot
from ..gradient_tools import along, axis_count, composed, extents, number
from ..index import take
from ..reduce import sum as sum_of
from ..reshape import shape_of
from ..transform import cast, expand_dims


def cross_entropy(call: Call, grad: Expr) -> list[Expr]:
    """-Σ t · log p / N."""
    p, t = call.args
    share = relay.negative(grad) / _examples(p)
    return [share * t / p, share * relay.log(p)]


def cross_entropy_with_logits(call: Call, grad: Expr) -> list[Expr]:
    """-Σ t · l / N."""
    logits, t = call.args
    share = relay.negative(grad) / _examples(logits)
    return [share * t, share * logits]


def _examples(predictions: Expr) -> Expr:
    """How many examples there are, as a number of the predictions' type."""
    first = tensor_type(predictions).shape[0]
    if isinstance(first, int):
        return number(first, predictions)
    return cast(take(shape_of(predictions), const(0, "int32"), 0), tensor_type(predictions).dtype)


def _likelihood(attrs: Anything, predictions: Expr, targets: Expr, weights: Expr) -> Expr:
    """A target that does not count is no class: its row is all zeros."""
    dtype, rank = tensor_type(predictions).dtype, axis_count(predictions)
    classes = extents(predictions, "the gradient of `nn.nll_loss`")[1]
    one, zero = const(1, dtype), const(0, dtype)
    ignored = logical.equal(targets, const(attrs.ignore_index, tensor_type(targets).dtype))
    rows = one_hot(targets, one, zero, classes, 1, dtype)
    shares = logical.where(expand_dims(ignored, 1), zero, rows) * along(weights, rank, 1)
    losses = relay.negative(sum_of(predictions * shares, [1]))
    if attrs.reduction == "none":
        return losses
    return sum_of(losses) if attrs.reduction == "sum" else sum_of(losses) / sum_of(shares)


nll_loss = composed(_likelihood)
