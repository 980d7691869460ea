"""Chapter 8: rewriting keeps sharing, and what nothing changes stays the same object."""

from __future__ import annotations

from pocket import bridge, ir
from pocket.interpreter import run
from pocket.visitor import find_all, map_functions, rewrite, substitute

from tests.pocket.programs import programs, same


def nothing(expr: ir.Node) -> ir.Node:
    return expr


def tanh_for_sigmoid(expr: ir.Node) -> ir.Node:
    if isinstance(expr, ir.Call) and expr.callee == ir.Op("sigmoid"):
        return ir.call("tanh", *expr.args)
    return expr


def copy_of_tuple(expr: ir.Node) -> ir.Node:
    return ir.Tuple(expr.fields) if isinstance(expr, ir.Tuple) else expr


x, y = ir.Var("x"), ir.Var("y")
shared = ir.call("sigmoid", x)
program = ir.call("add", shared, shared)
new = rewrite(program, tanh_for_sigmoid)
assert new.args[0] is new.args[1], "what is shared is rewritten twice"
assert new.args[0].callee == ir.Op("tanh"), f"{new.args[0]} is not rewritten"
assert rewrite(program, nothing) is program, "a program is copied although nothing in it changes"
assert substitute(program, {x: y}).args[0].args == (y,), "the variable is not replaced"
seen: list[ir.Node] = []


def note(expr: ir.Node) -> ir.Node:
    seen.append(expr)
    return expr


rewrite(program, note)
assert len(seen) == len(set(seen)) == 5, f"`change` sees each node once, and not {seen}"

doubled = x
for _ in range(60):
    doubled = ir.call("add", doubled, doubled)
assert len(find_all(rewrite(substitute(doubled, {x: y}), nothing), ir.Call)) == 60

for generated in programs(50):
    program = bridge.from_relay(generated.module)
    assert map_functions(program, lambda f: rewrite(f, nothing)).functions == program.functions
    copied = map_functions(program, lambda f: rewrite(f, copy_of_tuple))
    assert same(run(copied), run(program))
