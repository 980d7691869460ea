"""FastMath: replace elementary functions by faster approximations."""

from __future__ import annotations

from ..ir.declaration import Trait
from ..ir.expr import Call, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import rewrite
from .infrastructure import Contract, PassContext
from .infrastructure.function_passes import FunctionPass, rewritten


@dataclass(frozen=True)
class FastMath(FunctionPass):
    """Replace `exp`, `tanh`, `erf` and `nn.softmax` by faster approximations."""

    name = "FastMath"
    opt_level = 4
    contract = Contract(error=1e-3)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        faster = approximations()

        def approximate(node: Expr) -> Expr | None:
            """Replace a function by its approximation."""
            if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in faster:
                op = Op.get(faster[node.op.name])
                return Call(op, node.args, node.attrs, node.type_args, node.span)
            return None

        return rewritten(function, rewrite(function, approximate))


def approximations() -> dict[str, str]:
    """Map the names of operators to those of their approximations."""
    return {name.replace("fast_", "", 1): name for name in Op.names_with(Trait.APPROXIMATION)}
