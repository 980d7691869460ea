"""Tests of each element, and logical and bitwise negation."""

from __future__ import annotations

from ...ir.expr import Call
from ...ir.op import RelationError
from ...ir.types import Type
from ..arguments import Operand
from ..gradient_tools import ZERO
from ..numeric import np
from ..relation import forward, is_integer, tensor
from ..te.elementwise import mapped
from ..te.library import tirx
from ..te.tensors import (
    Value,
    dtype_of,
    every,
    is_nan,
    most,
    some,
)
from ..te.tensors import is_float as is_float_type
from ..te.tensors import number as te_number
from .declaring import TEST, unary

__all__ = ["bitwise_not", "isfinite", "isinf", "isnan", "logical_not"]


def _infinite(x: Value) -> Value:
    dtype = dtype_of(x)
    if not is_float_type(dtype):
        return te_number(False, "bool")
    return some([x == most(dtype), x == -most(dtype)])


def _finite(x: Value) -> Value:
    dtype = dtype_of(x)
    return every([x < most(dtype), x > -most(dtype)]) if is_float_type(dtype) else te_number(True, "bool")


def _truth(attrs: None, data: Type) -> Type:
    result = tensor(data, 0, "data")
    if result.dtype != "bool":
        raise RelationError(
            f"logical_not takes booleans, but the elements are {result.dtype}",
            'compare first (relay.not_equal(x, zero)), or convert: relay.cast(x, "bool")',
            culprits=(0,),
        )
    return result


def _bits(attrs: None, data: Type) -> Type:
    result = tensor(data, 0, "data")
    if not is_integer(result.dtype) and result.dtype != "bool":
        raise RelationError(
            f"bitwise_not takes integers, but the elements are {result.dtype}",
            'convert them: relay.cast(x, "int32")',
            culprits=(0,),
        )
    return result


@unary(
    "isnan",
    description="Tests whether each element is NaN.",
    formula=r"y = [x = \mathrm{NaN}]",
    reference=lambda x: np.isnan(x),
    level=3,
    family="comparison",
    relation=TEST,
    gradient=ZERO,
    lowering=mapped(lambda x: is_nan(x) if is_float_type(dtype_of(x)) else te_number(False, "bool")),
)
def isnan(data: Operand) -> Call:
    """Test whether each element is NaN."""


@unary(
    "isfinite",
    description="Tests whether each element is finite: neither infinite nor NaN.",
    formula=r"y = [|x| < \infty]",
    reference=lambda x: np.isfinite(x),
    level=3,
    family="comparison",
    relation=TEST,
    gradient=ZERO,
    lowering=mapped(_finite),
)
def isfinite(data: Operand) -> Call:
    """Test whether each element is finite: neither infinite nor NaN."""


@unary(
    "isinf",
    description="Tests whether each element is infinite, of either sign.",
    formula=r"y = [|x| = \infty]",
    reference=lambda x: np.isinf(x),
    level=3,
    family="comparison",
    relation=TEST,
    gradient=ZERO,
    lowering=mapped(_infinite),
)
def isinf(data: Operand) -> Call:
    """Test whether each element is infinite, of either sign."""


@unary(
    "logical_not",
    description="Computes the logical NOT of each element.",
    formula=r"y = \lnot x",
    reference=lambda x: ~x,
    level=4,
    family="comparison",
    relation=forward("LogicalNot", "{out} = {0}, of booleans", _truth),
    lenient_in_tvm="It accepted elements of every type.",
    gradient=ZERO,
    lowering=mapped(lambda x: tirx.Not(x)),
)
def logical_not(data: Operand) -> Call:
    """Compute the logical NOT of each element."""


@unary(
    "bitwise_not",
    description="Inverts all bits of each element.",
    formula=r"y = \mathord{\sim} x",
    reference=lambda x: ~x,
    level=4,
    relation=forward("BitwiseNot", "{out} = {0}, of integers", _bits),
    lenient_in_tvm="It accepted elements of every type.",
    gradient=ZERO,
    lowering=mapped(lambda x: tirx.Not(x) if dtype_of(x) == "bool" else tirx.bitwise_not(x)),
)
def bitwise_not(data: Operand) -> Call:
    """Invert all bits of each element."""
