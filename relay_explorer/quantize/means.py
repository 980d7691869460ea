"""Integer arithmetic of sums and means, which are computed exactly in 32 bits, or nearly so."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ir.expr import Call, Expr, const
from ..ir.types import TensorType
from ..ops.calls import relay
from ..ops.numeric import np
from .affine import by_affine_types
from .quantized import Quantized
from .tables import wide

AVERAGE_BITS = 8  # of an average, below the scale of what is averaged
MAX_WINDOW = 2**12  # along an axis whose length is not known
BITS = {"int8": 8, "uint8": 8, "int16": 16, "int32": 32}

Values = Sequence[Quantized | Expr]


def average(call: Call, operands: Values) -> Quantized | None:
    """Average integers in 32 bits, with a few more bits below the scale, which the division rounds off."""
    (value,) = operands
    assert isinstance(value, Quantized)
    value = _of_few_bits(value)
    type_ = call.args[0].checked_type
    assert isinstance(type_, TensorType)
    assert call.attrs is not None
    layout = call.attrs["layout"]
    window = math.prod(
        [
            dim if isinstance(dim, int) else MAX_WINDOW
            for dim, letter in zip(type_.shape, layout)
            if letter not in "NC"
        ]
    )
    spare = 31 - BITS[value.dtype] - math.ceil(math.log2(window + 1))
    if spare < 0 or (value.scale.ndim and not value.is_symmetric):
        return None
    finer_bits = min(spare, AVERAGE_BITS)
    wide: Expr = relay.cast(value.expr, "int32")
    if not value.is_symmetric:
        wide = wide - const(int(value.zero_point), "int32")
    wide = relay.left_shift(wide, const(finer_bits, "int32"))
    finer = np.asarray(value.scale / 2**finer_bits, "float32")
    averaged = Call.of(call.op, (wide,), call.attrs, call.type_args, call.span, ())
    return value.but(averaged, "int32", finer, np.zeros(finer.shape, "int32"))


def summed(call: Call, operands: Values) -> Quantized | Sequence[Quantized] | None:
    """Add integers; a mean is their sum, with another scale."""
    (value,) = operands
    assert isinstance(value, Quantized)
    return by_affine_types(call, [_of_few_bits(value)])


def _of_few_bits(value: Quantized) -> Quantized:
    """Return a value that leaves room for sums: a function is looked up in 16 bits rather than 32."""
    if value.lazy and value.table is not None:
        return wide(value.table, 15, "int16")
    return value
