"""Lets and ifs written as statements."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.ir import RelayError
from relay_explorer.ir.equal import structural_equal


def test_the_program_that_it_builds() -> None:
    sb = relay.ScopeBuilder()
    x, c = relay.var("x", "float32"), relay.var("c", "bool")
    y = sb.let(("y", relay.scalar_type("float32")), relay.exp(x))
    with sb.if_scope(c):
        sb.ret(sb.let("z", relay.add(y, relay.const(1.0))))
    with sb.else_scope():
        with sb.if_scope(c):
            sb.ret(0.0)
        with sb.else_scope():
            sb.ret(y)
    built = relay.Function([x, c], sb.get())
    written = relay.parse_expr("""
      fn (%x: float32, %c: bool) {
        let %y: float32 = exp(%x);
        if (%c) { let %z = add(%y, 1f); %z } else { if (%c) { 0f } else { %y } }
      }
    """)
    assert structural_equal(built, written)


def test_bindings_are_in_order_and_variables_are_kept() -> None:
    sb = relay.ScopeBuilder()
    a = relay.var("a")
    assert sb.let(a, 1) is a
    b = sb.let("b", a)
    sb.ret(b)
    assert str(relay.Function([], sb.get())) == str(relay.parse_expr("fn () { let %a = 1; let %b = %a; %b }"))


def test_types() -> None:
    sb = relay.ScopeBuilder()
    assert sb.type_of(relay.var("x", "int32")) == relay.scalar_type("int32")
    with pytest.raises(ValueError, match="not known yet"):
        sb.type_of(relay.exp(relay.const(1.0)))


def test_what_is_not_a_scope() -> None:
    with pytest.raises(RelayError, match=r"the scope has no value\nhelp: end it with ret"):
        relay.ScopeBuilder().get()
    with (
        pytest.raises(RelayError, match="an else_scope needs an if_scope right before it"),
        relay.ScopeBuilder().else_scope(),
    ):
        pass
    sb = relay.ScopeBuilder()
    sb.ret(1)
    with pytest.raises(RelayError, match="already has its value"):
        sb.ret(2)
    with pytest.raises(RelayError, match="already has its value"):
        sb.let("x", 2)
    sb = relay.ScopeBuilder()
    with pytest.raises(RelayError, match="has no value"), sb.if_scope(relay.const(True)):
        pass
    with sb.if_scope(relay.const(True)):
        with pytest.raises(RelayError, match="inside an if_scope"):
            sb.get()
        sb.ret(1)
    with pytest.raises(RelayError, match="an if_scope has no else_scope"):
        sb.ret(1)
    with pytest.raises(RelayError, match="an if_scope has no else_scope"):
        sb.get()
