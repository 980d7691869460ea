"""DefuseOps: inline the kernels that FuseOps formed."""

from __future__ import annotations

from ...analysis.effects import effects
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
from ..infrastructure import PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from ..tools.inlining import inlined


@dataclass(frozen=True)
class DefuseOps(FunctionPass):
    """Inline functions that are called where they are defined: `fn (%p0) { exp(%p0) }(%x)` becomes `exp(%x)`.

    This undoes FuseOps. A generic function whose type arguments are not written stays a function.
    """

    name = "DefuseOps"
    opt_level = 3
    required = ("InferType",)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        acts = effects(mod)
        memo: dict[Expr, Expr] = {}
        for node in post_order(function):
            new = rebuild(node, [memo[part] for part in children(node)])
            if isinstance(node, Call) and isinstance(new, Call) and isinstance(new.op, Function):
                callee = new.op
                if len(callee.type_params) == len(new.type_args) and len(callee.params) == len(new.args):
                    acting = {number for number, arg in enumerate(node.args) if arg in acts}
                    result = inlined(callee, new.args, node, new.type_args, acting)
                    emit_rewrite(
                        self.transform_function,
                        new,
                        result,
                        node,
                        sentence="A call of a function that is written in its place is its body.",
                    )
                    memo[node] = result
                    continue
            memo[node] = new
        return rewritten(function, memo[function])
