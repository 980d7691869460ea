"""EtaExpand: constructors and functions that are used as values become functions that call them."""

from __future__ import annotations

from ..ir.adt import Constructor
from ..ir.expr import Call, Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.rewrites import tell
from ..ir.types import FuncType, Type, TypeCall, TypeVar
from ..ir.walk import children, post_order, rebuild
from ..typing import infer_types
from ..typing.solver import substitute
from .function_pass import FunctionPass, rewritten
from .infrastructure import PassContext


class EtaExpand(FunctionPass):
    """Replaces a constructor, or a function of the module, that is not called where it stands by
    `fn (x, …) { C(x, …) }`. A backend that knows calls only needs no other form then.
    """

    name = "EtaExpand"
    opt_level = 1
    required = ("InferType",)

    def __init__(self, expand_constructor: bool = True, expand_global_var: bool = False) -> None:
        self.expand_constructor = expand_constructor
        self.expand_global_var = expand_global_var

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return super().transform_module(infer_types(mod), ctx)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        memo: dict[int, Expr] = {}
        for node in post_order(function):
            new = []
            for number, part in enumerate(children(node)):
                called = isinstance(node, Call) and number == 0
                new.append(self._value(part, mod) if not called and self._expands(part) else memo[id(part)])
            memo[id(node)] = rebuild(node, new)
        return rewritten(function, memo[id(function)])

    def _expands(self, part: Expr) -> bool:
        if isinstance(part, Constructor):
            return self.expand_constructor
        return isinstance(part, GlobalVar) and self.expand_global_var

    def _value(self, callee: Expr, mod: IRModule) -> Expr:
        """The function that calls it."""
        if isinstance(callee, Constructor):
            type_ = _constructor_type(callee, mod)
        else:
            found = mod[callee].checked_type if isinstance(callee, GlobalVar) else callee.checked_type
            assert isinstance(found, FuncType)
            type_ = found
        if isinstance(callee, Constructor) and not type_.arg_types:
            return Call(callee, [])
        params = [Var(f"eta_expand_param_{k}", arg) for k, arg in enumerate(type_.arg_types)]
        made = Function(params, Call(callee, params), type_.ret_type, type_.type_params)
        made.origin = (callee,)
        tell("What can be called, and is used as a value, is a function that calls it.", callee, made)
        return made


def _constructor_type(constructor: Constructor, mod: IRModule) -> FuncType:
    """The type of a constructor as a function, with type parameters of its own."""
    header = constructor.belong_to
    fresh: dict[TypeVar, Type] = {
        v: TypeVar(v.name_hint, v.kind) for v in mod.type_definitions[header].type_vars
    }
    params = [v for v in fresh.values() if isinstance(v, TypeVar)]
    inputs = [substitute(part, fresh) for part in constructor.inputs]
    return FuncType(inputs, TypeCall(header, params), params)
