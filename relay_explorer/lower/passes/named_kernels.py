"""Inlines the kernels of a program that was already fused, as older code does it, and then converted to `let`
bindings. DefuseOps takes a kernel apart only where it is called directly.
"""

from __future__ import annotations

from ...ir.expr import Expr, Function, Let
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import FunctionPass, rewritten


def is_kernel(node: object) -> bool:
    """Whether an expression is a function of fused operators."""
    return isinstance(node, Function) and "Primitive" in node.attrs


@dataclass(frozen=True)
class NamedKernels(FunctionPass):
    """Move kernels that `let` binds to their calls."""

    name = "NamedKernels"

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        order = post_order(function)
        kernels = {node.var: node.value for node in order if isinstance(node, Let) and is_kernel(node.value)}
        if not kernels:
            return function
        memo: dict[Expr, Expr] = {}
        for node in order:
            if isinstance(node, Let) and node.var in kernels:
                emit_rewrite(
                    self.transform_function,
                    node.var,
                    node.value,
                    sentence="A kernel bound by a `let` moves to its calls.",
                )
                memo[node] = memo[node.body]
                continue
            parts = [memo[kernels.get(part, part)] for part in children(node)]  # type: ignore[call-overload]
            memo[node] = rebuild(node, parts)
        return rewritten(function, memo[function])
