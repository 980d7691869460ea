"""`relay.expr.CallWithFields` and the like: copies of expressions with some parts replaced; and
`tvm.ir.structural_equal`, which compares spans too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..frontends.base.source import node_of
from ..ir import equal
from ..ir.annotate import set_origin, set_span
from ..ir.expr import Call, Constant, Expr, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ..ir.span import Span


def _with_fields(kind: type[Expr], fields: tuple[str, ...]) -> Callable[..., Any]:
    """Return TVM's function that copies an expression of `kind`: it takes the parts in the order of `fields`,
    then a virtual device, which is ignored, and a span. A part that is None stays as it is.
    """

    def copy(
        expr: Any, *parts: Any, virtual_device: Any = None, span: Span | None = None, **named: Any
    ) -> Any:
        values = dict(zip((*fields, "virtual_device", "span"), parts)) | named
        span = values.get("span", span)
        own = [getattr(expr, name) for name in fields]
        new = [old if values.get(name) is None else values[name] for name, old in zip(fields, own)]
        if span is None and all(a is b for a, b in zip(own, new)):
            return expr
        result = kind(*new)
        set_origin(result, (expr,))
        set_span(result, span or expr.span)
        return result

    copy.__doc__ = f"Return a {kind.__name__} with some parts replaced; itself where no part changes."
    copy.__name__ = f"{kind.__name__}WithFields"
    return copy


CallWithFields = _with_fields(Call, ("op", "args", "attrs", "type_args"))
ConstantWithFields = _with_fields(Constant, ("data",))
IfWithFields = _with_fields(If, ("cond", "true_branch", "false_branch"))
LetWithFields = _with_fields(Let, ("var", "value", "body"))
RefCreateWithFields = _with_fields(RefCreate, ("value",))
RefReadWithFields = _with_fields(RefRead, ("ref",))
RefWriteWithFields = _with_fields(RefWrite, ("ref", "value"))
TupleWithFields = _with_fields(Tuple, ("fields",))
TupleGetItemWithFields = _with_fields(TupleGetItem, ("tuple_value", "index"))


def VarWithFields(  # noqa: N802  # TVM's name
    var: Var,
    vid: Any = None,
    type_annotation: Any = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Var:
    """Return a variable with some parts replaced; itself where no part changes."""
    if vid in (None, var.vid) and type_annotation in (None, var.type_annotation) and span is None:
        return var
    name = var.name_hint if vid is None else vid.name_hint
    result = Var(name, type_annotation or var.type_annotation, span or var.span)
    set_origin(result, (var,))
    return result


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two programs, types, patterns or attributes are equal up to the names of their variables; two
    spans, whether they have the same place.
    """
    if lhs is None or rhs is None:
        return lhs is rhs
    if isinstance(lhs, Span) and isinstance(rhs, Span):
        return _place(lhs) == _place(rhs)
    return equal.structural_equal(lhs, rhs, map_free_vars)


def _place(span: Span) -> tuple[Any, ...]:
    """Return what identifies a place; that of an imported expression is its name alone."""
    if node_of(span) is not None:
        return (span.source_name, 0, 0, 0, 0)
    return (span.source.name, span.line, span.end_line, span.column, span.end_column)


__all__ = [
    "CallWithFields", "ConstantWithFields", "IfWithFields", "LetWithFields", "RefCreateWithFields",
    "RefReadWithFields", "RefWriteWithFields", "TupleGetItemWithFields", "TupleWithFields", "VarWithFields",
]  # fmt: skip
