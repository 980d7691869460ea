"""`tvm.relay.qnn.op.canonicalizations`: functions of quantized numbers as tables of all integers.

Also the codes that `tvm.topi.nn.qnn` had for element types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..ir.errors import RelayError
from ..ir.expr import Constant, Expr, const
from ..ir.module import IRModule
from ..lower.executor import create_executor
from ..ops import namespaces as relay
from ..ops.qnn.plain import number
from ..ops.qnn.simulated import CODES
from ..ops.qnn.table import hardswish_values as hardswish_func
from ..ops.qnn.table import quantized_table

__all__ = [
    "SQNN_CODE_TO_DTYPE", "SQNN_DISABLE", "SQNN_DTYPE_TO_CODE", "SQNN_INT8", "SQNN_INT32", "SQNN_UINT8",
    "create_integer_lookup_op", "create_integer_lookup_table", "hardswish_func", "run_const_expr",
]  # fmt: skip

SQNN_DTYPE_TO_CODE = dict(CODES)
SQNN_CODE_TO_DTYPE = {code: name for name, code in CODES.items()}
SQNN_DISABLE, SQNN_INT8, SQNN_UINT8, SQNN_INT32 = (
    CODES[name] for name in ("disable", "int8", "uint8", "int32")
)


def run_const_expr(expr: Expr) -> Any:
    """Evaluate an expression without free variables; return a NumPy array."""
    return create_executor("debug", mod=IRModule.from_expr(expr)).evaluate()().numpy()


def create_integer_lookup_table(
    floating_point_func: Callable[[Any], Any],
    input_scale: Expr,
    input_zero_point: Expr,
    output_scale: Expr,
    output_zero_point: Expr,
    in_axis: int = -1,
    out_axis: int = -1,
    in_dtype: str = "uint8",
    out_dtype: str = "uint8",
) -> Any:
    """Return the quantized values of a function for all integers of `in_dtype`, in the order of their bits.

    `floating_point_func` maps an array of float32. Scales and zero points are constants with one element, so
    the axes have no influence. Raise a ValueError for types other than integers.
    """
    for dtype in (in_dtype, out_dtype):
        if numpy.dtype(dtype).kind not in "iu":
            raise ValueError(f"a table maps integers to integers, not {in_dtype} to {out_dtype}")
    parameters = [_number(p) for p in (input_scale, input_zero_point, output_scale, output_zero_point)]
    return quantized_table(floating_point_func, parameters, in_dtype, out_dtype)


def create_integer_lookup_op(
    input_arg: Expr,
    floating_point_func: Callable[[Any], Any],
    in_scale: Expr,
    in_zero_point: Expr,
    out_scale: Expr,
    out_zero_point: Expr,
    in_axis: int = -1,
    out_axis: int = -1,
    in_dtype: str = "uint8",
    out_dtype: str = "uint8",
) -> Expr:
    """Return an expression that looks the elements of `input_arg` up in the table of a function."""
    table = create_integer_lookup_table(
        floating_point_func,
        in_scale,
        in_zero_point,
        out_scale,
        out_zero_point,
        in_axis,
        out_axis,
        in_dtype,
        out_dtype,
    )
    bits = numpy.iinfo(in_dtype).bits
    return relay.take(const(table), relay.reinterpret(input_arg, f"uint{bits}"), axis=0, mode="fast")


def _number(parameter: Expr) -> float:
    value = number(parameter) if isinstance(parameter, Constant) else None
    if value is None:
        raise RelayError(
            "the scales and zero points of a table must be constants with one element",
            help=["fold them first: relay.transform.FoldConstant"],
        )
    return value
