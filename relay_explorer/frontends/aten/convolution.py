"""Convolutions and transposed convolutions in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .registry import aten
from .values import Value

LAYOUTS = {1: ("NCW", "OIW", "IOW"), 2: ("NCHW", "OIHW", "IOHW"), 3: ("NCDHW", "OIDHW", "IODHW")}
FORWARD: dict[int, Callable[..., Expr]] = {1: relay.nn.conv1d, 2: relay.nn.conv2d, 3: relay.nn.conv3d}
TRANSPOSED: dict[int, Callable[..., Expr]] = {
    1: relay.nn.conv1d_transpose,
    2: relay.nn.conv2d_transpose,
    3: relay.nn.conv3d_transpose,
}


def per_axis(ctx: Aten, value: Value, count: int, what: str) -> list[int]:
    """Return one integer per spatial axis; a single one counts for all."""
    listed = ctx.integers(value, what)
    if len(listed) == 1:
        return listed * count
    if len(listed) != count:
        raise RelayError(f"{what} must have 1 or {count} elements, not {len(listed)}")
    return listed


def batched(ctx: Aten, x: Expr, rank: int, convert: Callable[[Expr], Expr]) -> Expr:
    """Apply an operator that needs a batch axis, so that the data has `rank` axes; data without one gets it
    for the while.
    """
    if ctx.rank(x) == rank - 1:
        return relay.squeeze(convert(relay.expand_dims(x, 0)), [0])
    if ctx.rank(x) != rank:
        raise RelayError(f"the data must have {rank - 1} or {rank} axes, not {ctx.rank(x)}")
    return convert(x)


def convolved(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: Value,
    dilation: Value,
    groups: int,
) -> Expr:
    """Convolve data of the layout NCW, NCHW or NCDHW."""
    extents = ctx.static_shape(weight)
    axes = len(extents) - 2
    dilations = per_axis(ctx, dilation, axes, "dilation")
    if padding == "valid":
        pads = [0] * (2 * axes)
    elif padding == "same":
        totals = [by * (extent - 1) for by, extent in zip(dilations, extents[2:])]
        pads = [total // 2 for total in totals] + [total - total // 2 for total in totals]
    else:
        pads = per_axis(ctx, padding, axes, "padding") * 2
    data_layout, kernel_layout, _ = LAYOUTS[axes]

    def convert(data: Expr) -> Expr:
        result = FORWARD[axes](
            data,
            weight,
            strides=tuple(per_axis(ctx, stride, axes, "stride")),
            padding=tuple(pads),
            dilation=tuple(dilations),
            groups=groups,
            channels=extents[0],
            kernel_size=tuple(extents[2:]),
            data_layout=data_layout,
            kernel_layout=kernel_layout,
        )
        return result if bias is None else relay.nn.bias_add(result, bias, axis=1)

    return batched(ctx, x, axes + 2, convert)


def transposed(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: Value,
    output_padding: Value,
    groups: int,
    dilation: Value,
) -> Expr:
    """Apply a transposed convolution, whose weight has the layout IOHW."""
    extents = ctx.static_shape(weight)
    axes = len(extents) - 2
    data_layout, _, kernel_layout = LAYOUTS[axes]

    def convert(data: Expr) -> Expr:
        result = TRANSPOSED[axes](
            data,
            weight,
            strides=tuple(per_axis(ctx, stride, axes, "stride")),
            padding=tuple(per_axis(ctx, padding, axes, "padding") * 2),
            dilation=tuple(per_axis(ctx, dilation, axes, "dilation")),
            output_padding=tuple(per_axis(ctx, output_padding, axes, "output_padding")),
            groups=groups,
            channels=extents[1] * groups,
            kernel_size=tuple(extents[2:]),
            data_layout=data_layout,
            kernel_layout=kernel_layout,
        )
        return result if bias is None else relay.nn.bias_add(result, bias, axis=1)

    return batched(ctx, x, axes + 2, convert)


@aten("conv1d", "conv2d", "conv3d")
def conv(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: Value,
    dilation: Value,
    groups: int,
) -> Value:
    return convolved(ctx, x, weight, bias, stride, padding, dilation, groups)


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: Value,
    output_padding: Value,
    groups: int,
    dilation: Value,
) -> Value:
    return transposed(ctx, x, weight, bias, stride, padding, output_padding, groups, dilation)


@aten("convolution", "_convolution", "convolution_overrideable")
def convolution(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: Value,
    dilation: Value,
    is_transposed: bool,
    output_padding: Value,
    groups: int,
    *flags: Value,
) -> Value:
    """Convert the operator that `conv2d`, `conv_transpose2d` and their relatives are made of; the flags that
    follow choose among algorithms of a GPU.
    """
    if is_transposed:
        return transposed(ctx, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolved(ctx, x, weight, bias, stride, padding, dilation, groups)


@aten("_convolution_mode")
def convolution_mode(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    bias: Expr | None,
    stride: Value,
    padding: str,
    dilation: Value,
    groups: int,
) -> Value:
    return convolved(ctx, x, weight, bias, stride, padding, dilation, groups)


@aten("conv_tbc")
def conv_tbc(ctx: Aten, x: Expr, weight: Expr, bias: Expr, padding: int) -> Value:
    """Convolve data of the layout (time, batch, channels) with a weight (time, in, out)."""
    data = relay.transpose(x, (1, 2, 0))
    result = convolved(ctx, data, relay.transpose(weight, (2, 1, 0)), bias, [1], [padding], [1], 1)
    return relay.transpose(result, (2, 0, 1))


@aten("im2col")
def im2col(
    ctx: Aten,
    x: Expr,
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    """Return the patches of an image as columns."""

    def convert(data: Expr) -> Expr:
        if any(padding):
            data = relay.nn.pad(data, ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])))
        window = tuple(by * (extent - 1) + 1 for by, extent in zip(dilation, kernel))
        patches = relay.sliding_window(data, 2, window, tuple(stride))
        if any(by != 1 for by in dilation):
            patches = relay.strided_slice(patches, [0, 0], list(window), strides=list(dilation), axes=[4, 5])
        n, c, rows, columns, *_ = ctx.static_shape(patches)
        moved = relay.transpose(patches, (0, 1, 4, 5, 2, 3))
        return relay.reshape(moved, (n, c * kernel[0] * kernel[1], rows * columns))

    return batched(ctx, x, 4, convert)
