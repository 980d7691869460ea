"""Programs that are deep, long or made to explode: an answer or a clear error, never Python's own."""

from __future__ import annotations

from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir import (
    Function,
    If,
    IRModule,
    Let,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    const,
    var,
)
from relay_explorer.ir.expr import Call, Expr, Var
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import Type
from relay_explorer.typing import infer_types

LEVELS = 100_000
SCALAR = TensorType((), "float32")


def typed(body: Expr, *params: Var) -> str:
    return str(infer_types(IRModule.from_expr(Function(params, body)))["main"].ret_type)


def test_calls_nested_a_hundred_thousand_deep() -> None:
    x = var("x", SCALAR)
    body: Expr = x
    tanh = Op.get("tanh")
    for _ in range(LEVELS):
        body = Call(tanh, [body])
    assert typed(body, x) == "float32"


def test_lets_nested_a_hundred_thousand_deep() -> None:
    x = var("x", SCALAR)
    body: Expr = x
    for _ in range(LEVELS):
        body = Let(var("y"), x, body)
    assert typed(body, x) == "float32"


def test_ifs_nested_a_hundred_thousand_deep() -> None:
    x, c = var("x", SCALAR), var("c", TensorType((), "bool"))
    body: Expr = x
    for _ in range(LEVELS):
        body = If(c, body, x)
    assert typed(body, x, c) == "float32"


def test_tuples_nested_too_deep_are_refused() -> None:
    x = var("x", SCALAR)
    body: Expr = x
    for _ in range(LEVELS):
        body = Tuple([body])
    with raises(
        snapshot("TypeInferenceError: error: the type of this tuple is nested deeper than 128 levels")
    ):
        typed(body, x)


def test_a_type_that_doubles_with_every_line_is_refused() -> None:
    x = var("x", SCALAR)
    body: Expr = x
    for _ in range(60):
        body = Tuple([body, body])
    with raises(snapshot("TypeInferenceError: error: the type of this tuple has more than 50,000 parts")):
        typed(TupleGetItem(body, 0), x)


def test_a_type_that_doubles_through_unknowns_is_refused() -> None:
    """The doubling is hidden: when the function is called, its parameter's type is not known yet."""
    a, f, x = var("a"), var("f"), var("x", SCALAR)
    body: Expr = a
    for _ in range(60):
        body = Tuple([body, body])
    with raises(snapshot("TypeInferenceError: error: the type of this tuple has more than 50,000 parts")):
        typed(Let(f, Function([a], body), Call(f, [x])), x)


def test_functions_nested_too_deep_are_refused() -> None:
    body: Expr = const(1.0)
    for _ in range(LEVELS):
        body = Function([], body)
    with raises(
        snapshot("TypeInferenceError: error: the type of this function is nested deeper than 128 levels")
    ):
        typed(body)


def test_a_variable_that_nothing_introduces() -> None:
    with raises(
        snapshot("""\
TypeInferenceError:
error: `%y` is used, but nothing introduces it
help: make it a parameter of the function, or bind it with `let`\
""")
    ):
        typed(var("y", SCALAR))


def test_an_annotation_nested_too_deep() -> None:
    type_: Type = SCALAR
    for _ in range(500):
        type_ = TupleType([type_])
    x = var("x", type_)
    with raises(snapshot("TypeInferenceError: error: a type is nested deeper than 128 levels")):
        typed(x, x)
