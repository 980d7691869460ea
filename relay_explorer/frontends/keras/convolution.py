"""Converters of convolutions, in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import Dim
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.padding import same_padding
from .call import Call, Results, layer

if TYPE_CHECKING:
    from numpy import ndarray as Array

_CONVOLUTIONS: dict[int, Callable[..., Expr]] = {
    1: relay.nn.conv1d, 2: relay.nn.conv2d, 3: relay.nn.conv3d,
}  # fmt: skip
_TRANSPOSED: dict[int, Callable[..., Expr]] = {
    1: relay.nn.conv1d_transpose, 2: relay.nn.conv2d_transpose, 3: relay.nn.conv3d_transpose,
}  # fmt: skip
SPACE = {1: "W", 2: "HW", 3: "DHW"}


def sizes(value: Any, rank: int) -> tuple[int, ...]:
    """Return an attribute that is a number or has one for each axis."""
    if isinstance(value, int):
        return (value,) * rank
    extents = tuple([int(size) for size in value])
    return extents * rank if len(extents) == 1 else extents


def space_of(shape: Sequence[Dim], first: bool) -> tuple[Dim, ...]:
    """Return the spatial extents of an image."""
    return tuple(shape[2:] if first else shape[1:-1])


def padding_of(
    call: Call, shape: Sequence[Dim], first: bool, kernel: Sequence[int], strides: Sequence[int],
    dilation: Sequence[int], kind: str | None = None,
) -> tuple[int, ...]:  # fmt: skip
    """Return the padding of a window: before each axis, then after each."""
    kind = kind or str(call.attr("padding", "valid"))
    if kind == "valid":
        return (0,) * (2 * len(kernel))
    if kind == "causal":
        return ((kernel[0] - 1) * dilation[0], 0)
    if kind != "same":
        raise RelayError(f"the padding {kind!r} cannot be imported")
    return same_padding(space_of(shape, first), kernel, strides, dilation)


def convolution(
    call: Call, x: Expr, first: bool, weight: Expr, kernel: Sequence[int], strides: Sequence[int],
    dilation: Sequence[int], padding: Sequence[int], groups: int, channels: int, depthwise: bool = False,
) -> Expr:  # fmt: skip
    """Build a convolution whose weights are in the layout that `kernel_layout` names."""
    rank = len(kernel)
    space = SPACE[rank]
    return _CONVOLUTIONS[rank](
        x, weight, strides, padding, dilation, groups=groups, channels=channels, kernel_size=kernel,
        data_layout=f"NC{space}" if first else f"N{space}C",
        kernel_layout=kernel_layout(rank, first, depthwise),
    )  # fmt: skip


def kernel_layout(rank: int, first: bool, depthwise: bool = False) -> str:
    """Return the layout of weights that a convolution takes."""
    if first:
        return f"OI{SPACE[rank]}"
    return f"{SPACE[rank]}OI" if depthwise else f"{SPACE[rank]}IO"


def arranged(values: Array, first: bool) -> Array:
    """Return weights (space, in, out) in the order that a convolution takes."""
    space = values.ndim - 2
    return values.transpose((space + 1, space, *range(space))) if first else values


def biased(call: Call, x: Expr, first: bool) -> Expr:
    """Add the layer's bias, and apply its activation function."""
    axis = 1 if first else call.context.rank(x) - 1
    if call.attr("use_bias", True) and call.has("bias"):
        x = relay.nn.bias_add(x, call.weight("bias"), axis)
    return call.activated(x, axis)


@layer("Conv1D", "Conv2D", "Conv3D")
def _conv(call: Call) -> Results:
    rank = int(call.attr("rank"))
    x, first, value = call.image()
    kernel = sizes(call.attr("kernel_size"), rank)
    strides, dilation = sizes(call.attr("strides"), rank), sizes(call.attr("dilation_rate"), rank)
    padding = padding_of(call, call.context.shape(x), first, kernel, strides, dilation)
    weight = call.weight("kernel", lambda values: arranged(values, first), kernel_layout(rank, first))
    groups = int(call.attr("groups", 1) or 1)
    result = convolution(
        call, x, first, weight, kernel, strides, dilation, padding, groups, int(call.attr("filters"))
    )
    return value(biased(call, result, first))


def _depthwise(call: Call, x: Expr, first: bool, rank: int, name: str) -> Expr:
    """Convolve each channel with filters of its own: the weights are (space, channels, multiplier)."""
    kernel = sizes(call.attr("kernel_size"), rank)
    strides, dilation = sizes(call.attr("strides"), rank), sizes(call.attr("dilation_rate"), rank)
    padding = padding_of(call, call.context.shape(x), first, kernel, strides, dilation)
    extent = call.context.shape(x)[1 if first else -1]
    if not isinstance(extent, int):
        raise DynamicShapeError("the number of channels must be known at compile time")
    channels, multiplier = extent, int(call.attr("depth_multiplier", 1) or 1)

    def change(values: Array) -> Array:
        space = values.shape[:-2]
        if channels == 1 and not first:
            return values  # an ordinary convolution
        if not first:
            return values
        moved = values.transpose((rank, rank + 1, *range(rank)))
        return moved.reshape((channels * multiplier, 1, *space))

    special = channels > 1
    weight = call.weight(name, change, kernel_layout(rank, first, special))
    if rank == 1 and not first and special:
        return _depthwise_1d(call, x, weight, strides, dilation, padding, channels * multiplier)
    return convolution(
        call, x, first, weight, kernel, strides, dilation, padding, channels, channels * multiplier, special
    )


def _depthwise_1d(
    call: Call, x: Expr, weight: Expr, strides: Sequence[int], dilation: Sequence[int],
    padding: Sequence[int], channels: int,
) -> Expr:  # fmt: skip
    """Convolve each channel of (batch, steps, channels) as an image of height 1."""
    image = relay.expand_dims(x, 1)
    kernel = call.context.static_shape(weight)
    result = relay.nn.conv2d(
        image, relay.expand_dims(weight, 0), (1, *strides), (0, padding[0], 0, padding[1]), (1, *dilation),
        groups=kernel[1], channels=channels, kernel_size=(1, kernel[0]), data_layout="NHWC",
        kernel_layout="HWOI",
    )  # fmt: skip
    return relay.squeeze(result, [1])


def _rank(call: Call) -> int:
    return int(call.kind[-2])


@layer("DepthwiseConv1D", "DepthwiseConv2D")
def _depthwise_conv(call: Call) -> Results:
    x, first, value = call.image()
    name = "kernel" if call.has("kernel") else "depthwise_kernel"
    return value(biased(call, _depthwise(call, x, first, _rank(call), name), first))


@layer("SeparableConv1D", "SeparableConv2D")
def _separable_conv(call: Call) -> Results:
    x, first, value = call.image()
    rank = _rank(call)
    middle = _depthwise(call, x, first, rank, "depthwise_kernel")
    layout = kernel_layout(rank, first)
    weight = call.weight("pointwise_kernel", lambda values: arranged(values, first), layout)
    ones = (1,) * rank
    result = convolution(
        call, middle, first, weight, ones, ones, ones, (0,) * (2 * rank), 1, int(call.attr("filters"))
    )
    return value(biased(call, result, first))


@layer("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def _conv_transpose(call: Call) -> Results:
    rank = int(call.kind[4])
    x, first, value = call.image()
    kernel, strides = sizes(call.attr("kernel_size"), rank), sizes(call.attr("strides"), rank)
    dilation = sizes(call.attr("dilation_rate") or 1, rank)
    output_padding = call.attr("output_padding")
    extra = None if output_padding is None else sizes(output_padding, rank)
    padding, out_padding = _transposed_padding(call, kernel, strides, dilation, extra)

    def change(values: Array) -> Array:
        """Arrange (space, out, in) as (in, out, space), with zeros in between if the filter is dilated."""
        import numpy as np

        moved = values.transpose((rank + 1, rank, *range(rank)))
        if all(step == 1 for step in dilation):
            return moved
        spread = [(size - 1) * step + 1 for size, step in zip(kernel, dilation)]
        wide = np.zeros((*moved.shape[:2], *spread), moved.dtype)
        wide[(slice(None), slice(None), *[slice(None, None, step) for step in dilation])] = moved
        return wide

    reach = tuple([(size - 1) * step + 1 for size, step in zip(kernel, dilation)])
    weight = call.weight("kernel", change, f"IO{SPACE[rank]}")
    if not first:
        x = call.importer.to_first(x)
    result: Expr = _TRANSPOSED[rank](
        x, weight, strides, padding, channels=int(call.attr("filters")), kernel_size=reach,
        output_padding=out_padding, **({"kernel_layout": "IOW"} if rank == 1 else {}),
    )  # fmt: skip
    result = biased(call, result, True)
    return value(result if first else call.importer.to_last(result))


def _transposed_padding(
    call: Call, kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int],
    extra: Sequence[int] | None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """Return the padding that a transposed convolution removes, and the elements that it adds at the end.

    Without padding, it has (n - 1) · stride + reach elements. Keras wants n · stride with "same", and at
    least that with "valid".
    """
    before, after, added = [], [], []
    same = str(call.attr("padding")) == "same"
    for axis, (size, stride, step) in enumerate(zip(kernel, strides, dilation)):
        reach = (size - 1) * step + 1
        if extra is not None:
            removed = (2 * (reach // 2) if same else 0) - extra[axis]
        elif same:
            removed = reach - stride
        else:
            removed = min(reach - stride, 0)
        total = max(removed, 0)
        before.append(total // 2)
        after.append(total - total // 2)
        added.append(max(-removed, 0))
    return (*before, *after), tuple(added)
