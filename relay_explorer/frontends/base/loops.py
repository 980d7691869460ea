"""Build loops and conditionals of imported models: a loop becomes a tail-recursive function.

The types of a loop's variables are those that every iteration has: an axis whose extent changes becomes `?`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, If, Let, Tuple, TupleGetItem, Var
from ...ir.types import Any, TensorType, TupleType, Type
from .context import Context

_ITERATIONS = 8  # attempts to find types that an iteration preserves


def joined(a: Type, b: Type) -> Type:
    """Return the most precise type that values of both types have: dimensions that differ become `?`. Raise a
    RelayError where there is none.
    """
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        if a.dtype == b.dtype and len(a.shape) == len(b.shape):
            return TensorType([x if x == y else Any() for x, y in zip(a.shape, b.shape)], a.dtype)
    elif isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.fields) == len(b.fields):
        return TupleType([joined(x, y) for x, y in zip(a.fields, b.fields)])
    raise RelayError(f"a value has type {a} at first and {b} later; Relay needs one type for both")


def while_loop(
    context: Context,
    name: str,
    variables: Sequence[tuple[str, Expr]],
    condition: Callable[[Sequence[Var]], Expr],
    body: Callable[[Sequence[Var]], Sequence[Expr]],
) -> tuple[Expr, ...]:
    """Build `while condition(variables): variables = body(variables)`; return the final values.

    `variables` are names and initial values. The loop is a local function that calls itself in tail position,
    so that it may use values from outside. `condition` and `body` are called with the loop's own variables,
    once for each attempt at their types.
    """
    types = [context.type(value) for _, value in variables]
    for _ in range(_ITERATIONS):
        params = [Var(label, type_) for (label, _), type_ in zip(variables, types)]
        test = condition(params)
        following = list(body(params))
        if len(following) != len(params):
            raise RelayError(
                f"the loop has {len(params)} variables, but its body returns {len(following)} values"
            )
        wider = [joined(type_, context.type(value)) for type_, value in zip(types, following)]
        if wider == types:
            break
        types = wider
    else:
        raise RelayError(f"the types of the variables of the loop `{name}` do not settle")
    loop = Var(name)
    result_type = TupleType(types)
    function = Function(params, If(test, Call(loop, following), Tuple(params)), result_type)
    start = Call(loop, [value for _, value in variables])
    result = Let(loop, function, start)
    return tuple([TupleGetItem(result, index) for index in range(len(params))])


def conditional(
    context: Context,
    condition: Expr,
    then: Callable[[], Sequence[Expr]],
    otherwise: Callable[[], Sequence[Expr]],
) -> tuple[Expr, ...]:
    """Build an `if` whose branches return the same number of values; return its results."""
    results = [list(then()), list(otherwise())]
    if len(results[0]) != len(results[1]):
        raise RelayError("the branches of a conditional return different numbers of values")
    if len(results[0]) == 1:
        return (If(condition, results[0][0], results[1][0]),)
    choice = If(condition, Tuple(results[0]), Tuple(results[1]))
    return tuple([TupleGetItem(choice, index) for index in range(len(results[0]))])
