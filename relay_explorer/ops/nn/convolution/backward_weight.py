"""The gradient of a convolution with respect to its weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ....ir.declaration import Precision
from ....ir.expr import Call
from ....ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ....ir.show import show_shape
from ....ir.types import IncompleteType, Shape, TensorType, Type
from ...arguments import Operand
from ...examples import IMAGE, t
from ...layouts.layout import NO_LAYOUT_RULE
from ...numeric import Array, element_type, np
from ...operator import call, operator
from ...relation import same_dim, tensor
from ...te.lowered import Lowered
from ...te.tensors import Tensor, Value, View, number, quotient, reduce_axes, sum_over, sum_type
from ...te.windows import surrounded
from ..layout import layout_map
from ..sliding import padded, sides, windows
from ..window import Sizes, both_sides, per_axis, total_padding, window_places
from .attributes import Conv2DAttrs
from .gradients import BACKWARD_WEIGHT
from .lowering import added_up, input_channel, product
from .reference import split_groups
from .relations import channels_of, check_sizes, per_group

__all__ = ["conv2d_backward_weight"]


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (N, O, H', W') and (N, C, H, W); output (O, C / groups, kh, kw).

    The attributes are Conv2DAttrs with other meanings: data_layout is the layout of the gradient,
    kernel_layout that of the data, out_layout that of the result.
    """
    grad, data, out = types
    if isinstance(grad, IncompleteType) or isinstance(data, IncompleteType):
        return False
    grad, data = tensor(grad, 0, "grad"), tensor(data, 1, "data")
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    upper = layout_map(attrs.data_layout, "NCHW").forward(grad.shape, 0, "the gradient")
    shape = layout_map(attrs.kernel_layout, "NCHW").forward(data.shape, 1, "the data")
    if attrs.kernel_size is None:
        raise RelationError(
            "`kernel_size` is needed: several kernels give an output of the gradient's size",
            "give the convolution's kernel_size",
        )
    check_sizes(attrs.channels, attrs.kernel_size, 2)
    positions = window_places(shape[2:], attrs.kernel_size, attrs.strides, attrs.dilation, padding)
    expected = (shape[0], upper[1] if attrs.channels is None else attrs.channels, *positions)
    if not all(map(same_dim, upper, expected)):
        raise RelationError(
            f"the gradient {show_shape(upper)} is not that of this convolution, whose output is "
            f"{show_shape(expected)}",
            "give the strides, padding, dilation and kernel_size of the convolution",
            culprits=(0, 1),
        )
    kernel: Shape = (upper[1], per_group(shape[1], attrs.groups), *attrs.kernel_size)
    reporter.assign(
        out,
        TensorType.of(layout_map(attrs.out_layout, "OIHW").backward(kernel), attrs.out_dtype or grad.dtype),
    )
    return True


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count the operations of the convolution, each of whose products has one counterpart here."""
    return 2 * size_of(inputs[0]) * size_of(output) // channels_of(inputs[0], attrs.data_layout, "NCHW")


def _reference(attrs: Anything, grad: Array, x: Array) -> Array:
    """Sum each gradient times each element of its window, over batch and positions."""
    dtype = element_type(attrs.out_dtype or grad.dtype)
    upper = layout_map(attrs.data_layout, "NCHW").unpack(grad).astype(dtype)
    data = layout_map(attrs.kernel_layout, "NCHW").unpack(x).astype(dtype)
    patches = windows(
        padded(data, sides(attrs.padding, 2), 0), attrs.kernel_size, attrs.strides, attrs.dilation
    )
    groups = zip(split_groups(upper, 1, attrs.groups), split_groups(patches, 1, attrs.groups), strict=True)
    kernel = [np.tensordot(grads, part, ([0, 2, 3], [0, 2, 3])) for grads, part in groups]
    return layout_map(attrs.out_layout, "OIHW").pack(np.concatenate(kernel, 0))


def _backward_weight_te(call: Lowered) -> list[Tensor]:
    """Sum each gradient times each element of its window, over batch and positions."""
    attrs, dtype = call.attrs, call.out.dtype
    grad = View(call.inputs[0], layout_map(attrs.data_layout, "NCHW"))
    data = View(call.inputs[1], layout_map(attrs.kernel_layout, "NCHW"))
    padded = surrounded(data, sides(attrs.padding, 2), number(0, data.dtype), f"{call.name}_pad")
    inputs = quotient(data.shape[1], attrs.groups)
    outputs = quotient(grad.shape[1], attrs.groups)
    n, i, j = reduce_axes([grad.shape[0], *grad.shape[2:]])
    (down, across), (rows, columns) = attrs.strides, attrs.dilation

    def term(o: Value, c: Value, u: Value, v: Value) -> Value:
        channel = input_channel(o, c, attrs.groups, inputs, outputs)
        pixel = padded(n, channel, i * down + u * rows, j * across + v * columns)
        return product(grad(n, o, i, j), pixel, sum_type(dtype))

    shape = (grad.shape[1], inputs, *attrs.kernel_size)
    layout = layout_map(attrs.out_layout, "OIHW")
    return [added_up(shape, layout, lambda *at: sum_over(term(*at), [n, i, j]), dtype, call.name)]


@operator(
    "nn.conv2d_backward_weight",
    description="Computes the gradient of a convolution with respect to its weight.",
    formula=(
        r"\frac{\partial L}{\partial w_{o,c,u,v}} = \sum_{n,i,j} \frac{\partial L}{\partial y_{n,o,i,j}}\, "
        r"x_{n,c,\,s i + d u - p,\, s j + d v - p}"
    ),
    family="training",
    level=2,
    relation=Relation("Conv2DBackwardWeight", _relation, "{0} = {1} ∗ {out}"),
    inputs=("grad", "data"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=BACKWARD_WEIGHT,
    lowering=_backward_weight_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 8, 6, 6, name="g"), IMAGE, kernel_size=(3, 3)),
    attrs=Conv2DAttrs,
    lenient_in_tvm="It did not compare the gradient's shape with the convolution's output.",
)
def conv2d_backward_weight(
    grad: Operand,
    data: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    grad_layout: str = "NCHW",
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_dtype: str = "",
) -> Call:
    """Compute the gradient (O, C / groups, kh, kw) of a convolution with respect to its weight.

    `grad` (N, O, H', W') is the gradient of its output, `data` (N, C, H, W) its data.
    """
    return call(
        "nn.conv2d_backward_weight",
        [grad, data],
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        data_layout=grad_layout,
        kernel_layout=data_layout,
        out_layout=kernel_layout,
        out_dtype=out_dtype,
    )
