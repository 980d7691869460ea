"""Integer arithmetic by the rules of FakeQuantizationToInteger, the pass for programs that others quantized.

A rule of the pass maps a call on integers, and their affine types, to an integer expression and its type.
Both together are a `Quantized` value. A rule that a user registers with the pass therefore serves here, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.affine_type import AffineType, TensorAffineType, TupleAffineType
from ..ir.annotate import set_checked_type
from ..ir.expr import Call, Expr, Tuple, TupleGetItem
from ..ir.op import Op
from ..ir.types import TensorType
from ..ops.numeric import np
from ..transform.fake_quantization.affine import constant, value_of
from ..transform.fake_quantization.forms import FailedError, Form, applied, tuple_form
from ..transform.fake_quantization.rules import rule_of
from .quantized import Quantized

Values = Sequence[Quantized | Expr]


def has_rule(op: Op) -> bool:
    """Whether the pass has a rule for an operator."""
    return rule_of(op, False) is not None


def by_affine_types(call: Call, operands: Values) -> Quantized | Sequence[Quantized] | None:
    """Compute a call with integers by the pass's rule for its operator: one value, or those of a tuple. None
    where there is no rule, or it refuses.
    """
    assert isinstance(call.op, Op)
    rule = rule_of(call.op, False)
    nested = any(isinstance(f, Tuple) for arg in call.args if isinstance(arg, Tuple) for f in arg.fields)
    if rule is None or nested:
        return None
    rest = list(operands)
    forms: dict[Expr, Form] = {}
    others: dict[Expr, Expr] = {}
    for argument in call.args:
        count = len(argument.fields) if isinstance(argument, Tuple) else 1
        taken, rest = rest[:count], rest[count:]
        if all(isinstance(value, Quantized) for value in taken) and taken:
            parts = argument.fields if isinstance(argument, Tuple) else [argument]
            fields = [_form(part, value) for part, value in zip(parts, taken, strict=True)]
            forms[argument] = tuple_form(argument, fields) if isinstance(argument, Tuple) else fields[0]
        elif isinstance(argument, Tuple) or not isinstance(taken[0], Expr):
            return None
        else:
            others[argument] = taken[0]
    try:
        expr, type_, _ = applied(rule, call, forms, others, None, dequantized=True)
    except FailedError:
        return None
    operand_ids = {id(form.value) for form in forms.values()}
    if isinstance(expr, Call) and id(expr) not in operand_ids:  # with no type and origin, as all rules build
        expr = Call.of(expr.op, tuple(expr.args), expr.attrs, expr.type_args, expr.span, ())
    scheme = next(value.scheme for value in operands if isinstance(value, Quantized))
    if isinstance(type_, TupleAffineType):
        pairs = [(TupleGetItem(expr, index), part) for index, part in enumerate(type_.types)]
        return [
            Quantized(scheme, part, own.dtype, value_of(own.scale), value_of(own.zero_point), own.axis)
            for part, own in pairs
            if isinstance(own, TensorAffineType)
        ]
    assert isinstance(type_, TensorAffineType)
    scale, zero_point = value_of(type_.scale), value_of(type_.zero_point)
    return Quantized(scheme, expr, type_.dtype, scale, zero_point, type_.axis)


def _form(part: Expr, value: Quantized | Expr) -> Form:
    """Return integers as the pass has them: with a type, and the affine type."""
    assert isinstance(value, Quantized)
    type_ = part.checked_type
    assert isinstance(type_, TensorType)
    if value.expr._checked_type is None:
        set_checked_type(value.expr, TensorType.of(type_.shape, value.dtype))
    return Form(value.expr, affine_type(value))


def affine_type(value: Quantized) -> AffineType:
    """Return the affine type of integers."""
    zero_point = value.zero_point
    if zero_point.shape != value.scale.shape:
        zero_point = np.broadcast_to(zero_point, value.scale.shape)
    axis = -1 if value.axis is None else value.axis
    return TensorAffineType(
        constant(value.scale, "float32"), constant(zero_point, "int32"), value.dtype, axis
    )
