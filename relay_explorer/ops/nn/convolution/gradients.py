"""The gradients of convolutions, also transposed, over one, two or three axes.

The rules work in canonical layouts: batch, channels, spatial axes for the data, and outputs, inputs, window
for the weight. Other layouts are transformed to these and back. A convolution is linear in data and in
weight. Its derivative with respect to the data is the transposed convolution of dy with w, and that of a
transposed convolution is the convolution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import NamedTuple

from ....ir.declaration import Gradient
from ....ir.expr import Call, Expr
from ....ir.typed import tensor_type
from ...calls import relay
from ...gradient_tools import extents
from ..layout import layout_map
from ..sliding import sides
from .layouts import weight_layout

_AXES = {1: "W", 2: "HW", 3: "DHW"}


def _builder(count: int, kind: str = "") -> Callable[..., Expr]:
    """Return the builder of a convolution over `count` axes, or of a transposed one if `kind` is
    "_transpose".
    """
    builder: Callable[..., Expr] = getattr(relay.nn, f"conv{count}d{kind}")
    return builder


class _Window(NamedTuple):
    """How a convolution's window slides over the data."""

    strides: tuple[int, ...]
    padding: tuple[int, ...]  # before each axis, then after
    dilation: tuple[int, ...]
    groups: int

    @property
    def pads(self) -> list[int]:
        """The total padding of each axis, before and after it."""
        count = len(self.strides)
        return [self.padding[i] + self.padding[i + count] for i in range(count)]

    def options(self) -> dict[str, Anything]:
        """Return the window as keyword arguments of a builder."""
        return self._asdict()


class _Parts(NamedTuple):
    """A call's window, and its data, weight and derivative in the canonical layouts and a common element
    type.
    """

    window: _Window
    data: Expr
    weight: Expr
    grad: Expr


def _window(attrs: Anything, count: int) -> _Window:
    """Read the window of a convolution over `count` axes from its attributes."""
    pairs = sides(attrs.padding, count)
    padding = (*[before for before, _ in pairs], *[after for _, after in pairs])
    return _Window(tuple(attrs.strides), padding, tuple(attrs.dilation), attrs.groups)


def _laid_out(value: Expr, now: str, then: str) -> Expr:
    """Transform a value from the layout `now` to `then`."""
    return value if now == then else relay.layout_transform(value, now, then)


def _kernel_layout(call: Call, weight_axes: str) -> str:
    """Return the weight's layout, named so that I stands for the data's channels also in a transposed
    convolution.
    """
    name: str = call.attrs["kernel_layout"]  # type: ignore[index]  # a convolution has attributes
    return weight_layout(name) if weight_axes == "IO" else name


def _canonical(call: Call, weight_axes: str) -> tuple[str, str]:
    """Return the canonical layouts of data and weight for the call's number of spatial axes."""
    axes = _AXES[len(call.attrs["strides"])]  # type: ignore[index]  # a convolution has attributes
    return "NC" + axes, weight_axes + axes


def _parts(call: Call, grad: Expr, weight_axes: str) -> _Parts:
    """Convert the operands and the derivative to canonical layouts and a common element type."""
    data, weight = call.args
    attrs: Anything = call.attrs
    data_layout, kernel_layout = _canonical(call, weight_axes)
    dtype = tensor_type(call).dtype
    x, w = (x if tensor_type(x).dtype == dtype else relay.cast_like(x, call) for x in (data, weight))
    return _Parts(
        _window(attrs, len(attrs.strides)),
        _laid_out(x, attrs.data_layout, data_layout),
        _laid_out(w, _kernel_layout(call, weight_axes), kernel_layout),
        _laid_out(grad, attrs.out_layout or attrs.data_layout, data_layout),
    )


def _as_operands(call: Call, by_data: Expr, by_weight: Expr, weight_axes: str) -> list[Expr]:
    """Convert the derivatives to the operands' own layouts and element types."""
    attrs: Anything = call.attrs
    data_layout, kernel_layout = _canonical(call, weight_axes)
    derivatives = [
        _laid_out(by_data, data_layout, attrs.data_layout),
        _laid_out(by_weight, kernel_layout, _kernel_layout(call, weight_axes)),
    ]
    dtype = tensor_type(call).dtype
    return [
        by if tensor_type(operand).dtype == dtype else relay.cast_like(by, operand)
        for by, operand in zip(derivatives, call.args, strict=True)
    ]


def _shape_in(value: Expr, now: str, then: str) -> tuple[int, ...]:
    """Compute the shape of a value in another layout."""
    shape = layout_map(now, then).forward(extents(value, "the gradient of a convolution"), 0, "it")
    return tuple([dim for dim in shape if isinstance(dim, int)])


def _convolution(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients of a convolution, which is linear in both operands: with respect to the data, its
    transpose.
    """
    attrs: Anything = call.attrs
    parts = _parts(call, grad, "OI")
    data_layout, kernel_layout = _canonical(call, "OI")
    shape = _shape_in(call.args[0], attrs.data_layout, data_layout)
    kernel = _shape_in(call.args[1], attrs.kernel_layout, kernel_layout)
    outputs = _shape_in(call, attrs.out_layout or attrs.data_layout, data_layout)
    window = parts.window
    # a depthwise weight may also be (input channels, outputs of each): the same elements in the same order
    usual = (outputs[1], shape[1] // window.groups, *kernel[2:])
    weight = parts.weight if usual == kernel else relay.reshape(parts.weight, usual)
    by_data = _by_data(parts.grad, weight, window, shape, outputs, kernel[2:])
    by_weight = _by_weight(parts.grad, parts.data, window, shape, outputs, kernel[2:])
    if usual != kernel:
        by_weight = relay.reshape(by_weight, kernel)
    return _as_operands(call, by_data, by_weight, "OI")


def _by_data(
    grad: Expr,
    weight: Expr,
    window: _Window,
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    size: tuple[int, ...],
) -> Expr:
    """Build the derivative with respect to the data, in the data's shape; elements that no window covers get
    zeros.
    """
    count = len(size)
    more = []
    for axis in range(count):
        reach = window.strides[axis] * (outputs[2 + axis] - 1) + window.dilation[axis] * (size[axis] - 1) + 1
        more.append(shape[2 + axis] + window.pads[axis] - reach)
    return _builder(count, "_transpose")(
        grad, weight, channels=shape[1], kernel_size=size, output_padding=tuple(more), **window.options()
    )


def _by_weight(
    grad: Expr,
    data: Expr,
    window: _Window,
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    size: tuple[int, ...],
) -> Expr:
    """Build the derivative with respect to the weight: the sum of each element of `grad` times its window.

    It is a convolution of the data with `grad`, in which batch and channels swap roles, and so do strides and
    dilation.
    """
    count = len(size)
    if count == 2:
        return relay.nn.conv2d_backward_weight(grad, data, kernel_size=size, **window.options())
    batch, channels, groups = shape[0], shape[1], window.groups
    space = list(range(3, 3 + count))
    rows = relay.reshape(data, (batch, groups, channels // groups, *shape[2:]))
    rows = relay.transpose(rows, [2, 1, 0, *space])
    rows = relay.reshape(rows, (channels // groups, groups * batch, *shape[2:]))
    swapped = [1, 0, *range(2, 2 + count)]
    result = _builder(count)(
        rows,
        relay.transpose(grad, swapped),
        strides=window.dilation,
        padding=window.padding,
        dilation=window.strides,
        groups=groups,
        channels=outputs[1],
        kernel_size=outputs[2:],
    )
    cut = relay.strided_slice(result, [0] * (2 + count), [channels // groups, outputs[1], *size])
    return relay.transpose(cut, swapped)


def _transposed(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients of a transposed convolution, which is linear in both operands: with respect to the
    data, the convolution.
    """
    attrs: Anything = call.attrs
    parts = _parts(call, grad, "IO")
    data_layout, kernel_layout = _canonical(call, "IO")
    shape = _shape_in(call.args[0], attrs.data_layout, data_layout)
    kernel = _shape_in(call.args[1], _kernel_layout(call, "IO"), kernel_layout)
    outputs = _shape_in(call, attrs.out_layout or attrs.data_layout, data_layout)
    window, size = parts.window, kernel[2:]
    upper, reach = parts.grad, list(outputs)
    for axis in range(len(size)):  # exclude the elements that output_padding added beyond every window
        longest = (
            window.strides[axis] * shape[2 + axis]
            + window.dilation[axis] * (size[axis] - 1)
            - window.pads[axis]
        )
        reach[2 + axis] = min(reach[2 + axis], longest)
    if reach != list(outputs):
        upper = relay.strided_slice(upper, [0] * len(reach), reach)
    by_data = _builder(len(size))(
        upper, parts.weight, channels=shape[1], kernel_size=size, **window.options()
    )
    by_weight = _by_weight(parts.data, upper, window, tuple(reach), shape, size)
    return _as_operands(call, by_data, by_weight, "IO")


def _backward_weight(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients of the weight's gradient, which is linear in both operands, as the convolution is
    in weight and data.
    """
    attrs: Anything = call.attrs
    upper, data = call.args
    grads = _laid_out(upper, attrs.data_layout, "NCHW")
    x = _laid_out(data, attrs.kernel_layout, "NCHW")
    kernel = _laid_out(grad, attrs.out_layout or "OIHW", "OIHW")
    window = _window(attrs, 2)
    shape = _shape_in(data, attrs.kernel_layout, "NCHW")
    outputs = _shape_in(upper, attrs.data_layout, "NCHW")
    size = tuple(attrs.kernel_size)
    by_upper = relay.nn.conv2d(x, kernel, channels=outputs[1], kernel_size=size, **window.options())
    by_data = _by_data(grads, kernel, window, shape, outputs, size)
    return [
        relay.cast_like(_laid_out(by_upper, "NCHW", attrs.data_layout), upper),
        relay.cast_like(_laid_out(by_data, "NCHW", attrs.kernel_layout), data),
    ]


CONVOLUTION = Gradient("dx = transposed convolution of dy with w; dw = x convolved with dy", _convolution)
TRANSPOSED = Gradient("dx = dy convolved with w; dw = dy convolved with x", _transposed)
BACKWARD_WEIGHT = Gradient(
    "dg = x convolved with dy; dx = transposed convolution of g with dy (g is the operand grad)",
    _backward_weight,
)
