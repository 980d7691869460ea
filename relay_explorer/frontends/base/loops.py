"""Build loops and conditionals of imported models: a loop becomes a tail-recursive function.

The types of a loop's variables are those that every iteration has: an axis whose extent changes becomes `?`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, If, Let, Tuple, TupleGetItem, Var
from ...ir.op import Op
from ...ir.substitute import substitute
from ...ir.types import Any, TensorType, TupleType, Type, TypeCall
from ...ir.walk import bound_vars, children, post_order
from .context import Context

_ITERATIONS = 8  # attempts to find types that an iteration preserves

Step = Callable[[Sequence[Var]], Sequence[Expr]]


def joined(
    a: Type, b: Type, subject: str = "a value", cases: tuple[str, str] = ("in one case", "in another")
) -> Type:
    """Return the most precise type that values of both types have: dimensions that differ become `?`. Raise a
    RelayError where there is none: `subject` is what has the types, and `cases` say when it has which.
    """
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        if a.dtype == b.dtype and len(a.shape) == len(b.shape):
            return TensorType([x if x == y else Any() for x, y in zip(a.shape, b.shape)], a.dtype)
    elif isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.fields) == len(b.fields):
        return TupleType([joined(x, y, subject, cases) for x, y in zip(a.fields, b.fields)])
    elif isinstance(a, TypeCall) and isinstance(b, TypeCall) and a.func == b.func:
        return TypeCall(a.func, [joined(x, y, subject, cases) for x, y in zip(a.args, b.args)])
    raise RelayError(
        f"{subject} has type {a} {cases[0]} and type {b} {cases[1]}; Relay needs one type for both"
    )


def widened(context: Context, expr: Expr, type_: Type) -> Expr:
    """Return `expr` with a type that has `?` where the expression's own type may have a number."""
    if context.type(expr) == type_:
        return expr
    return Call(Function([], expr, type_), [])  # `let %x: type_ = expr; %x` would be inlined


def settled(
    context: Context, name: str, types: Sequence[Type], body: Callable[[Sequence[Type]], Sequence[Expr]]
) -> list[Type]:
    """Return types of a loop's variables that an iteration preserves, from those of the initial values on.

    `body` builds an iteration on variables of given types, and returns the variables' next values.
    """
    types = list(types)
    variable, cases = f"a variable of the loop `{name}`", ("before an iteration", "after it")
    for _ in range(_ITERATIONS):
        following = body(types)
        if len(following) != len(types):
            raise RelayError(
                f"the loop has {len(types)} variables, but its body returns {len(following)} values"
            )
        wider = [
            joined(type_, context.type(value), variable, cases) for type_, value in zip(types, following)
        ]
        if wider == types:
            return types
        types = wider
    raise RelayError(
        f"no fixed types were found for the variables of the loop `{name}`: a type still changes after "
        f"{_ITERATIONS} passes over the body",
        help=["keep the shapes of the loop's variables the same in every iteration"],
    )


def while_loop(
    context: Context,
    name: str,
    variables: Sequence[tuple[str, Expr]],
    condition: Callable[[Sequence[Var]], Expr],
    body: Step,
) -> tuple[Expr, ...]:
    """Build `while condition(variables): variables = body(variables)`; return the final values.

    `variables` are names and initial values. The loop is a local function that calls itself in tail position,
    so that it may use values from outside. `condition` and `body` are called with the loop's own variables,
    once for each attempt at their types.
    """
    before = len(context.source.nodes)
    last: list[tuple[list[Var], Expr, Sequence[Expr]]] = []

    def iteration(types: Sequence[Type]) -> Sequence[Expr]:
        params = [Var(label, type_) for (label, _), type_ in zip(variables, types)]
        last[:] = [(params, condition(params), list(body(params)))]
        return last[0][2]

    settled(context, name, [context.type(value) for _, value in variables], iteration)
    params, test, following = last[0]
    return recursion(context, name, params, test, following, [value for _, value in variables], before)


def recursion(
    context: Context,
    name: str,
    params: Sequence[Var],
    test: Expr,
    following: Sequence[Expr],
    initial: Sequence[Expr],
    before: int,
) -> tuple[Expr, ...]:
    """Build the loop whose variables are `params`, which goes on with the values `following` while `test` is
    true; return the final values.

    `before` is the number of nodes that were imported before the loop. Their values, and other tensors that
    no variable of the loop affects, are computed before it, not in every iteration.
    """
    loop = Var(name)
    result_type = TupleType([context.type(param) for param in params])
    body, outside = hoisted(context, If(test, Call(loop, following), Tuple(params)), before)
    body, invariant = _without_invariants(context, body, {loop, *params})
    function = Function(params, body, result_type)
    result: Expr = Call(loop, initial)
    for var, value in reversed([*outside, *invariant, (loop, function)]):
        result = Let(var, value, result)
    return tuple([TupleGetItem(result, index) for index in range(len(params))])


def hoisted(context: Context, body: Expr, before: int) -> tuple[Expr, list[tuple[Var, Expr]]]:
    """Return the body of a local function, with variables for the values that it uses of the first `before`
    imported nodes, and the variables with their values.

    Relay evaluates a shared expression where all its uses are; an expression that only a loop uses would be
    evaluated in each iteration.
    """
    outside: dict[Expr, Expr] = {}
    bindings: list[tuple[Var, Expr]] = []
    visited: set[Expr] = set()
    pending = [body]
    while pending:
        current = pending.pop()
        parts = children(current)
        if current in visited or not parts:
            continue
        visited.add(current)
        span = current.span
        if span is not None and span.source is context.source and span.line <= before:
            outside[current] = variable = Var("outside", context.type(current))
            bindings.append((variable, current))
        else:
            pending += reversed(parts)
    return (substitute(body, outside) if outside else body), bindings


def _without_invariants(
    context: Context, body: Expr, variables: set[Expr]
) -> tuple[Expr, list[tuple[Var, Expr]]]:
    """Return the body of a loop, with variables for the results of operators that are the same in every
    iteration, and the variables with their values. `variables` are those of the loop.

    The converter of a recurrent layer, for example, multiplies all steps' inputs by the weights at once. Only
    operators are moved: a call of a function may fail or not return if the loop has no iteration.
    """
    varying = {*variables, *bound_vars(body)}
    for expr in post_order(body):
        is_tensor = isinstance(expr.op if isinstance(expr, Call) else expr, (Op, Tuple, TupleGetItem))
        parts = children(expr)
        if parts and (not is_tensor or any(part in varying for part in parts)):
            varying.add(expr)
    moved: dict[Expr, Expr] = {}
    for expr in post_order(body):
        if expr in varying:
            for part in children(expr):
                if part not in varying and isinstance(part, (Call, TupleGetItem)):
                    moved.setdefault(part, Var("invariant", context.type(part)))
    return substitute(body, moved), [(var, expr) for expr, var in moved.items() if isinstance(var, Var)]


def conditional(
    context: Context,
    condition: Expr,
    then: Callable[[], Sequence[Expr]],
    otherwise: Callable[[], Sequence[Expr]],
) -> tuple[Expr, ...]:
    """Build an `if` whose branches return the same number of values; return its results.

    An axis whose extent differs between the branches becomes `?`.
    """
    results = [list(then()), list(otherwise())]
    if len(results[0]) != len(results[1]):
        counts = " and ".join(str(len(values)) for values in results)
        raise RelayError(f"the branches of a conditional return different numbers of values: {counts}")
    pairs = list(zip(*results))
    branches = ("in one branch", "in the other")
    types = [
        joined(context.type(a), context.type(b), "a result of a conditional", branches) for a, b in pairs
    ]
    results = [[widened(context, value, type_) for value, type_ in zip(values, types)] for values in results]
    if len(results[0]) == 1:
        return (If(condition, results[0][0], results[1][0]),)
    choice = If(condition, Tuple(results[0]), Tuple(results[1]))
    return tuple([TupleGetItem(choice, index) for index in range(len(results[0]))])
