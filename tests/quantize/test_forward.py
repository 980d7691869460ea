"""Forward rewriting: values in a form of their own pass from call to call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, post_order
from relay_explorer.quantize.forward import Temporary, Value, rewrite_forward
from relay_explorer.typing import infer_types
from tests.quantize.networks import operators, run


class Negated(Temporary):
    """A value that is held as its negative."""

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def realize(self) -> Expr:
        negative: Expr = relay.negative(self.expr)
        return negative

    def over(self, expr: Expr) -> Negated:
        return Negated(expr)


def rule(call: Call, operands: Sequence[Value]) -> Value | None:
    """Hold the negative of `negative`, so that it costs nothing, and pass it through products with 2."""
    assert isinstance(call.op, Op)
    (value, *rest) = operands
    if call.op.name == "negative":
        return value.expr if isinstance(value, Negated) else Negated(call.args[0])
    if call.op.name == "multiply" and isinstance(value, Negated) and isinstance(rest[0], Expr):
        return Negated(relay.multiply(value.expr, rest[0]))
    return None


def rewritten(text: str) -> tuple[IRModule, IRModule]:
    mod = infer_types(relay.parse(f'#[version = "0.0.5"]\n{text}'))
    main = mod["main"]
    assert isinstance(main, Function)
    return mod, infer_types(IRModule.from_expr(rewrite_forward(main, rule)))


X = np.asarray([1.0, -2.0], "float32")
HEAD = "def @main(%x: Tensor[(2), float32])"


def test_a_rule_receives_what_an_earlier_rule_returned() -> None:
    mod, new = rewritten(HEAD + " { negative(negative(%x) * 2f) }")
    assert operators(new) == ["multiply"]
    np.testing.assert_array_equal(run(new, X), run(mod, X))


def test_other_uses_receive_an_ordinary_expression() -> None:
    mod, new = rewritten(HEAD + " { sqrt(negative(%x) * 2f) }")
    assert operators(new) == ["multiply", "negative", "sqrt"]
    np.testing.assert_array_equal(run(new, -abs(X)), run(mod, -abs(X)))


def test_a_value_is_realized_once_for_all_its_uses() -> None:
    _, new = rewritten(HEAD + " {\n  %0 = negative(%x);\n  abs(%0) + sqrt(%0)\n}")
    assert operators(new).count("negative") == 1


def test_values_pass_through_let_as_they_are() -> None:
    mod, new = rewritten(HEAD + " { let %y = negative(%x) * 2f; let %z = %y; negative(%z) + abs(%y) }")
    assert operators(new).count("negative") == 1
    assert "let %y" in str(new)
    np.testing.assert_array_equal(run(new, X), run(mod, X))


def test_values_pass_through_explicit_tuples() -> None:
    mod, new = rewritten(HEAD + " {\n  %0 = (negative(%x), %x);\n  negative(%0.0) + %0.1\n}")
    assert operators(new) == ["add"]
    np.testing.assert_array_equal(run(new, X), run(mod, X))


def test_branches_and_functions_hold_ordinary_expressions() -> None:
    mod, new = rewritten(
        "def @main(%x: Tensor[(2), float32], %c: bool) {\n"
        "  let %f = fn (%y: Tensor[(2), float32]) { negative(%y) };\n"
        "  %f(if (%c) { negative(%x) } else { %x })\n}"
    )
    for chosen in (True, False):
        np.testing.assert_array_equal(run(new, X, np.asarray(chosen)), run(mod, X, np.asarray(chosen)))


def test_a_recursive_closure_is_left_as_it_is() -> None:
    mod, new = rewritten(
        "def @main(%n: int32) {\n"
        "  let %f: fn(int32) -> int32 = fn (%k: int32) -> int32 {\n"
        "    if (%k == 0) { 0 } else { %f(%k - 1) + 2 }\n"
        "  };\n"
        "  %f(%n)\n}"
    )
    assert run(new, np.asarray(4, "int32")) == run(mod, np.asarray(4, "int32")) == 8


def test_values_with_several_uses_can_be_mapped() -> None:
    mod = infer_types(relay.parse(f'#[version = "0.0.5"]\n{HEAD} {{\n  %0 = negative(%x);\n  %0 * %0\n}}'))
    main = mod["main"]
    assert isinstance(main, Function)
    seen: list[Value] = []

    def shared(value: Value) -> Value:
        seen.append(value)
        return value

    rewrite_forward(main, rule, shared)
    assert sum(isinstance(value, Negated) for value in seen) == 2


def test_the_program_itself_is_not_changed() -> None:
    """A rule may return an operand, which belongs to the program."""
    mod = infer_types(relay.parse(f'#[version = "0.0.5"]\n{HEAD} {{ abs(negative(negative(%x))) }}'))
    main = mod["main"]
    assert isinstance(main, Function)
    before = {node: node.origin for node in post_order(main)}
    new = rewrite_forward(main, rule)
    assert {node: node.origin for node in post_order(main)} == before
    assert isinstance(new.body, Call)
    assert new.body.args[0] is main.params[0]
