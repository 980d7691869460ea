"""Operators that trade axes of space for channels or for the batch, in blocks."""

from __future__ import annotations

from ..nn.layout import layout_map
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    View,
    dims,
    laid_out,
    quotient,
    ravel,
    remainder,
    stage,
    unravel,
)


def depth_to_space(call: Lowered) -> list[Tensor]:
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape
    each = quotient(channels, b * b)

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        within = remainder(i, b) * b + remainder(j, b)
        channel = within * each + c if attrs.mode == "DCR" else c * (b * b) + within
        return x(n, channel, quotient(i, b), quotient(j, b))

    return [laid_out((batch, each, height * b, width * b), layout, element, call.name)]


def space_to_depth(call: Lowered) -> list[Tensor]:
    """TOPI knows the order of channels that Relay calls DCR alone."""
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        if attrs.mode == "DCR":
            within, channel = c // channels, c % channels
        else:
            within, channel = remainder(c, b * b), quotient(c, b * b)
        return x(n, channel, i * b + quotient(within, b), j * b + remainder(within, b))

    shape = (batch, channels * (b * b), quotient(height, b), quotient(width, b))
    return [laid_out(shape, layout, element, call.name)]


def yolo_reorg(call: Lowered) -> list[Tensor]:
    """As Darknet does it: the data is read as if blocks had been spread over the image. TOPI has no such
    operator any more.
    """
    x, s = call.inputs[0], call.attrs.stride
    batch, channels, height, width = dims(x)
    each = channels // (s * s)

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        place = ravel((c, i, j), (channels * s * s, height // s, width // s))
        u, v, k, row, column = unravel(place, (s, s, each, height, width))
        spread = ravel((k, row, u, column, v), (each, height, s, width, s))
        return x(n, *unravel(spread, (channels, height, width)))

    return [stage((batch, channels * s * s, height // s, width // s), element, call.name)]
