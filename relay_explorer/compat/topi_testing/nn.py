"""`tvm.topi.testing`: pools, norms, products of matrices and losses, in NumPy, computed by definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def _along(vector: Any, axis: int, rank: int) -> Any:
    """Reshape a vector to broadcast along `axis`."""
    return vector.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


def batch_norm(
    x: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    axis: int,
    epsilon: float,
    center: bool,
    scale: bool,
    training: bool,
    momentum: float,
) -> list[Any]:
    """Return the normalized data, and the moving mean and variance. In training, the data's own mean and
    variance are used, and the moving ones are moved towards them by `1 - momentum`; otherwise those are used
    unchanged.
    """
    import numpy

    axis %= x.ndim
    mean, variance = moving_mean, moving_var
    if training:
        others = tuple(place for place in range(x.ndim) if place != axis)
        mean, variance = x.mean(others), x.var(others)
        moving_mean = momentum * moving_mean + (1 - momentum) * mean
        moving_var = momentum * moving_var + (1 - momentum) * variance
    out = (x - _along(mean, axis, x.ndim)) / numpy.sqrt(_along(variance, axis, x.ndim) + epsilon)
    if scale:
        out = out * _along(gamma, axis, x.ndim)
    if center:
        out = out + _along(beta, axis, x.ndim)
    return [out, moving_mean, moving_var]


def _normal(data: Any, axes: Sequence[int], epsilon: float) -> Any:
    """Normalize the data: subtract its mean over `axes`, and divide by its standard deviation."""
    import numpy

    axes = tuple(axes)
    mean, variance = data.mean(axes, keepdims=True), data.var(axes, keepdims=True)
    return (data - mean) / numpy.sqrt(variance + epsilon)


def instance_norm_python(data: Any, gamma: Any, beta: Any, axis: Sequence[int], epsilon: float = 1e-5) -> Any:
    """Normalize data (N, C, …) over `axis`, then scale and shift each channel."""
    normal = _normal(data, axis, epsilon)
    return normal * _along(gamma, 1, data.ndim) + _along(beta, 1, data.ndim)


def layer_norm_python(
    data: Any, gamma: Any, beta: Any, axis: int | Sequence[int], epsilon: float = 1e-5
) -> Any:
    """Normalize the data over `axis`, then scale and shift each element of it."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    axes = [place % data.ndim for place in axes]
    shape = [extent if place in axes else 1 for place, extent in enumerate(data.shape)]
    out = _normal(data, axes, epsilon) * gamma.reshape(shape)
    return out if beta is None else out + beta.reshape(shape)


def group_norm_python(
    data: Any, gamma: Any, beta: Any, num_groups: int, channel_axis: int, axes: Sequence[int],
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    """Normalize the data over `axes` and the channels of each group, then scale and shift each channel."""
    channels = channel_axis % data.ndim
    shape = list(data.shape)
    split = [*shape[:channels], num_groups, shape[channels] // num_groups, *shape[channels + 1 :]]
    folded = [channels + 1]
    for axis in axes:
        place = axis % data.ndim
        if place != channels:
            folded.append(place + (place > channels))
    normal = _normal(data.reshape(split), sorted(folded), epsilon).reshape(shape)
    return normal * _along(gamma, channels, data.ndim) + _along(beta, channels, data.ndim)


def lrn_python(a_np: Any, size: int, axis: int, bias: float, alpha: float, beta: float) -> Any:
    """Divide the data by (bias + alpha / size * the sum of squares of `size` neighbours along `axis`) **
    beta.

    Half precision is rounded once, at the end: rounding each step would add an error of 0.1 %.
    """
    import numpy

    if a_np.dtype == numpy.float16:
        return lrn_python(a_np.astype("float32"), size, axis, bias, alpha, beta).astype("float16")
    radius = size // 2
    squares = numpy.zeros_like(a_np)
    for place in range(a_np.shape[axis]):
        near = range(max(0, place - radius), min(a_np.shape[axis], place + radius + 1))
        row = [slice(None)] * a_np.ndim
        row[axis] = place  # type: ignore[call-overload]
        squares[tuple(row)] = (a_np.take(list(near), axis) ** 2).sum(axis)
    return a_np / (bias + alpha * squares / size) ** beta


def poolnd_python(
    np_data: Any,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding_before: Sequence[int],
    padding_after: Sequence[int],
    pool_type: str,
    count_include_pad: bool = True,
    ceil_mode: bool = False,
    dtype: str = "float32",
    layout: str | None = None,
) -> Any:
    """Compute the maximum, or the mean, of each window over the spatial axes of data (N, C, …), or (N, …, C)
    if `layout` says so.

    The mean is over the elements of the padded data, or without `count_include_pad` over those of the data
    itself. With `ceil_mode` the last window may extend beyond the padded data.
    """
    import numpy

    if layout is not None and not layout.startswith("NC"):
        first = numpy.moveaxis(np_data, layout.index("C"), 1)
        out = poolnd_python(
            first, kernel, strides, dilation, padding_before, padding_after, pool_type, count_include_pad,
            ceil_mode, dtype,
        )  # fmt: skip
        return numpy.moveaxis(out, 1, layout.index("C"))
    up = math.ceil if ceil_mode else math.floor
    padded = [
        extent + b + a for extent, b, a in zip(np_data.shape[2:], padding_before, padding_after, strict=True)
    ]
    sizes = [
        up((extent - d * (k - 1) - 1) / s) + 1 for extent, k, s, d in zip(padded, kernel, strides, dilation)
    ]
    out = numpy.zeros((*np_data.shape[:2], *sizes), np_data.dtype)
    for at in numpy.ndindex(*sizes):
        inside, within = [], 1
        for place, k, s, d, before, extent, limit in zip(
            at, kernel, strides, dilation, padding_before, np_data.shape[2:], padded
        ):
            touched = [place * s + u * d for u in range(k)]
            inside.append([t - before for t in touched if 0 <= t - before < extent])
            within *= len([t for t in touched if t < limit])
        window = np_data[(slice(None), slice(None), *numpy.ix_(*inside))]
        axes = tuple(range(2, np_data.ndim))
        if pool_type == "max":
            out[(..., *at)] = window.max(axes) if window.size else _least(np_data.dtype)
        else:
            count = within if count_include_pad else math.prod(map(len, inside))
            out[(..., *at)] = window.sum(axes) / max(1, count)
    return out


def _least(dtype: Any) -> Any:
    import numpy

    return (numpy.finfo if dtype.kind == "f" else numpy.iinfo)(dtype).min


def pool_grad_nchw(
    a_np: Any,
    out_grad_np: Any,
    pool_size: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    pool_type: str,
    ceil_mode: bool,
    count_include_pad: bool = True,
) -> Any:
    """Compute the gradient of the sum of `out_grad_np` times a pool of `a_np` (N, C, H, W) with respect to
    `a_np`: a maximum passes its gradient to the first greatest element of its window, a mean distributes it.
    `padding` is top, left, bottom, right.
    """
    import numpy

    grad = numpy.zeros_like(a_np)
    for row, column in numpy.ndindex(*out_grad_np.shape[2:]):
        spans = []
        for place, size, step, before, extent in zip(
            (row, column), pool_size, strides, padding[:2], a_np.shape[2:]
        ):
            start = place * step - before
            spans.append((start, max(0, start), min(start + size, extent)))
        (_, top, bottom), (_, left, right) = spans
        incoming = out_grad_np[:, :, row, column]
        if bottom <= top or right <= left:
            continue  # a window of padding alone
        if pool_type == "max":
            window = a_np[:, :, top:bottom, left:right]
            flat = window.reshape(*window.shape[:2], -1).argmax(-1)
            for batch, channel in numpy.ndindex(*flat.shape):
                y, x = divmod(int(flat[batch, channel]), right - left)
                grad[batch, channel, top + y, left + x] += incoming[batch, channel]
            continue
        count = (bottom - top) * (right - left)
        if count_include_pad:
            limits = (a_np.shape[2] + padding[0] + padding[2], a_np.shape[3] + padding[1] + padding[3])
            count = math.prod(
                min(span[0] + before + size, limit) - (span[0] + before)
                for span, size, before, limit in zip(spans, pool_size, padding[:2], limits)
            )
        grad[:, :, top:bottom, left:right] += (incoming / max(1, count))[:, :, None, None]
    return grad


def adaptive_pool(np_data: Any, out_size: int | Sequence[int], pool_type: str, layout: str = "NCHW") -> Any:
    """Pool each spatial axis over `out_size` windows, which may overlap by one element."""
    import numpy

    if isinstance(out_size, int):
        out_size = (out_size,)
    place = layout.index("C")
    data = numpy.moveaxis(np_data, place, 1)
    out = numpy.zeros((*data.shape[:2], *out_size), np_data.dtype)
    for at in numpy.ndindex(*out_size):
        window = [
            slice(i * extent // m, math.ceil((i + 1) * extent / m))
            for i, extent, m in zip(at, data.shape[2:], out_size)
        ]
        elements = data[(..., *window)]
        axes = tuple(range(2, data.ndim))
        out[(..., *at)] = elements.max(axes) if pool_type == "max" else elements.mean(axes)
    return numpy.moveaxis(out, 1, place)
