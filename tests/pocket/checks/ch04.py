"""Chapter 4: expressions, and a printer whose text the package reads back."""

from __future__ import annotations

from pocket import ir
from pocket.printer import show

from relay_explorer import relay
from relay_explorer.compat import tvm

x, y = ir.Var("x", "Tensor[(3), float32]"), ir.Var("x", "Tensor[(3), float32]")
shared = ir.call("exp", x)
program = ir.Function((x, y), ir.call("add", shared, ir.call("multiply", shared, y)))
text = show(program)
assert text.count("exp(") == 1, f"a call that is used twice is written once, not as in\n{text}"
theirs = relay.Function(
    [a := relay.var("a", shape=(3,)), b := relay.var("b", shape=(3,))],
    (e := relay.exp(a)) + e * b,
)
read = relay.parse_expr(text)
assert tvm.ir.structural_equal(read, theirs), f"the text reads as another program:\n{text}"
assert len(text.splitlines()) == 5, f"a call that is an operand has a line of its own, not as in\n{text}"

total = ir.call("sum", x, axis=[0], keepdims=True)
a = relay.var("a", shape=(3,))
theirs = relay.Function([a], relay.sum(a, axis=[0], keepdims=True))
read = relay.parse_expr(show(ir.Function((x,), total)))
assert tvm.ir.structural_equal(read, theirs), f"attributes are lost:\n{show(total)}"

assert ir.Op("add") == ir.Op("add"), "operators of the same name are equal"
assert ir.Var("x") != ir.Var("x"), "variables of the same name are different"
for node, parts, binders in [
    (shared, [ir.Op("exp"), x], []),
    (program, [program.body], [x, y]),
    (ir.Let(x, shared, y), [shared, y], [x]),
    (ir.If(x, y, shared), [x, y, shared], []),
    (ir.Match(x, (clause := ir.Clause(y, shared),)), [x, clause], []),
    (clause, [shared], [y]),
]:
    assert ir.children(node) == parts, f"the children of {node} are not {ir.children(node)}"
    found = ir.children(node, binders=True)
    assert found == binders, f"the binders of {node} are not {found}"

# Twice as many additions, one line more each: what is shared is written once.
doubled = x
for _ in range(60):
    doubled = ir.call("add", doubled, doubled)
lines = show(doubled).splitlines()
assert len(lines) == 60, f"60 additions take 60 lines, not {len(lines)}"
