"""ToBasicBlockNormalForm: what several blocks share is bound before them."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.expr import Expr, Function
from ...ir.module import IRModule
from ..infrastructure import Contract, PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from .to_a_normal_form import Normalizer


@dataclass(frozen=True)
class ToBasicBlockNormalForm(FunctionPass):
    """Binds an expression that is used in another block than its own, such as a branch of an `if` or the body
    of a function, to a variable of the block that holds all uses. Within a block, the program stays a graph.

    Afterwards a block can be rewritten or compiled by itself: nothing in it is computed for another one.
    """

    name = "ToBasicBlockNormalForm"
    opt_level = 1
    contract = Contract(gives="basic-block")

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, to_basic_block_normal_form(function))


def to_basic_block_normal_form(expr: Expr) -> Expr:
    """The basic-block normal form of an expression."""
    return Normalizer(expr, across_blocks=True).result()
