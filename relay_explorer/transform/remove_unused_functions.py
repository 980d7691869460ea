"""RemoveUnusedFunctions: remove functions that no entry point reaches."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Expr, GlobalVar
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.rewrites import emit_rewrite
from ..ir.walk import post_order
from .infrastructure import Pass, PassContext


@dataclass(frozen=True)
class RemoveUnusedFunctions(Pass):
    """Remove functions that none of `entry_functions` (`main`) reaches, directly or through calls."""

    name = "RemoveUnusedFunctions"
    opt_level = 1

    entry_functions: Sequence[str] = ("main",)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        used: set[str] = set()  # a function may be named by another GlobalVar than the module's own
        pending = [name for name in self.entry_functions if name in mod]
        while pending:
            name = pending.pop()
            if name in used or name not in mod:
                continue
            used.add(name)
            function = mod[name]
            if isinstance(function, Expr):
                pending += [node.name_hint for node in post_order(function) if isinstance(node, GlobalVar)]
        reachable = {var: f for var, f in mod.functions.items() if var.name_hint in used}
        for var, function in mod.functions.items():
            if var.name_hint not in used and isinstance(function, Expr):
                emit_rewrite(
                    self.transform_module,
                    var,
                    None,
                    function,
                    sentence="No entry point needs it, directly or not.",
                )
        return IRModule(reachable, mod.type_definitions, mod.attrs)
