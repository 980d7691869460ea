"""Evaluate small constant expressions while a model is imported.

Frameworks compute shapes, masks and positions with ordinary operators. Folding them at once keeps the
imported program as short as the model that its author wrote, and lets converters read the values.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Tuple, TupleGetItem
from ...ir.op import Op
from ...ir.types import TensorType, TupleType, Type
from ...transform.fold_constant import evaluate, is_pure, of_the_shape

LARGEST = 1 << 16  # elements; larger results are left to FoldConstant, which runs on request


def folded(expr: Expr, type_of: Callable[[Expr], Type]) -> Expr:
    """Return a constant, or a tuple with constants in it, with the value of `expr` if it is known; otherwise
    `expr` itself.
    """
    memo: dict[Expr, Expr] = {}
    pending = [expr]
    while pending:
        current = pending[-1]
        if current in memo:
            pending.pop()
            continue
        parts = _parts(current)
        waiting = [part for part in parts if part not in memo]
        if waiting:
            pending += waiting
            continue
        memo[current] = _folded(current, [memo[part] for part in parts], type_of)
        pending.pop()
    return memo[expr]


def _parts(expr: Expr) -> tuple[Expr, ...]:
    """Return the parts that must be constant for `expr` to be."""
    if isinstance(expr, Call) and isinstance(expr.op, Op):
        if expr.op.has(Trait.SHAPE_QUERY) or not is_pure(expr.op) or expr.op.canonical is not None:
            return ()  # a quantized weight stays one: passes look for its integers
        # One operand that is not constant suffices: a chain of ordinary calls costs one step.
        for arg in expr.args:
            if not isinstance(arg, (Constant, Tuple, TupleGetItem)) and not _may_fold(arg):
                return ()
        return expr.args
    if isinstance(expr, Tuple):
        return expr.fields if all(_may_fold(field) for field in expr.fields) else ()
    if isinstance(expr, TupleGetItem) and isinstance(expr.tuple_value, (Tuple, Call)):
        return (expr.tuple_value,) if _may_fold(expr.tuple_value) else ()
    return ()


def _may_fold(expr: Expr) -> bool:
    """Whether an expression can be constant. A call that already has a span is not: folding was tried
    when its node was imported, without effect.
    """
    if isinstance(expr, Constant):
        return True
    if isinstance(expr, (Call, Tuple, TupleGetItem)):
        return expr.span is None
    return False


def _folded(expr: Expr, parts: list[Expr], type_of: Callable[[Expr], Type]) -> Expr:
    if isinstance(expr, Call) and isinstance(expr.op, Op):
        if expr.op.has(Trait.SHAPE_QUERY):
            return _queried(expr, expr.op, type_of)
        if not parts or not all(map(_is_constant, parts)) or not _is_small(type_of(expr)):
            return expr
        if any(isinstance(part, Constant) and not _is_small(type_of(part)) for part in parts):
            return expr
        call = expr if all(a is b for a, b in zip(expr.args, parts)) else Call(expr.op, parts, expr.attrs)
        value = evaluate(call, expr.op)
        return expr if value is None else _typed(value, type_of)
    if isinstance(expr, TupleGetItem) and parts and isinstance(parts[0], Tuple):
        return parts[0].fields[expr.index]
    if isinstance(expr, Tuple) and any(a is not b for a, b in zip(expr.fields, parts)):
        return _typed(Tuple(parts), type_of)
    return expr


def _typed(expr: Expr, type_of: Callable[[Expr], Type]) -> Expr:
    type_of(expr)
    return expr


def _queried(call: Call, op: Op, type_of: Callable[[Expr], Type]) -> Expr:
    type_, result = type_of(call.args[0]), type_of(call)
    if isinstance(type_, TensorType) and type_.is_static and isinstance(result, TensorType):
        return of_the_shape(op.name, type_.concrete_shape, result.dtype)
    return call


def _is_constant(expr: Expr) -> bool:
    if isinstance(expr, Tuple):
        return all(map(_is_constant, expr.fields))
    return isinstance(expr, Constant)


def _is_small(type_: Type) -> bool:
    """Whether a type is static and has at most LARGEST elements."""
    if isinstance(type_, TupleType):
        return all(map(_is_small, type_.fields))
    if not isinstance(type_, TensorType) or not type_.is_static or type_.dtype == "bfloat16":
        return False
    count = 1
    for extent in type_.concrete_shape:
        count *= extent
    return count <= LARGEST
