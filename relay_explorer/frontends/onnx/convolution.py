"""Convert ONNX's convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import operands, optional, text
from .windows import Window

_CONV: tuple[Callable[..., Call], ...] = (relay.nn.conv1d, relay.nn.conv2d, relay.nn.conv3d)
_TRANSPOSED: tuple[Callable[..., Call], ...] = (
    relay.nn.conv1d_transpose,
    relay.nn.conv2d_transpose,
    relay.nn.conv3d_transpose,
)


def with_bias(x: Expr, bias: Expr | None) -> Expr:
    """Add a bias to the channels, if there is one."""
    return x if bias is None else relay.nn.bias_add(x, bias, 1)


@converter("Conv")
def _conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight = operands(node, inputs, 2)
    shape = g.context.static_shape(weight)
    window = Window(g, node, x, list(g.attr(node, "kernel_shape") or shape[2:]))
    if tuple(window.kernel) != shape[2:]:
        raise ModelFileError(f"kernel_shape={window.kernel} contradicts the weight's shape {shape}")
    x, pads = window.padding(g, node, x, 0)
    result = _CONV[window.rank - 1](
        x, weight, strides=window.strides, padding=pads, dilation=window.dilations,
        groups=g.attr(node, "group", 1), channels=shape[0], kernel_size=window.kernel,
    )  # fmt: skip
    return with_bias(result, optional(inputs, 2))


@converter("ConvTranspose")
def _conv_transpose(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight = operands(node, inputs, 2)
    shape = g.context.static_shape(weight)
    window = Window(g, node, x, list(g.attr(node, "kernel_shape") or shape[2:]))
    groups = g.attr(node, "group", 1)
    extra = list(g.attr(node, "output_padding") or [0] * window.rank)
    pads, missing = _transposed_pads(g, node, x, window, extra)
    result = _TRANSPOSED[window.rank - 1](
        x, weight, strides=window.strides, padding=pads, dilation=window.dilations, groups=groups,
        channels=shape[1] * groups, kernel_size=window.kernel, output_padding=extra,
    )  # fmt: skip
    if any(missing):
        width = [(0, 0), (0, 0), *[(0, amount) for amount in missing]]
        result = relay.nn.pad(result, width, const(0, g.context.dtype(x)))
    return with_bias(result, optional(inputs, 2))


def _transposed_pads(
    g: Graph, node: Node, x: Expr, window: Window, extra: list[int]
) -> tuple[list[int], list[int]]:
    """Return the padding that a transposed convolution removes from its result, and by how much the shape
    that the node asks for is larger than the result without padding.
    """
    none = [0] * window.rank
    auto = text(g.attr(node, "auto_pad"), "NOTSET")
    wanted = g.attr(node, "output_shape")
    if wanted is None and auto in ("NOTSET", "", "VALID"):
        pads = list(g.attr(node, "pads") or none * 2) if auto != "VALID" else none * 2
        if len(pads) != 2 * window.rank:
            raise ModelFileError(f"pads={pads} must have {2 * window.rank} elements")
        return pads, none
    totals: list[int] = []
    for axis in range(window.rank):
        stride, reach = window.strides[axis], window.reach[axis]
        dim = g.context.shape(x)[axis + 2]
        if wanted is None:  # the result has stride times the extent
            totals.append(reach - stride + extra[axis])
        elif isinstance(dim, int):
            totals.append(stride * (dim - 1) + extra[axis] + reach - list(wanted)[axis - window.rank])
        else:
            raise DynamicShapeError(
                f"{node.op} with output_shape requires that the shape of the data is known at compile time"
            )
    missing = [max(0, -total) for total in totals]
    totals = [max(0, total) for total in totals]
    begins = [total // 2 if auto == "SAME_UPPER" else total - total // 2 for total in totals]
    return begins + [total - begin for total, begin in zip(totals, begins)], missing


@converter("Col2Im")
def _col2im(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Add up overlapping blocks: a transposed convolution whose kernel is an identity matrix."""
    import numpy as np

    from ...ir.expr import Constant
    from ...ir.ndarray import NDArray
    from .tools import integers

    x, image, block = operands(node, inputs, 3)
    sizes, kernel = integers(g, image, "image_shape"), integers(g, block, "block_shape")
    rank = len(sizes)
    strides = list(g.attr(node, "strides") or [1] * rank)
    dilations = list(g.attr(node, "dilations") or [1] * rank)
    pads = list(g.attr(node, "pads") or [0] * 2 * rank)
    if not 1 <= rank <= 3:
        raise RelayError("Col2Im can be imported only for one to three spatial axes")
    batch, columns, _ = g.context.static_shape(x)
    elements = int(np.prod(kernel))
    padded = [size + pads[axis] + pads[axis + rank] for axis, size in enumerate(sizes)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    counts = [(size - r) // s + 1 for size, r, s in zip(padded, reach, strides)]
    channels = columns // elements
    dtype = g.context.dtype(x)
    identity = np.eye(elements, dtype=dtype).reshape(elements, 1, *kernel)
    data = relay.reshape(x, [batch * channels, elements, *counts])
    covered = [(count - 1) * s + r for count, s, r in zip(counts, strides, reach)]
    weight: Anything = Constant(NDArray.sharing(identity))
    full = _TRANSPOSED[rank - 1](
        data, weight, strides=strides, padding=[0] * 2 * rank, dilation=dilations, channels=1,
        kernel_size=kernel, output_padding=[0] * rank,
    )  # fmt: skip
    width = [(0, 0), (0, 0)] + [(0, size - have) for size, have in zip(padded, covered)]
    full = relay.nn.pad(full, width, const(0, dtype))
    begins = pads[:rank]
    cut = relay.strided_slice(
        full, begins, [b + s for b, s in zip(begins, sizes)], [1] * rank, axes=list(range(2, rank + 2))
    )
    return relay.reshape(cut, [batch, channels, *sizes])
