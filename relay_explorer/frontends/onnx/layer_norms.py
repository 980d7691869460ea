"""Convert ONNX's normalization of layers and of groups of channels."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import is_float, normal_axis, operands, optional


@converter("LayerNormalization", since=17)
def _layer_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, scale = operands(node, inputs, 2)
    wants_statistics = any(node.outputs[1:])
    return layer_norm(
        g,
        x,
        scale,
        optional(inputs, 2),
        g.attr(node, "axis", -1),
        g.attr(node, "epsilon", 1e-5),
        wants_statistics,
    )


def layer_norm(
    g: Graph,
    x: Expr,
    scale: Expr | None,
    bias: Expr | None,
    axis: int,
    epsilon: float,
    statistics: bool = False,
) -> Sequence[Expr]:
    """Normalize the axes from `axis` on; return the result and, with `statistics`, the means and the inverse
    standard deviations.
    """
    shape, dtype = g.context.shape(x), g.context.dtype(x)
    axis = normal_axis(axis, len(shape))
    last = shape[-1]
    if axis == len(shape) - 1 and dtype == "float32" and isinstance(last, int) and not statistics:
        one_axis = all(p is None or g.context.shape(p) == (last,) for p in (scale, bias))
        if one_axis:
            gamma = relay.ones((last,), dtype) if scale is None else scale
            beta = relay.zeros((last,), dtype) if bias is None else bias
            return [relay.nn.layer_norm(x, gamma, beta, -1, epsilon, bias is not None, scale is not None)]
    work = dtype if dtype in ("float32", "float64") else "float32"
    wide = x if dtype == work else relay.cast(x, work)
    axes = list(range(axis, len(shape)))
    mean = relay.mean(wide, axes, keepdims=True)
    centred = relay.subtract(wide, mean)
    variance = relay.mean(relay.multiply(centred, centred), axes, keepdims=True)
    inverse = relay.rsqrt(relay.add(variance, const(epsilon, work)))
    result: Expr = relay.multiply(centred, inverse)
    if dtype != work:
        result = relay.cast(result, dtype)
    if scale is not None:
        result = relay.multiply(result, scale)
    return [result if bias is None else relay.add(result, bias), mean, inverse]


@converter("RMSNormalization", since=23)
def _rms_normalization(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scale = operands(node, inputs, 2)
    return rms_norm(g, x, scale, g.attr(node, "axis", -1), g.attr(node, "epsilon", 1e-5))


def rms_norm(g: Graph, x: Expr, scale: Expr, axis: int, epsilon: float) -> Expr:
    """Divide by the root of the mean square over the axes from `axis` on, and multiply by `scale`."""
    dtype, rank = g.context.dtype(x), g.context.rank(x)
    work = dtype if dtype in ("float32", "float64") else "float32"
    wide = x if dtype == work else relay.cast(x, work)
    axes = list(range(normal_axis(axis, rank), rank))
    square = relay.mean(relay.multiply(wide, wide), axes, keepdims=True)
    result: Expr = relay.multiply(wide, relay.rsqrt(relay.add(square, const(epsilon, work))))
    if dtype != work:
        result = relay.cast(result, dtype)
    kind = g.context.dtype(scale)
    if kind != dtype:  # the result has the type of the scale
        result = relay.cast(result, kind)
    return relay.multiply(result, scale)


@converter("GroupNormalization", since=18)
def _group_normalization_18(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Convert the first form, whose scales and biases are those of the groups."""
    x, scale, bias = operands(node, inputs, 3)
    channels, groups = g.context.shape(x)[1], g.required(node, "num_groups")
    if not isinstance(channels, int):
        raise DynamicShapeError(
            "GroupNormalization requires that the number of channels is known at compile time"
        )
    if groups < 1 or channels % groups:
        raise RelayError(f"{channels} channels cannot be divided into {groups} groups of equal size")
    each = channels // groups
    return _group_norm(g, node, x, relay.repeat(scale, each, 0), relay.repeat(bias, each, 0))


@converter("GroupNormalization", since=21)
def _group_normalization(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _group_norm(g, node, *operands(node, inputs, 3))


def _group_norm(g: Graph, node: Node, x: Expr, scale: Expr, bias: Expr) -> Expr:
    dtype = g.context.dtype(x)
    if not is_float(dtype):
        raise RelayError(f"GroupNormalization of {dtype} is not defined by ONNX")
    work = dtype if dtype in ("float32", "float64") else "float32"
    if work != dtype:
        x, scale, bias = [relay.cast(value, work) for value in (x, scale, bias)]
    groups, epsilon = g.required(node, "num_groups"), g.attr(node, "epsilon", 1e-5)
    result = relay.nn.group_norm(x, scale, bias, groups, 1, epsilon)
    return result if work == dtype else relay.cast(result, dtype)
