"""What the tests of neural-network operators share."""

from __future__ import annotations

from relay_explorer.ir.expr import Call, Expr, Function, Var, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.typing import infer_types


def operands(call: Call) -> Call:
    """The call with its arguments named anew, so that a table may use one name for all."""
    args = [
        var(f"a{i}", arg.type_annotation) if isinstance(arg, Var) else arg for i, arg in enumerate(call.args)
    ]
    return Call(call.op, args, call.attrs)


def first_types(expr: Expr | TupleWrapper) -> list[str]:
    """The types that inference gives the arguments of a call, which are its function's parameters."""
    call = expr.astuple() if isinstance(expr, TupleWrapper) else expr
    assert isinstance(call, Call)
    module = infer_types(IRModule.from_expr(Function([a for a in call.args if isinstance(a, Var)], call)))
    found = module["main"]
    assert isinstance(found, Function)
    return [str(p.checked_type) for p in found.params]
