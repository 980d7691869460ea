"""Removes annotations that have no effect on compiled code, before operators are fused."""

from __future__ import annotations

from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import rewrite_nodes
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import FunctionPass, rewritten

_FUSION = "annotation.stop_fusion"  # FuseOps reads and removes it


class WithoutMarks(FunctionPass):
    """Replace each annotation, such as `on_device` or `annotation.checkpoint`, by its argument. Programs run
    on one device, and are compiled here as a whole.
    """

    name = "WithoutMarks"
    opt_level = 0

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_nodes(function, self._unmarked))

    def _unmarked(self, node: Expr, rebuilt: Expr) -> Expr | None:
        if not _is_mark(node):
            return None
        assert isinstance(rebuilt, Call)
        argument = rebuilt.args[0]
        why = "An annotation computes nothing, so its argument replaces it."
        emit_rewrite(self.transform_function, node, argument, sentence=why)
        return argument


def _is_mark(node: Expr) -> bool:
    if not isinstance(node, Call) or not isinstance(node.op, Op):
        return False
    return bool(node.op.get_attr("TNonComputational")) and node.op.name != _FUSION
