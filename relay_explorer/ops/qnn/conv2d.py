"""Convolutions of quantized data with quantized weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs
from ...ir.declaration import NotApplicable, Precision
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ir.op import Op, OpPattern
from ...ir.types import Dim, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import t
from ..nn.convolution.attributes import Conv2DAttrs
from ..nn.convolution.layouts import conv_layouts, follow_attributes
from ..nn.convolution.reference import convolution
from ..nn.layout import layout_map
from ..nn.sliding import sides
from ..nn.window import Sizes
from ..numeric import Array, np
from ..operator import operator
from .documents import INTEGERS
from .layouts import beside
from .parameters import is_single
from .plain import BOUNDS, cast, centered, is_zero, number, operand_type, spread, wrapped_number
from .products import PARAMETERS, SUMS, corrected, product_relation, shifted, wrapped

__all__ = ["conv2d"]

_DATA, _KERNEL = "NCHW", "OIHW"
_PLAIN = "nn.conv2d"
_convolved = convolution("HW")


def _kernel_shape(attrs: Anything, weight: TensorType) -> tuple[Dim, ...]:
    return layout_map(attrs.kernel_layout, _KERNEL).forward(weight.shape, 1, "the weight")


def _channels(attrs: Anything, data: TensorType, weight: TensorType) -> tuple[Dim, ...]:
    """Return the number of output channels. A depthwise weight with several outputs for each input channel
    may also have a zero point for each input channel.
    """
    outputs = _kernel_shape(attrs, weight)[0]
    return (outputs if attrs.channels is None else attrs.channels, outputs)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return Op.get(_PLAIN).flops(attrs, inputs[:2], output)


def _kernel_zero(attrs: Anything, zero_point: Array, weight: Array) -> Array:
    """Return the zero point of a kernel in a shape that broadcasts with its weight, in its layout."""
    if zero_point.size == 1:
        return zero_point.reshape(())
    layout = layout_map(attrs.kernel_layout, _KERNEL)
    whole = layout.unpack(weight)
    depthwise = (whole.shape[0], whole.shape[1], 1, 1)  # (input channels, outputs of each)
    per_output = zero_point.size != whole.shape[0]
    rows = zero_point.reshape(depthwise if per_output else (-1, 1, 1, 1))
    return layout.pack(np.broadcast_to(rows, whole.shape))


def _reference(
    attrs: Anything, x: Array, weight: Array, zero_point: Array, kernel_zero: Array, *scales: Array
) -> Array:
    rows = shifted(x, zero_point.reshape(()))
    kernel = shifted(weight, _kernel_zero(attrs, kernel_zero, weight))
    return wrapped(_convolved(attrs.replace(out_dtype="float64"), rows, kernel), attrs.out_dtype)


# -- the canonical form


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    x, weight, zero_point, kernel_zero = operands[:4]
    types = [operand_type(call, operand) for operand in range(4)]
    layouts = conv_layouts(attrs, _DATA, _KERNEL)
    if any(len(layout.axes) != 4 for layout in layouts):
        raise RelayError(
            f"`{call.op}` has no kernel for the layouts {', '.join(layout.name for layout in layouts)}",
            call.span,
            help=["use layouts without blocks, such as NCHW and OIHW; the compiler chooses blocks by itself"],
        )
    of_data = spread(zero_point, types[2], 0, 0)
    conv = _Windows(attrs, types[0], types[1])
    if conv.inputs is None or conv.channels is None or not conv.can_pad(of_data):
        return conv.convolved(
            centered(x, types[0].dtype, of_data),
            centered(weight, types[1].dtype, conv.beside_weight(kernel_zero, types[3])),
            attrs["padding"],
        )
    padded, padding = conv.padded(x, of_data)
    product = corrected(
        conv.convolved(padded, weight, padding),
        conv.acc,
        (of_data, conv.beside_result(kernel_zero, types[3])),
        lambda: conv.window_sums(padded, padding),
        lambda: conv.weight_sums(weight),
        conv.inputs * conv.size[0] * conv.size[1],
    )
    return cast(product, conv.acc, attrs["out_dtype"])


class _Windows:
    """A convolution of integers, and the sums over its windows and its weights.

    `inputs` is the number of input channels of a group, `channels` that of output channels (None where one is
    dynamic), `acc` the element type of the sums.
    """

    def __init__(self, attrs: Attrs, data: TensorType, weight: TensorType) -> None:
        self.attrs, self.data, self.weight = attrs, data, weight
        data_layout, kernel_layout, out_layout = conv_layouts(attrs, _DATA, _KERNEL)
        self.data_layout, self.kernel_layout, self.out_layout = data_layout, kernel_layout, out_layout
        self.groups: int = attrs["groups"]
        self.acc = "int64" if attrs["out_dtype"] == "int64" else "int32"
        kernel = _kernel_shape(attrs, weight)
        inputs = data_layout.forward(data.shape, 0, "the data")[1]
        channels = _channels(attrs, data, weight)[0]
        size = kernel[2:]
        static = all(isinstance(dim, int) for dim in (inputs, channels, *size))
        self.inputs = inputs // self.groups if static and isinstance(inputs, int) else None
        self.channels = channels if static and isinstance(channels, int) else None
        self.size = (int(size[0]), int(size[1])) if static else (1, 1)  # type: ignore[arg-type]  # static

    def convolved(
        self,
        x: Expr,
        weight: Expr,
        padding: Sequence[int],
        groups: int | None = None,
        channels: int | None = None,
    ) -> Expr:
        """Convolve with the strides and layouts of the call."""
        attrs = self.attrs
        return relay.nn.conv2d(
            x,
            weight,
            attrs["strides"],
            padding,
            attrs["dilation"],
            self.groups if groups is None else groups,
            attrs["channels"] if channels is None else channels,
            attrs["kernel_size"],
            attrs["data_layout"],
            attrs["kernel_layout"],
            attrs["out_layout"],
            self.acc,
        )

    def can_pad(self, zero_point: Expr) -> bool:
        """Return whether the data's type has the zero point, with which the data is padded."""
        value, (low, high) = number(zero_point), BOUNDS[self.data.dtype]
        return value is None or low <= value <= high or not any(self.attrs["padding"])

    def padded(self, x: Expr, zero_point: Expr) -> tuple[Expr, Sequence[int]]:
        """Return the data padded with its zero point, which stands for 0, and the padding that is left."""
        padding = self.attrs["padding"]
        if is_zero(zero_point) or not any(padding):
            return x, padding
        pairs = dict(zip("HW", sides(padding, 2), strict=True))
        dtype, value = self.data.dtype, number(zero_point)
        fill = (
            relay.cast(zero_point, dtype)
            if value is None
            else const(wrapped_number(int(value), dtype), dtype)
        )
        widths = [pairs.get(letter, (0, 0)) for letter in self.data_layout.name]
        return relay.nn.pad(x, widths, fill), (0, 0, 0, 0)

    def window_sums(self, x: Expr, padding: Sequence[int]) -> Expr:
        """Sum the windows of the data: one number for each position and group, or output channel."""
        if self.groups == 1:
            axis = self.data_layout.name.index("C")
            total = relay.sum(cast(x, self.data.dtype, self.acc), axis=axis, keepdims=True)
            whole = self.size == (1, 1) and self.attrs["strides"] == (1, 1) and not any(padding)
            if whole and self.out_layout.name == self.data_layout.name:
                return total
            return self.convolved(total, self._ones(1, 1, self.acc), padding, 1, 1)
        assert self.inputs is not None
        assert self.channels is not None
        ones = self._ones(self.groups, self.inputs, self.weight.dtype)
        sums = self.convolved(x, ones, padding, self.groups, self.groups)
        each = self.channels // self.groups
        return sums if each == 1 else relay.repeat(sums, each, self.out_layout.name.index("C"))

    def _ones(self, outputs: int, inputs: int, dtype: str) -> Constant:
        shape = self.kernel_layout.backward((outputs, inputs, *self.size))
        extents = tuple([int(dim) for dim in shape])  # type: ignore[arg-type]  # all are static
        one = NDArray.scalar(1, dtype).data
        return Constant(
            NDArray(extents, dtype, bytes(one) * (outputs * inputs * self.size[0] * self.size[1]))
        )

    def weight_sums(self, weight: Expr) -> Expr:
        """Sum the weights of each output channel, as a vector that broadcasts with the result."""
        whole = cast(weight, self.weight.dtype, self.acc)
        name = self.kernel_layout.name
        outputs = _kernel_shape(self.attrs, self.weight)[0]
        if outputs == self.channels:
            sums = relay.sum(whole, axis=[name.index(letter) for letter in "IHW"])
        else:  # a depthwise weight: several outputs of each input channel
            pairs = relay.sum(whole, axis=[name.index(letter) for letter in "HW"])
            first = name.index("O") < name.index("I")
            sums = relay.reshape(pairs if first else relay.transpose(pairs), (-1,))
        return self._along_channels(sums)

    def _along_channels(self, vector: Expr) -> Expr:
        after = 3 - self.out_layout.name.index("C")
        return relay.expand_dims(vector, axis=1, num_newaxis=after) if after else vector

    def beside_result(self, kernel_zero: Expr, type_: TensorType) -> Expr:
        """Return the kernel's zero point in a shape that broadcasts with the result."""
        if is_single(type_) or type_.shape[0] == self.channels:
            return spread(kernel_zero, type_, self.out_layout.name.index("C"), 4)
        assert self.channels is not None
        return self._along_channels(relay.repeat(kernel_zero, self.channels // self.groups, 0))

    def beside_weight(self, kernel_zero: Expr, type_: TensorType) -> Expr:
        """Return the kernel's zero point in a shape that broadcasts with the weight."""
        return spread(kernel_zero, type_, self.kernel_layout.name.index("O"), 4)


@operator(
    "qnn.conv2d",
    description="Convolves quantized data with a quantized weight over two axes.",
    formula=r"y_{n,o,i,j} = \sum_{c,u,v} (x_{n,c,s i + d u - p,\, s j + d v - p} - z_x)\,(w_{o,c,u,v} - z_w)",
    family="quantization",
    level=11,
    relation=product_relation(
        "QnnConv2D",
        _PLAIN,
        "{out} = {0} ∗ {1}, in `out_dtype`",
        _channels,
        ("int8", "uint8", "int16"),
        ("int8", "uint8", "int16"),
        ("int16", *SUMS),
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=beside(follow_attributes, 2),
    precision=Precision.UNLISTED,
    kernel_layouts={"NCHW": "OIHW", "NHWC": "HWIO", "HWNC": "HWOI"},
    attrs=Conv2DAttrs,
    inputs=("data", "kernel", *PARAMETERS),
    example=lambda build: [
        build(
            t(1, 4, 8, 8, dtype="uint8"), t(8, 4, 3, 3, dtype="int8", name="w"),
            const(120), const(0), const(0.1), const(0.2), kernel_size=(3, 3), channels=8, padding=(1, 1),
        ),
        build(
            t(1, 8, 8, 4, dtype="uint8"), t(3, 3, 4, 1, dtype="uint8", name="w"),
            const(0), const([1, 2, 3, 4]), const(0.1), const(0.2), kernel_size=(3, 3), channels=4, groups=4,
            data_layout="NHWC", kernel_layout="HWOI",
        ),
    ],
)  # fmt: skip
def conv2d(
    data: Operand,
    kernel: Operand,
    input_zero_point: Operand,
    kernel_zero_point: Operand,
    input_scale: Operand,
    kernel_scale: Operand,
    kernel_size: Sizes | None,
    channels: int | None,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "int32",
) -> Call:
    """Convolve `data` (N, C, H, W) with `kernel` (O, C / groups, kh, kw): (N, O, H', W'), sums of integers.

    Padding stands for zero, so it is filled with the data's zero point. The scale of the result is
    input_scale · kernel_scale, and its zero point 0; the scales do not enter the computation. Those of the
    kernel may be vectors with an element per output channel.
    """
