# %%
from functools import cache, partial

import numpy as np

from pocket import ir, relations, scopes

plus, minus = partial(ir.call, "add"), partial(ir.call, "subtract")
times, over = partial(ir.call, "multiply"), partial(ir.call, "divide")
negative, where = partial(ir.call, "negative"), partial(ir.call, "where")
dense, flip = partial(ir.call, "nn.dense"), partial(ir.call, "transpose")
total, greater = partial(ir.call, "sum"), partial(ir.call, "greater")
ZERO, ONE = (ir.Constant(np.array(n, "float32")) for n in (0, 1))


# %%
RULES = {  # from dy, with respect to y, to those of the operands
    "add": lambda dy, y, a, b: [dy, dy],
    "subtract": lambda dy, y, a, b: [dy, negative(dy)],
    "multiply": lambda dy, y, a, b: [times(dy, b), times(dy, a)],
    "negative": lambda dy, y, x: [negative(dy)],
    "exp": lambda dy, y, x: [times(dy, y)],
    "log": lambda dy, y, x: [over(dy, x)],
    "tanh": lambda dy, y, x: [times(dy, minus(ONE, times(y, y)))],
    "sigmoid": lambda dy, y, x: [times(dy, times(y, minus(ONE, y)))],
    "sum": lambda dy, y, x: [times(dy, full(x, 1))],
    "nn.relu": lambda dy, y, x: [where(greater(x, ZERO), dy, ZERO)],
    "nn.bias_add": lambda dy, y, x, bias: [dy, dy],
}


def dense_rule(dy, y, x, weight, **attrs):
    return [dense(dy, flip(weight)), dense(flip(dy), flip(x))]


def softmax_rule(dy, y, x, axis=-1):
    weighted = total(times(dy, y), axis=[axis], keepdims=True)
    return [times(y, minus(dy, weighted))]


RULES |= {"nn.dense": dense_rule, "nn.softmax": softmax_rule}


# %%
@cache
def type_of(expr):
    """Return the type of an expression of operators."""
    match expr:
        case ir.Var(_, type_):
            return type_
        case ir.Constant(value):
            return relations.type_of(value)
    operands = list(map(type_of, expr.args))
    return relations.result_type(expr.callee.name, operands, expr.attrs)


def full(expr, value):
    """Return a constant that has the shape of an expression."""
    return ir.Constant(np.full(type_of(expr).shape, value, "float32"))


def fit(part, operand):
    """Sum a derivative along the axes where its operand was broadcast."""
    shape, own = type_of(part).shape, type_of(operand).shape
    if shape == own:
        return part
    aligned = (0,) * (len(shape) - len(own)) + own  # 0: no such axis
    axes = [axis for axis, n in enumerate(aligned) if n != shape[axis]]
    summed = total(part, axis=axes, keepdims=True)
    return ir.call("reshape", summed, newshape=list(own))


# %%
def gradient(function):
    """Return a function that computes the result of another one, and the
    derivatives of the result's sum with respect to the parameters."""
    result, params = function.body, function.params
    sums = {result: full(result, 1)}
    for expr in reversed(scopes.post_order(result)):
        if isinstance(expr, ir.Call) and expr in sums:
            rule = RULES[expr.callee.name]
            parts = rule(sums[expr], expr, *expr.args, **expr.attrs)
            for operand, part in zip(expr.args, parts):
                part, before = fit(part, operand), sums.get(operand)
                sums[operand] = plus(before, part) if before else part
    by_params = tuple(sums.get(p, full(p, 0)) for p in params)
    return ir.Function(params, ir.Tuple((result, ir.Tuple(by_params))))
