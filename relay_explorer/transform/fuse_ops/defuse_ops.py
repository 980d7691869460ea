"""DefuseOps: inline the kernels that FuseOps formed."""

from __future__ import annotations

from ...analysis.effects import effects
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.rewrites import emit_rewrite
from ...ir.walk import rewrite_nodes
from ..infrastructure import PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from ..tools.inlining import inlined


@dataclass(frozen=True)
class DefuseOps(FunctionPass):
    """Inline functions that are called where they are defined: `fn (%p0) { exp(%p0) }(%x)` becomes `exp(%x)`.

    This undoes FuseOps. A generic function that is called without explicit type arguments stays a function.
    """

    name = "DefuseOps"
    opt_level = 3
    required = ("InferType",)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        acts = effects(mod)

        def defused(node: Expr, new: Expr) -> Expr | None:
            if not (isinstance(node, Call) and isinstance(new, Call) and isinstance(new.op, Function)):
                return None
            callee = new.op
            if len(callee.type_params) != len(new.type_args) or len(callee.params) != len(new.args):
                return None
            acting = {number for number, arg in enumerate(node.args) if arg in acts}
            result = inlined(callee, new.args, node, new.type_args, acting)
            why = "A call of a function defined at the call is replaced by its body."
            emit_rewrite(self.transform_function, new, result, node, sentence=why)
            return result

        return rewritten(function, rewrite_nodes(function, defused))
