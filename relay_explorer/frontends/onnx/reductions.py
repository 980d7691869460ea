"""Convert ONNX's reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.expr import Call, Expr, const
from ...ops import namespaces as relay
from ..base.source import Node
from .dynamic_axes import reduced
from .graph import Graph
from .registry import OnnxConverter, converter
from .tools import axes_of, constant_integers, normal_axes, normal_axis, number, operand, optional

Reduce = Callable[[Graph, Expr, "list[int]", bool], Expr]


def _plain(build: Callable[..., Call]) -> Reduce:
    def reduce(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
        return build(x, axes, keepdims)

    return reduce


def _extreme(build: Callable[..., Call]) -> Reduce:
    """Return the largest or smallest element; for booleans these are `any` and `all`."""

    def reduce(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
        if g.context.dtype(x) == "bool":
            return relay.cast(build(relay.cast(x, "uint8"), axes, keepdims), "bool")
        return build(x, axes, keepdims)

    return reduce


def _l1(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    return relay.sum(relay.abs(x), axes, keepdims)


def _square(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    return relay.sum(relay.multiply(x, x), axes, keepdims)


def _l2(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    return _through_float(g, x, lambda y: relay.sqrt(_square(g, y, axes, keepdims)))


def _log_sum(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    return _through_float(g, x, lambda y: relay.log(relay.sum(y, axes, keepdims)))


def _log_sum_exp(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    if any(g.context.shape(x)[axis] == 0 for axis in axes):
        return relay.log(relay.sum(relay.exp(x), axes, keepdims))
    return _through_float(g, x, lambda y: relay.logsumexp(y, axes, keepdims))


def _through_float(g: Graph, x: Expr, compute: Callable[[Expr], Expr]) -> Expr:
    """Compute in floating point, also where the elements are integers."""
    dtype = g.context.dtype(x)
    if dtype.startswith(("float", "bfloat")):
        return compute(x)
    return relay.cast(compute(relay.cast(x, "float64")), dtype)


def _mean(g: Graph, x: Expr, axes: list[int], keepdims: bool) -> Expr:
    return relay.mean(x, axes, keepdims)


_REDUCTIONS: dict[str, tuple[Reduce, Callable[[Graph, Expr], Expr]]] = {
    "ReduceSum": (_plain(relay.sum), lambda g, x: x),
    "ReduceMean": (_mean, lambda g, x: x),
    "ReduceProd": (_plain(relay.prod), lambda g, x: x),
    "ReduceMax": (_extreme(relay.max), lambda g, x: x),
    "ReduceMin": (_extreme(relay.min), lambda g, x: x),
    "ReduceL1": (_l1, lambda g, x: relay.abs(x)),
    "ReduceL2": (_l2, lambda g, x: relay.abs(x)),
    "ReduceSumSquare": (_square, lambda g, x: relay.multiply(x, x)),
    "ReduceLogSum": (_log_sum, lambda g, x: _through_float(g, x, relay.log)),
    "ReduceLogSumExp": (_log_sum_exp, lambda g, x: x),
}
"""The form with axes, and what remains of one element where there are no axes to reduce."""


_EMPTY = {"ReduceMax": float("-inf"), "ReduceMin": float("inf"), "ReduceLogSumExp": float("-inf")}
"""The results of no elements, for reductions that Relay does not define there."""


def _of_nothing(g: Graph, node: Node, inputs: list[Expr | None], keepdims: bool) -> Expr:
    """Reduce a tensor without elements: the result has none either, or those of the empty set."""
    x, axes_operand = operand(node, inputs), optional(inputs, 1)
    dtype, rank = g.context.dtype(x), g.context.rank(x)
    if dtype.startswith("float"):
        value: Expr = const(_EMPTY[node.op], dtype)
    else:
        import numpy as np

        info = np.iinfo("uint8" if dtype == "bool" else dtype)
        least = 0 if dtype == "bool" else info.min
        value = const(int(least if node.op == "ReduceMax" else info.max if dtype != "bool" else 1), dtype)
    sums = relay.zeros(g.context.static_shape(x), "float32")
    if axes_operand is not None and constant_integers(g, axes_operand) is None:
        shape = relay.shape_of(reduced(g, sums, axes_operand, keepdims, _plain(relay.sum)), "int64")
        return relay.full(value, shape, dtype)
    axes = axes_of(g, node, inputs) or list(range(rank))
    return relay.full(
        value, g.context.static_shape(relay.sum(sums, normal_axes(axes, rank), keepdims)), dtype
    )


def _reduction(name: str) -> OnnxConverter:
    reduce, single = _REDUCTIONS[name]

    def convert(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
        x = operand(node, inputs)
        rank = g.context.rank(x)
        axes_operand = optional(inputs, 1)
        keepdims = bool(g.attr(node, "keepdims", 1))
        if name in _EMPTY and 0 in g.context.shape(x):
            return _of_nothing(g, node, inputs, keepdims)
        if (
            axes_operand is not None
            and rank
            and constant_integers(g, axes_operand) is None
            and g.context.shape(axes_operand) != (0,)
        ):
            return reduced(g, x, axes_operand, keepdims, reduce)
        axes = (
            axes_of(g, node, inputs) if axes_operand is None or g.context.shape(axes_operand) != (0,) else []
        )
        if not axes:
            if g.attr(node, "noop_with_empty_axes", 0):
                return single(g, x) if g.opset >= 13 else x
            axes = list(range(rank))
        axes = normal_axes(axes, rank)
        return reduce(g, x, axes, keepdims) if rank else single(g, x)

    return convert


for _name in _REDUCTIONS:
    converter(_name)(_reduction(_name))


@converter("ArgMax", "ArgMin")
def _arg(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
    x = operand(node, inputs)
    axis = normal_axis(g.attr(node, "axis", 0), g.context.rank(x))
    build: Anything = relay.argmax if node.op == "ArgMax" else relay.argmin
    last = bool(g.attr(node, "select_last_index", 0))
    result = build(x, axis, bool(g.attr(node, "keepdims", 1)), select_last_index=last)
    return relay.cast(result, "int64")


@converter("MeanVarianceNormalization")
def _mean_variance_normalization(g: Graph, node: Node, inputs: list[Expr | None]) -> Expr:
    x = operand(node, inputs)
    axes = normal_axes(g.attr(node, "axes") or [0, 2, 3], g.context.rank(x))
    centred = relay.subtract(x, relay.mean(x, axes, keepdims=True))
    variance = relay.mean(relay.multiply(centred, centred), axes, keepdims=True)
    return relay.divide(centred, relay.add(relay.sqrt(variance), number(g, 1e-9, x)))
