"""Layers with weights, pooling, activations and normalization."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.products import matmul
from .elementwise import number, softrelu, softsign
from .registry import Operation, converts
from .tensors import to_shape

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_CONVOLUTIONS: dict[int, Callable[..., Expr]] = {1: relay.nn.conv1d, 2: relay.nn.conv2d, 3: relay.nn.conv3d}
_TRANSPOSED: dict[int, Callable[..., Expr]] = {
    1: relay.nn.conv1d_transpose, 2: relay.nn.conv2d_transpose, 3: relay.nn.conv3d_transpose,
}  # fmt: skip


def _layout(op: Operation, axes: int) -> str:
    layout = op.attrs.text("layout", _LAYOUTS.get(axes, ""))
    known = (_LAYOUTS.get(axes), "N" + _LAYOUTS.get(axes, "")[2:] + "C")
    if layout not in known:
        raise RelayError(f"the layout {layout!r} is not supported for {axes} spatial axes")
    return layout


def _window(op: Operation, name: str, axes: int, default: int) -> tuple[int, ...]:
    """Return an attribute with an element for each spatial axis."""
    values = op.attrs.ints(name, ()) or (default,) * axes
    if len(values) != axes:
        raise RelayError(f"`{name}` must have {axes} elements, as the kernel has, not {len(values)}")
    return values


def _both(padding: tuple[int, ...]) -> tuple[int, ...]:
    """Return the padding before and after each axis, as Relay takes it."""
    return (*padding, *padding)


def _with_bias(op: Operation, result: Expr, index: int, axis: int, default: bool = False) -> Expr:
    if op.attrs.bool("no_bias", default):
        return result
    return relay.nn.bias_add(result, op[index], axis)


@converts("Convolution", "Convolution_v1", "_npx_convolution")
def convolution(op: Operation) -> Results:
    kernel = op.attrs.ints("kernel")
    layout = _layout(op, len(kernel))
    weights = ("OI" + layout[2:]) if layout[1] == "C" else ("O" + layout[1:-1] + "I")
    result = _CONVOLUTIONS[len(kernel)](
        op[0],
        op[1],
        strides=_window(op, "stride", len(kernel), 1),
        padding=_both(_window(op, "pad", len(kernel), 0)),
        dilation=_window(op, "dilate", len(kernel), 1),
        groups=op.attrs.int("num_group", 1),
        channels=op.attrs.int("num_filter"),
        kernel_size=kernel,
        data_layout=layout,
        kernel_layout=weights,
    )
    return _with_bias(op, result, 2, layout.index("C"))


@converts("_contrib_DeformableConvolution", "_npx_deformable_convolution")
def deformable_convolution(op: Operation) -> Results:
    kernel = op.attrs.ints("kernel")
    if _layout(op, len(kernel)) != "NCHW":
        raise RelayError("DeformableConvolution is supported only in the layout NCHW")
    result = relay.nn.deformable_conv2d(
        op[0],
        op[1],
        op[2],
        strides=_window(op, "stride", 2, 1),
        padding=_both(_window(op, "pad", 2, 0)),
        dilation=_window(op, "dilate", 2, 1),
        deformable_groups=op.attrs.int("num_deformable_group", 1),
        groups=op.attrs.int("num_group", 1),
        channels=op.attrs.int("num_filter"),
        kernel_size=kernel,
    )
    return _with_bias(op, result, 3, 1)


@converts("Deconvolution", "_npx_deconvolution")
def deconvolution(op: Operation) -> Results:
    kernel = op.attrs.ints("kernel")
    axes = len(kernel)
    layout = _layout(op, axes)
    if layout[1] != "C":
        raise RelayError(f"Deconvolution is not supported in the layout {layout}")
    strides, dilation = _window(op, "stride", axes, 1), _window(op, "dilate", axes, 1)
    padding, extra = _window(op, "pad", axes, 0), _window(op, "adj", axes, 0)
    target = op.attrs.ints("target_shape", ())
    if target and any(target):
        excess = [
            strides[i] * (op.extent(0, 2 + i) - 1) + dilation[i] * (kernel[i] - 1) + 1 - target[i]
            for i in range(axes)
        ]
        padding = tuple([(amount + 1) // 2 for amount in excess])
        extra = tuple([amount % 2 for amount in excess])
    result = _TRANSPOSED[axes](
        op[0],
        op[1],
        strides=strides,
        padding=_both(padding),
        dilation=dilation,
        groups=op.attrs.int("num_group", 1),
        channels=op.attrs.int("num_filter"),
        kernel_size=kernel,
        data_layout=layout,
        kernel_layout="IO" + layout[2:],
        output_padding=extra,
    )
    return _with_bias(op, result, 2, 1, default=True)


@converts("FullyConnected", "_npx_fully_connected")
def fully_connected(op: Operation) -> Results:
    if op.attrs.bool("flatten", True):
        data = op[0] if op.rank() == 2 else relay.nn.batch_flatten(op[0])
        result: Expr = relay.nn.dense(data, op[1], units=op.attrs.int("num_hidden"))
    elif op.rank() == 2:
        result = relay.nn.dense(op[0], op[1], units=op.attrs.int("num_hidden"))
    else:
        result = matmul(op.context, op[0], op[1], transpose_b=True)
    return _with_bias(op, result, 2, 1 if op.context.rank(result) == 2 else -1)


@converts("Activation", "_npx_activation")
def activation(op: Operation) -> Results:
    kind = op.attrs.text("act_type")
    if kind in ("softrelu", "softsign"):
        return softrelu(op) if kind == "softrelu" else softsign(op)
    if kind == "log_sigmoid":
        return relay.log(relay.sigmoid(op[0]))
    if kind == "mish":
        return relay.multiply(op[0], relay.tanh(softrelu(op)))
    simple = {"relu": relay.nn.relu, "sigmoid": relay.sigmoid, "tanh": relay.tanh}
    if kind not in simple:
        raise RelayError(f"Activation with act_type={kind!r} is not supported")
    return simple[kind](op[0])


@converts("LeakyReLU", "_npx_leaky_relu")
def leaky_relu(op: Operation) -> Results:
    kind, x = op.attrs.text("act_type", "leaky"), op[0]
    if kind in ("leaky", "rrelu"):
        slope = op.attrs.float("slope", 0.25)
        if kind == "rrelu":  # in inference, the mean of the slopes that training draws
            slope = (op.attrs.float("lower_bound", 0.125) + op.attrs.float("upper_bound", 0.334)) / 2
        return relay.nn.leaky_relu(x, slope)
    if kind == "prelu":
        slopes = op[1]
        if op.context.static_shape(slopes) == (1,) and op.rank() > 1 and op.shape()[1] != 1:
            slopes = relay.repeat(slopes, op.extent(0, 1), 0)
        return relay.nn.prelu(x, slopes, 1 if op.rank() > 1 else 0)
    if kind in ("elu", "selu"):
        slope = op.attrs.float("slope", 0.25) if kind == "elu" else 1.6732632423543772
        below = relay.multiply(number(op, slope), relay.subtract(relay.exp(x), number(op, 1)))
        result = relay.where(relay.greater(x, number(op, 0)), x, below)
        return result if kind == "elu" else relay.multiply(number(op, 1.0507009873554805), result)
    if kind == "gelu":
        scaled = relay.erf(relay.multiply(x, number(op, math.sqrt(0.5))))
        return relay.multiply(relay.multiply(x, number(op, 0.5)), relay.add(number(op, 1), scaled))
    raise RelayError(f"LeakyReLU with act_type={kind!r} is not supported")


def _softmax(op: Operation, function: Callable[..., Expr], negate: bool = False) -> Expr:
    axis = op.axis(op.attrs.int("axis", -1))
    x = op[0] if not op.attrs.has("dtype") else relay.cast(op[0], op.attrs.dtype())
    temperature = op.attrs.float("temperature", 1.0)
    if temperature != 1:
        x = relay.divide(x, const(temperature, op.context.dtype(x)))
    if negate:
        x = relay.negative(x)
    if not op.attrs.bool("use_length", False):
        return function(x, axis)
    # Elements after the length of a sequence have no weight, and the result 0.
    extent = op.extent(0, axis)
    positions = relay.reshape(
        relay.arange(const(0, "int32"), const(extent, "int32"), const(1, "int32"), dtype="int32"),
        tuple([extent if index == axis else 1 for index in range(op.rank())]),
    )
    valid = relay.less(positions, relay.expand_dims(relay.cast(op[1], "int32"), axis))
    masked = relay.where(
        valid, x, const(-1e30 if op.context.dtype(x) != "float16" else -6e4, op.context.dtype(x))
    )
    return relay.where(valid, function(masked, axis), const(0.0, op.context.dtype(x)))


@converts("softmax", "_npx_softmax")
def softmax(op: Operation) -> Results:
    return _softmax(op, relay.nn.softmax)


@converts("log_softmax", "_npx_log_softmax")
def log_softmax(op: Operation) -> Results:
    return _softmax(op, relay.nn.log_softmax)


@converts("softmin")
def softmin(op: Operation) -> Results:
    return _softmax(op, relay.nn.softmax, negate=True)


@converts("SoftmaxActivation")
def softmax_activation(op: Operation) -> Results:
    return _over_rest(op, op.attrs.text("mode", "instance") == "channel")


@converts("SoftmaxOutput", "Softmax")
def softmax_output(op: Operation) -> Results:
    if op.attrs.bool("preserve_shape", False):
        return relay.nn.softmax(op[0], -1)
    return _over_rest(op, op.attrs.bool("multi_output", False))


def _over_rest(op: Operation, channels: bool) -> Expr:
    """Apply softmax to axis 1 or, with `channels` false, to all axes but the first."""
    if channels or op.rank() == 2:
        return relay.nn.softmax(op[0], 1 if op.rank() > 2 else -1)
    return to_shape(relay.nn.softmax(relay.nn.batch_flatten(op[0]), -1), op.shape())


@converts("SVMOutput")
def svm_output(op: Operation) -> Results:
    return op[0]


_POOLS: dict[tuple[str, int], Callable[..., Expr]] = {
    ("max", 1): relay.nn.max_pool1d, ("max", 2): relay.nn.max_pool2d, ("max", 3): relay.nn.max_pool3d,
    ("avg", 1): relay.nn.avg_pool1d, ("avg", 2): relay.nn.avg_pool2d, ("avg", 3): relay.nn.avg_pool3d,
}  # fmt: skip


@converts("Pooling", "Pooling_v1", "_npx_pooling")
def pooling(op: Operation) -> Results:
    kind = op.attrs.text("pool_type", "max")
    axes = op.rank() - 2
    layout = _layout(op, axes)
    if kind not in ("max", "avg", "sum", "lp") or axes not in _LAYOUTS:
        raise RelayError(f"Pooling with pool_type={kind!r} over {axes} spatial axes is not supported")
    if kind == "lp":
        return _power_pooling(op, axes, layout)
    if op.attrs.bool("global_pool", False):
        spatial = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
        reduce = {"max": relay.max, "avg": relay.mean, "sum": relay.sum}[kind]
        return reduce(op[0], spatial, True)
    return _pool(op, op[0], kind, axes, layout)


def _power_pooling(op: Operation, axes: int, layout: str) -> Expr:
    power = op.attrs.int("p_value")
    raised = relay.power(relay.abs(op[0]), number(op, power))
    spatial = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
    total = (
        relay.sum(raised, spatial, True)
        if op.attrs.bool("global_pool", False)
        else _pool(op, raised, "sum", axes, layout)
    )
    return relay.power(total, number(op, 1 / power))


def _pool(op: Operation, x: Expr, kind: str, axes: int, layout: str) -> Expr:
    kernel, strides = _window(op, "kernel", axes, 1), _window(op, "stride", axes, 1)
    padding = _window(op, "pad", axes, 0)
    convention = op.attrs.text("pooling_convention", "valid")
    if convention not in ("valid", "full"):
        raise RelayError(f"Pooling with pooling_convention={convention!r} is not supported")
    options: dict[str, Anything] = {
        "pool_size": kernel, "strides": strides, "padding": _both(padding), "layout": layout,
        "ceil_mode": convention == "full",
    }  # fmt: skip
    if kind == "max":
        return _POOLS["max", axes](x, **options)
    if kind == "avg":
        return _POOLS["avg", axes](x, **options, count_include_pad=op.attrs.bool("count_include_pad", True))
    mean = _POOLS["avg", axes](x, **options, count_include_pad=True)
    if convention == "valid":
        return relay.multiply(mean, const(float(math.prod(kernel)), op.dtype()))
    return relay.multiply(mean, _counts(op, kernel, strides, padding, layout))


def _counts(
    op: Operation, kernel: tuple[int, ...], strides: tuple[int, ...], padding: tuple[int, ...], layout: str
) -> Expr:
    """Return by how many elements the mean of each window is divided: those up to the end of the padding,
    which the last window of an axis may exceed.
    """
    import numpy

    counts = numpy.ones((1,) * len(layout))
    spatial = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
    for axis, size, stride, pad in zip(spatial, kernel, strides, padding):
        extent = op.extent(0, axis)
        starts = numpy.arange(1 + math.ceil((extent + 2 * pad - size) / stride)) * stride - pad
        counted = numpy.minimum(starts + size, extent + pad) - starts
        counts = counts * counted.reshape([-1 if i == axis else 1 for i in range(len(layout))])
    return const(counts.astype(op.dtype()))


@converts("_contrib_AdaptiveAvgPooling2D")
def adaptive_pooling(op: Operation) -> Results:
    size = op.attrs.ints("output_size", (1,))
    if len(size) == 1:
        size = (size[0], size[0])
    return relay.nn.adaptive_avg_pool2d(op[0], size)


@converts("BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", "_contrib_SyncBatchNorm", "_npx_batch_norm")
def batch_norm(op: Operation) -> Results:
    """Normalize with the moving mean and variance, as in inference."""
    normalized = relay.nn.batch_norm(
        op[0],
        op[1],
        op[2],
        op[3],
        op[4],
        axis=op.axis(op.attrs.int("axis", 1)),
        epsilon=op.attrs.float("eps", 1e-3),
        scale=not op.attrs.bool("fix_gamma", True),  # a fixed gamma is 1, whatever its value in the file
    )
    return normalized[0]


@converts("LayerNorm", "_npx_layer_norm")
def layer_norm(op: Operation) -> Results:
    if op.attrs.bool("output_mean_var", False):
        raise RelayError(
            "Relay's layer_norm does not return the mean and variance",
            help=["export the model with output_mean_var=False"],
        )
    axis, epsilon = op.axis(op.attrs.int("axis", -1)), op.attrs.float("eps", 1e-5)
    return relay.nn.layer_norm(op[0], op[1], op[2], axis=axis, epsilon=epsilon)


@converts("InstanceNorm", "_npx_instance_norm")
def instance_norm(op: Operation) -> Results:
    return relay.nn.instance_norm(op[0], op[1], op[2], axis=1, epsilon=op.attrs.float("eps", 1e-3))


@converts("GroupNorm", "_npx_group_norm")
def group_norm(op: Operation) -> Results:
    groups, channels = op.attrs.int("num_groups", 1), op.extent(0, 1)
    gamma, beta = op[1], op[2]
    if op.context.static_shape(gamma) == (groups,) and groups != channels:  # before 1.7, one for each group
        gamma, beta = (relay.repeat(x, channels // groups, 0) for x in (gamma, beta))
    epsilon = op.attrs.float("eps", 1e-5)
    return relay.nn.group_norm(op[0], gamma, beta, num_groups=groups, axis=1, epsilon=epsilon)


@converts("LRN")
def local_response_norm(op: Operation) -> Results:
    return relay.nn.lrn(
        op[0],
        size=op.attrs.int("nsize"),
        axis=1,
        bias=op.attrs.float("knorm", 2.0),
        alpha=op.attrs.float("alpha", 1e-4),
        beta=op.attrs.float("beta", 0.75),
    )
