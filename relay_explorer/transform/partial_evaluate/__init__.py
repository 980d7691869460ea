"""PartialEvaluate: run a program as far as its data is static (the paper's section on partial evaluation).

The residual program does what could not be done at compile time. Functions are inlined, `if`s and `match`es
on static values are decided, a recursion over static data is unrolled, and reads of reference cells with
static contents are replaced by the contents. The order of side effects stays the same.
"""

from __future__ import annotations

from ...ir.expr import Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...typing import infer_types
from ..infrastructure import Contract, Pass, PassContext
from ..normal_forms.to_a_normal_form import ToANormalForm
from .evaluator import MAX_BINDINGS, Evaluator, is_kernel


@dataclass(frozen=True)
class PartialEvaluate(Pass):
    """Evaluate each function as far as its data is static, and return the residual program.

    The program is converted to A-normal form first; run DeadCodeElimination afterwards to remove what was
    only needed at compile time. A recursion is unrolled while one of its arguments gets smaller: a whole
    number decreases, or data is taken apart. The context's option `relay.PartialEvaluate.max_bindings`
    (200,000) bounds the residual program: once it is reached, functions are called instead of inlined.
    """

    name = "PartialEvaluate"
    opt_level = 1
    required = ("InferType",)
    contract = Contract(gives="A-normal")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        normal = infer_types(ToANormalForm()(mod))
        limit = int(ctx.config.get("relay.PartialEvaluate.max_bindings", MAX_BINDINGS))
        new = normal.copy()
        for var, function in normal.functions.items():
            if isinstance(function, Function) and not is_kernel(function):
                new[var] = Evaluator(normal, limit).residual(var, function)
        return new
