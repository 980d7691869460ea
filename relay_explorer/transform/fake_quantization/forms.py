"""The integer form of a floating-point value, and the application of one rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...ir.affine_type import AffineType, TensorAffineType, TupleAffineType
from ...ir.annotate import set_checked_type, set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Tuple
from ...ir.typed import tensor_type
from ...ir.types import TensorType, TupleType, Type
from ..tools.typed_rewrite import call
from .affine import UNSTATED, AffineTypes, Arithmetic, Rule, StaysFloatError, constant, name_of, value_of

QUANTIZE = "qnn.quantize"
DEQUANTIZE = "qnn.dequantize"


class Obstacle(NamedTuple):
    """Why a value cannot be part of a region: a reason, the expression at fault, and whether its rule failed
    instead of refusing.
    """

    reason: str
    culprit: Expr
    failed: bool = False


class Form(NamedTuple):
    """The integers that stand for a floating-point value, and their affine type."""

    value: Expr
    type: AffineType


class FailedError(Exception):
    """Raised where an operator cannot be computed with integers."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.reason)
        self.obstacle = obstacle


def applied(
    rule: Rule,
    node: Call,
    operands: Mapping[Expr, Form],
    memo: Mapping[Expr, Expr],
    output: TensorAffineType | None,
    dequantized: bool = False,
    arithmetic: Arithmetic = UNSTATED,
) -> tuple[Expr, AffineType, bool]:
    """Apply a rule to a typed call. Return the integers, their type, and whether they depend on `output`, the
    type that the result will be quantized to; None where it is not known.

    `operands` are the forms of the operands that are quantized, `memo` has all others. `dequantized` says
    that the result is read as floating-point numbers again. Raise a FailedError where the rule refuses.
    """
    args: list[Expr] = []
    types: dict[Expr, AffineType] = {}
    for old in node.args:
        form = operands.get(old)
        value = memo[old] if form is None else form.value
        if form is not None:
            if value in types and types[value] is not form.type:
                value = typed(call("copy", value), old, form.type)  # the same integers in another type
            types[value] = form.type
        args.append(value)
    new = Call(node.op, args, node.attrs, node.type_args, node.span)
    set_checked_type(new, node.checked_type)
    known = AffineTypes(new, types, output, dequantized, arithmetic)
    try:
        answer = rule(new, known)
    except StaysFloatError as problem:
        raise FailedError(Obstacle(str(problem), node)) from None
    except Exception as problem:  # a user's rule may refuse in any way, as in TVM
        said = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
        raise FailedError(Obstacle(f"the rule of {name_of(node)} failed: {said}", node, True)) from problem
    if len(answer) != 2 or not isinstance(answer[0], Expr) or not isinstance(answer[1], AffineType):
        raise RelayError(
            f"the rule of {name_of(node)} must return an expression and its affine type, not {answer!r:.80}",
            node.span,
        )
    result, type_ = answer
    if result is new:  # the operator itself, on integers: its type is not the float one
        result = Call(node.op, args, node.attrs, None, node.span)
    if result not in types and not result.origin:
        set_origin(result, (node,))
    return typed(result, node, type_), type_, known.asked


def leaf(node: Call, new: Call) -> Form:
    """Return the integers of a `qnn.dequantize`, and their type."""
    data = new.args[0]
    for part, old in zip(new.args, node.args, strict=True):
        if part._checked_type is None:
            set_checked_type(part, old.checked_type)
    return Form(data, affine_type(new, tensor_type(node.args[0]).dtype))


def affine_type(new: Call, dtype: str) -> TensorAffineType:
    """Return the type that a `qnn.quantize` or `qnn.dequantize` states; a constant vector of one element
    counts as a scalar.
    """
    assert new.attrs is not None
    return TensorAffineType(_scalar(new.args[1]), _scalar(new.args[2]), dtype, new.attrs["axis"])


def _scalar(parameter: Expr) -> Expr:
    if isinstance(parameter, Constant) and parameter.data.shape == (1,):
        return constant(value_of(parameter), parameter.data.dtype)
    return parameter


def tuple_form(node: Tuple, fields: Sequence[Form]) -> Form:
    """Return the integers of a tuple of quantized values."""
    types = [form.type for form in fields if isinstance(form.type, TensorAffineType)]
    if len(types) != len(fields):
        raise FailedError(Obstacle("a tuple contains tuples", node))
    type_ = TupleAffineType(types)
    return Form(typed(Tuple([form.value for form in fields], node.span), node, type_), type_)


def typed(result: Expr, source: Expr, type_: AffineType) -> Expr:
    """Set the type of new integers: the shape of the value that they stand for."""
    if result._checked_type is None:
        set_checked_type(result, _integer_type(source.checked_type, type_))
    return result


def _integer_type(type_: Type, affine: AffineType) -> Type | None:
    if isinstance(type_, TupleType) and isinstance(affine, TupleAffineType):
        fields = [_integer_type(field, own) for field, own in zip(type_.fields, affine.types, strict=True)]
        return TupleType([field for field in fields if field is not None])
    if isinstance(type_, TensorType) and isinstance(affine, TensorAffineType):
        return TensorType.of(type_.shape, affine.dtype)
    return None


def is_float(type_: Type | None) -> bool:
    """Whether values of a type contain floating-point numbers."""
    if isinstance(type_, TupleType):
        return any(map(is_float, type_.fields))
    return isinstance(type_, TensorType) and "float" in type_.dtype
