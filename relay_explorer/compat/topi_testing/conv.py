"""`tvm.topi.testing`: convolutions and their transposes, in NumPy, computed by definition.

All of them use one convolution over any number of axes: for each element of the window, the part of the data
under it is multiplied by the weights there. It shares no code with the reference implementations in `ops/`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Sizes = int | Sequence[int]


def _each(value: Sizes, axes: int) -> tuple[int, ...]:
    """Return one number per axis."""
    return (int(value),) * axes if hasattr(value, "__index__") else tuple(int(v) for v in value)


def _edges(padding: Sizes | str, kernel: Sequence[int], dilation: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and after each axis. `padding` is one number, one per axis, all before and
    then all after, "VALID" (none) or "SAME" (as much as preserves the size at stride 1).
    """
    axes = len(kernel)
    if isinstance(padding, str):
        if padding not in ("VALID", "SAME"):
            raise ValueError(f'padding is "VALID", "SAME" or numbers, not "{padding[:40]}"')
        totals = [(k - 1) * d if padding == "SAME" else 0 for k, d in zip(kernel, dilation)]
        return [(total - total // 2, total // 2) for total in totals]
    amounts = _each(padding, axes)
    if len(amounts) == axes:
        return [(p, p) for p in amounts]
    if len(amounts) != 2 * axes:
        raise ValueError(f"padding has {len(amounts)} values for {axes} axes")
    return list(zip(amounts[:axes], amounts[axes:]))


def _convolve(
    data: Any, weight: Any, stride: Sizes, edges: list[tuple[int, int]], dilation: Sizes = 1, groups: int = 1
) -> Any:
    """Convolve data (N, C, …) with a weight (O, C / groups, …): (N, O, …), of the data's element type."""
    import numpy

    axes = data.ndim - 2
    strides, steps = _each(stride, axes), _each(dilation, axes)
    data = numpy.pad(data, [(0, 0), (0, 0), *edges])
    kernel = weight.shape[2:]
    sizes = [
        (extent - step * (k - 1) - 1) // s + 1
        for extent, k, s, step in zip(data.shape[2:], kernel, strides, steps)
    ]
    per_group, outputs = weight.shape[1], weight.shape[0] // groups
    out = numpy.zeros((data.shape[0], weight.shape[0], *sizes), data.dtype)
    for within in numpy.ndindex(*kernel):
        under = [
            slice(u * step, u * step + (size - 1) * s + 1, s)
            for u, size, s, step in zip(within, sizes, strides, steps)
        ]
        for group in range(groups):
            rows = slice(group * outputs, (group + 1) * outputs)
            part = data[(slice(None), slice(group * per_group, (group + 1) * per_group), *under)]
            out[:, rows] += numpy.moveaxis(
                numpy.tensordot(weight[(rows, slice(None), *within)], part, (1, 1)), 0, 1
            )
    return out


def _conv(
    data: Any, weight: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes = 1, groups: int = 1
) -> Any:
    steps = _each(dilation, data.ndim - 2)
    return _convolve(data, weight, stride, _edges(padding, weight.shape[2:], steps), steps, groups)


def _first(x: Any) -> Any:
    """Move the channels from the last axis to the second."""
    import numpy

    return numpy.moveaxis(x, -1, 1)


def _last(x: Any) -> Any:
    import numpy

    return numpy.moveaxis(x, 1, -1)


def _kernel_first(weight: Any) -> Any:
    """Transpose a kernel (…, I, O) to (O, I, …)."""
    import numpy

    return numpy.moveaxis(weight, (-1, -2), (0, 1))


def conv1d_ncw_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes) -> Any:
    """Compute the convolution of data (N, C, W) with weight (O, C, k)."""
    return _conv(a_np, w_np, stride, padding, dilation)


def group_conv1d_ncw_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes, groups: int
) -> Any:
    """Compute the convolution of data (N, C, W) with weight (O, C / groups, k)."""
    return _conv(a_np, w_np, stride, padding, dilation, groups)


def conv1d_nwc_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes) -> Any:
    """Compute the convolution of data (N, W, C) with weight (k, C, O)."""
    return _last(_conv(_first(a_np), _kernel_first(w_np), stride, padding, dilation))


def group_conv1d_nwc_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes, groups: int
) -> Any:
    """Compute the convolution of data (N, W, C) with weight (k, C / groups, O)."""
    return _last(_conv(_first(a_np), _kernel_first(w_np), stride, padding, dilation, groups))


def conv2d_nchw_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, groups: int = 1) -> Any:
    """Compute the convolution of data (N, C, H, W) with weight (O, C / groups, kh, kw)."""
    return _conv(a_np, w_np, stride, padding, 1, groups)


def conv2d_backward_weight_python(
    dy_np: Any,
    x_np: Any,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes | str,
    groups: int = 1,
    channels: int | None = None,
) -> Any:
    """Compute the gradient of the sum of `dy_np` (N, O, H', W') times a convolution of `x_np` (N, C, H, W)
    with respect to the weight (O, C / groups, kh, kw). `channels` is O, as in `dy_np`.
    """
    import numpy

    kernel, strides = _each(kernel_size, 2), _each(stride, 2)
    data = numpy.pad(x_np, [(0, 0), (0, 0), *_edges(padding, kernel, (1, 1))])
    outputs, inputs = (channels or dy_np.shape[1]) // groups, x_np.shape[1] // groups
    gradient = numpy.zeros((groups * outputs, inputs, *kernel), x_np.dtype)
    for out in range(groups * outputs):
        first = out // outputs * inputs
        for u, v in numpy.ndindex(*kernel):
            rows, columns = (
                slice(at, at + (size - 1) * step + 1, step)
                for at, size, step in zip((u, v), dy_np.shape[2:], strides)
            )
            window = data[:, first : first + inputs, rows, columns]
            gradient[out, :, u, v] = numpy.einsum("nij,ncij->c", dy_np[:, out], window)
    return gradient


def conv2d_nhwc_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, groups: int = 1) -> Any:
    """Compute the convolution of data (N, H, W, C) with weight (kh, kw, C / groups, O)."""
    return _last(_conv(_first(a_np), _kernel_first(w_np), stride, padding, 1, groups))


def conv2d_hwcn_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str) -> Any:
    """Compute the convolution of data (H, W, C, N) with weight (kh, kw, C, O): (H', W', O, N)."""
    out = _conv(a_np.transpose(3, 2, 0, 1), _kernel_first(w_np), stride, padding)
    return out.transpose(2, 3, 1, 0)


def conv3d_ncdhw_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, groups: int = 1) -> Any:
    """Compute the convolution of data (N, C, D, H, W) with weight (O, C / groups, kd, kh, kw)."""
    return _conv(a_np, w_np, stride, padding, 1, groups)


def conv3d_ndhwc_python(a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, groups: int = 1) -> Any:
    """Compute the convolution of data (N, D, H, W, C) with weight (kd, kh, kw, C / groups, O)."""
    return _last(_conv(_first(a_np), _kernel_first(w_np), stride, padding, 1, groups))


def depthwise_conv2d_python_nchw(
    input_np: Any, filter_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes = 1
) -> Any:
    """Compute the depthwise convolution of data (N, C, H, W) with weight (C, outputs of each, kh, kw)."""
    channels = input_np.shape[1]
    weight = filter_np.reshape(-1, 1, *filter_np.shape[2:])
    return _conv(input_np, weight, stride, padding, dilation, channels)


def depthwise_conv2d_python_nhwc(
    input_np: Any, filter_np: Any, stride: Sizes, padding: Sizes | str, dilation: Sizes = 1
) -> Any:
    """Compute the depthwise convolution of data (N, H, W, C) with weight (kh, kw, C, outputs of each)."""
    weight = filter_np.transpose(2, 3, 0, 1)
    return _last(depthwise_conv2d_python_nchw(_first(input_np), weight, stride, padding, dilation))


def _transposed(
    data: Any, weight: Any, stride: Sizes, padding: Sizes | str, output_padding: Sizes, groups: int = 1
) -> Any:
    """Compute the transposed convolution of data (N, C, …) with weight (C, O / groups, …): a convolution of
    the dilated data with the mirrored kernel.
    """
    import numpy

    axes = data.ndim - 2
    kernel, strides = weight.shape[2:], _each(stride, axes)
    more = _each(output_padding, axes)
    if any(extra >= s for extra, s in zip(more, strides)):
        raise ValueError(f"output_padding {more} must be less than the strides {strides}")
    cut = _edges(padding, kernel, (1,) * axes)
    grown = [(k - 1 - b, k - 1 - a + extra) for k, (b, a), extra in zip(kernel, cut, more)]
    dilated = dilate_python(data, (1, 1, *strides))
    for axis, (before, after) in enumerate(grown, 2):  # padding larger than the kernel crops the data itself
        dilated = dilated.take(range(max(0, -before), dilated.shape[axis] - max(0, -after)), axis)
    edges = [(max(0, before), max(0, after)) for before, after in grown]
    channels, outputs = weight.shape[0] // groups, weight.shape[1]
    mirrored = numpy.flip(weight, tuple(range(2, weight.ndim)))
    in_groups = mirrored.reshape(groups, channels, outputs, *kernel).swapaxes(1, 2)
    return _convolve(dilated, in_groups.reshape(groups * outputs, channels, *kernel), 1, edges, 1, groups)


def conv1d_transpose_ncw_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, output_padding: Sizes = 0
) -> Any:
    """Compute the transposed convolution of data (N, C, W) with weight (C, O, k)."""
    return _transposed(a_np, w_np, stride, padding, output_padding)


def group_conv1d_transpose_ncw_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, output_padding: Sizes, groups: int = 1
) -> Any:
    """Compute the transposed convolution of data (N, C, W) with weight (C, O / groups, k)."""
    return _transposed(a_np, w_np, stride, padding, output_padding, groups)


def conv2d_transpose_nchw_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, output_padding: Sizes, groups: int = 1
) -> Any:
    """Compute the transposed convolution of data (N, C, H, W) with weight (C, O / groups, kh, kw)."""
    return _transposed(a_np, w_np, stride, padding, output_padding, groups)


def conv2d_transpose_nhwc_python(
    a_nhwc: Any,
    weight: Any,
    weight_format: str,
    stride: Sizes,
    padding: Sizes | str,
    output_padding: Sizes = (0, 0),
    groups: int = 1,
) -> Any:
    """Compute the transposed convolution of data (N, H, W, C) with a weight in the order that `weight_format`
    names: I the data's channels, O the result's.
    """
    order = [weight_format.index(axis) for axis in "IOHW"]
    out = _transposed(_first(a_nhwc), weight.transpose(order), stride, padding, output_padding, groups)
    return _last(out)


def conv3d_transpose_ncdhw_python(
    a_np: Any, w_np: Any, stride: Sizes, padding: Sizes | str, output_padding: Sizes = 0
) -> Any:
    """Compute the transposed convolution of data (N, C, D, H, W) with weight (C, O, kd, kh, kw)."""
    return _transposed(a_np, w_np, stride, padding, output_padding)


def dilate_python(
    input_np: Any, strides: Sequence[int], dilation_value: float = 0.0, out_dtype: str | None = None
) -> Any:
    """Insert `strides` - 1 elements of `dilation_value` between any two elements of the data on each axis."""
    import numpy

    if len(strides) != input_np.ndim:
        raise ValueError(f"strides has {len(strides)} values, the data {input_np.ndim} axes")
    shape = [(extent - 1) * int(s) + 1 if extent else 0 for extent, s in zip(input_np.shape, strides)]
    out = numpy.full(shape, dilation_value).astype(out_dtype or input_np.dtype)
    out[tuple(slice(None, None, int(s)) for s in strides)] = input_np
    return out
