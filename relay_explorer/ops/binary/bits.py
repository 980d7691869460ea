"""Bit shifts and bitwise operators."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.expr import Call
from ...ir.op import RelationError
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..gradient_tools import ZERO
from ..numeric import np
from ..relation import (
    broadcast_shapes,
    forward,
    is_integer,
    same_dtypes,
    tensor,
)
from ..te.binary import differ, pairwise
from ..te.library import tirx
from ..te.lowered import Lowering
from ..te.tensors import (
    Value,
    cast,
    dtype_of,
    every,
    is_signed,
    select,
    some,
)
from ..te.tensors import number as te_number
from .declaring import binary

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]


def _bits(attrs: None, lhs: Type, rhs: Type) -> Type:
    a, b = tensor(lhs, 0, "lhs"), tensor(rhs, 1, "rhs")
    same_dtypes(a, b)
    if not is_integer(a.dtype) and a.dtype != "bool":
        raise RelationError(
            f"bitwise operators take integers, but the elements are {a.dtype}",
            'convert both tensors: relay.cast(…, "int32")',
            culprits=(0, 1),
        )
    return TensorType.of(broadcast_shapes(a.shape, b.shape), a.dtype)


_BITS = forward("BroadcastBits", "{out} = {0} ⊔ {1}, of integers", _bits)
_LENIENT = "It accepted elements of every type."


def _shifted_te(x: Value, y: Value, shift: Callable[[Value, Value], Value], overflow: Value) -> Value:
    """Shift the bits; yield `overflow` where all of them are shifted out."""
    dtype = dtype_of(y)
    bits = int(dtype.lstrip("uint"))
    outside = [y >= te_number(bits, dtype)] + ([y < te_number(0, dtype)] if is_signed(dtype) else [])
    return select(some(outside), overflow, shift(x, select(some(outside), te_number(0, dtype), y)))


def _left_te(x: Value, y: Value) -> Value:
    if dtype_of(x) == "bool":
        return cast(_left_te(x.astype("int8"), y.astype("int8")), "bool")
    return _shifted_te(x, y, lambda a, b: a << b, te_number(0, dtype_of(x)))


def _right_te(x: Value, y: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bool":
        return cast(_right_te(x.astype("int8"), y.astype("int8")), "bool")
    zero = te_number(0, dtype)
    overflow = select(x < zero, te_number(-1, dtype), zero) if is_signed(dtype) else zero
    return _shifted_te(x, y, lambda a, b: a >> b, overflow)


def _of_bits(
    of_bits: Callable[[Value, Value], Value], of_truths: Callable[[Value, Value], Value]
) -> Lowering:
    return pairwise(lambda x, y: of_truths(x, y) if dtype_of(x) == "bool" else of_bits(x, y))


@binary(
    "left_shift",
    description="Shifts the bits of the first tensor's elements to the left by the second's.",
    formula=r"z = x \cdot 2^{y}",
    reference=lambda x, y: np.left_shift(x, y),
    relation=_BITS,
    lenient_in_tvm=_LENIENT,
    gradient=ZERO,
    lowering=pairwise(_left_te),
)
def left_shift(lhs: Operand, rhs: Operand) -> Call:
    """Shift the bits of the first tensor's elements to the left by the second's."""


@binary(
    "right_shift",
    description="Shifts the bits of the first tensor's elements to the right by the second's.",
    formula=r"z = \lfloor x / 2^{y} \rfloor",
    reference=lambda x, y: np.right_shift(x, y),
    relation=_BITS,
    lenient_in_tvm=_LENIENT,
    gradient=ZERO,
    lowering=pairwise(_right_te),
)
def right_shift(lhs: Operand, rhs: Operand) -> Call:
    """Shift the bits of the first tensor's elements to the right by the second's."""


@binary(
    "bitwise_and",
    description="Computes the bitwise AND of two tensors: the bits that are set in both elements.",
    formula=r"z = x \mathbin{\&} y",
    reference=lambda x, y: x & y,
    relation=_BITS,
    lenient_in_tvm=_LENIENT,
    gradient=ZERO,
    lowering=_of_bits(lambda x, y: tirx.bitwise_and(x, y), lambda x, y: every([x, y])),
)
def bitwise_and(lhs: Operand, rhs: Operand) -> Call:
    """Compute the bitwise AND of two tensors: the bits that are set in both elements."""


@binary(
    "bitwise_or",
    description="Computes the bitwise OR of two tensors: the bits that are set in at least one element.",
    formula=r"z = x \mathbin{|} y",
    reference=lambda x, y: x | y,
    relation=_BITS,
    lenient_in_tvm=_LENIENT,
    gradient=ZERO,
    lowering=_of_bits(lambda x, y: tirx.bitwise_or(x, y), lambda x, y: some([x, y])),
)
def bitwise_or(lhs: Operand, rhs: Operand) -> Call:
    """Compute the bitwise OR of two tensors: the bits that are set in at least one element."""


@binary(
    "bitwise_xor",
    description="Computes the bitwise XOR of two tensors: the bits that are set in exactly one element.",
    formula=r"z = x \oplus y",
    reference=lambda x, y: x ^ y,
    relation=_BITS,
    lenient_in_tvm=_LENIENT,
    gradient=ZERO,
    lowering=_of_bits(lambda x, y: tirx.bitwise_xor(x, y), differ),
)
def bitwise_xor(lhs: Operand, rhs: Operand) -> Call:
    """Compute the bitwise XOR of two tensors: the bits that are set in exactly one element."""
