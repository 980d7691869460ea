"""Constants that integers are compared with, and types in which they can be compared.

Where a result is quantized to a known type, a constant may be rounded and saturated in that type: the result
is the same. Elsewhere it must be exact enough: integers of few bits are first shifted to int32, for a finer
scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import Literal

from ...ir.affine_type import TensorAffineType
from ...ir.expr import Constant, Expr, const
from ..tools.typed_rewrite import call
from .affine import (
    FEW_FINER_BITS,
    FINER_BITS,
    AffineTypes,
    StaysFloatError,
    bits,
    constant,
    integers,
    limits,
    same,
    scalar_type,
    scale_of,
    steps,
    whole,
)

Side = Literal["low", "high", "value"]  # a bound from below, one from above, or a value that is used itself


def bound(
    amount: Anything, type_: TensorAffineType, what: str, final: bool, side: Side = "value"
) -> Constant:
    """Return a constant as integers of a type; `what` names it in messages.

    `final` says that the result will be quantized to this type, so that rounding and saturating the constant
    change nothing. Otherwise it must be a multiple of the scale, except in int32, and within the range; a
    bound that no integer of the type exceeds may be beyond it.
    """
    import numpy

    if amount is None:
        raise StaysFloatError(f"{what} is neither quantized nor a constant")
    if not scalar_type(type_):
        raise StaysFloatError(f"{what} is compared with values whose scales differ by channel")
    if numpy.isnan(amount).any():
        raise StaysFloatError(f"{what} is NaN")
    low, high = limits(type_.dtype)
    number = steps(amount, type_)
    if not final:
        beyond = (side != "low" and (number < low).any()) or (side != "high" and (number > high).any())
        if beyond:
            raise StaysFloatError(f"{what} is beyond the range of the integers that it is compared with")
        if bits(type_.dtype) <= 16 and not whole(numpy.clip(number, low, high)):
            raise StaysFloatError(f"{what} lies between two steps of the scale")
    rounded = numpy.rint(numpy.clip(number, low, high))
    return const(rounded.reshape(amount.shape).astype(type_.dtype), type_.dtype)


def finer(value: Expr, type_: TensorAffineType) -> tuple[Expr, TensorAffineType]:
    """Shift integers of at most 16 bits to the left, in int32: the same numbers, in a finer scale."""
    if bits(type_.dtype) > 16 or not scalar_type(type_):
        return value, type_
    shift = FINER_BITS if bits(type_.dtype) <= 8 else FEW_FINER_BITS
    shifted = call("multiply", integers(value, type_), const(2**shift, "int32"))
    return shifted, TensorAffineType(constant(scale_of(type_) / 2**shift, "float32"), const(0), "int32")


def comparable(
    value: Expr, type_: TensorAffineType, ends: Sequence[tuple[Anything, Side]]
) -> tuple[Expr, TensorAffineType]:
    """Return integers in a type in which they can be compared with constants: as they are, or shifted."""
    for amount, side in ends:
        if amount is None:
            continue
        try:
            bound(amount, type_, "", False, side)
        except StaysFloatError:
            return finer(value, type_)
    return value, type_


def common(types: AffineTypes, operands: Sequence[TensorAffineType], what: str) -> TensorAffineType:
    """Return the type that operands are brought to: that of the result, their own, or a finer one."""
    output = types.output
    if output is not None and scalar_type(output):
        return output
    first = operands[0]
    if all(same(first, other) for other in operands[1:]) and scalar_type(first):
        return first
    if any(bits(other.dtype) > 8 for other in operands):
        raise StaysFloatError(f"{what} accumulators and values of another scale")
    scale = max(scale_of(other).max() for other in operands) / 2**FINER_BITS
    return TensorAffineType(constant(scale, "float32"), const(0), "int32")
