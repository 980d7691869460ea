"""Prepare a program for the virtual machine: check and optimize it, and fuse its operators."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.bind import bind_params_by_name
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...transform.fuse_ops import FuseOps
from ...transform.infer_type import InferType
from ...transform.infrastructure import context_within
from ...transform.optimize import pipeline
from ...transform.remove_unused_functions import RemoveUnusedFunctions
from ...typing import check_types, infer_types
from .bytecode import VMProgram
from .compiler import compile_module


def prepared(module: IRModule, opt_level: int = 3, entry: str = "main") -> IRModule:
    """Optimize the functions that `entry` needs, independently of the target, and infer their types."""
    module = RemoveUnusedFunctions((entry,))(module)
    with context_within(opt_level, ["RemoveUnusedFunctions"]):
        return infer_types(FuseOps()(InferType()(pipeline(fuse=False, mod=module)(module))))


def compile_program(
    mod: IRModule | Expr, params: Mapping[str, object] | None = None, opt_level: int = 3
) -> VMProgram:
    """Compile a module, or a function as its `@main`, to bytecode; `params` are values for parameters of
    `@main`, by name, and become part of the program. Raise a TypeInferenceError where the types are wrong.
    """
    module = IRModule.from_expr(mod).copy()
    if params:
        module["main"] = bind_params_by_name(module["main"], params)
    check_types(module)
    return compile_module(prepared(module, opt_level))
