"""What a user may write against the public API. Type-checked, never run."""

from __future__ import annotations

import numpy as np

import relay_explorer
from relay_explorer import Explorer, build, explore, load, models, relay, testing
from relay_explorer.analysis import free_vars
from relay_explorer.execute import Executor
from relay_explorer.text import parse

x = relay.var("x", shape=(1, 3, 8, 8))
w = relay.var("w", shape=(4, 3, 3, 3), dtype="float32")
y = relay.nn.conv2d(x, w, strides=(2, 2), padding=1)
total = relay.sum(relay.add(y, relay.const(np.float32(1))), axis=[1])
module = relay.IRModule.from_expr(relay.Function([x, w], relay.Tuple([y, total])))
module = relay.transform.InferType()(module)
passes = [relay.transform.FuseOps(2), relay.transform.FoldConstant()]
optimized = relay.transform.Sequential(passes)(module)
again: relay.IRModule = relay.parse(optimized.astext())
same: relay.IRModule = parse(relay.astext(again))
explorer: Explorer = explore(again, view="fusion")
again_explored: Explorer = relay_explorer.explore(models.load("mlp"))
compiled = build(optimized, target="llvm")
saved = load("program.rx")
unbound: list[relay.Var] = free_vars(y)
executor: Executor = relay.create_executor("vm", module)
dense: relay.Call = relay.op.nn.dense(x, w)
add: relay.Op = relay.op.get("add")
smooth: relay.Op = relay.op.register("smooth", "A running mean.")
relay.op.register_pattern("smooth", relay.op.OpPattern.ELEMWISE)
value: relay.backend.interpreter.ConstructorValue | None = None
tensor: relay.ty.TensorType = relay.scalar_type("float32")
program = testing.generate(seed=3)


class Renamer(relay.ExprMutator):
    """Renames every variable."""

    def visit_var(self, var: relay.Var) -> relay.Expr:
        return relay.var(f"{var.name_hint}_", var.type_annotation)


@relay.op.register_alter_op_layout("smooth", level=11)
def alter(*arguments: object) -> relay.Expr | None:
    """Keep every call as it is."""
    return None


renamed: relay.Expr = Renamer().visit(y)
