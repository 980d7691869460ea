"""Type variables of expressions and types."""

from __future__ import annotations

from relay_explorer import relay
from relay_explorer.analysis import all_type_vars, bound_type_vars, free_type_vars

A, B, C = (relay.TypeVar(name) for name in "ABC")
X = relay.var("x", B)
GENERIC = relay.Function([X], X, B, [A])


def test_of_functions() -> None:
    assert all_type_vars(GENERIC) == [A, B]
    assert bound_type_vars(GENERIC) == [A]
    assert free_type_vars(GENERIC) == [B]


def test_of_types() -> None:
    type_ = relay.FuncType([relay.TupleType([B]), relay.RefType(C)], relay.TypeCall(C, [A]), [A])
    assert all_type_vars(type_) == [A, B, C]
    assert bound_type_vars(type_) == [A]
    assert free_type_vars(type_, relay.IRModule()) == [B, C]
    assert all_type_vars(A) == free_type_vars(A) == [A]


def test_everywhere_in_an_expression() -> None:
    clause = relay.Clause(relay.PatternVar(relay.var("p", A)), relay.const(1))
    expr = relay.Let(relay.var("y", C), relay.Call(GENERIC, [X], type_args=[A]), relay.Match(X, [clause]))
    assert all_type_vars(expr) == [C, A, B]
    assert free_type_vars(expr) == [C, B]
