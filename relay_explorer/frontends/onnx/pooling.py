"""Convert ONNX's pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any as Anything

from ...ir.expr import Call, Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.pool_windows import last_start
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import constant_integers, is_float, number, operand, operands, optional
from .windows import Window

_MAX: tuple[Callable[..., Call], ...] = (relay.nn.max_pool1d, relay.nn.max_pool2d, relay.nn.max_pool3d)
_MEAN: tuple[Callable[..., Call], ...] = (relay.nn.avg_pool1d, relay.nn.avg_pool2d, relay.nn.avg_pool3d)


def _window(g: Graph, node: Node, x: Expr) -> Window:
    return Window(g, node, x, list(g.required(node, "kernel_shape")))


def _lowest(dtype: str) -> float:
    import numpy as np

    if dtype == "bfloat16":
        return -3.3895313892515355e38
    return float(np.finfo(dtype).min) if is_float(dtype) else int(np.iinfo(dtype).min)


@converter("MaxPool")
def _max_pool(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x = operand(node, inputs)
    window = _window(g, node, x)
    lowest = _lowest(g.context.dtype(x))
    data, pads = window.padding(g, node, x, lowest)
    if len(node.outputs) > 1 and node.outputs[1]:
        return _max_with_indices(g, node, x, window, pads)
    kernel, pads, ceil = window.rounding(g, node, data, pads, counted=False)
    pool = _MAX[window.rank - 1](
        data, pool_size=kernel, strides=window.strides, dilation=window.dilations, padding=pads,
        ceil_mode=ceil,
    )  # fmt: skip
    return [pool]


def _max_with_indices(g: Graph, node: Node, x: Expr, window: Window, pads: list[int]) -> list[Expr]:
    """Return the largest element of each window, and its index in the flat data. Each element of the window
    is a strided slice of the padded data; the slices are stacked.
    """
    import numpy as np

    shape = g.context.static_shape(x)
    dims, rank = shape[2:], window.rank
    ceil = bool(g.attr(node, "ceil_mode", 0))
    counts, width = [], []
    for axis, dim in enumerate(dims):
        before, after = pads[axis], pads[axis + rank]
        stride, reach = window.strides[axis], window.reach[axis]
        if ceil:
            count = last_start(dim, before, after, stride, reach)
        else:
            count = (dim + before + after - reach) // stride + 1
        counts.append(count)
        width.append((before, max(0, (count - 1) * stride + reach - dim - before)))
    flat = np.arange(prod(dims), dtype="int64")
    inside = flat.reshape(dims[::-1]).T if g.attr(node, "storage_order", 0) else flat.reshape(dims)
    start = np.arange(prod(shape[:2]), dtype="int64").reshape(*shape[:2], *[1] * rank) * prod(dims)
    around = [(0, 0), (0, 0), *width]
    places = np.pad(inside + start, around)
    data = relay.nn.pad(x, around, const(_lowest(g.context.dtype(x)), g.context.dtype(x)))
    slices, indices = [], []
    for offset in product(*[range(k) for k in window.kernel]):
        begin = [o * d for o, d in zip(offset, window.dilations)]
        end = [b + (c - 1) * s + 1 for b, c, s in zip(begin, counts, window.strides)]
        slices.append(relay.strided_slice(data, begin, end, window.strides, axes=list(range(2, rank + 2))))
        box = tuple(slice(b, e, s) for b, e, s in zip(begin, end, window.strides))
        indices.append(places[(slice(None), slice(None), *box)])
    stacked = relay.stack(slices, 0)
    best = relay.expand_dims(relay.cast(relay.argmax(stacked, 0), "int64"), 0)
    table: Anything = Constant(NDArray.sharing(np.ascontiguousarray(np.stack(indices))))
    return [relay.max(stacked, 0), relay.squeeze(relay.gather(table, 0, best), 0)]


@converter("MaxUnpool")
def _max_unpool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, indices = operands(node, inputs, 2)
    shape = list(g.context.static_shape(x))
    window = _window(g, node, x)
    pads = list(g.attr(node, "pads") or [0] * 2 * window.rank)
    plain = [
        (dim - 1) * s + r - pads[axis] - pads[axis + window.rank]
        for axis, (dim, s, r) in enumerate(zip(shape[2:], window.strides, window.reach))
    ]
    asked = optional(inputs, 2)
    sizes = shape[:2] + plain
    where = indices
    if asked is not None:
        wanted = constant_integers(g, asked)
        if wanted is None:
            raise DynamicShapeError(
                "the output shape of MaxUnpool must be known at compile time, but the model computes it"
            )
        if wanted != sizes:
            where = _moved(g, indices, sizes, wanted)
            sizes = wanted
    zeros = relay.zeros((prod(sizes),), g.context.dtype(x))
    flat = relay.scatter_elements(zeros, relay.reshape(where, (-1,)), relay.reshape(x, (-1,)), 0)
    return relay.reshape(flat, sizes)


def _moved(g: Graph, indices: Expr, old: list[int], new: list[int]) -> Expr:
    """Translate flat indices of a tensor of shape `old` to those of the same elements in one of shape
    `new`.
    """
    dtype = g.context.dtype(indices)
    result: Expr | None = None
    rest = indices
    stride = 1
    for before, after in zip(reversed(old), reversed(new)):
        place = relay.floor_mod(rest, const(before, dtype))
        term = relay.multiply(place, const(stride, dtype))
        result = term if result is None else relay.add(result, term)
        rest = relay.floor_divide(rest, const(before, dtype))
        stride *= after
    assert result is not None, "the tensor has axes"
    return result


@converter("AveragePool")
def _average_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    window = _window(g, node, x)
    data, pads = window.padding(g, node, x, 0)
    include = bool(g.attr(node, "count_include_pad", 0))
    if data is not x and not include:
        raise DynamicShapeError(
            "AveragePool with auto_pad and count_include_pad=0 requires that the spatial extents are known "
            "at compile time"
        )
    kernel, pads, ceil = window.rounding(g, node, data, pads, counted=include)
    return _MEAN[window.rank - 1](
        data, pool_size=kernel, strides=window.strides, dilation=window.dilations, padding=pads,
        ceil_mode=ceil, count_include_pad=include,
    )  # fmt: skip


@converter("LpPool")
def _lp_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    window = _window(g, node, x)
    p = float(g.attr(node, "p", 2))
    data, pads = window.padding(g, node, x, 0)
    powers = _powers(g, data, p)
    if g.attr(node, "ceil_mode", 0):
        dims = g.context.static_shape(data)[2:]
        for axis, dim in enumerate(dims):
            before, after = pads[axis], pads[axis + window.rank]
            stride, reach = window.strides[axis], window.reach[axis]
            count = last_start(dim, before, after, stride, reach)
            pads[axis + window.rank] = max(after, (count - 1) * stride + reach - dim - before)
    if any(pads):
        around = list(zip(pads[: window.rank], pads[window.rank :]))
        powers = relay.nn.pad(powers, [(0, 0), (0, 0), *around], number(g, 0, x))
    mean = _MEAN[window.rank - 1](
        powers, pool_size=window.kernel, strides=window.strides, dilation=window.dilations,
        padding=[0] * 2 * window.rank, count_include_pad=True,
    )  # fmt: skip
    return _root(g, relay.multiply(mean, number(g, prod(window.kernel), x)), p, x)


def _powers(g: Graph, x: Expr, p: float) -> Expr:
    if p == 2:
        return relay.multiply(x, x)
    return relay.abs(x) if p == 1 else relay.power(relay.abs(x), number(g, p, x))


def _root(g: Graph, x: Expr, p: float, like: Expr) -> Expr:
    if p == 2:
        return relay.sqrt(x)
    return x if p == 1 else relay.power(x, number(g, 1 / p, like))


def _spatial(g: Graph, x: Expr) -> list[int]:
    return list(range(2, g.context.rank(x)))


_GLOBAL: dict[str, tuple[Callable[..., Call], ...]] = {
    "GlobalAveragePool": (
        relay.nn.global_avg_pool1d,
        relay.nn.global_avg_pool2d,
        relay.nn.global_avg_pool3d,
    ),
    "GlobalMaxPool": (relay.nn.global_max_pool1d, relay.nn.global_max_pool2d, relay.nn.global_max_pool3d),
}


@converter("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    axes = _spatial(g, x)
    if 1 <= len(axes) <= len(_MEAN):
        return _GLOBAL[node.op][len(axes) - 1](x)
    reduce = relay.mean if node.op == "GlobalAveragePool" else relay.max
    return reduce(x, axes, keepdims=True)


@converter("GlobalLpPool")
def _global_lp_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, p = operand(node, inputs), float(g.attr(node, "p", 2))
    return _root(g, relay.sum(_powers(g, x, p), _spatial(g, x), keepdims=True), p, x)
