"""The usual kind of pass: it rewrites one function at a time."""

from __future__ import annotations

from ..ir.expr import Function
from ..ir.module import IRModule
from .infrastructure import Pass, PassContext


class FunctionPass(Pass):
    """A pass that rewrites each function of a module by itself. Subclasses define `transform_function`;
    functions that belong to another compiler (attribute `Compiler`) are left alone.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                new[var] = self.transform_function(function, mod, ctx)
        return new

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        """The function rewritten; itself where there is nothing to do."""
        raise NotImplementedError(f"the pass {self.info.name} has no transform_function")


def rewritten(function: Function, made: object) -> Function:
    """What became of a function, which is a function still."""
    assert isinstance(made, Function), f"{function} became {made}"
    return made
