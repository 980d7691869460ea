"""Categories of operators for mixed precision: those that gain from less precision, tolerate it, or must not
have it.

The property `FTVMMixedPrecisionConversionType` of an operator is a function of a call and of the target
element type. It returns the category, the element type of the accumulator, and that of the result. The lists
are TVM's, which follow TensorFlow's and lean towards NVIDIA's tensor cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.declaration import Precision
from ...ir.expr import Call
from ...ir.op import PROPERTIES, Op
from ...ops.register import register_mixed_precision_conversion

PROPERTY = "FTVMMixedPrecisionConversionType"
MIXED_PRECISION_ALWAYS = 0  # gains more than its casts cost
MIXED_PRECISION_FOLLOW = 1  # follows its arguments
MIXED_PRECISION_NEVER = 2  # would lose too much accuracy

Conversion = Callable[[Call, str], list[Anything]]


def get_generic_out_dtypes(call_node: Call, mixed_precision_type: str) -> list[str]:
    """Return the element types in which most operators accumulate and produce results: the target precision
    for both.
    """
    return [mixed_precision_type, mixed_precision_type]


def generic_always_op(call_node: Call, mixed_precision_type: str) -> list[Anything]:
    return [MIXED_PRECISION_ALWAYS, *get_generic_out_dtypes(call_node, mixed_precision_type)]


def generic_follow_op(call_node: Call, mixed_precision_type: str) -> list[Anything]:
    return [MIXED_PRECISION_FOLLOW, *get_generic_out_dtypes(call_node, mixed_precision_type)]


def generic_never_op(call_node: Call, mixed_precision_type: str) -> list[Anything]:
    return [MIXED_PRECISION_NEVER, *get_generic_out_dtypes(call_node, mixed_precision_type)]


_CONVERSIONS: dict[Precision, Conversion] = {
    Precision.ALWAYS: generic_always_op,
    Precision.FOLLOW: generic_follow_op,
    Precision.NEVER: generic_never_op,
}


def default_conversion(op: Op) -> Conversion | None:
    """Return the conversion that follows from an operator's declared precision; None for one in none of TVM's
    lists.
    """
    return None if op.precision is None else _CONVERSIONS.get(op.precision)


PROPERTIES[PROPERTY] = default_conversion


def register_func_to_op_list(list_ops: list[str]) -> Callable[[Conversion], None]:
    """Return a decorator that registers a function as the conversion of several operators."""

    def decorator(func: Conversion) -> None:
        for name in list_ops:
            register_mixed_precision_conversion(name, func)

    return decorator
