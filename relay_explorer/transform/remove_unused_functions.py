"""RemoveUnusedFunctions: functions of the module that no entry point needs are left out."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Expr, GlobalVar
from ..ir.module import IRModule
from ..ir.rewrites import tell
from ..ir.walk import post_order
from .infrastructure import Pass, PassContext


class RemoveUnusedFunctions(Pass):
    """Keeps the functions named in `entry_functions` (`main`), and those that they use, directly or not."""

    name = "RemoveUnusedFunctions"
    opt_level = 1

    def __init__(self, entry_functions: Sequence[str] = ("main",)) -> None:
        self.entry_functions = tuple(entry_functions)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        used: set[GlobalVar] = set()
        pending = [var for var in mod.functions if var.name_hint in self.entry_functions]
        while pending:
            var = pending.pop()
            if var in used or var not in mod.functions:
                continue
            used.add(var)
            function = mod.functions[var]
            if isinstance(function, Expr):
                pending += [node for node in post_order(function) if isinstance(node, GlobalVar)]
        kept = {var: f for var, f in mod.functions.items() if var in used}
        for var, function in mod.functions.items():
            if var not in used and isinstance(function, Expr):
                tell("No entry point needs it, directly or not.", var, None, function)
        return IRModule(kept, mod.type_definitions, mod.attrs)
