# %%
from contextlib import suppress

from pocket import ir, scopes
from pocket.interpreter import apply
from pocket.visitor import find_all


def is_operator_call(expr):
    return isinstance(expr, ir.Call) and isinstance(expr.callee, ir.Op)


def simplify(expr):
    """Replace an expression by its value if its operands are known."""
    match expr:
        case ir.Call(ir.Op() as op, args, attrs) if args:
            if all(isinstance(arg, ir.Constant) for arg in args):
                with suppress(ValueError):  # a call that fails is kept
                    value = apply(op, [arg.value for arg in args], attrs)
                    if not isinstance(value, tuple):
                        return ir.Constant(value)
        case ir.TupleGetItem(ir.Tuple(fields), index):
            return fields[index]
        case ir.If(ir.Constant(value), then_branch, else_branch):
            return then_branch if value else else_branch
    return expr


# %%
SHARED = ir.Constant, ir.Tuple, ir.TupleGetItem  # and operator calls


def fold_constants(function):
    """Compute at compile time what depends on constants only, and
    replace variables by the values that graphs can share."""
    bound = {let.var: let.value for let in find_all(function, ir.Let)}
    new = {}
    for expr in scopes.post_order(function):
        new[expr] = simplify(scopes.map_children(expr, new.get))
        value = new.get(bound.get(expr))
        if isinstance(value, SHARED) or is_operator_call(value):
            new[expr] = value
    return new[function]
