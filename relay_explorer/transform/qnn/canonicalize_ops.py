"""QnnCanonicalizeOps: expand quantized operators into plain ones."""

from __future__ import annotations

from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import post_order, rewrite_nodes
from ...ops.canonical import canonical_rule
from ..infrastructure import PassContext
from ..infrastructure.function_passes import TypedPass, rewritten


@dataclass(frozen=True)
class QnnCanonicalizeOps(TypedPass):
    """Replace each operator that has a canonical form, as quantized operators do, by that form: an expression
    of plain operators that computes the same integers.

        qnn.dense(%x, %w, zx, zw, …)  becomes  products, and corrections by the zero points

    Code generators then need to know plain operators only. `rounding` and `compute_dtype` of a
    `qnn.requantize` that does not state them are those of `relay.qnn.op.requantize_config`.
    """

    name = "QnnCanonicalizeOps"
    opt_level = 0

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return super().transform_module(mod, ctx) if has_canonical_forms(mod) else mod

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_nodes(function, _canonical))


def has_canonical_forms(mod: IRModule) -> bool:
    """Whether a program calls operators that have a canonical form."""
    return any(
        isinstance(node, Op) and canonical_rule(node) is not None
        for function in mod.functions.values()
        for node in post_order(function)
    )


def _canonical(node: Expr, new: Expr) -> Expr | None:
    """Replace a call by the operator's canonical form."""
    if not (isinstance(node, Call) and isinstance(node.op, Op) and isinstance(new, Call)):
        return None
    rule = canonical_rule(node.op)
    if rule is None:
        return None
    result = rule(node, new.args)
    if not result.origin and result not in new.args:
        set_origin(result, (node,))
    emit_rewrite(
        _canonical,
        new,
        result,
        node,
        sentence=f"`{node.op.name}` is expanded into plain operators on integers.",
    )
    return result
