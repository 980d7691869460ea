"""The product of the data with the transpose of a weight matrix whose elements have few bits: 1, 2, 4 or 8.

Language models are quantized like this. A weight is an unsigned integer q, and stands for s (q - z); the
scale s and the zero point z belong to a group of adjacent weights of a row. The data stays in floating point.
A product with few rows of data takes as long as reading the weights, so it becomes faster by as much as they
become smaller, if the kernel unpacks them in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Gradient, Precision
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ir.ndarray import itemsize
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.typed import tensor_type
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, element_type, np
from ..operator import operator
from ..relation import integers, same_dim, tensor
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, cast, dims, dtype_of, number, real_type, reduce_axes, stage, summed
from .convolution.blocks import Split, factor_of, shape_of, subscripts
from .layout import layout_map
from .nbits import BITS, unpack

__all__ = ["contrib_dense_nbits"]

FRACTION_BITS, ONE = 23, 127 << 23  # of a float32: the bits of its fraction, and the bits of 1.0
DTYPES = ("float32", "float16", "float64")  # of data and scales


class DenseNBitsAttrs(Attrs, key="relay.attrs.DenseNBitsAttrs"):
    bits: int = attr(4, "The number of bits of a weight: 1, 2, 4 or 8.")
    group_size: int = attr(32, "The number of adjacent weights of a row that share a scale; 0: all of them.")
    weight_layout: str = attr(
        "NC", "The order of the weight's axes: N output features, in blocks if so named, C packed weights."
    )


def _group(attrs: Anything, features: int) -> int:
    """Return the number of weights in a group."""
    return attrs.group_size or max(1, features)


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (…, k), packed (n, ⌈k · bits / width⌉), and (n, ⌈k / group⌉) twice; output
    (…, n).
    """
    if any(isinstance(type_, IncompleteType) for type_ in types[:4]):
        return False
    _check_attributes(attrs)
    data, weight = _real(types[0], 0, "data"), integers(types[1], 1, "weight")
    scales, zeros = _real(types[2], 2, "scales"), tensor(types[3], 3, "zero_points")
    if not data.shape:
        raise RelationError("the data is a scalar, but must have at least one axis", culprits=(0,))
    features = data.shape[-1]
    if not isinstance(features, int):
        raise RelationError(
            f"the data has {features} features, but their number must be static",
            "a packed weight does not say how many of its bits are used",
            culprits=(0,),
        )
    if attrs.weight_layout != "NC" and (data.dtype, weight.dtype) != ("float32", "int32"):
        raise RelationError(
            f"weights in blocks are int32 for data of float32, not {weight.dtype} for {data.dtype}",
            'use the layout "NC": the compiler packs constant weights for the target',
            culprits=(0, 1),
        )
    width = 8 * itemsize(weight.dtype)
    if attrs.weight_layout != "NC":
        _check_groups(attrs, features, width)
    layout = layout_map(attrs.weight_layout, "NC")
    units, words = layout.forward(weight.shape, 1, "the weight")
    _same(words, -(-features * attrs.bits // width), (0, 1), (
        f"{features} weights of {attrs.bits} bits", f"{weight.dtype} elements", "a row of the weight has"
    ))  # fmt: skip
    groups = -(-features // _group(attrs, features))
    for place, (name, type_) in enumerate([("scales", scales), ("zero_points", zeros)], 2):
        if name == "zero_points" and not type_.shape:
            continue
        rows, columns = layout.forward(type_.shape, place, name)
        _same(columns, groups, (0, place), (f"{features} features", "groups", f"{name} has"))
        if not same_dim(rows, units):
            raise RelationError(
                f"the weight has {units} rows, but {name} {rows}: its shape is {show_shape(type_.shape)}",
                culprits=(1, place),
            )
    reporter.assign(types[4], TensorType.of((*data.shape[:-1], units), data.dtype))
    return True


def _real(type_: Type, operand: int, name: str) -> TensorType:
    """Return `type_` as a tensor of one of DTYPES; raise a RelationError where it is not one."""
    result = tensor(type_, operand, name)
    if result.dtype not in DTYPES:
        raise RelationError(
            f"{name} must be float16, float32 or float64, but its elements are {result.dtype}",
            'convert them: relay.cast(…, "float32")',
            culprits=(operand,),
        )
    return result


def _check_attributes(attrs: Anything) -> None:
    if attrs.bits not in BITS:
        raise RelationError(f"weights of {attrs.bits} bits do not fill bytes", "use 1, 2, 4 or 8 bits")
    if attrs.group_size < 0:
        raise RelationError(f"group_size={attrs.group_size} is negative", "0 makes each row one group")


def _check_groups(attrs: Anything, features: int, width: int) -> None:
    """Raise a RelationError unless groups are whole packed elements, as the kernel for blocks needs."""
    group = _group(attrs, features)
    if features % group or group * attrs.bits % width:
        raise RelationError(
            f"groups of {group} weights of {attrs.bits} bits do not divide a row of {features} into whole "
            f"elements of {width} bits",
            'use the layout "NC": the compiler packs constant weights for the target',
        )


def _same(have: Dim, want: int, culprits: tuple[int, ...], words: tuple[str, str, str]) -> None:
    """Raise a RelationError where a number of columns is not what the features need."""
    if not same_dim(have, want):
        what, unit, owner = words
        raise RelationError(f"{what} make {want} {unit} per row, but {owner} {have}", culprits=culprits)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each output element and input feature."""
    data = inputs[0]
    features = data.shape[-1] if isinstance(data, TensorType) and data.shape else 1
    return 2 * size_of(output) * (features if isinstance(features, int) else 1)


def _reference(attrs: Anything, x: Array, weight: Array, scales: Array, zero_points: Array) -> Array:
    """Multiply by the weights that the integers stand for, in at least float32."""
    wide = element_type("float64" if x.dtype == "float64" else "float32")
    layout = layout_map(attrs.weight_layout, "NC")
    features = x.shape[-1]
    group = np.arange(features) // _group(attrs, features)
    values = unpack(layout.unpack(weight), attrs.bits, features).astype(wide)
    zeros = zero_points.astype(wide)
    zeros = layout.unpack(zeros)[:, group] if zeros.ndim else zeros
    real = (values - zeros) * layout.unpack(scales).astype(wide)[:, group]
    return np.matmul(x.astype(wide), real.T).astype(x.dtype)


# -- lowering


def _te(call: Lowered) -> list[Tensor]:
    """Sum by groups where the compiler has padded the rows to whole groups of whole elements."""
    return _by_element(call) if call.attrs.weight_layout == "NC" else _by_group(call)


class _Operands:
    """Reads the operands by the indices of an output feature, an input feature and a group."""

    def __init__(self, call: Lowered) -> None:
        self.data, self.weight, self.scales, self.zeros = call.inputs
        self.attrs = call.attrs
        self.wide = real_type(dtype_of(self.data))  # the type of the sums
        self.features: int = dims(self.data)[-1]
        self.group = _group(call.attrs, self.features)
        self.per = 8 * itemsize(dtype_of(self.weight)) // call.attrs.bits  # weights in an element

    def _at(self, unit: Anything, column: Anything) -> list[Anything]:
        return subscripts(self.attrs.weight_layout, {"N": unit, "C": column})

    def integer(self, unit: Anything, word: Anything, place: Anything) -> Value:
        """Return a weight: number `place` of those in an element of the packed weight, as a real number. The
        mask also removes the copies of the sign bit that the shift of a signed element brings in.
        """
        element = cast(self.weight(*self._at(unit, word)), "int32")
        shifted = element >> (place * self.attrs.bits)
        return (shifted & number((1 << self.attrs.bits) - 1, "int32")).astype(self.wide)

    def fraction(self, unit: Anything, word: Anything, place: Anything) -> Value:
        """Return the float32 1 + q / 2ᵇⁱᵗˢ for weight q, number `place` of those in a word of 32 bits."""
        bits = self.attrs.bits
        mask = number(((1 << bits) - 1) << (FRACTION_BITS - bits), "int32")
        q = (self.weight(*self._at(unit, word)) >> (place * bits)) << number(FRACTION_BITS - bits, "int32")
        return tirx.reinterpret("float32", (q & mask) | number(ONE, "int32"))

    def scale(self, unit: Anything, group: Anything) -> Value:
        return cast(self.scales(*self._at(unit, group)), self.wide)

    def zero_point(self, unit: Anything, group: Anything) -> Value:
        at = self._at(unit, group) if dims(self.zeros) else []
        return cast(self.zeros(*at), self.wide)


def _by_element(call: Lowered) -> list[Tensor]:
    """Sum over the features, scaling every weight."""
    operands = _Operands(call)
    (k,) = reduce_axes([operands.features])

    def value(*at: Anything) -> Value:
        *lead, unit = at
        feature = Split(unit, 0, 1)
        group = te.floordiv(k, operands.group)
        q = operands.integer(feature, te.floordiv(k, operands.per), te.floormod(k, operands.per))
        real = (q - operands.zero_point(feature, group)) * operands.scale(feature, group)
        return cast(operands.data(*lead, k), operands.wide) * real

    shape = (*dims(operands.data)[:-1], dims(operands.weight)[0])
    return [summed(shape, value, [k], call.out.dtype, call.name)]


def _by_group(call: Lowered) -> list[Tensor]:
    """Sum within each group, and scale the sums of the groups.

    The bits of a weight q become the first bits of a fraction, which makes the float32 m = 1 + q / 2ᵇⁱᵗˢ with
    a shift, a mask and an `or`: fewer instructions than converting q to a float32. A group's zero point, and
    the 1, are subtracted from the sum of its products, times the sum of its data, rather than from each
    weight:

        Σ (q - z) x = 2ᵇⁱᵗˢ (Σ m x - (1 + z / 2ᵇⁱᵗˢ) Σ x)
    """
    operands = _Operands(call)
    lead, size, per = dims(operands.data)[:-1], operands.group, operands.per
    block = factor_of(call.attrs.weight_layout, "N")
    units = shape_of(call.attrs.weight_layout, "NC", operands.weight)[0]
    groups = operands.features // size
    one, unit_step = number(1.0, "float32"), float(1 << call.attrs.bits)
    (c,) = reduce_axes([size], "c")
    sums = stage(
        (*lead, groups),
        lambda *at: te.sum(operands.data(*at[:-1], at[-1] * size + c), axis=c),
        f"{call.name}_data_sums",
    )
    word, place = te.reduce_axis((0, size // per), "word"), te.reduce_axis((0, per), "place")

    def of_group(*at: Anything) -> Value:
        *rows, unit, group = at
        m = operands.fraction(Split(unit, 0, 1).blocked(block), group * (size // per) + word, place)
        return te.sum(operands.data(*rows, group * size + word * per + place) * m, axis=[word, place])

    partial = stage((*lead, units, groups), of_group, f"{call.name}_group")
    g = te.reduce_axis((0, groups), "g")

    def value(*at: Anything) -> Value:
        *rows, unit = at
        feature = Split(unit, 0, 1).blocked(block)
        zero = one + operands.zero_point(feature, g) * number(1 / unit_step, "float32")
        centred = partial(*rows, unit, g) - zero * sums(*rows, g)
        return te.sum(operands.scale(feature, g) * number(unit_step, "float32") * centred, axis=g)

    return [stage((*lead, units), value, call.name)]


# -- the gradient


def _wide(call: Call) -> str:
    """Return the type of the sums."""
    return "float64" if tensor_type(call.args[0]).dtype == "float64" else "float32"


def _dequantized(call: Call) -> tuple[Expr, Expr]:
    """Build the integers minus their zero points, and the scales, both as real numbers (n, k)."""
    data, weight, scales, zeros = call.args
    attrs, wide = call.attrs, _wide(call)
    assert attrs is not None
    if attrs["weight_layout"] != "NC":
        raise RelayError("the weight was packed for a target", call.span, help=["differentiate before that"])
    features = tensor_type(data).concrete_shape[-1]
    units, words = tensor_type(weight).concrete_shape
    per = 8 * itemsize(tensor_type(weight).dtype) // attrs["bits"]
    shifts = const(np.arange(per, dtype="int32") * attrs["bits"])
    mask = const((1 << attrs["bits"]) - 1, "int32")
    each = relay.right_shift(relay.expand_dims(relay.cast(weight, "int32"), axis=2), shifts)
    rows = relay.reshape(relay.bitwise_and(each, mask), (units, words * per))

    def real(part: Expr) -> Expr:
        return relay.cast(relay.strided_slice(part, (0, 0), (units, features)), wide)

    def by_feature(part: Expr) -> Expr:
        return real(relay.repeat(part, repeats=_group(attrs, features), axis=1))

    integer = real(rows)
    zero = by_feature(zeros) if tensor_type(zeros).shape else relay.cast(zeros, wide)
    return integer - zero, by_feature(scales)


def _gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate y = x (s (q - z))ᵀ with respect to the data and the scales."""
    data, _, scales, _ = call.args
    attrs, wide = call.attrs, _wide(call)
    assert attrs is not None
    centred, scale = _dequantized(call)
    *lead, features = tensor_type(data).concrete_shape
    units, groups = tensor_type(scales).concrete_shape
    size = _group(attrs, features)
    dy = relay.reshape(relay.cast(grad, wide), (-1, units))
    x = relay.reshape(relay.cast(data, wide), (-1, features))
    by_data = relay.reshape(relay.nn.dense(dy, relay.transpose(centred * scale)), (*lead, features))
    by_weight = relay.nn.dense(relay.transpose(dy), relay.transpose(x)) * centred
    whole = relay.nn.pad(by_weight, ((0, 0), (0, groups * size - features)))
    by_scales = relay.sum(relay.reshape(whole, (units, groups, size)), axis=2)
    return [relay.cast_like(by_data, data), None, relay.cast_like(by_scales, scales), None]


@operator(
    "nn.contrib_dense_nbits",
    description="Multiplies by a weight matrix of small integers, packed into bytes, with a scale per group.",
    formula=r"y_{\ldots,j} = \sum_{k} x_{\ldots,k}\, s_{j,\lfloor k / g \rfloor}"
    r"\left(q_{j,k} - z_{j,\lfloor k / g \rfloor}\right)",
    family="matmul",
    relation=Relation("DenseNBits", _relation, "{out} = {0} · ({2} ({1} - {3}))ᵀ, {1} unpacked"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=Gradient("dx = dy (s (q - z)), ds = the sums over groups of dyᵀ x (q - z)", _gradient),
    lowering=_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(
        X,
        t(3, 3, dtype="uint8", name="w"),
        t(3, 2, name="scales"),
        t(3, 2, dtype="uint8", name="zeros"),
        group_size=4,
    ),
    attrs=DenseNBitsAttrs,
)
def contrib_dense_nbits(
    data: Operand,
    weight: Operand,
    scales: Operand,
    zero_points: Operand,
    bits: int = 4,
    group_size: int = 32,
    weight_layout: str = "NC",
) -> Call:
    """Multiply `data` (…, k) by the weights that packed integers stand for: (…, n).

    `weight` (n, ⌈k · bits / 8⌉), uint8, has the integers of a row from the lowest bits on (see `nbits.pack`);
    the one at column k stands for scales[j, k // group_size] * (q - zero_points[j, k // group_size]).
    `scales` is (n, ⌈k / group_size⌉); `zero_points` has the same shape, or is a scalar. With `group_size` 0,
    each row is one group. The sums are accumulated in float32 at least; the result has the data's type.
    """
