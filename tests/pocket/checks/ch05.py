"""Chapter 5: free variables and A-normal form, as the package's pass makes it."""

from __future__ import annotations

from pocket import bridge, ir
from pocket.scopes import find_scopes, free_vars, map_children, to_anf

from relay_explorer import models, relay
from relay_explorer.compat import tvm
from tests.pocket.programs import programs

x, y = ir.Var("x"), ir.Var("y")
total = ir.call("add", ir.call("exp", x), y)
assert free_vars(total) == [x, y]
assert free_vars(ir.Function((x,), total)) == [y]
assert free_vars(ir.Let(y, x, total)) == [x]

exp = ir.call("exp", x)
assert map_children(exp, lambda child: child) is exp
assert map_children(exp, {exp.callee: exp.callee, x: y}.get).args == (y,)

# What both branches use is bound before the `if`, and what one uses, in it.
both, one = ir.call("exp", x), ir.call("log", x)
choice = ir.If(y, ir.call("tanh", both), ir.call("add", both, one))
scope_of = find_scopes(choice)
assert scope_of[both] == scope_of[choice]
assert scope_of[one] == ((choice, choice.else_branch),)

# A graph that doubles sixty times is walked once.
doubled = x
for _ in range(60):
    doubled = ir.call("add", doubled, doubled)
lets, body = 0, to_anf(doubled)
while isinstance(body, ir.Let):
    lets, body = lets + 1, body.body
assert lets == 60

for name in ("mlp", "lenet", "lstm", "resnet50"):
    module = models.load(name)
    mine = to_anf(bridge.from_relay(module).functions["main"])
    theirs = relay.transform.ToANormalForm()(module)["main"]
    assert tvm.ir.structural_equal(bridge.to_relay(mine), theirs), name

for generated in programs(40):
    program = bridge.from_relay(generated.module)
    new = {name: to_anf(function) for name, function in program.functions.items()}
    normal = bridge.to_relay(ir.Module(new, program.datatypes))
    relay.transform.InferType()(normal)
    for function in new.values():
        stack = [function.body]
        while stack:
            expr = stack.pop()
            if isinstance(expr, (ir.Call, ir.Tuple, ir.TupleGetItem)):
                atoms = (ir.Var, ir.Op, ir.GlobalVar, ir.Constructor)
                assert all(isinstance(part, atoms) for part in ir.children(expr))
            stack += ir.children(expr)
