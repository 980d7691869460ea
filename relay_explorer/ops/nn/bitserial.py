"""Products of numbers of a few bits, which kernels compute bit by bit: a logical and, and a count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, element_type, np
from ..relation import integers, normal_axis, same_dim
from .conv import CHANNELS, DATA_LAYOUT, KERNEL_LAYOUT, KERNEL_SIZE, PADDING, STRIDES
from .conv_rules import check_sizes
from .layout import LayoutMap, divided, layout_map
from .sliding import padded, sides, windows
from .window import Sizes, both_sides, per_axis, total_padding, window_places

__all__ = ["bitpack", "bitserial_conv2d", "bitserial_dense"]

ACTIVATION_BITS = "How many bits of each data element count, the lowest."
WEIGHT_BITS = "How many bits of each weight count, the lowest."
PACK_DTYPE = "The unsigned type that a kernel packs bits into; the result does not depend on it."
OUT_DTYPE = "The output's element type."
UNIPOLAR = "Whether a weight's bits stand for 1 and -1; otherwise for 1 and 0."


class BitPackAttrs(Attrs, key="relay.attrs.BitPackAttrs"):
    bits: int = attr(1, "How many bits of each element are packed, the lowest.")
    pack_axis: int = attr(1, "The axis along which elements share a packed one.")
    bit_axis: int = attr(-1, "Where the axis of the bits goes in the output, the lowest bit first.")
    pack_type: DType = attr("uint32", "The unsigned type that holds as many elements as it has bits.")
    name: str = attr("BitPack", "A name for the kernel.")


class BinaryConv2DAttrs(Attrs, key="relay.attrs.BinaryConv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES)
    padding: Ints = attr((0, 0), PADDING)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    activation_bits: int = attr(1, ACTIVATION_BITS)
    weight_bits: int = attr(1, WEIGHT_BITS)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    pack_dtype: DType = attr("uint32", PACK_DTYPE)
    out_dtype: DType = attr("", OUT_DTYPE)
    unipolar: bool = attr(True, UNIPOLAR)


class BinaryDenseAttrs(Attrs, key="relay.attrs.BinaryDenseAttrs"):
    units: int | None = attr(None, "The number of output features; the weight's where it is left out.")
    data_bits: int = attr(1, ACTIVATION_BITS)
    weight_bits: int = attr(1, WEIGHT_BITS)
    pack_dtype: DType = attr("uint32", PACK_DTYPE)
    out_dtype: DType = attr("", OUT_DTYPE)
    unipolar: bool = attr(True, UNIPOLAR)


def _width(dtype: str) -> int:
    """How many bits an unsigned type has."""
    if dtype not in ("uint8", "uint16", "uint32", "uint64"):
        raise RelationError(
            f'bits are packed into an unsigned type, not "{dtype[:40]}"', "uint8, uint16, uint32 or uint64"
        )
    return int(dtype[4:])


def _check_bits(**counts: int) -> None:
    for name, bits in counts.items():
        if not 1 <= bits <= 32:
            raise RelationError(f"{name}={bits}, but there are from 1 to 32 bits")


def _bitpack(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Integers of any shape; output with the packed axis shorter by the type's bits, and an axis of bits."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    x = integers(data, 0, "data")
    rank, width = len(x.shape), _width(attrs.pack_type)
    _check_bits(bits=attrs.bits)
    axis = normal_axis(attrs.pack_axis, rank, "bitpack")
    shape: list[Dim] = list(x.shape)
    shape[axis] = divided(
        shape[axis], width, f"axis {axis} of the data", f"{attrs.pack_type} holds {width} elements"
    )
    shape.insert(normal_axis(attrs.bit_axis, rank + 1, "bitpack"), attrs.bits)
    reporter.assign(out, TensorType.of(tuple(shape), attrs.pack_type))
    return True


def _packed(attrs: BitPackAttrs, x: Array) -> Array:
    width, axis = _width(attrs.pack_type), attrs.pack_axis % x.ndim
    dtype = element_type(attrs.pack_type)
    groups = x.reshape(*x.shape[:axis], x.shape[axis] // width, width, *x.shape[axis + 1 :])
    places = np.arange(width - 1, -1, -1).astype(dtype)  # the first element is the highest bit
    places = places.reshape(-1, *(1,) * (x.ndim - axis - 1))
    planes = [
        (((groups >> bit) & 1).astype(dtype) << places).sum(axis + 1, dtype=dtype)
        for bit in range(attrs.bits)
    ]
    return np.stack(planes, attrs.bit_axis)


_BITPACK = declare(
    "nn.bitpack",
    "Packs the bits of neighbouring elements into the bits of one, for each of their lowest bits.",
    formula=(
        r"y_{\ldots,b,\ldots,i} = \sum_{k=0}^{w-1} 2^{w-1-k}"
        r"\left(\lfloor x_{\ldots,w i+k} / 2^{b} \rfloor \bmod 2\right)"
    ),
    relation=Relation("BitPack", _bitpack, "{out} = {0}, packed, with an axis of bits"),
    attrs=BitPackAttrs,
    pattern=OpPattern.INJECTIVE,
    compute=_packed,
    lowering="bitserial.bitpack",
    family="other",
    level=2,
    lenient_in_tvm="It accepted axes that the type's bits do not divide, and any type.",
)


def bitpack(
    data: Expr,
    bits: int = 1,
    pack_axis: int = 1,
    bit_axis: int = 2,
    pack_type: str = "uint32",
    name: str = "BitPack",
) -> Call:
    """Bits of `data`, integers, packed along `pack_axis`; `bit_axis` is where the axis of bits goes."""
    attrs = BitPackAttrs(bits=bits, pack_axis=pack_axis, bit_axis=bit_axis, pack_type=pack_type, name=name)
    return Call(_BITPACK, [expr(data)], attrs)


def _few_bits(x: Array, bits: int) -> Array:
    """The lowest bits of each element."""
    return x.astype("int64") & ((1 << bits) - 1)


def _weights(attrs: Anything, w: Array) -> Array:
    """What the bits of a weight stand for."""
    values = _few_bits(w, attrs.weight_bits)
    return 2 * values - ((1 << attrs.weight_bits) - 1) if attrs.unipolar else values


def _layouts(attrs: Anything) -> tuple[LayoutMap, LayoutMap]:
    return layout_map(attrs.data_layout, "NCHW"), layout_map(attrs.kernel_layout, "OIHW")


def _conv(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (N, C, H, W) and (O, C, kh, kw), integers; output as of conv2d."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    x, w = integers(data, 0, "data"), integers(weight, 1, "weight")
    _check_bits(activation_bits=attrs.activation_bits, weight_bits=attrs.weight_bits)
    _width(attrs.pack_dtype)
    data_layout, kernel_layout = _layouts(attrs)
    shape = data_layout.forward(x.shape, 0, "the data")
    kernel = kernel_layout.forward(w.shape, 1, "the weight")
    check_sizes(attrs.channels, attrs.kernel_size, 2)
    wanted: Shape = (
        kernel[0] if attrs.channels is None else attrs.channels,
        shape[1],
        *(kernel[2:] if attrs.kernel_size is None else attrs.kernel_size),
    )
    if not all(map(same_dim, kernel, wanted)):
        raise RelationError(
            f"a weight for this call has shape {show_shape(kernel_layout.backward(wanted))}, not "
            f"{show_shape(w.shape)}",
            "it is (output channels, input channels, height, width) in the kernel's layout",
            culprits=(0, 1),
        )
    padding = total_padding(attrs.strides, (1, 1), attrs.padding, 2)
    places = window_places(shape[2:], wanted[2:], attrs.strides, (1, 1), padding)
    result = data_layout.backward((shape[0], wanted[0], *places))
    reporter.assign(out, TensorType.of(result, attrs.out_dtype or x.dtype))
    return True


def _convolved(attrs: BinaryConv2DAttrs, x: Array, weight: Array) -> Array:
    data_layout, kernel_layout = _layouts(attrs)
    data = padded(_few_bits(data_layout.unpack(x), attrs.activation_bits), sides(attrs.padding, 2), 0)
    kernel = _weights(attrs, kernel_layout.unpack(weight))
    seen = windows(data, kernel.shape[2:], attrs.strides, (1, 1))  # (N, C, rows, columns, kh, kw)
    sums = np.einsum("nchwuv,ocuv->nohw", seen, kernel)
    return data_layout.pack(sums).astype(element_type(attrs.out_dtype or x.dtype))


def _conv_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and each weight that its channel has."""
    weight = inputs[1]
    assert isinstance(weight, TensorType)
    _, *window = _layouts(attrs)[1].forward(weight.shape, 1, "the weight")
    return 2 * size_of(output) * size_of(TensorType(window))


_BITSERIAL_CONV2D = declare(
    "nn.bitserial_conv2d",
    "A convolution of numbers of a few bits, which a kernel computes bit by bit.",
    formula=(
        r"y_{n,o,i,j} = \sum_{c,u,v} \hat x_{n,c,s i+u-p,s j+v-p}\, \hat w_{o,c,u,v}, \quad "
        r"\hat x = x \bmod 2^a"
    ),
    relation=Relation("BinaryConv2D", _conv, "{out} = {0} ∗ {1}"),
    inputs=("data", "weight"),
    attrs=BinaryConv2DAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_conv_flops,
    compute=_convolved,
    lowering="bitserial.conv2d",
    family="convolution",
    level=2,
    lenient_in_tvm="It did not look at the weight's shape, nor at the element types.",
)


def bitserial_conv2d(
    data: Expr,
    weight: Expr,
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
    """Convolves the lowest bits of `data` (N, C, H, W) with those of `weight` (O, C, kh, kw); in `unipolar`
    the weight's bits stand for 1 and -1.
    """
    attrs = BinaryConv2DAttrs(
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        channels=channels,
        kernel_size=per_axis(kernel_size, 2),
        activation_bits=activation_bits,
        weight_bits=weight_bits,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        pack_dtype=pack_dtype,
        out_dtype=out_dtype,
        unipolar=unipolar,
    )
    return Call(_BITSERIAL_CONV2D, [expr(data), expr(weight)], attrs)


def _dense(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (batch, k) and (units, k), integers; output (batch, units)."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    x, w = integers(data, 0, "data"), integers(weight, 1, "weight")
    _check_bits(data_bits=attrs.data_bits, weight_bits=attrs.weight_bits)
    _width(attrs.pack_dtype)
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


def _multiplied(attrs: BinaryDenseAttrs, x: Array, weight: Array) -> Array:
    sums = _few_bits(x, attrs.data_bits) @ _weights(attrs, weight).T
    return sums.astype(element_type(attrs.out_dtype or x.dtype))


def _dense_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each output element and input feature."""
    assert isinstance(output, TensorType)
    return 2 * size_of(inputs[0]) * size_of(TensorType(output.shape[1:]))


_BITSERIAL_DENSE = declare(
    "nn.bitserial_dense",
    "Products of rows of numbers of a few bits, which a kernel computes bit by bit.",
    formula=r"y_{n,u} = \sum_{k} \hat x_{n,k}\, \hat w_{u,k}, \quad \hat x = x \bmod 2^a",
    relation=Relation("BinaryDense", _dense, "{out} = {0} · {1}ᵀ"),
    inputs=("data", "weight"),
    attrs=BinaryDenseAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    compute=_multiplied,
    lowering="bitserial.dense",
    family="matmul",
    level=2,
    lenient_in_tvm="It did not look at the weight's shape, nor at the element types.",
)


def bitserial_dense(
    data: Expr,
    weight: Expr,
    units: int | None = None,
    data_bits: int = 1,
    weight_bits: int = 1,
    pack_dtype: str = "uint32",
    out_dtype: str = "int16",
    unipolar: bool = True,
) -> Call:
    """The lowest bits of `data` (batch, k) times those of `weight` (units, k); in `unipolar` the weight's
    bits stand for 1 and -1.
    """
    attrs = BinaryDenseAttrs(
        units=units,
        data_bits=data_bits,
        weight_bits=weight_bits,
        pack_dtype=pack_dtype,
        out_dtype=out_dtype,
        unipolar=unipolar,
    )
    return Call(_BITSERIAL_DENSE, [expr(data), expr(weight)], attrs)
