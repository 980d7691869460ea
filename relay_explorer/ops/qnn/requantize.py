"""Convert integers from one scale and zero point to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import Operand
from ..cost import operations_per_input
from ..examples import ints
from ..numeric import Array
from ..operator import operator
from .arithmetic import chosen, requantized
from .config import COMPUTE_DTYPES, ROUNDINGS
from .documents import AXIS, COMPUTE_DTYPE, INTEGERS, OUT_DTYPE, ROUNDING
from .layouts import per_channel
from .parameters import (
    QUANTIZED,
    alternatives,
    are_known,
    check_channels,
    check_parameters,
    elements,
    out_elements,
)
from .plain import centered, operand_type, problem, spread
from .scaling import Ratio, Result, rescaled

__all__ = ["requantize"]

_INPUT = (*QUANTIZED, "int64")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if isinstance(types[0], IncompleteType) or not are_known(types, 5):
        return False
    data = elements(types[0], 0, "data", _INPUT)
    check_channels(types, [(1, "input_scale"), (2, "input_zero_point")], data, attrs.axis, "requantize")
    check_parameters(types, 3, ("output_scale", "output_zero_point"))
    for name, allowed in (("rounding", ROUNDINGS), ("compute_dtype", COMPUTE_DTYPES)):
        if attrs[name] not in ("None", *allowed):
            raise RelationError(f'{name}="{attrs[name]}" must be {alternatives((*allowed, "None"))}')
    reporter.assign(types[5], TensorType.of(data.shape, out_elements(attrs.out_dtype, QUANTIZED)))
    return True


def _reference(attrs: Anything, x: Array, *parameters: Array) -> Array:
    s, z, output_s, output_z = parameters
    return requantized(
        x, (s, z, output_s, output_z), attrs.axis, attrs.out_dtype, attrs.rounding, attrs.compute_dtype
    )


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    types = [operand_type(call, operand) for operand in range(5)]
    rounding, compute_dtype = chosen(attrs["rounding"], attrs["compute_dtype"])
    data, input_scale, input_zero, output_scale, output_zero = operands
    rank, axis, before = len(types[0].shape), attrs["axis"], types[0].dtype
    try:
        ratio = Ratio(input_scale, types[1], output_scale, types[3], axis, rank)
    except RelationError as error:
        raise problem(call, error) from None
    result = Result(output_zero, types[4], attrs["out_dtype"])
    x = centered(data, before, spread(input_zero, types[2], axis, rank))
    return result.of(rescaled(x, ratio, result.bounds, rounding, compute_dtype, before))


@operator(
    "qnn.requantize",
    description="Converts integers from one scale and zero point to another.",
    formula=(
        r"y = \operatorname{clip}\bigl("
        r"\operatorname{round}\bigl(\tfrac{s_x}{s_y} (x - z_x)\bigr) + z_y\bigr)"
    ),
    family="quantization",
    level=11,
    relation=Relation("Requantize", _relation, "{out} has the shape of {0} and the element type `out_dtype`"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(3),  # a difference, a product, a sum
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=per_channel,
    precision=Precision.UNLISTED,
    example=lambda build: [
        build(ints(2, 6), const(0.5), const(3), const(0.75), const(-2)),
        build(ints(2, 2), const([0.5, 0.25]), const(0), const(0.75), const(0), 1, "TONEAREST", "float32"),
    ],
    lenient_in_tvm="It compared `rounding` and `compute_dtype` when it compiled.",
)
def requantize(
    data: Operand,
    input_scale: Operand,
    input_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    axis: Annotated[int, attr(-1, AXIS)] = -1,
    rounding: Annotated[str, attr("None", ROUNDING)] = "None",
    compute_dtype: Annotated[str, attr("None", COMPUTE_DTYPE)] = "None",
    out_dtype: Annotated[str, attr("", OUT_DTYPE, kind="DType")] = "int8",
) -> Call:
    """Convert `data` from one scale and zero point to another: round(input_scale / output_scale · (data -
    input_zero_point)) + output_zero_point, saturated.
    """
