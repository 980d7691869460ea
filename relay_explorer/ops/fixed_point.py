"""Operators that multiply integers by a factor stored as a 31-bit fraction and a power of two.

The factor is m · 2^(s - 31). Quantized programs rescale with it, without floating-point arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, attr, required
from ..ir.declaration import NotApplicable, Precision, Trait
from ..ir.expr import Call
from ..ir.op import OpPattern, RelationError, size_of
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import Operand
from .examples import ints
from .layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from .layouts.same import elementwise_layout
from .numeric import Array, np
from .operator import operator
from .relation import forward, normal_axes, same_dim, tensor
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, dtype_of, number, stage

__all__ = ["fixed_point_multiply", "fixed_point_multiply_per_axis"]

_FRACTION = 31  # bits after the point of a multiplier


def _int32(type_: Type, operand: int, name: str) -> TensorType:
    result = tensor(type_, operand, name)
    if result.dtype != "int32":
        raise RelationError(
            f"{name} must be int32, but its elements are {result.dtype}",
            'convert it: relay.cast(…, "int32")',
            culprits=(operand,),
        )
    return result


def _integers(type_: Type) -> TensorType:
    """Return the type of the data, whose elements have 32 or 64 bits."""
    data = tensor(type_, 0, "data")
    return data if data.dtype == "int64" else _int32(data, 0, "data")


def _scaled(attrs: Anything, data: Type) -> Type:
    if not 0 <= attrs.multiplier < 2**31:
        raise RelationError(f"multiplier={attrs.multiplier} is a fraction of 2³¹, from 0 to {2**31 - 1}")
    if not -31 < attrs.shift < 32:
        raise RelationError(f"shift={attrs.shift} shifts all 32 bits out", "it is from -30 to 31")
    return _integers(data)


def _scaled_per_axis(attrs: Anything, data: Type, multiplier: Type, lshift: Type, rshift: Type) -> Type:
    x = _integers(data)
    axes = normal_axes(attrs.axes, len(x.shape), "fixed_point_multiply_per_axis")
    expected = tuple([x.shape[axis] for axis in axes])
    for operand, (name, type_) in enumerate(
        (("multiplier", multiplier), ("lshift", lshift), ("rshift", rshift)), 1
    ):
        vector = _int32(type_, operand, name)
        if len(vector.shape) != len(expected) or not all(map(same_dim, vector.shape, expected)):
            raise RelationError(
                f"{name} has the shape {show_shape(vector.shape)}, but along axes {list(attrs.axes)} the "
                f"data {show_shape(x.shape)} has {show_shape(expected)}",
                culprits=(0, operand),
            )
    return x


def _product(x: Array, multiplier: Array, left: Array, right: Array) -> Array:
    """Compute x · 2^left · multiplier · 2^-(31 + right), halves rounded up, wrapped into 64 bits and then
    into those of x.
    """
    product = (x.astype("int64") << left) * multiplier
    shift = right + _FRACTION
    return ((product + (np.int64(1) << (shift - 1))) >> shift).astype(x.dtype)


def _whole(attrs: Anything, x: Array) -> Array:
    left, right = max(attrs.shift, 0), max(-attrs.shift, 0)
    return _product(x, np.int64(attrs.multiplier), np.int64(left), np.int64(right))


def _each(attrs: Anything, x: Array, multiplier: Array, lshift: Array, rshift: Array) -> Array:
    axes = normal_axes(attrs.axes, x.ndim)
    order = np.argsort(axes) if axes else []
    shape = [x.shape[axis] if axis in axes else 1 for axis in range(x.ndim)]

    def broadcast(values: Array) -> Array:
        return values.astype("int64").transpose(order).reshape(shape)

    left = broadcast(lshift) if attrs.is_lshift_required else np.int64(0)
    right = broadcast(rshift) if attrs.is_rshift_required else np.int64(0)
    return _product(x, broadcast(multiplier), left, right)


def _two_per_output(attrs: Attrs, inputs: Sequence[Type], output: Type) -> int:
    return 2 * size_of(output)


_FORMULA = r"y_i = \left\lfloor x_i\, m\, 2^{s - 31} + \tfrac12 \right\rfloor"


def _product_te(x: Value, multiplier: Value, left: Value, right: Value) -> Value:
    """Compute x · 2^left · multiplier · 2^-(31 + right), halves rounded up, in the type of x."""
    dtype = dtype_of(x)
    product = (x.astype("int64") << left) * multiplier
    shift = right + number(31, "int64")
    half = number(1, "int64") << (shift - number(1, "int64"))
    return ((product + half) >> shift).astype(dtype)


def _fixed_point_multiply_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    shifts = [number(amount, "int64") for amount in (max(attrs.shift, 0), max(-attrs.shift, 0))]
    multiplier = number(attrs.multiplier, "int64")
    return [stage(x.shape, lambda *i: _product_te(x(*i), multiplier, *shifts), call.name)]


def _per_axis_te(call: Lowered) -> list[Tensor]:
    (x, multiplier, left, right), attrs = call.inputs, call.attrs
    axes = normal_axes(attrs.axes, len(x.shape))
    none = number(0, "int64")

    def value(*i: Value) -> Value:
        at = [i[axis] for axis in axes]
        up = left(*at).astype("int64") if attrs.is_lshift_required else none
        down = right(*at).astype("int64") if attrs.is_rshift_required else none
        return _product_te(x(*i), multiplier(*at).astype("int64"), up, down)

    return [stage(x.shape, value, call.name)]


def _per_axis_layout(question: Question) -> Answer:
    """Let the result follow the data. The factors lie along its axes in the order of the data, blocks of an
    axis after it.
    """
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None:
        return None
    letters = [old[axis] for axis in normal_axes(attrs["axes"], len(old))]
    if any(letter.islower() or old.splits(letter) for letter in letters):
        return None
    factors, data = Layout.of([(letter, 0) for letter in letters]), old
    if question.new is not None:
        data = question.new[0]
        if any(letter not in data for letter in letters):
            return None
        parts = [part for letter in letters for part in data.axes if part[0].upper() == letter]
        factors = Layout.of(parts)
        attrs = attrs.replace(axes=[data.axes.index(part) for part in parts])
    return InferCorrectLayoutOutput([data, factors, factors, factors], [data], attrs)


@operator(
    "fixed_point_multiply",
    description="Multiplies integers by one factor, stored as a 31-bit fraction and a power of two.",
    formula=_FORMULA,
    family="arithmetic",
    relation=forward("FixedPointMultiply", "{out} = {0}, of int32 or int64", _scaled),
    pattern=OpPattern.ELEMENTWISE,
    flops=_two_per_output,
    reference=_whole,
    gradient=NotApplicable("it computes with integers, which have no derivatives"),
    lowering=_fixed_point_multiply_te,
    layout=elementwise_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(2, 6), 2**30, -3),
    lenient_in_tvm="It accepted elements of any type, and any multiplier and shift.",
)
def fixed_point_multiply(
    data: Operand,
    multiplier: Annotated[int, required("The factor's fraction, as a multiple of 2⁻³¹.")],
    shift: Annotated[int, required("The factor's power of two.")],
) -> Call:
    """Compute `data` · `multiplier` · 2 ** (`shift` - 31), rounded, in the data's type: int32 or int64."""


@operator(
    "fixed_point_multiply_per_axis",
    description=(
        "Multiplies integers by a factor per index of some axes, each stored as a 31-bit fraction and shifts."
    ),
    formula=r"y_{a i} = \left\lfloor x_{a i}\, 2^{l_i}\, m_i\, 2^{-r_i - 31} + \tfrac12 \right\rfloor",
    family="arithmetic",
    relation=forward(
        "FixedPointMultiplyPerAxis",
        "{out} = {0}, if {1}, {2} and {3} have its extents on `axes`",
        _scaled_per_axis,
    ),
    pattern=OpPattern.ELEMENTWISE,
    flops=_two_per_output,
    reference=_each,
    gradient=NotApplicable("it computes with integers, which have no derivatives"),
    lowering=_per_axis_te,
    traits={Trait.DISPLACED},
    layout=_per_axis_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(
        ints(2, 6), ints(2, name="m"), ints(2, name="l"), ints(2, name="r"), True, True, [0]
    ),
    lenient_in_tvm="It checked the data's type only.",
)
def fixed_point_multiply_per_axis(
    data: Operand,
    multiplier: Operand,
    lshift: Operand,
    rshift: Operand,
    is_lshift_required: Annotated[
        bool, attr(False, "Whether the data is multiplied by 2 ** lshift beforehand.")
    ],
    is_rshift_required: Annotated[bool, attr(False, "Whether the product is divided by 2 ** rshift.")],
    axes: Annotated[
        Sequence[int] | None,
        attr(
            (),
            "The axes of the data that the multipliers and shifts belong to.",
            kind="Ints",
            normal=lambda axes: axes or (),
        ),
    ],
) -> Call:
    """Compute `data` · 2 ** `lshift` · `multiplier` · 2 ** (-31 - `rshift`), each along `axes`, rounded, in
    the data's type: int32 or int64.
    """
