"""Concatenation of quantized tensors with different scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr, Tuple, TupleGetItem, const
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand, Operands
from ..calls import relay
from ..cost import operations_per_input
from ..examples import t
from ..join import concatenate_layout
from ..nn.layout import many
from ..numeric import Array, np
from ..operator import operator
from ..relation import tensor_fields
from .arithmetic import chosen, requantized
from .documents import INTEGERS
from .layouts import fields_first
from .parameters import are_known, check_parameter, check_parameters, elements
from .plain import centered, number, operand_type, problem, spread
from .scaling import Ratio, Result, rescaled

__all__ = ["concatenate"]

_SUPPORTED = ("int8", "uint8", "int16", "int32")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 5):
        return False
    fields = tensor_fields(types[0], "qnn.concatenate")
    for number_, field in enumerate(fields):
        elements(field, 0, f"field {number_} of the data", _SUPPORTED)
    for operand, what, name in ((1, "scale", "input_scale"), (2, "zero point", "input_zero_point")):
        parameters = tensor_fields(types[operand], "qnn.concatenate")
        if len(parameters) != len(fields):
            raise RelationError(
                f"qnn.concatenate expects {many(len(fields), what, what + 's')}, got {len(parameters)}",
                "give one for each tensor",
                culprits=(0, operand),
            )
        for parameter in parameters:
            check_parameter(parameter, operand, name)
    check_parameters(types, 3, ("output_scale", "output_zero_point"))
    return Op.get("concatenate").relation.rule([types[0], types[5]], 1, attrs, reporter)


def _reference(
    attrs: Anything,
    data: tuple[Array, ...],
    scales: tuple[Array, ...],
    zero_points: tuple[Array, ...],
    scale: Array,
    zero_point: Array,
) -> Array:
    parts = [
        x
        if (own, zero) == (float(scale.reshape(())), int(zero_point.reshape(())))
        else requantized(x, (s, z, scale, zero_point), -1, str(x.dtype))
        for x, s, z in zip(data, scales, zero_points, strict=True)
        for own, zero in [(float(s.reshape(())), int(z.reshape(())))]
    ]
    return np.concatenate(parts, attrs.axis)


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs, type_ = call.attrs, call.args[0].checked_type
    assert attrs is not None
    assert isinstance(type_, TupleType)
    data, scales, zero_points, scale, zero_point = operands
    parts = []
    for index, field in enumerate(type_.fields):
        assert isinstance(field, TensorType)
        own = [_field(tuple_, index) for tuple_ in (scales, zero_points)]
        own_types = [_field_type(call, operand, index) for operand in (1, 2)]
        x = _field(data, index)
        if _same(own[0], scale) and _same(own[1], zero_point):
            parts.append(x)
            continue
        try:
            ratio = Ratio(own[0], own_types[0], scale, operand_type(call, 3), -1, len(field.shape))
        except RelationError as error:
            raise problem(call, error) from None
        result = Result(zero_point, operand_type(call, 4), field.dtype)
        whole = centered(x, field.dtype, spread(own[1], own_types[1], 0, 0))
        parts.append(result.of(rescaled(whole, ratio, result.bounds, *chosen("None", "None"), field.dtype)))
    return relay.concatenate(parts, attrs["axis"])


def _field(tuple_: Expr, index: int) -> Expr:
    return tuple_.fields[index] if isinstance(tuple_, Tuple) else TupleGetItem(tuple_, index)


def _field_type(call: Call, operand: int, index: int) -> TensorType:
    type_ = call.args[operand].checked_type
    assert isinstance(type_, TupleType)
    field = type_.fields[index]
    assert isinstance(field, TensorType)
    return field


def _same(a: Expr, b: Expr) -> bool:
    """Return whether two scales or zero points are known to be equal."""
    return a is b or (number(a) is not None and number(a) == number(b))


@operator(
    "qnn.concatenate",
    description="Joins quantized tensors along an axis, after conversion to one scale.",
    formula=r"y = q(x^{(1)}) \mathbin{\|}_{\mathit{axis}} q(x^{(2)}) \mathbin{\|}_{\mathit{axis}} \dots",
    family="quantization",
    level=11,
    relation=Relation("QnnConcatenate", _relation, "{out} = the fields of {0}, concatenated along `axis`"),
    pattern=OpPattern.INJECTIVE,
    flops=operations_per_input(3),
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=fields_first(concatenate_layout),
    precision=Precision.UNLISTED,
    attrs=Op.get("concatenate").attrs_class,
    lenient_in_tvm="It accepted elements of any type, and compared no numbers of scales and zero points.",
    example=lambda build: build(
        [t(2, 6, dtype="int8"), t(2, 6, dtype="int8", name="y")],
        [const(0.1), const(0.2)], [const(3), const(0)], const(0.2), const(0), axis=1,
    ),
)  # fmt: skip
def concatenate(
    data: Operands,
    input_scales: Operands,
    input_zero_points: Operands,
    output_scale: Operand,
    output_zero_point: Operand,
    axis: int,
) -> Call:
    """Join the tensors of `data` along `axis`; each is requantized to the scale and zero point of the result
    first, unless it has them already.
    """
