"""FastMath: replace elementary functions by faster approximations."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.expr import Call, Expr, Function
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import rewrite
from .infrastructure import Contract, PassContext
from .infrastructure.function_passes import FunctionPass, rewritten

FASTER = {"exp": "fast_exp", "tanh": "fast_tanh", "erf": "fast_erf", "nn.softmax": "nn.fast_softmax"}


@dataclass(frozen=True)
class FastMath(FunctionPass):
    """Replace `exp`, `tanh`, `erf` and `nn.softmax` by faster approximations."""

    name = "FastMath"
    opt_level = 4
    contract = Contract(error=1e-3)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite(function, _faster))


def _faster(node: Expr) -> Expr | None:
    """A function of numbers that has an approximation is replaced by it."""
    if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in FASTER:
        return Call(Op.get(FASTER[node.op.name]), node.args, node.attrs, node.type_args, node.span)
    return None
