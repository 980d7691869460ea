"""Rules of SimplifyExpr for quantized values.

Dequantizing is increasing, so that what only compares elements can compare the integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.expr import Call, Constant, Expr
from ..fold_scale_axis.axes import operator_of

if TYPE_CHECKING:
    from . import Rules, Simplifier

EXACT_BITS = 24  # integers of more bits may be equal as float32 numbers
MIN_SCALE = 2.0**-100  # so that no two products with it underflow or overflow to the same number


def compared_integers(s: Simplifier, call: Call) -> Expr | None:
    """Compare integers instead of the numbers that they stand for, where all have one positive scale."""
    source = call.args[0]
    if not isinstance(source, Call) or operator_of(source) != "qnn.dequantize":
        return None
    integers, scale, zero_point = source.args[:3]
    dtype = s.tensor(integers).dtype
    if s.tensor(scale).shape not in ((), (1,)) or s.tensor(zero_point).shape not in ((), (1,)):
        return None
    if int(dtype.lstrip("uint")) > EXACT_BITS or not isinstance(scale, Constant):
        return None
    value = scale.data.item()
    if not MIN_SCALE <= value <= 1 / MIN_SCALE:
        return None
    return Call(call.op, [integers, *call.args[1:]], call.attrs, None, call.span)


RULES: Rules = {
    "argmax": [compared_integers],
    "argmin": [compared_integers],
    "argsort": [compared_integers],
}
