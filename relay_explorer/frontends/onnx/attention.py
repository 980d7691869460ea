"""Convert what ONNX has for transformers: rotary position embeddings and updates of a cache."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import as_int64, extent_of, normal_axis, operands, optional, shape_vector, text


@converter("RotaryEmbedding", since=23)
def _rotary_embedding(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, cosines, sines = operands(node, inputs, 3)
    return rotary(
        g, x, cosines, sines, optional(inputs, 3), g.attr(node, "num_heads", 0),
        g.attr(node, "rotary_embedding_dim", 0), bool(g.attr(node, "interleaved", 0)),
    )  # fmt: skip


def rotary(
    g: Graph,
    x: Expr,
    cosines: Expr,
    sines: Expr,
    positions: Expr | None,
    heads: int,
    width: int,
    interleaved: bool,
) -> Expr:
    """Rotate pairs of features by angles that depend on the position.

    `x` is (batch, heads, positions, features) or (batch, positions, heads · features). The first `width`
    features of each head are rotated, or all where it is 0.
    """
    shape = g.context.shape(x)
    flat = len(shape) == 3
    if flat:
        if heads < 1:
            raise RelayError("RotaryEmbedding of a tensor with 3 axes requires the attribute num_heads")
        hidden = shape[2]
        if not isinstance(hidden, int):
            raise DynamicShapeError("RotaryEmbedding requires that the hidden size is known at compile time")
        if hidden % heads:
            raise RelayError(f"{hidden} features cannot be divided among {heads} heads")
        x = relay.reshape(x, [0, 0, heads, hidden // heads])
    else:
        x = relay.transpose(x, [0, 2, 1, 3])
    size = g.context.shape(x)[3]
    if not isinstance(size, int):
        raise DynamicShapeError("RotaryEmbedding requires that the head size is known at compile time")
    width = width or size
    if positions is not None:
        cosines, sines = [relay.take(table, as_int64(g, positions), axis=0) for table in (cosines, sines)]
    half = width // 2
    tables = [_first(g, table, half) for table in (cosines, sines)]
    cosine, sine = [relay.expand_dims(table, 2) for table in tables]
    turned: Expr = x if width == size else relay.strided_slice(x, [0], [width], axes=[3])
    if interleaved:
        left: Expr = relay.strided_slice(turned, [0], [width], [2], axes=[3])
        right: Expr = relay.strided_slice(turned, [1], [width], [2], axes=[3])
    else:
        left, right = relay.split(turned, 2, axis=3)
    real: Expr = relay.subtract(relay.multiply(cosine, left), relay.multiply(sine, right))
    imaginary: Expr = relay.add(relay.multiply(sine, left), relay.multiply(cosine, right))
    result: Expr
    if interleaved:
        result = relay.reshape(relay.stack([real, imaginary], 4), [0, 0, 0, width])
    else:
        result = relay.concatenate([real, imaginary], 3)
    if width < size:
        result = relay.concatenate([result, relay.strided_slice(x, [width], [size], axes=[3])], 3)
    return relay.reshape(result, [0, 0, -1]) if flat else relay.transpose(result, [0, 2, 1, 3])


def _first(g: Graph, table: Expr, count: int) -> Expr:
    """Return the first `count` columns of a table of angles, which may have more."""
    columns = g.context.shape(table)[-1]
    rank = g.context.rank(table)
    return table if columns == count else relay.strided_slice(table, [0], [count], axes=[rank - 1])


@converter("TensorScatter", since=24)
def _tensor_scatter(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Write an update into a cache, for each element of the batch from an index of its own on."""
    cache, update = operands(node, inputs, 2)
    starts = optional(inputs, 2)
    rank = g.context.rank(cache)
    axis = normal_axis(g.attr(node, "axis", -2), rank)
    mode = text(g.attr(node, "mode"), "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise RelayError(f"TensorScatter along the axis {axis} in the mode {mode!r} is not defined by ONNX")
    zero, one = const(0, "int64"), const(1, "int64")
    index: Expr = (
        relay.expand_dims(relay.arange(zero, extent_of(g, update, axis), one, "int64"), 1, rank - axis - 1)
        if axis < rank - 1
        else relay.arange(zero, extent_of(g, update, axis), one, "int64")
    )
    if starts is not None:
        index = relay.add(relay.expand_dims(as_int64(g, starts), 1, rank - 1), index)
    if mode == "circular":
        index = relay.floor_mod(index, extent_of(g, cache, axis))
    whole = relay.broadcast_to(index, shape_vector(g, [extent_of(g, update, a) for a in range(rank)]))
    shape = g.context.shape(update)
    if all(isinstance(extent, int) for extent in shape):
        whole = relay.broadcast_to(index, [extent for extent in shape if isinstance(extent, int)])
    return relay.scatter_elements(cache, whole, update, axis, "update")
