"""Operators that trade axes of space for channels or for the batch, in blocks."""

from __future__ import annotations

from math import prod

from ..nn.layout import layout_map
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    View,
    converted,
    dims,
    dtype_of,
    every,
    guarded,
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


def space_to_batch(call: Lowered) -> list[Tensor]:
    """The places within blocks become the outer part of the batch; what lies outside is the pad value."""
    x, attrs = call.inputs[0], call.attrs
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    batch, *space = dims(x)[: axes + 1]
    pairs = attrs.paddings
    sizes = [quotient(d + sum(pair), b) for d, pair, b in zip(space, pairs, blocks, strict=True)]
    around = converted(attrs.pad_value, dtype_of(x))

    def element(n: Value, *i: Value) -> Value:
        within = unravel(n // batch, blocks)
        inside, place = [], []
        for axis, at in enumerate(i[:axes]):
            before, after = pairs[axis]
            place.append(at * blocks[axis] + within[axis] - before)
            inside += [place[-1] >= 0] * (before > 0) + [place[-1] < space[axis]] * (after > 0)
        return guarded(every(inside), x(n % batch, *place, *i[axes:]), around)

    return [stage((batch * prod(blocks), *sizes, *dims(x)[axes + 1 :]), element, call.name)]


def batch_to_space(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    blocks, axes = attrs.block_shape, len(attrs.block_shape)
    batch = quotient(dims(x)[0], prod(blocks))
    space = dims(x)[1 : axes + 1]
    sizes = [d * b - sum(crop) for d, b, crop in zip(space, blocks, attrs.crops, strict=True)]

    def element(n: Value, *i: Value) -> Value:
        at = [p + crop[0] for p, crop in zip(i[:axes], attrs.crops, strict=True)]
        within = ravel([remainder(p, b) for p, b in zip(at, blocks, strict=True)], blocks)
        return x(within * batch + n, *[quotient(p, b) for p, b in zip(at, blocks, strict=True)], *i[axes:])

    return [stage((batch, *sizes, *dims(x)[axes + 1 :]), element, call.name)]


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
