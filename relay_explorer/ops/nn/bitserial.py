"""Products of integers with few bits, which kernels can compute bit by bit: a logical AND, then a popcount.

`tvm.topi` packs the bits and counts those that two words share. The lowerings here multiply the integers that
the bits represent; the result is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, Shape, TensorType, Type
from ..arguments import Operand
from ..examples import ints
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, element_type, np
from ..operator import operator
from ..relation import integers, same_dim
from ..te.library import tirx
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    View,
    cast,
    dims,
    laid_out,
    number,
    reduce_axes,
    stage,
    sum_over,
)
from ..te.windows import positions, surrounded
from .bitpack import check_bits, width_of
from .convolution.attributes import CHANNELS, DATA_LAYOUT, KERNEL_LAYOUT, KERNEL_SIZE, PADDING, STRIDES
from .convolution.relations import check_sizes
from .layout import LayoutMap, layout_map
from .sliding import padded, sides, windows
from .window import Sizes, both_sides, per_axis, total_padding, window_places

__all__ = ["bitserial_conv2d", "bitserial_dense"]

ACTIVATION_BITS = "How many of the lowest bits of each data element are used."
WEIGHT_BITS = "How many of the lowest bits of each weight are used."
PACK_DTYPE = "The unsigned type that a kernel packs bits into; the result does not depend on it."
OUT_DTYPE = "The output's element type."
UNIPOLAR = "Whether a weight's bits stand for 1 and -1; otherwise for 1 and 0."

_NO_GRADIENT = NotApplicable("it computes with integers, which are not differentiable")


class BinaryConv2DAttrs(Attrs, key="relay.attrs.BinaryConv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=2))
    activation_bits: int = attr(1, ACTIVATION_BITS)
    weight_bits: int = attr(1, WEIGHT_BITS)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    pack_dtype: DType = attr("uint32", PACK_DTYPE)
    out_dtype: DType = attr("", OUT_DTYPE)
    unipolar: bool = attr(True, UNIPOLAR)


def _few_bits(x: Array, bits: int) -> Array:
    """Keep the lowest bits of each element."""
    return x.astype("int64") & ((1 << bits) - 1)


def _weights(attrs: Anything, w: Array) -> Array:
    """Decode the bits of the weights."""
    values = _few_bits(w, attrs.weight_bits)
    return 2 * values - ((1 << attrs.weight_bits) - 1) if attrs.unipolar else values


def _layouts(attrs: Anything) -> tuple[LayoutMap, LayoutMap]:
    """Return the layouts of data and weight."""
    return layout_map(attrs.data_layout, "NCHW"), layout_map(attrs.kernel_layout, "OIHW")


def _few_bits_te(x: Value, bits: int) -> Value:
    """Keep the lowest bits of an element."""
    return tirx.bitwise_and(x.astype("int64"), number((1 << bits) - 1, "int64"))


def _weight_te(w: Value, attrs: Anything) -> Value:
    """Decode the bits of a weight: each stands for 1 or -1, or for 1 or 0."""
    value = _few_bits_te(w, attrs.weight_bits)
    return value * 2 - number((1 << attrs.weight_bits) - 1, "int64") if attrs.unipolar else value


# -- convolution


def _conv_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (N, C, H, W) and (O, C, kh, kw) of integers; output as of conv2d."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    x, w = integers(data, 0, "data"), integers(weight, 1, "weight")
    check_bits(activation_bits=attrs.activation_bits, weight_bits=attrs.weight_bits)
    width_of(attrs.pack_dtype)
    data_layout, kernel_layout = _layouts(attrs)
    shape = data_layout.forward(x.shape, 0, "the data")
    kernel = kernel_layout.forward(w.shape, 1, "the weight")
    check_sizes(attrs.channels, attrs.kernel_size, 2)
    expected: Shape = (
        kernel[0] if attrs.channels is None else attrs.channels,
        shape[1],
        *(kernel[2:] if attrs.kernel_size is None else attrs.kernel_size),
    )
    if not all(map(same_dim, kernel, expected)):
        raise RelationError(
            f"a weight for this call has shape {show_shape(kernel_layout.backward(expected))}, not "
            f"{show_shape(w.shape)}",
            "it is (output channels, input channels, height, width) in the kernel's layout",
            culprits=(0, 1),
        )
    padding = total_padding(attrs.strides, (1, 1), attrs.padding, 2)
    output = window_places(shape[2:], expected[2:], attrs.strides, (1, 1), padding)
    result = data_layout.backward((shape[0], expected[0], *output))
    reporter.assign(out, TensorType.of(result, attrs.out_dtype or x.dtype))
    return True


def _conv_reference(attrs: Anything, x: Array, weight: Array) -> Array:
    """Convolve the decoded elements."""
    data_layout, kernel_layout = _layouts(attrs)
    data = padded(_few_bits(data_layout.unpack(x), attrs.activation_bits), sides(attrs.padding, 2), 0)
    kernel = _weights(attrs, kernel_layout.unpack(weight))
    patches = windows(data, kernel.shape[2:], attrs.strides, (1, 1))  # (N, C, rows, columns, kh, kw)
    sums = np.einsum("nchwuv,ocuv->nohw", patches, kernel)
    return data_layout.pack(sums).astype(element_type(attrs.out_dtype or x.dtype))


def _conv_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each output element and each weight of its channel."""
    weight = inputs[1]
    assert isinstance(weight, TensorType)
    _, *window = _layouts(attrs)[1].forward(weight.shape, 1, "the weight")
    return 2 * size_of(output) * size_of(TensorType(window))


def _conv_te(call: Lowered) -> list[Tensor]:
    """Sum the products of the decoded elements of windows and weights."""
    attrs, dtype = call.attrs, call.out.dtype
    layout = layout_map(attrs.data_layout, "NCHW")
    data, weight = View(call.inputs[0], layout), View(call.inputs[1], layout_map(attrs.kernel_layout, "OIHW"))
    padded = surrounded(data, sides(attrs.padding, 2), number(0, data.dtype), f"{call.name}_pad")
    extents = [
        positions(dim, size, stride, 1, (0, 0))
        for dim, size, stride in zip(padded.shape[2:], weight.shape[2:], attrs.strides, strict=True)
    ]
    c, u, v = reduce_axes(weight.shape[1:])
    (down, across) = attrs.strides

    def value(n: Value, o: Value, i: Value, j: Value) -> Value:
        pixel = _few_bits_te(padded(n, c, i * down + u, j * across + v), attrs.activation_bits)
        return sum_over(pixel * _weight_te(weight(o, c, u, v), attrs), [c, u, v])

    total = laid_out((data.shape[0], weight.shape[0], *extents), layout, value, f"{call.name}_sums")
    return [stage(total.shape, lambda *i: cast(total(*i), dtype), call.name)]


@operator(
    "nn.bitserial_conv2d",
    description="Convolves elements of a few bits each, which a kernel computes bit by bit.",
    formula=(
        r"y_{n,o,i,j} = \sum_{c,u,v} \hat x_{n,c,s i+u-p,s j+v-p}\, \hat w_{o,c,u,v}, \quad "
        r"\hat x = x \bmod 2^a"
    ),
    family="convolution",
    level=2,
    relation=Relation("BinaryConv2D", _conv_relation, "{out} = {0} ∗ {1}"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_conv_flops,
    reference=_conv_reference,
    gradient=_NO_GRADIENT,
    lowering=_conv_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(1, 4, 8, 8), ints(6, 4, 3, 3, name="w"), channels=6, activation_bits=2),
    attrs=BinaryConv2DAttrs,
    lenient_in_tvm="It checked neither the weight's shape nor the element types.",
)
def bitserial_conv2d(
    data: Operand,
    weight: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    channels: int | None = None,
    kernel_size: Sizes = (3, 3),
    activation_bits: int = 1,
    weight_bits: int = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    pack_dtype: str = "uint32",
    out_dtype: str = "int16",
    unipolar: bool = True,
) -> Call:
    """Convolve the lowest bits of `data` (N, C, H, W) with those of `weight` (O, C, kh, kw).

    If `unipolar`, the weight's bits represent 1 and -1.
    """


# -- dense


def _dense_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (batch, k) and (units, k) of integers; output (batch, units)."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    x, w = integers(data, 0, "data"), integers(weight, 1, "weight")
    check_bits(data_bits=attrs.data_bits, weight_bits=attrs.weight_bits)
    width_of(attrs.pack_dtype)
    if len(x.shape) != 2 or len(w.shape) != 2:
        raise RelationError(f"data and weight must have two axes each, but are {x} and {w}", culprits=(0, 1))
    if attrs.units is not None and attrs.units < 1:
        raise RelationError(f"units={attrs.units} must be positive")
    units = w.shape[0] if attrs.units is None else attrs.units
    if not same_dim(w.shape[0], units) or not same_dim(w.shape[1], x.shape[1]):
        raise RelationError(
            f"a weight for this call has shape ({units}, {x.shape[1]}), not {show_shape(w.shape)}",
            "it is (units, input features), as of dense",
            culprits=(0, 1),
        )
    reporter.assign(out, TensorType.of((x.shape[0], units), attrs.out_dtype or x.dtype))
    return True


def _dense_reference(attrs: Anything, x: Array, weight: Array) -> Array:
    """Multiply the rows of the decoded elements."""
    sums = _few_bits(x, attrs.data_bits) @ _weights(attrs, weight).T
    return sums.astype(element_type(attrs.out_dtype or x.dtype))


def _dense_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each output element and input feature."""
    assert isinstance(output, TensorType)
    return 2 * size_of(inputs[0]) * size_of(TensorType(output.shape[1:]))


def _dense_te(call: Lowered) -> list[Tensor]:
    """Sum the products of the decoded elements of two rows."""
    attrs, dtype = call.attrs, call.out.dtype
    x, weight = call.inputs
    (k,) = reduce_axes([dims(x)[1]])

    def value(n: Value, j: Value) -> Value:
        return sum_over(_few_bits_te(x(n, k), attrs.data_bits) * _weight_te(weight(j, k), attrs), [k])

    total = stage((dims(x)[0], dims(weight)[0]), value, f"{call.name}_sums")
    return [stage(total.shape, lambda *i: cast(total(*i), dtype), call.name)]


@operator(
    "nn.bitserial_dense",
    description="Multiplies matrices of elements of a few bits each, which a kernel computes bit by bit.",
    formula=r"y_{n,u} = \sum_{k} \hat x_{n,k}\, \hat w_{u,k}, \quad \hat x = x \bmod 2^a",
    family="matmul",
    level=2,
    relation=Relation("BinaryDense", _dense_relation, "{out} = {0} · {1}ᵀ"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    reference=_dense_reference,
    gradient=_NO_GRADIENT,
    lowering=_dense_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(2, 6), ints(4, 6, name="w")),
    attrs_key="relay.attrs.BinaryDenseAttrs",
    lenient_in_tvm="It checked neither the weight's shape nor the element types.",
)
def bitserial_dense(
    data: Operand,
    weight: Operand,
    units: Annotated[
        int | None, attr(None, "The number of output features; by default the weight's.")
    ] = None,
    data_bits: Annotated[int, attr(1, ACTIVATION_BITS)] = 1,
    weight_bits: Annotated[int, attr(1, WEIGHT_BITS)] = 1,
    pack_dtype: Annotated[str, attr("uint32", PACK_DTYPE, kind="DType")] = "uint32",
    out_dtype: Annotated[str, attr("", OUT_DTYPE, kind="DType")] = "int16",
    unipolar: Annotated[bool, attr(True, UNIPOLAR)] = True,
) -> Call:
    """Multiply the lowest bits of `data` (batch, k) by those of `weight` (units, k).

    If `unipolar`, the weight's bits represent 1 and -1.
    """
