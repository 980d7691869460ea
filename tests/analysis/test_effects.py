"""Which expressions make, read or write references."""

from __future__ import annotations

from relay_explorer.analysis.effects import effects
from relay_explorer.ir.expr import Expr, Let
from relay_explorer.ir.walk import post_order
from relay_explorer.text import parse


def acting(text: str) -> list[str]:
    """Return the variables of `let` whose values have an effect."""
    module = parse(text)
    result = effects(module)
    nodes: list[Expr] = [n for f in module.functions.values() for n in post_order(f)]
    return sorted(n.var.name_hint for n in nodes if isinstance(n, Let) and n.value in result)


def test_references_and_what_holds_them() -> None:
    text = """
    def @main(%x: int32) {
      let %a = add(%x, 1);
      let %r = ref(%a);
      let %b = add(ref_read(%r), 1);
      let %c = if (less(%a, 2)) { let %u = ref_write(%r, 2); %a } else { %b };
      let %d = (%a, %c);
      %d
    }
    """
    assert acting(text) == ["b", "c", "r", "u"]


def test_a_function_acts_when_it_is_called() -> None:
    text = """
    def @main(%r: ref(int32)) {
      let %f = fn () { ref_read(%r) };
      let %a = %f();
      let %g = fn (%x: int32) { add(%x, 1) };
      let %b = %g(%a);
      %b
    }
    """
    assert acting(text) == ["a", "b"]


def test_without_references_nothing_acts() -> None:
    assert acting("def @f(%x: int32) { %x } def @main(%x: int32) { let %a = @f(%x); %a }") == []
    assert acting("def @f(%r: ref(int32)) { %r } def @main(%x: int32) { let %a = 1; %a }") == []
