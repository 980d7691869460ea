"""Chapter 5: free variables and A-normal form, as the package's pass makes it."""

from __future__ import annotations

from pocket import bridge, ir
from pocket.printer import show
from pocket.scopes import find_scopes, free_vars, map_children, to_anf

from relay_explorer import models, relay
from relay_explorer.compat import tvm
from tests.pocket.programs import programs

x, y = ir.Var("x"), ir.Var("y")
total = ir.call("add", ir.call("exp", x), y)
for expr, expected in [
    (total, [x, y]),
    (ir.Function((x,), total), [y]),
    (ir.Let(y, x, total), [x]),
    (ir.Match(x, (ir.Clause(y, total),)), [x]),
]:
    names = [var.name for var in free_vars(expr)]
    assert free_vars(expr) == expected, f"the free variables are not {names} in {expr}"

exp = ir.call("exp", x)
kept = map_children(exp, lambda child: child)
assert kept is exp, "map_children copies a node whose children stay the same"
assert map_children(exp, {exp.callee: exp.callee, x: y}.get).args == (y,)

# What both branches use is bound before the `if`, and what one uses, in it.
both, one = ir.call("exp", x), ir.call("log", x)
choice = ir.If(y, ir.call("tanh", both), ir.call("add", both, one))
scope_of = find_scopes(choice)
assert scope_of[both] == scope_of[choice], "what both branches use is bound before the `if`"
found = scope_of[one]
assert found == ((choice, choice.else_branch),), f"what one branch uses is bound in it, not in {found}"

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
    same = tvm.ir.structural_equal(bridge.to_relay(mine), theirs)
    assert same, f"{name} differs from the package's A-normal form"

for generated in programs(40):
    program = bridge.from_relay(generated.module)
    new = {name: to_anf(function) for name, function in program.functions.items()}
    for function in new.values():
        stack = [function.body]
        while stack:
            expr = stack.pop()
            atoms = (ir.Var, ir.Op, ir.GlobalVar, ir.Constructor)
            if isinstance(expr, (ir.Call, ir.Tuple, ir.TupleGetItem, ir.If, ir.Match)):
                count = 1 if isinstance(expr, (ir.If, ir.Match)) else None  # the condition, the data
                atomic = all(isinstance(part, atoms) for part in ir.children(expr)[:count])
                assert atomic, f"an operand is not a name in\n{show(expr)[:500]}"
            stack += ir.children(expr)
    normal = bridge.to_relay(ir.Module(new, program.datatypes))
    for function in normal.functions.values():
        unbound = [var.name_hint for var in relay.analysis.free_vars(function)]
        assert not unbound, f"no `let` binds {unbound} in\n{function}"
    values = [str(relay.create_executor(mod=m).evaluate()()) for m in (generated.module, normal)]
    assert values[0] == values[1], f"the value has changed:\n{normal}"
