"""Legalize: replace operators by what registered functions return for them."""

from __future__ import annotations

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Function, unwrapped
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.walk import children, post_order, rebuild
from .infrastructure import Contract, PassContext
from .infrastructure.function_passes import TypedPass, rewritten


@dataclass(frozen=True)
class Legalize(TypedPass):
    """Replace each operator call by what the function registered for the operator returns.

    The function comes from `register_legalize`, or from the property called `legalize_map_attr_name`:
    `f(attrs, inputs, types)`, where `types` are those of the inputs and of the result. None leaves the call
    as it is. No operator has such a function by default, because it is the backend that knows what its target
    cannot compute.
    """

    name = "Legalize"
    opt_level = 1
    # The registered functions may change types.
    contract = Contract(types=False)

    legalize_map_attr_name: str = "FTVMLegalize"

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        memo: dict[Expr, Expr] = {}
        for node in post_order(function):
            new = rebuild(node, [memo[part] for part in children(node)])
            if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(new, Call):
                result = self._legal(node, new, node.op)
                if result is not None:
                    if not result.origin and result not in memo:
                        set_origin(result, (node,))
                    emit_rewrite(node.op.get_attr(self.legalize_map_attr_name), new, result, node)
                    new = result
            memo[node] = new
        return rewritten(function, memo[function])

    def _legal(self, old: Call, new: Call, op: Op) -> Expr | None:
        legalize = op.get_attr(self.legalize_map_attr_name)
        if legalize is None:
            return None
        types = [*(arg.checked_type for arg in old.args), old.checked_type]
        legal = unwrapped(legalize(new.attrs, list(new.args), types))
        if legal is not None and not isinstance(legal, Expr):
            raise RelayError(
                f"the legalization of `{op.name}` must return an expression, not {legal!r:.60}",
                old.span,
                help=["return None to leave the call as it is"],
            )
        return legal
