"""Multiplying integers by numbers that are held as a fraction of 31 bits and a power of two.

A factor is m · 2^(s - 31): quantized programs rescale with it, and no floating-point number is involved.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, size_of
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import expr
from .declare import declare
from .numeric import Array, np
from .relation import forward, normal_axes, same_dim, tensor

__all__ = ["fixed_point_multiply", "fixed_point_multiply_per_axis"]

_FRACTION = 31  # bits after the point of a multiplier


class FixedPointMultiplyAttrs(Attrs, key="relay.attrs.FixedPointMultiplyAttrs"):
    multiplier: int = required("The factor's fraction, as a whole number of 2⁻³¹.")
    shift: int = required("The factor's power of two.")


class FixedPointMultiplyPerAxisAttrs(Attrs, key="relay.attrs.FixedPointMultiplyPerAxisAttrs"):
    is_lshift_required: bool = attr(False, "Whether the data is multiplied by 2 ** lshift beforehand.")
    is_rshift_required: bool = attr(False, "Whether the product is divided by 2 ** rshift.")
    axes: Ints = attr((), "The axes of the data that the multipliers and shifts lie along.")


def _int32(type_: Type, operand: int, name: str) -> TensorType:
    found = tensor(type_, operand, name)
    if found.dtype != "int32":
        raise RelationError(
            f"{name} must be int32, but its elements are {found.dtype}",
            'convert it: relay.cast(…, "int32")',
            culprits=(operand,),
        )
    return found


def _scaled(attrs: FixedPointMultiplyAttrs, data: Type) -> Type:
    if not 0 <= attrs.multiplier < 2**31:
        raise RelationError(f"multiplier={attrs.multiplier} is a fraction of 2³¹, from 0 to {2**31 - 1}")
    if not -31 < attrs.shift < 32:
        raise RelationError(f"shift={attrs.shift} moves all 32 bits out", "it is from -30 to 31")
    return _int32(data, 0, "data")


def _scaled_per_axis(
    attrs: FixedPointMultiplyPerAxisAttrs, data: Type, multiplier: Type, lshift: Type, rshift: Type
) -> Type:
    x = _int32(data, 0, "data")
    axes = normal_axes(attrs.axes, len(x.shape), "fixed_point_multiply_per_axis")
    want = tuple([x.shape[axis] for axis in axes])
    for operand, (name, given) in enumerate(
        (("multiplier", multiplier), ("lshift", lshift), ("rshift", rshift)), 1
    ):
        found = _int32(given, operand, name)
        if len(found.shape) != len(want) or not all(map(same_dim, found.shape, want)):
            raise RelationError(
                f"{name} has the shape {show_shape(found.shape)}, but along axes {list(attrs.axes)} the data "
                f"{show_shape(x.shape)} has {show_shape(want)}",
                culprits=(0, operand),
            )
    return x


def _product(x: Array, multiplier: Array, left: Array, right: Array) -> Array:
    """x · 2^left · multiplier · 2^-(31 + right), halves rounded up, wrapped into 32 bits."""
    product = (x.astype("int64") << left) * multiplier
    places = right + _FRACTION
    return ((product + (np.int64(1) << (places - 1))) >> places).astype("int32")


def _whole(attrs: FixedPointMultiplyAttrs, x: Array) -> Array:
    left, right = max(attrs.shift, 0), max(-attrs.shift, 0)
    return _product(x, np.int64(attrs.multiplier), np.int64(left), np.int64(right))


def _each(
    attrs: FixedPointMultiplyPerAxisAttrs, x: Array, multiplier: Array, lshift: Array, rshift: Array
) -> Array:
    axes = normal_axes(attrs.axes, x.ndim)
    order = np.argsort(axes) if axes else []
    shape = [x.shape[axis] if axis in axes else 1 for axis in range(x.ndim)]

    def lies(values: Array) -> Array:
        return values.astype("int64").transpose(order).reshape(shape)

    left = lies(lshift) if attrs.is_lshift_required else np.int64(0)
    right = lies(rshift) if attrs.is_rshift_required else np.int64(0)
    return _product(x, lies(multiplier), left, right)


def _two_per_output(attrs: Attrs, inputs: Sequence[Type], output: Type) -> int:
    return 2 * size_of(output)


_FORMULA = r"y_i = \left\lfloor x_i\, m\, 2^{s - 31} + \tfrac12 \right\rfloor"
_FIXED_POINT_MULTIPLY = declare(
    "fixed_point_multiply",
    "Integers times a factor that is held as a fraction of 31 bits and a power of two.",
    formula=_FORMULA,
    relation=forward("FixedPointMultiply", "{out} = {0}, of int32", _scaled),
    attrs=FixedPointMultiplyAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=_two_per_output,
    family="arithmetic",
    level=10,
    lenient_in_tvm="It took elements of any type, and any multiplier and shift.",
    compute=_whole,
    lowering="fixed_point.fixed_point_multiply",
)
_PER_AXIS = declare(
    "fixed_point_multiply_per_axis",
    "Integers times factors, one for each place of some axes, each a fraction of 31 bits and shifts.",
    formula=r"y_{a i} = \left\lfloor x_{a i}\, 2^{l_i}\, m_i\, 2^{-r_i - 31} + \tfrac12 \right\rfloor",
    relation=forward(
        "FixedPointMultiplyPerAxis", "{out} = {0}, if {1}, {2} and {3} lie along `axes`", _scaled_per_axis
    ),
    inputs=("data", "multiplier", "lshift", "rshift"),
    attrs=FixedPointMultiplyPerAxisAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=_two_per_output,
    family="arithmetic",
    level=10,
    lenient_in_tvm="It looked at the data's type alone.",
    compute=_each,
    lowering="fixed_point.per_axis",
)


def fixed_point_multiply(data: Expr, multiplier: int, shift: int) -> Expr:
    """`data` · `multiplier` · 2 ** (`shift` - 31), rounded; int32."""
    attrs = FixedPointMultiplyAttrs(multiplier=multiplier, shift=shift)
    return Call(_FIXED_POINT_MULTIPLY, [expr(data)], attrs)


def fixed_point_multiply_per_axis(
    data: Expr,
    multiplier: Expr,
    lshift: Expr,
    rshift: Expr,
    is_lshift_required: bool,
    is_rshift_required: bool,
    axes: Sequence[int] | None,
) -> Expr:
    """`data` · 2 ** `lshift` · `multiplier` · 2 ** (-31 - `rshift`), each along `axes`, rounded; int32."""
    attrs = FixedPointMultiplyPerAxisAttrs(
        is_lshift_required=is_lshift_required, is_rshift_required=is_rshift_required, axes=axes or ()
    )
    return Call(_PER_AXIS, [expr(data), expr(multiplier), expr(lshift), expr(rshift)], attrs)
