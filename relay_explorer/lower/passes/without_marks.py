"""Annotations without a meaning here leave a program before its operators are fused."""

from __future__ import annotations

from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
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
        order = post_order(function)
        if not any(map(_is_mark, order)):
            return function
        memo: dict[Expr, Expr] = {}
        for node in order:
            if _is_mark(node):
                assert isinstance(node, Call)
                memo[node] = memo[node.args[0]]
                emit_rewrite(
                    self.transform_function,
                    node,
                    memo[node],
                    sentence="An annotation computes nothing: its argument takes its place.",
                )
            else:
                memo[node] = rebuild(node, [memo[part] for part in children(node)])
        return rewritten(function, memo[function])


def _is_mark(node: Expr) -> bool:
    if not isinstance(node, Call) or not isinstance(node.op, Op):
        return False
    return bool(node.op.get_attr("TNonComputational")) and node.op.name != _FUSION
