"""Pooling: maxima and means of windows, and adaptive pooling to a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.pool_windows import PoolWindows, rounded_up
from .context import Aten
from .convolution import batched, per_axis
from .registry import aten
from .values import Value

_MAX: dict[int, Callable[..., Expr]] = {
    1: relay.nn.max_pool1d,
    2: relay.nn.max_pool2d,
    3: relay.nn.max_pool3d,
}
_AVERAGE: dict[int, Callable[..., Expr]] = {
    1: relay.nn.avg_pool1d,
    2: relay.nn.avg_pool2d,
    3: relay.nn.avg_pool3d,
}
_ADAPTIVE_MAX: dict[int, Callable[..., Expr]] = {
    1: relay.nn.adaptive_max_pool1d,
    2: relay.nn.adaptive_max_pool2d,
    3: relay.nn.adaptive_max_pool3d,
}
_ADAPTIVE_AVERAGE: dict[int, Callable[..., Expr]] = {
    1: relay.nn.adaptive_avg_pool1d,
    2: relay.nn.adaptive_avg_pool2d,
    3: relay.nn.adaptive_avg_pool3d,
}


def _strides(ctx: Aten, stride: Value, kernel: list[int], axes: int) -> list[int]:
    """Return the strides, which are those of the window by default."""
    if stride is None or stride == []:
        return kernel
    return per_axis(ctx, stride, axes, "stride")


def max_pool(
    ctx: Aten, axes: int, x: Expr, kernel: Value, stride: Value, padding: Value, dilation: Value, ceil: bool
) -> Expr:
    """Take the maximum of each window; data may lack the batch axis."""
    window = per_axis(ctx, kernel, axes, "kernel_size")

    strides = _strides(ctx, stride, window, axes)
    dilations = per_axis(ctx, dilation, axes, "dilation")
    pads = per_axis(ctx, padding, axes, "padding") * 2

    def convert(data: Expr) -> Expr:
        windows = PoolWindows(window, pads, False)
        if ceil:
            windows = rounded_up(ctx.shape(data)[2:], window, strides, dilations, pads, counted=False)
        return _MAX[axes](
            data,
            pool_size=tuple(windows.kernel),
            strides=tuple(strides),
            dilation=tuple(dilations),
            padding=tuple(windows.pads),
            ceil_mode=windows.ceil,
        )

    return batched(ctx, x, axes + 2, convert)


def average_pool(
    ctx: Aten,
    axes: int,
    x: Expr,
    kernel: Value,
    stride: Value,
    padding: Value,
    ceil: bool,
    count_include_pad: bool,
    divisor: int | None = None,
) -> Expr:
    """Take the mean of each window, or its sum divided by `divisor`."""
    window = per_axis(ctx, kernel, axes, "kernel_size")
    strides = _strides(ctx, stride, window, axes)
    pads = per_axis(ctx, padding, axes, "padding")

    def convert(data: Expr) -> Expr:
        if divisor is not None:
            data = relay.nn.pad(data, ((0, 0), (0, 0), *[(pad, pad) for pad in pads])) if any(pads) else data
            if ceil:
                raise RelayError("avg_pool with divisor_override and ceil_mode cannot be imported")
            mean = _AVERAGE[axes](data, pool_size=tuple(window), strides=tuple(strides))
            size = 1
            for extent in window:
                size *= extent
            return relay.multiply(mean, const(size / divisor, ctx.dtype(mean)))
        windows = PoolWindows(window, pads * 2, False)
        if ceil:
            dims = ctx.shape(data)[2:]
            counted = bool(count_include_pad)
            windows = rounded_up(dims, window, strides, [1] * axes, pads * 2, counted)
        return _AVERAGE[axes](
            data,
            pool_size=tuple(windows.kernel),
            strides=tuple(strides),
            padding=tuple(windows.pads),
            ceil_mode=windows.ceil,
            count_include_pad=bool(count_include_pad),
        )

    return batched(ctx, x, axes + 2, convert)


@aten("max_pool1d")
def max_pool1d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return max_pool(ctx, 1, x, *options)  # type: ignore[arg-type]  # the schema's types


@aten("max_pool2d")
def max_pool2d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return max_pool(ctx, 2, x, *options)  # type: ignore[arg-type]  # the schema's types


@aten("max_pool3d")
def max_pool3d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return max_pool(ctx, 3, x, *options)  # type: ignore[arg-type]  # the schema's types


def _with_indices(axes: int) -> Callable[..., Value]:
    def convert(
        ctx: Aten, x: Expr, kernel: Value, stride: Value, padding: Value, dilation: Value, ceil: bool
    ) -> Value:
        result = max_pool(ctx, axes, x, kernel, stride, padding, dilation, ceil)
        window = per_axis(ctx, kernel, axes, "kernel_size")
        if not ctx.is_static(x):
            return result, None  # an import that uses the indices fails there
        strides, pads = _strides(ctx, stride, window, axes), per_axis(ctx, padding, axes, "padding")
        spacing = per_axis(ctx, dilation, axes, "dilation")
        counts = list(ctx.static_shape(result)[-axes:])
        return result, _argmax_indices(ctx, axes, x, window, strides, pads, spacing, counts)

    return convert


aten("max_pool1d_with_indices")(_with_indices(1))
aten("max_pool2d_with_indices")(_with_indices(2))
aten("max_pool3d_with_indices")(_with_indices(3))


def _argmax_indices(
    ctx: Aten,
    axes: int,
    x: Expr,
    window: list[int],
    strides: list[int],
    pads: list[int],
    spacing: list[int],
    counts: list[int],
) -> Expr:
    """Return, for each window, the index of its maximum among the elements of its channel. `counts` are the
    windows along each axis.
    """
    reach = [(size - 1) * by + 1 for size, by in zip(window, spacing)]

    def windows(data: Expr) -> Expr:
        """Return the elements of each window in the last axes."""
        reached = relay.sliding_window(data, 2, tuple(reach), tuple(strides))
        if reach == window:
            return reached
        inside = list(range(2 + axes, 2 + 2 * axes))
        return relay.strided_slice(reached, [0] * axes, reach, spacing, axes=inside)

    def convert(data: Expr) -> Expr:
        n, c, *extents = ctx.static_shape(data)
        dtype = ctx.dtype(data)
        total = 1
        for extent in extents:
            total *= extent
        places = relay.reshape(relay.arange(const(total, "int64"), dtype="int64"), (1, 1, *extents))
        around = [
            (pad, max(0, (count - 1) * by + far - pad - extent))
            for pad, count, by, far, extent in zip(pads, counts, strides, reach, extents)
        ]
        border = ((0, 0), (0, 0), *around)
        least = const(float("-inf") if dtype.startswith(("float", "bfloat")) else -(1 << 31), dtype)
        padded = relay.nn.pad(data, border, least) if any(map(any, around)) else data
        numbered = relay.nn.pad(places, border) if any(map(any, around)) else places
        values, shown = windows(padded), windows(numbered)
        rest = ctx.static_shape(values)[2 : 2 + axes]
        values = relay.reshape(values, (n, c, *rest, -1))
        shown = relay.broadcast_to(relay.reshape(shown, (1, 1, *rest, -1)), ctx.static_shape(values))
        best = relay.argmax(values, axis=[-1], keepdims=True)
        return relay.squeeze(relay.gather(shown, -1, best), [-1])

    return batched(ctx, x, axes + 2, convert)


@aten("avg_pool1d")
def avg_pool1d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return average_pool(ctx, 1, x, *options)  # type: ignore[arg-type]  # the schema's types


@aten("avg_pool2d")
def avg_pool2d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return average_pool(ctx, 2, x, *options)  # type: ignore[arg-type]  # the schema's types


@aten("avg_pool3d")
def avg_pool3d(ctx: Aten, x: Expr, *options: Value) -> Value:
    return average_pool(ctx, 3, x, *options)  # type: ignore[arg-type]  # the schema's types


def _output_size(ctx: Aten, axes: int, data: Expr, size: Value) -> tuple[int, ...]:
    """Return the extents of the result; None stands for that of the data."""
    listed = list(size) if isinstance(size, (list, tuple)) else [size]
    listed = listed * axes if len(listed) == 1 else listed
    extents = ctx.shape(data)[2:]
    chosen = [extent if wanted is None else wanted for wanted, extent in zip(listed, extents)]
    return tuple(ctx.integers(cast(Value, chosen), "the output size"))


def _adaptive(
    axes: int, pool: Callable[..., Expr], whole: Callable[..., Expr], pair: bool
) -> Callable[..., Value]:
    def convert(ctx: Aten, x: Expr, size: Value) -> Value:
        def pooled(data: Expr) -> Expr:
            extents = _output_size(ctx, axes, data, size)
            if all(extent == 1 for extent in extents):
                # A mean over whole axes works for dynamic extents, too.
                return whole(data, axis=list(range(2, axes + 2)), keepdims=True)
            return pool(data, output_size=extents)

        result = batched(ctx, x, axes + 2, pooled)
        return (result, None) if pair else result

    return convert


for _axes in (1, 2, 3):
    aten(f"adaptive_avg_pool{_axes}d", *([] if _axes == 1 else [f"_adaptive_avg_pool{_axes}d"]))(
        _adaptive(_axes, _ADAPTIVE_AVERAGE[_axes], relay.mean, pair=False)
    )
    aten(f"adaptive_max_pool{_axes}d")(_adaptive(_axes, _ADAPTIVE_MAX[_axes], relay.max, pair=True))
