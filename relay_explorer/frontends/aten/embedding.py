"""Embeddings, one-hot vectors and dropout."""

from __future__ import annotations

from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .attention import no_dropout
from .context import Aten
from .registry import aten
from .values import Value


@aten("embedding")
def embedding(ctx: Aten, weight: Expr, indices: Expr, *options: Value) -> Value:
    """Look up rows of a table; padding and scaling concern only gradients."""
    return relay.take(weight, indices, axis=0)


@aten("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    ctx: Aten,
    weight: Expr,
    indices: Expr,
    offsets: Expr,
    scale_grad: bool = False,
    mode: int = 0,
    sparse: bool = False,
    sample_weights: Expr | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Value:
    """Sum or average the rows of each bag; a bag begins at its offset."""
    if padding_idx is not None and padding_idx >= 0:
        raise RelayError("embedding_bag with padding_idx cannot be imported")
    rows = relay.take(weight, indices, axis=0)
    return bags_of_rows(ctx, rows, offsets, mode, sample_weights, include_last_offset), None, None, None


def bags_of_rows(
    ctx: Aten,
    rows: Expr,
    offsets: Expr,
    mode: int,
    sample_weights: Expr | None,
    include_last_offset: bool,
) -> Expr:
    """Sum or average the rows of each bag."""
    if mode not in (0, 1):
        raise RelayError("embedding_bag with mode='max' cannot be imported")
    dtype = ctx.dtype(rows)
    if include_last_offset:
        offsets = relay.strided_slice(offsets, [0], [-1], slice_mode="end")
    if sample_weights is not None:
        rows = relay.multiply(rows, relay.expand_dims(sample_weights, 1))
    places = relay.arange(ctx.tensor(ctx.size(rows, 0), "int64"), dtype="int64")
    starts = relay.expand_dims(ctx.cast(offsets, "int64"), 1)
    # Element i belongs to the last bag that begins at or before i.
    begun = relay.cast(relay.less_equal(starts, relay.expand_dims(places, 0)), "int64")
    bag = relay.subtract(relay.sum(begun, axis=[0]), const(1, "int64"))
    bags = relay.arange(ctx.tensor(ctx.size(offsets, 0), "int64"), dtype="int64")
    belongs = relay.cast(relay.equal(relay.expand_dims(bags, 1), relay.expand_dims(bag, 0)), dtype)
    result: Expr = relay.nn.matmul(belongs, rows)
    if mode == 1:
        count = relay.maximum(relay.sum(belongs, axis=[1], keepdims=True), const(1.0, dtype))
        result = relay.divide(result, count)
    return result


@aten("one_hot")
def one_hot(ctx: Aten, indices: Expr, classes: Value = -1) -> Value:
    count = ctx.integer(classes, "the number of classes")
    if count < 0:
        raise RelayError(
            "one_hot without num_classes cannot be imported: the number of classes would depend on the "
            "indices",
            help=["write one_hot(x, num_classes=…)"],
        )
    indices = ctx.cast(indices, "int32")
    return relay.one_hot(indices, const(1, "int64"), const(0, "int64"), count, -1, "int64")


def _dropped(ctx: Aten, x: Expr, probability: Value, training: Value) -> Value:
    if training:
        no_dropout(probability)
    return x


aten(
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
)(_dropped)


@aten("native_dropout")
def native_dropout(ctx: Aten, x: Expr, probability: float, training: Value) -> Value:
    result = cast(Expr, _dropped(ctx, x, probability, training))
    return result, relay.cast(relay.ones_like(x), "bool")
