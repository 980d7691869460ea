"""The gradients of convolutions, transposed or not, in one, two or three dimensions.

All is done with the axes in the order batch, channels, space, and the weight's outputs, inputs, window; other
layouts are brought to it and back. y = x ∗ w is linear in both: its derivative by the data is the transposed
convolution of dy with w, and a transposed convolution's is the convolution.
"""

from __future__ import annotations

from typing import Any as Anything
from typing import NamedTuple

from ...ir.expr import Call, Expr
from ...ir.op import Op
from ...ir.typed import tensor_type
from ..axes import transpose
from ..cast import cast_like
from ..gradient_tools import extents
from ..nn import conv, conv_other, conv_transpose
from ..nn.sliding import sides
from ..nn.transposed_layout import weight_layout
from ..reshape import layout_transform, reshape
from ..slice import strided_slice

_CONVOLUTIONS: dict[int, Anything] = {1: conv.conv1d, 2: conv.conv2d, 3: conv.conv3d}
_TRANSPOSED: dict[int, Anything] = {
    1: conv_transpose.conv1d_transpose,
    2: conv_transpose.conv2d_transpose,
    3: conv_transpose.conv3d_transpose,
}
_AXES = {1: "W", 2: "HW", 3: "DHW"}


class _Window(NamedTuple):
    """How a convolution's window slides."""

    strides: tuple[int, ...]
    padding: tuple[int, ...]  # before each axis, then after
    dilation: tuple[int, ...]
    groups: int

    @property
    def pads(self) -> list[int]:
        count = len(self.strides)
        return [self.padding[i] + self.padding[i + count] for i in range(count)]

    def options(self) -> dict[str, Anything]:
        return self._asdict()


class _Parts(NamedTuple):
    """A call's window, and its data, weight and derivative in the canonical layouts and one element type."""

    window: _Window
    data: Expr
    weight: Expr
    grad: Expr


def _window(attrs: Anything, count: int) -> _Window:
    pairs = sides(attrs.padding, count)
    padding = (*[before for before, _ in pairs], *[after for _, after in pairs])
    return _Window(tuple(attrs.strides), padding, tuple(attrs.dilation), attrs.groups)


def _laid_out(value: Expr, now: str, then: str) -> Expr:
    return value if now == then else layout_transform(value, now, then)


def _kernel_layout(call: Call) -> str:
    """The layout of the weight, named so that I is the data's channels in a transposed convolution too."""
    name: str = call.attrs["kernel_layout"]  # type: ignore[index]  # a convolution has attributes
    assert isinstance(call.op, Op)
    return weight_layout(name) if call.op.name.endswith("_transpose") else name


def _canonical(call: Call, weight_axes: str) -> tuple[str, str]:
    """The canonical layouts of data and weight, for as many axes of space as the call has."""
    axes = _AXES[len(call.attrs["strides"])]  # type: ignore[index]  # a convolution has attributes
    return "NC" + axes, weight_axes + axes


def _parts(call: Call, grad: Expr, weight_axes: str) -> _Parts:
    data, weight = call.args
    attrs: Anything = call.attrs
    data_layout, kernel_layout = _canonical(call, weight_axes)
    wide = tensor_type(call).dtype
    x, w = (a if tensor_type(a).dtype == wide else cast_like(a, call) for a in (data, weight))
    return _Parts(
        _window(attrs, len(attrs.strides)),
        _laid_out(x, attrs.data_layout, data_layout),
        _laid_out(w, _kernel_layout(call), kernel_layout),
        _laid_out(grad, attrs.out_layout or attrs.data_layout, data_layout),
    )


def _returned(call: Call, by_data: Expr, by_weight: Expr, weight_axes: str) -> list[Expr]:
    """The derivatives in the arguments' own layouts and element types."""
    attrs: Anything = call.attrs
    data_layout, kernel_layout = _canonical(call, weight_axes)
    found = [
        _laid_out(by_data, data_layout, attrs.data_layout),
        _laid_out(by_weight, kernel_layout, _kernel_layout(call)),
    ]
    wide = tensor_type(call).dtype
    return [
        by if tensor_type(argument).dtype == wide else cast_like(by, argument)
        for by, argument in zip(found, call.args, strict=True)
    ]


def _shape_in(value: Expr, now: str, then: str) -> tuple[int, ...]:
    """The shape that a value has in another layout."""
    from ..nn.layout import layout_map

    shape = layout_map(now, then).forward(extents(value, "the gradient of a convolution"), 0, "it")
    return tuple([dim for dim in shape if isinstance(dim, int)])


def convolution(call: Call, grad: Expr) -> list[Expr]:
    attrs: Anything = call.attrs
    parts = _parts(call, grad, "OI")
    data_layout, kernel_layout = _canonical(call, "OI")
    shape = _shape_in(call.args[0], attrs.data_layout, data_layout)
    kernel = _shape_in(call.args[1], attrs.kernel_layout, kernel_layout)
    outputs = _shape_in(call, attrs.out_layout or attrs.data_layout, data_layout)
    window = parts.window
    # a depthwise weight may also be (input channels, outputs of each): the same numbers in the same order
    usual = (outputs[1], shape[1] // window.groups, *kernel[2:])
    weight = parts.weight if usual == kernel else reshape(parts.weight, usual)
    by_data = _spread(parts.grad, weight, window, shape, outputs, kernel[2:])
    by_weight = _by_weight(parts.grad, parts.data, window, shape, outputs, kernel[2:])
    if usual != kernel:
        by_weight = reshape(by_weight, kernel)
    return _returned(call, by_data, by_weight, "OI")


def _spread(
    grad: Expr,
    weight: Expr,
    window: _Window,
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    size: tuple[int, ...],
) -> Expr:
    """The transposed convolution, of the shape of the data: what a stride passed over gets zeros."""
    count = len(size)
    more = []
    for axis in range(count):
        reach = window.strides[axis] * (outputs[2 + axis] - 1) + window.dilation[axis] * (size[axis] - 1) + 1
        more.append(shape[2 + axis] + window.pads[axis] - reach)
    made: Expr = _TRANSPOSED[count](
        grad, weight, channels=shape[1], kernel_size=size, output_padding=tuple(more), **window.options()
    )
    return made


def _by_weight(
    grad: Expr,
    data: Expr,
    window: _Window,
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    size: tuple[int, ...],
) -> Expr:
    """Every derivative times every element of its window, summed: itself a convolution, of the data with the
    derivative for its window, where the batch is what is summed over, and strides and dilation change places.
    """
    count = len(size)
    if count == 2:
        return conv_other.conv2d_backward_weight(grad, data, kernel_size=size, **window.options())
    batch, channels, groups = shape[0], shape[1], window.groups
    space = list(range(3, 3 + count))
    rows = reshape(data, (batch, groups, channels // groups, *shape[2:]))
    rows = reshape(transpose(rows, [2, 1, 0, *space]), (channels // groups, groups * batch, *shape[2:]))
    turned = [1, 0, *range(2, 2 + count)]
    made: Expr = _CONVOLUTIONS[count](
        rows,
        transpose(grad, turned),
        strides=window.dilation,
        padding=window.padding,
        dilation=window.strides,
        groups=groups,
        channels=outputs[1],
        kernel_size=outputs[2:],
    )
    cut = strided_slice(made, [0] * (2 + count), [channels // groups, outputs[1], *size])
    return transpose(cut, turned)


def transposed(call: Call, grad: Expr) -> list[Expr]:
    attrs: Anything = call.attrs
    parts = _parts(call, grad, "IO")
    data_layout, kernel_layout = _canonical(call, "IO")
    shape = _shape_in(call.args[0], attrs.data_layout, data_layout)
    kernel = _shape_in(call.args[1], _kernel_layout(call), kernel_layout)
    outputs = _shape_in(call, attrs.out_layout or attrs.data_layout, data_layout)
    window, size = parts.window, kernel[2:]
    upper, reach = parts.grad, list(outputs)
    for axis in range(len(size)):  # what output_padding added beyond the reach of every window
        longest = (
            window.strides[axis] * shape[2 + axis]
            + window.dilation[axis] * (size[axis] - 1)
            - window.pads[axis]
        )
        reach[2 + axis] = min(reach[2 + axis], longest)
    if reach != list(outputs):
        upper = strided_slice(upper, [0] * len(reach), reach)
    by_data: Expr = _CONVOLUTIONS[len(size)](
        upper, parts.weight, channels=shape[1], kernel_size=size, **window.options()
    )
    by_weight = _by_weight(parts.data, upper, window, tuple(reach), shape, size)
    return _returned(call, by_data, by_weight, "IO")


def backward_weight(call: Call, grad: Expr) -> list[Expr]:
    """dw is linear in the upper derivative and in the data, as y is in the weight and the data."""
    attrs: Anything = call.attrs
    upper, data = call.args
    grads = _laid_out(upper, attrs.data_layout, "NCHW")
    x = _laid_out(data, attrs.kernel_layout, "NCHW")
    kernel = _laid_out(grad, attrs.out_layout or "OIHW", "OIHW")
    window = _window(attrs, 2)
    shape = _shape_in(data, attrs.kernel_layout, "NCHW")
    outputs = _shape_in(upper, attrs.data_layout, "NCHW")
    size = tuple(attrs.kernel_size)
    by_upper = conv.conv2d(x, kernel, channels=outputs[1], kernel_size=size, **window.options())
    by_data = _spread(grads, kernel, window, shape, outputs, size)
    return [
        cast_like(_laid_out(by_upper, "NCHW", attrs.data_layout), upper),
        cast_like(_laid_out(by_data, "NCHW", attrs.kernel_layout), data),
    ]
