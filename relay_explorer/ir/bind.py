"""Replace variables by expressions, and parameters by constants."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import RelayError
from .expr import Constant, Expr, Function, Var, to_ndarray
from .visitor import ExprMutator
from .walk import all_vars


class _Bind(ExprMutator):
    def __init__(self, values: Mapping[Var, Expr]) -> None:
        super().__init__()
        self.values = values

    def visit_var(self, var: Var) -> Expr:
        return self.values.get(var, var)


def bind(expr: Expr, binds: Mapping[Var | str, Expr]) -> Expr:
    """Replace variables of `expr`; where it is a function, replaced parameters are removed from its
    parameters.

    Variables may be given by name; a name that does not occur in `expr` raises a RelayError.
    """
    by_name = {v.name_hint: v for v in all_vars(expr)}
    values: dict[Var, Expr] = {}
    for key, value in binds.items():
        if isinstance(key, str) and key not in by_name:
            raise RelayError(f"there is no variable `%{key}` to bind")
        values[by_name[key] if isinstance(key, str) else key] = value
    if isinstance(expr, Function):
        params = [p for p in expr.params if p not in values]
        body = _Bind(values).visit(expr.body)
        return Function(params, body, expr.ret_type, expr.type_params, expr.attrs, expr.span)
    bound: Expr = _Bind(values).visit(expr)
    return bound


def bind_params_by_name(func: Function, params: Mapping[str, object]) -> Function:
    """Replace the parameters of `func` that `params` names by constants: NDArrays, arrays, lists or numbers.

    Names that match no parameter are ignored, because weight files hold more than a function needs; a name
    that several parameters share raises a RelayError.
    """
    values: dict[Var | str, Expr] = {}
    for name, value in params.items():
        named = [p for p in func.params if p.name_hint == name]
        if len(named) > 1:
            raise RelayError(f"the function has {len(named)} parameters called `%{name}`", func.span)
        if named:
            values[named[0]] = value if isinstance(value, Constant) else Constant(to_ndarray(value))
    bound = bind(func, values)
    assert isinstance(bound, Function)
    return bound
