"""UnCPS: wrap a function in continuation-passing style so that it can be called directly."""

from __future__ import annotations

from ...ir.annotate import set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Function, GlobalVar, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.type_visitor import TypeMutator
from ...ir.types import FuncType, Type, TypeVar
from ...ir.walk import post_order, type_vars_in
from ...typing import infer_types
from ..infrastructure import Contract, Pass, PassContext


@dataclass(frozen=True)
class UnCPS(Pass):
    """Wrap each function in continuation-passing style that nothing else refers to, so that it can be called
    without a continuation; see `un_cps`. A function that takes or returns functions stays as it is.
    """

    name = "UnCPS"
    opt_level = 1
    contract = Contract(types=False, needs="CPS")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = infer_types(mod)
        named = {
            node.name_hint
            for f in new.functions.values()
            for node in post_order(f)
            if isinstance(node, GlobalVar)
        }
        for var, function in new.functions.items():
            if var.name_hint not in named and _continuation_type(function) is not None:
                new[var] = function if _is_higher_order(function) else un_cps(function)
        return new


def un_cps(func: Function) -> Function:
    """Wrap `func`, which is in continuation-passing style, in a function that calls it with the identity
    continuation.
    """
    continuation = _continuation_type(func)
    if continuation is None:
        raise RelayError(
            "this function is not in continuation-passing style: its last parameter is not a function "
            "to the type of its result",
            func.span,
            help=["convert it with to_cps"],
        )
    if _is_higher_order(func):
        raise RelayError(
            "this function takes or returns functions, which would still expect continuations", func.span,
            help=["call it with a continuation"],
        )  # fmt: skip
    old_result, answer = continuation
    remaining = [param for param in func.type_params if param is not answer]
    types = _Replace({old: TypeVar(old.name_hint, old.kind) for old in remaining})
    result: Type = types.visit(old_result)
    types.types[answer] = result
    params = [Var(p.name_hint, types.visit(_type_of(p))) for p in func.params[:-1]]
    x = Var("x", result)
    identity = Function([x], x, result)
    type_args = [types.types[param] for param in func.type_params]
    body = Call(func, [*params, identity], None, type_args)
    new = Function(
        params, body, result, [v for v in types.types.values() if isinstance(v, TypeVar)][: len(remaining)],
        func.attrs, func.span,
    )  # fmt: skip
    set_origin(new, (func,))
    return new


def _is_higher_order(func: Function) -> bool:
    """Whether the answer type occurs outside the type of the continuation."""
    continuation = _continuation_type(func)
    assert continuation is not None
    result, answer = continuation
    return any(answer in type_vars_in(t)[0] for t in [result, *map(_type_of, func.params[:-1])])


def _type_of(var: Var) -> Type:
    return var.type_annotation if var.type_annotation is not None else var.checked_type


def _continuation_type(func: Function) -> tuple[Type, TypeVar] | None:
    """Return the type that a function's continuation takes, and the type variable of the answer; None where
    it has no continuation.
    """
    if not func.params or not func.type_params:
        return None
    last, answer = _type_of(func.params[-1]), func.type_params[-1]
    if isinstance(last, FuncType) and len(last.arg_types) == 1 and last.ret_type == answer:
        return last.arg_types[0], answer
    return None


class _Replace(TypeMutator):
    """Replaces the type parameters in types."""

    def __init__(self, types: dict[TypeVar, Type]) -> None:
        self.types = types

    def visit_type_var(self, typ: TypeVar) -> Type:
        return self.types.get(typ, typ)
