"""Infer the type of an expression as it is built, from the types of its parts.

An importer builds a program from the inputs to the outputs and asks for the type of almost every value on the
way. Inferring each of them anew would take time that is quadratic in the size of the program. Here every
expression gets its `checked_type` once: the type relation of a call's operator is applied to the types of its
arguments, which are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ..ir.annotate import set_checked_type
from ..ir.errors import TypeInferenceError
from ..ir.expr import Call, Expr, Tuple, TupleGetItem
from ..ir.module import IRModule
from ..ir.op import Op, RelationError
from ..ir.types import IncompleteType, TupleType, Type
from .local import infer_type_local


class _Result:
    """The reporter of one relation: receives the type of the call's result."""

    __slots__ = ("out", "type")

    def __init__(self, out: Type) -> None:
        self.out = out
        self.type: Type | None = None

    def assign(self, target: Type, value: Type) -> None:
        if target is self.out:
            self.type = value


def type_of(expr: Expr, module: IRModule | None = None) -> Type:
    """Return the type of an expression whose free variables have complete types, and record it in the
    expression and its parts. Global functions are looked up in `module`.

    Raise a TypeInferenceError where it is not well typed.
    """
    type_ = expr._checked_type
    if type_ is not None:
        return type_
    pending = [expr]
    while pending:
        current = pending[-1]
        if current._checked_type is None:
            untyped = [part for part in _parts(current) if part._checked_type is None]
            if untyped:
                pending += untyped
                continue
            set_checked_type(current, _type(current, module))
        pending.pop()
    return expr.checked_type


def _parts(expr: Expr) -> Sequence[Expr]:
    """Return the parts whose types determine that of `expr`; none where inference handles it as a whole."""
    if isinstance(expr, Call) and isinstance(expr.op, Op):
        return expr.args
    if isinstance(expr, Tuple):
        return expr.fields
    if isinstance(expr, TupleGetItem):
        return (expr.tuple_value,)
    return ()


def _type(expr: Expr, module: IRModule | None) -> Type:
    match expr:
        case Call(op=Op() as op):
            return _call_type(expr, op, module)
        case Tuple():
            return TupleType([field.checked_type for field in expr.fields])
        case TupleGetItem():
            whole = expr.tuple_value.checked_type
            if isinstance(whole, TupleType) and 0 <= expr.index < len(whole.fields):
                return whole.fields[expr.index]
    return infer_type_local(expr, module)


def _call_type(call: Call, op: Op, module: IRModule | None) -> Type:
    out: Anything = IncompleteType()
    result = _Result(out)
    types = [arg.checked_type for arg in call.args]
    if op.inputs is None or len(op.inputs) == len(types):
        try:
            solved = op.relation.rule([*types, out], len(types), call.attrs, result)
        except RelationError:
            solved = False
        if solved and result.type is not None:
            return result.type
    inferred = infer_type_local(call, module)  # explains the error
    if isinstance(inferred, IncompleteType):
        raise TypeInferenceError(f"the type of this call of `{op.name}` cannot be inferred", call.span)
    return inferred
