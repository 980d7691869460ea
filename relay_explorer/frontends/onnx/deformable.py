"""Convert ONNX's deformable convolution, whose windows read at places that an operand gives."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.source import Node
from .convolution import with_bias
from .graph import Graph
from .registry import Inputs, converter
from .tools import operands, optional
from .windows import Window


@converter("DeformConv")
def _deform_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight, offset = operands(node, inputs, 3)
    shape = g.context.static_shape(weight)
    window = Window(g, node, x, list(g.attr(node, "kernel_shape") or shape[2:]))
    if window.rank != 2:
        raise RelayError("DeformConv can be imported for two spatial axes only")
    pads = list(g.attr(node, "pads") or [0] * 4)
    groups, offset_groups = g.attr(node, "group", 1), g.attr(node, "offset_group", 1)
    columns = _columns(g, x, offset, optional(inputs, 4), window, pads, offset_groups)
    flat = relay.reshape(weight, [shape[0], shape[1] * shape[2] * shape[3], 1, 1])
    result = relay.nn.conv2d(columns, flat, groups=groups, channels=shape[0], kernel_size=[1, 1])
    return with_bias(result, optional(inputs, 3))


def _columns(
    g: Graph, x: Expr, offset: Expr, mask: Expr | None, window: Window, pads: list[int], groups: int
) -> Expr:
    """Return (batch, channels * window, height, width): what each element of each window reads, times the
    mask.

    Relay's own deformable convolution cannot be used: it has no mask, and it takes zero for every place
    beyond the centres of the outer elements, where ONNX interpolates between those elements and zero.
    """
    batch, channels, height, width = g.context.static_shape(x)
    rows, columns = g.context.static_shape(offset)[2:]
    taps = window.kernel[0] * window.kernel[1]
    expected = (batch, groups * taps, rows, columns)
    if channels % groups or (mask is not None and g.context.static_shape(mask) != expected):
        raise ModelFileError("the shapes of the offsets, the mask and the data of DeformConv do not fit")
    # A border of zeros, so that the coordinates of an image with a single row are defined.
    padded = relay.nn.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], const(0, g.context.dtype(x)))
    parts = [padded] if groups == 1 else list(relay.split(padded, groups, 1))
    samples: list[Expr] = []
    for tap in range(taps):
        place = divmod(tap, window.kernel[1])
        of_groups: list[Expr] = []
        for group, part in enumerate(parts):
            index = group * taps + tap
            at: list[Expr] = []
            for axis, (extent, count) in enumerate(((height, rows), (width, columns))):
                start = place[axis] * window.dilations[axis] - pads[axis] + 1
                shift = _channel(offset, 2 * index + axis)
                at.append(_relative(g, shift, start, window.strides[axis], extent + 2, count, axis))
            grid = relay.stack(at[::-1], 1)  # across, then down
            value = relay.image.grid_sample(part, grid, "bilinear", "NCHW", "zeros", True)
            if mask is not None:
                value = relay.multiply(value, relay.expand_dims(_channel(mask, index), 1))
            of_groups.append(value)
        samples.append(of_groups[0] if groups == 1 else relay.concatenate(of_groups, 1))
    return relay.reshape(relay.stack(samples, 2), [batch, channels * taps, rows, columns])


def _channel(x: Expr, index: int) -> Expr:
    return relay.squeeze(relay.strided_slice(x, [index], [index + 1], [1], axes=[1]), [1])


def _relative(g: Graph, shift: Expr, start: int, stride: int, extent: int, count: int, axis: int) -> Expr:
    """Return coordinates of which -1 and 1 are the centres of the first and the last element of an axis."""
    import numpy as np

    dtype = g.context.dtype(shift)
    places = (
        (start + stride * np.arange(count)).astype(dtype).reshape((count, 1) if axis == 0 else (1, count))
    )
    absolute = relay.add(shift, Constant(NDArray.sharing(places)))
    scaled = relay.multiply(absolute, const(2 / (extent - 1), dtype))
    return relay.subtract(scaled, const(1, dtype))
