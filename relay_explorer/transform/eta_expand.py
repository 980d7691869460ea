"""EtaExpand: eta-expand constructors, global functions and operators that are used as values."""

from __future__ import annotations

from ..ir.adt import Constructor
from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function, GlobalVar, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.substitute import substitute_type
from ..ir.types import FuncType, Type, TypeCall, TypeVar, is_complete
from ..ir.walk import children, free_type_vars, post_order, rebuild
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.expected_types import expected_type


@dataclass(frozen=True)
class EtaExpand(TypedPass):
    """Eta-expand constructors and global functions that are used as values: `C` becomes `fn (x, …) { C(x, …)
    }`.

    A backend then has to handle calls only. With `expand_operator`, operators are expanded too, where the
    types that they are used at are known; the new functions become kernels.
    """

    name = "EtaExpand"
    opt_level = 1

    expand_constructor: bool = True
    expand_global_var: bool = False
    expand_operator: bool = False

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        memo: dict[Expr, Expr] = {}
        for node in post_order(function):
            new = []
            for number, part in enumerate(children(node)):
                called = isinstance(node, Call) and number == 0
                if not called and isinstance(part, Op) and self.expand_operator:
                    new.append(_operator(part, expected_type(node, number, mod)))
                elif not called and self._expands(part):
                    new.append(self._value(part, mod))
                else:
                    new.append(memo[part])
            memo[node] = rebuild(node, new)
        return rewritten(function, memo[function])

    def _expands(self, part: Expr) -> bool:
        if isinstance(part, Constructor):
            return self.expand_constructor
        return isinstance(part, GlobalVar) and self.expand_global_var

    def _value(self, callee: Expr, mod: IRModule) -> Expr:
        """Wrap the callee in a function that calls it."""
        if isinstance(callee, Constructor):
            type_ = _constructor_type(callee, mod)
        else:
            callee_type = mod[callee].checked_type if isinstance(callee, GlobalVar) else callee.checked_type
            assert isinstance(callee_type, FuncType)
            type_ = callee_type
        if isinstance(callee, Constructor) and not type_.arg_types:
            return Call(callee, [])
        params = [Var(f"eta_expand_param_{k}", arg) for k, arg in enumerate(type_.arg_types)]
        result = Function(params, Call(callee, params), type_.ret_type, type_.type_params)
        set_origin(result, (callee,))
        emit_rewrite(
            self._value,
            callee,
            result,
            sentence="A constructor or global function used as a value is eta-expanded.",
        )
        return result


def _operator(op: Op, type_: Type | None) -> Expr:
    """Wrap an operator whose argument types are known in a function that calls it; return any other operator
    as it is.
    """
    if not isinstance(type_, FuncType) or free_type_vars(type_) or not is_complete(type_):
        return op
    params = [Var(f"eta_expand_param_{k}", arg) for k, arg in enumerate(type_.arg_types)]
    attrs = op.attrs_class() if op.attrs_class is not None else None
    result = Function(params, Call(op, params, attrs), type_.ret_type)
    set_origin(result, (op,))
    emit_rewrite(_operator, op, result, sentence="An operator used as a value is eta-expanded.")
    return result


def _constructor_type(constructor: Constructor, mod: IRModule) -> FuncType:
    """Return the type of a constructor as a function, with fresh type parameters."""
    header = constructor.belong_to
    fresh: dict[TypeVar, Type] = {
        v: TypeVar(v.name_hint, v.kind) for v in mod.type_definitions[header].type_vars
    }
    params = [v for v in fresh.values() if isinstance(v, TypeVar)]
    inputs = [substitute_type(part, fresh) for part in constructor.inputs]
    return FuncType(inputs, TypeCall(header, params), params)
