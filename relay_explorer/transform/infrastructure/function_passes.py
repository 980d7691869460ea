"""Base classes of passes that rewrite one function at a time."""

from __future__ import annotations

from ...ir.expr import Function
from ...ir.module import IRModule
from ...typing import infer_types
from .context import PassContext
from .passes import Pass


class FunctionPass(Pass, abstract=True):
    """A pass that rewrites each function of a module separately. Subclasses define `transform_function`;
    functions that belong to another compiler (attribute `Compiler`) are left alone.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                new[var] = self.transform_function(function, mod, ctx)
        return new

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        """Rewrite the function; return it as it is where there is nothing to do."""
        raise NotImplementedError(f"the pass {self.info.name} has no transform_function")


class TypedPass(FunctionPass, abstract=True):
    """A pass that needs types: `transform_function` receives a typed function. Its result need not be
    typed.
    """

    required = ("InferType",)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return super().transform_module(infer_types(mod), ctx)


def rewritten(function: Function, result: object) -> Function:
    """Check that a rewritten function is still a function."""
    assert isinstance(result, Function), f"{function} became {result}"
    return result
