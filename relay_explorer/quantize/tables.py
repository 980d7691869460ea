"""Element-wise functions of an 8-bit value, as tables with an entry for each of its 256 integers.

A chain of element-wise operators that all read the same integers, such as x · sigmoid(x), is one function of
them. Its value is computed for each integer at compile time, and the program looks it up: rounded once, to
the integers that are needed, whatever the function is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import Op
from ..ops.calls import relay
from ..ops.numeric import Array, np
from ..ops.qnn.arithmetic import quantized as to_steps
from ..transform.fake_quantization.tables import is_elementwise
from ..transform.fold_constant import compute
from .quantized import Quantized

EIGHT_BITS = ("int8", "uint8")
LEAST_SCALE = 2.0**-126
TABLE_BITS = 23  # of a function in 32 bits, so that sums of a few hundred values still fit


class Table(NamedTuple):
    """A value as a function of 8-bit integers: `values` (256, float32) has its value for each, in the order
    of their bits as unsigned integers.

    `direct` says that looking it up is the way to compute it, because it has no integer arithmetic of its
    own.
    """

    source: Quantized
    values: Array
    direct: bool


def is_number(expr: object) -> bool:
    """Whether an expression is a constant of one element."""
    return isinstance(expr, Constant) and expr.data.numpy().size == 1


def table_of(value: Quantized) -> Table | None:
    """Return a value as a function of 8-bit integers, at least of its own; None where these are wider."""
    if value.table is not None:
        return value.table
    if value.dtype not in EIGHT_BITS or value.scale.ndim:
        return None
    bits = np.arange(256, dtype="uint8").view(value.dtype).astype("int64")
    return Table(value, ((bits - value.zero_point) * value.scale).astype("float32"), False)


def same_source(operands: Sequence[Quantized | Expr]) -> bool:
    """Whether all quantized operands are functions of the same integers, and all others are numbers."""
    tables = [table_of(value) for value in operands if isinstance(value, Quantized)]
    first = tables[0] if tables else None
    if first is None or not all(isinstance(value, Quantized) or is_number(value) for value in operands):
        return False
    return all(
        table is not None and table.source.expr is first.source.expr and table.source.is_like(first.source)
        for table in tables
    )


def function(call: Call, operands: Sequence[Quantized | Expr], direct: bool = True) -> Table | None:
    """Return an element-wise call as a function of the integers that its operands are functions of; None
    where it is none, or not finite for all integers.
    """
    if not (isinstance(call.op, Op) and is_elementwise(call.op) and same_source(operands)):
        return None
    arrays, source = [], None
    for value in operands:
        if isinstance(value, Quantized):
            table = table_of(value)
            assert table is not None
            source = table.source
            arrays.append(table.values)
        else:
            assert isinstance(value, Constant)
            arrays.append(value.data.numpy().reshape(()))
    result = compute(call.op, call, arrays)
    if source is None or not isinstance(result, np.ndarray) or result.dtype != "float32":
        return None
    if result.shape != (256,) or not np.isfinite(result).all():
        return None
    return Table(source, result, direct)


def looked_up(call: Call, operands: Sequence[Quantized | Expr]) -> Quantized | None:
    """Compute an element-wise function of 8-bit integers by a table. Its integers have 32 bits; where they
    are requantized or dequantized, a table of the results takes their place.
    """
    table = function(call, operands)
    return None if table is None else wide(table, TABLE_BITS)


def wide(table: Table, bits: int, dtype: str = "int32") -> Quantized:
    """Look a function up as integers of `bits` bits and a sign."""
    scale = np.asarray(np.abs(table.values.astype("float64")).max() / (2**bits - 1), "float32")
    if not scale > LEAST_SCALE:  # all values are 0, or nearly so
        scale = np.asarray(1, "float32")
    largest_entry = 2**bits - 1
    entries = np.clip(np.rint(table.values.astype("float64") / scale), -largest_entry, largest_entry)
    result = Quantized(table.source.scheme, _take(table.source, entries.astype(dtype)), dtype, scale)
    result.table = table
    return result


def at_scale(table: Table, scale: Array, zero_point: Array, bounds: tuple[int, int], dtype: str) -> Expr:
    """Look a function up as integers of a scale and zero point, within bounds."""
    steps = to_steps(table.values, scale, np.asarray(zero_point, "int64"), dtype)
    return _take(table.source, np.clip(steps, *bounds).astype(dtype))


def as_floats(table: Table) -> Expr:
    """Look a function up as floating-point numbers."""
    return _take(table.source, table.values)


def _take(source: Quantized, entries: Array) -> Expr:
    index = source.expr if source.dtype == "uint8" else relay.reinterpret(source.expr, "uint8")
    return relay.take(const(entries, str(entries.dtype)), index, axis=0, mode="fast")
