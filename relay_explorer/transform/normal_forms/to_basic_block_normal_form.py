"""ToBasicBlockNormalForm: bind values that several blocks share."""

from __future__ import annotations

from ...ir.expr import Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ..infrastructure import Contract, PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from .to_a_normal_form import Normalizer


@dataclass(frozen=True)
class ToBasicBlockNormalForm(FunctionPass):
    """Bind an expression that is used in several blocks to a variable of the block that encloses all its
    uses.

    Blocks are the branches of an `if` and of a `match`, and the bodies of functions. Within a block, the
    program stays a graph. Afterwards each block can be rewritten or compiled by itself, because nothing in it
    is computed for another one.
    """

    name = "ToBasicBlockNormalForm"
    opt_level = 1
    contract = Contract(gives="basic-block")

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, to_basic_block_normal_form(function))


def to_basic_block_normal_form(expr: Expr) -> Expr:
    """Convert an expression to basic-block normal form."""
    return Normalizer(expr, across_blocks=True).result()
