"""Converters of convolutions."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.padding import same_total
from ...base.source import Node
from ..importer import Importer
from ..registry import converts
from .sliding import LEAST, Sliding, by_rank, effective


@converts("Conv2D", "Conv3D")
def _convolution(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    slide = Sliding(tf, node, inputs[0])
    shape = tf.context.static_shape(inputs[1])
    window, (depth, count) = list(shape[: slide.axes]), shape[slide.axes :]
    strides, dilation = slide.of_axes("strides"), slide.of_axes("dilations")
    padding = slide.padding(effective(window, dilation), strides)
    channels = slide.channels
    if not isinstance(channels, int):
        raise DynamicShapeError("the number of channels of the data must be known at compile time")
    if depth < 1 or channels % depth:
        raise RelayError(
            f"the number of channels of the data, {channels}, must be a multiple of the filter's, {depth}"
        )
    weight, kernel_layout = inputs[1], f"{slide.spatial}IO"
    if not slide.layout.endswith("C"):
        weight = relay.transpose(weight, [slide.axes + 1, slide.axes, *range(slide.axes)])
        kernel_layout = f"OI{slide.spatial}"
    build = by_rank(slide.axes, relay.nn.conv1d, relay.nn.conv2d, relay.nn.conv3d)
    return slide.restore(
        build(
            slide.data,
            weight,
            strides=strides,
            padding=padding,
            dilation=dilation,
            groups=channels // depth,
            channels=count,
            kernel_size=window,
            data_layout=slide.layout,
            kernel_layout=kernel_layout,
        )
    )


@converts("DepthwiseConv2dNative")
def _depthwise(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    slide = Sliding(tf, node, inputs[0])
    height, width, channels, multiplier = tf.context.static_shape(inputs[1])
    strides, dilation = slide.of_axes("strides"), slide.of_axes("dilations")
    padding = slide.padding(effective([height, width], dilation), strides)
    weight, kernel_layout = inputs[1], "HWOI"
    if not slide.layout.endswith("C"):
        weight = relay.transpose(weight, [2, 3, 0, 1])
        weight = relay.reshape(weight, [channels * multiplier, 1, height, width])
        kernel_layout = "OIHW"
    return slide.restore(
        relay.nn.conv2d(
            slide.data,
            weight,
            strides=strides,
            padding=padding,
            dilation=dilation,
            groups=channels,
            channels=channels * multiplier,
            kernel_size=[height, width],
            data_layout=slide.layout,
            kernel_layout=kernel_layout,
        )
    )


@converts("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _transposed(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert a transposed convolution, which is computed with the channels first."""
    sizes, weight, data = inputs
    slide = Sliding(tf, node, data)
    data = slide.first(data) if slide.last else data
    shape = tf.context.static_shape(weight)
    window, (out_channels, _) = list(shape[: slide.axes]), shape[slide.axes :]
    strides, dilation = slide.of_axes("strides"), slide.of_axes("dilations")
    if any(step != 1 for step in dilation):
        raise RelayError("a dilated transposed convolution is not supported")
    known = tf.context.known(sizes)
    if known is None:
        raise DynamicShapeError("the output's shape must be known at compile time")
    outputs = known if len(known) == slide.axes else known[1:-1] if slide.last else known[2:]
    before, after, extra = [], [], []
    extents = tf.context.shape(data)[2:]
    kind = node.attrs.get("padding", "VALID")
    for axis, (output, extent, size, stride) in enumerate(zip(outputs, extents, window, strides)):
        if not isinstance(output, int):
            raise DynamicShapeError("the output's spatial extents must be known at compile time")
        if kind == "EXPLICIT":
            pairs = node.attrs["explicit_paddings"]
            first = 2 * (axis + (1 if slide.last else 2))
            low, high = int(pairs[first]), int(pairs[first + 1])
        else:
            total = same_total(output, size, stride) if kind == "SAME" else 0
            low, high = total // 2, total - total // 2
        before.append(low)
        after.append(high)
        if isinstance(extent, int):
            rest = output - ((extent - 1) * stride + size - low - high)
            if not 0 <= rest < max(stride, 1):
                raise RelayError(
                    f"an input extent of {extent} cannot have the output extent {output} with these strides "
                    "and padding"
                )
            extra.append(rest)
        else:
            extra.append(0)
    weight = relay.transpose(weight, [slide.axes + 1, slide.axes, *range(slide.axes)])
    build = by_rank(
        slide.axes, relay.nn.conv1d_transpose, relay.nn.conv2d_transpose, relay.nn.conv3d_transpose
    )
    result = build(
        data,
        weight,
        strides=strides,
        padding=[*before, *after],
        channels=out_channels,
        kernel_size=window,
        data_layout=f"NC{slide.spatial}",
        kernel_layout="IOHW" if slide.axes == 2 else f"OI{slide.spatial}",
        output_padding=extra,
    )
    return slide.to_last(result) if slide.last else result


@converts("Dilation2D")
def _dilation(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert morphological dilation, which knows only data with the channels last."""
    slide = Sliding(tf, node, inputs[0])
    window = list(tf.context.static_shape(inputs[1])[:2])
    strides, rates = slide.of_axes("strides"), slide.of_axes("rates")
    least = LEAST.get(tf.context.dtype(inputs[0]))
    padding = slide.padding(effective(window, rates), strides, least)
    data = slide.data
    if any(padding) and least is not None:  # Relay's operator pads by zero, which may exceed the maximum
        spatial = [[padding[0], padding[2]], [padding[1], padding[3]]]
        none = [0, 0]
        last = slide.layout.endswith("C")
        data = relay.nn.pad(data, [none, *spatial, none] if last else [none, none, *spatial], least)
    weight, kernel_layout = inputs[1], "HWI"
    if not slide.layout.endswith("C"):
        weight, kernel_layout = relay.transpose(weight, [2, 0, 1]), "IHW"
    return slide.restore(
        relay.image.dilation2d(
            data,
            weight,
            strides=strides,
            padding=[0, 0, 0, 0],
            dilations=rates,
            data_layout=slide.layout,
            kernel_layout=kernel_layout,
        )
    )
