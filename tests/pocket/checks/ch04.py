"""Chapter 4: expressions, and a printer whose text the package reads back."""

from __future__ import annotations

from pocket import ir
from pocket.printer import show

from relay_explorer import relay
from relay_explorer.compat import tvm

x, y = ir.Var("x", "Tensor[(3), float32]"), ir.Var("x", "Tensor[(3), float32]")
shared = ir.call("exp", x)
program = ir.Function((x, y), ir.call("add", shared, ir.call("multiply", shared, y)))
EXPECTED = """\
fn (%x: Tensor[(3), float32], %x1: Tensor[(3), float32]) {
  %0 = exp(%x);
  %1 = multiply(%0, %x1);
  add(%0, %1)
}"""
assert show(program) == EXPECTED, show(program)
theirs = relay.Function(
    [a := relay.var("a", shape=(3,)), b := relay.var("b", shape=(3,))],
    (e := relay.exp(a)) + e * b,
)
assert tvm.ir.structural_equal(relay.parse_expr(show(program)), theirs)

assert ir.Op("add") == ir.Op("add")
assert ir.children(shared) == [ir.Op("exp"), x]

# Twice as many additions, one line more each: what is shared is written once.
doubled = x
for _ in range(60):
    doubled = ir.call("add", doubled, doubled)
assert len(show(doubled).splitlines()) == 60
