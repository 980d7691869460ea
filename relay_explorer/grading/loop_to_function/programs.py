"""Random loops, and simpler versions of a failing one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from .evaluate import EndlessError, Evaluation
from .graphs import LEAVES, Case, Expression, Loop, mapped, parts

COUNTER: Expression = ("Add", ("var", 0), ("const", 1))
IN_BOUNDS: Expression = ("Less", ("var", 0), ("inv", 0))
SHORT = 40  # iterations of a simpler case
Kind = tuple[bool, int]  # whether it is a truth value, and the length of a vector (0 for a scalar)


def expression(rng: random.Random, leaves: list[Expression], depth: int = 2) -> Expression:
    """Draw an expression of numbers that depends on one of the leaves at least."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(leaves)
    op = rng.choice(("Add", "Add", "Sub", "Maximum"))
    first = expression(rng, leaves, depth - 1)
    second: Expression = ("const", rng.randint(1, 3))
    if rng.random() < 0.6:
        second = expression(rng, leaves, depth - 1)
    return (op, first, second) if rng.random() < 0.7 else (op, second, first)


def random_loop(rng: random.Random, variables: int, invariants: int = 1, vectors: bool = False) -> Case:
    """Draw a loop with a counter and further variables; with `vectors`, the last variable is a vector."""
    inputs = (rng.randint(1, 5), rng.randint(-3, 4), *([(1, rng.randint(-2, 5))] if vectors else []))
    scalars = range(variables - 1 if vectors and variables > 1 else variables)
    fixed: list[Expression] = [("input", 0)]
    fixed += [
        rng.choice([("input", 1), expression(rng, [("input", 0), ("input", 1)])])
        for _ in range(1, invariants)
    ]
    leaves: list[Expression] = [*[("var", k) for k in scalars], *[("inv", k) for k in range(invariants)]]
    initial: list[Expression] = [("const", 0)]
    initial += [rng.choice([("input", 1), ("const", rng.randint(0, 3))]) for _ in scalars[1:]]
    following = [COUNTER, *[expression(rng, leaves) for _ in scalars[1:]]]
    if len(scalars) < variables:
        initial.append(("input", 2))
        following.append(("Add", ("var", variables - 1), expression(rng, leaves)))
    loop = Loop(tuple(initial), tuple(following), IN_BOUNDS, tuple(fixed))
    outputs: list[Expression] = [("exit", k) for k in range(variables)]
    return Case(inputs, loop, tuple(outputs), rng.randrange(1, 10**6) if rng.random() < 0.5 else 0)


def random_nested(rng: random.Random) -> Case:
    """Draw a loop with a loop in its body."""
    case = random_loop(rng, rng.randint(2, 3), rng.randint(1, 2))
    outer = case.loop
    leaves: list[Expression] = [*[("var", k) for k in range(len(outer.initial))], ("inv", 0)]
    body = random_loop(rng, rng.randint(1, 3), 2).loop
    count = len(body.initial)
    inner = replace(
        body,
        initial=(("const", 0), *[expression(rng, leaves, 1) for _ in range(1, count)]),
        invariants=(rng.choice([("var", 0), ("inv", 0)]), expression(rng, leaves)),
    )
    used: Expression = ("inner", rng.randrange(count))
    following = list(outer.following)
    following[-1] = rng.choice([used, ("Add", ("var", len(following) - 1), used)])
    if count > 1 and rng.random() < 0.5:
        following[-1] = ("Maximum", following[-1], ("inner", 0))
    return replace(case, loop=replace(outer, following=tuple(following), inner=inner))


# -- simpler cases


def smaller(case: Case) -> Iterator[Case]:
    """Yield simpler cases that are well typed and end."""
    for candidate in _simpler(case):
        if candidate != case and valid(candidate):
            yield candidate


def valid(case: Case) -> bool:
    """Return whether a case is well typed and its loops end soon."""
    try:
        inputs: list[Kind] = [(False, len(value) if isinstance(value, tuple) else 0) for value in case.inputs]
        kinds: dict[Expression, Kind] = {("input", k): kind for k, kind in enumerate(inputs)}
        for number, kind in enumerate(_kinds_of_loop(case.loop, kinds)):
            kinds["exit", number] = kind
        if any(_kind(output, kinds)[0] for output in case.outputs):
            return False
        Evaluation(case.graph(), case.inputs, limit=SHORT)
    except (_IllTypedError, EndlessError):
        return False
    return True


class _IllTypedError(Exception):
    pass


def _kind(expr: Expression, kinds: dict[Expression, Kind]) -> Kind:
    if expr[0] == "const":
        return False, 0
    if expr[0] in LEAVES:
        return kinds[expr]
    operands = [_kind(operand, kinds) for operand in expr[1:]]
    if any(truth != (expr[0] == "LogicalAnd") for truth, _ in operands):
        raise _IllTypedError
    return expr[0] in ("Less", "Greater", "NotEqual", "LogicalAnd"), max(length for _, length in operands)


def _kinds_of_loop(loop: Loop, outside: dict[Expression, Kind]) -> list[Kind]:
    variables = [_kind(value, outside) for value in loop.initial]
    kinds: dict[Expression, Kind] = {("var", k): kind for k, kind in enumerate(variables)}
    for k, value in enumerate(loop.invariants):
        kinds["inv", k] = _kind(value, outside)
    if _kind(loop.condition, kinds) != (True, 0) or any(truth for truth, _ in kinds.values()):
        raise _IllTypedError
    if loop.inner is not None:
        for k, kind in enumerate(_kinds_of_loop(loop.inner, dict(kinds))):
            kinds["inner", k] = kind
    if [_kind(value, kinds) for value in loop.following] != variables:
        raise _IllTypedError
    return variables


def _simpler(case: Case) -> Iterator[Case]:
    if case.seed:
        yield replace(case, seed=0)
    for at, output in enumerate(case.outputs):
        if len(case.outputs) > 1:
            yield replace(case, outputs=case.outputs[:at] + case.outputs[at + 1 :])
        for operand in _operands(output):
            yield replace(case, outputs=(*case.outputs[:at], operand, *case.outputs[at + 1 :]))
    exits = {p for output in case.outputs for p in parts(output) if p[0] == "exit"}
    for number in reversed(range(len(case.loop.initial))):
        loop = _without_variable(case.loop, number)
        if loop is not None and ("exit", number) not in exits:
            outputs = tuple([_renumbered(output, "exit", number) for output in case.outputs])
            yield replace(case, loop=loop, outputs=outputs)
    for loop in _simpler_loops(case.loop):
        yield replace(case, loop=loop)
    yield from _with_simpler_inputs(case)


def _with_simpler_inputs(case: Case) -> Iterator[Case]:
    top = [*case.loop.initial, *case.loop.invariants, *case.outputs]
    for at, value in enumerate(case.inputs):
        before, after = case.inputs[:at], case.inputs[at + 1 :]
        if all(part != ("input", at) for expr in top for part in parts(expr)):
            loop = _map_outside(case.loop, partial(_renumbered, kind="input", removed=at))
            outputs = tuple([_renumbered(output, "input", at) for output in case.outputs])
            yield replace(case, inputs=(*before, *after), loop=loop, outputs=outputs)
        if isinstance(value, int):
            for simple in (0, 1, 2)[2 if at == 0 and value > 0 else 0 :]:  # two iterations say more than one
                if simple < abs(value):
                    yield replace(case, inputs=(*before, simple, *after))


def _operands(expr: Expression) -> Iterator[Expression]:
    if expr[0] not in LEAVES:
        yield from expr[1:]


def _simpler_loops(loop: Loop) -> Iterator[Loop]:
    """Yield loops with an invariant less, or one simpler expression."""
    inside = [*loop.following, loop.condition, *_surroundings(loop.inner)]
    for number in range(len(loop.invariants)):
        if all(part != ("inv", number) for expr in inside for part in parts(expr)):
            rest = loop.invariants[:number] + loop.invariants[number + 1 :]
            yield replace(_map_inside(loop, "inv", number), invariants=rest)
    if loop.inner is not None:
        yield replace(loop, inner=None) if not _uses_inner(loop) else loop
        for number in reversed(range(len(loop.inner.initial))):
            inner = _without_variable(loop.inner, number)
            if inner is not None and all(
                part != ("inner", number) for expr in loop.following for part in parts(expr)
            ):
                following = tuple([_renumbered(expr, "inner", number) for expr in loop.following])
                yield replace(loop, inner=inner, following=following)
        for inner in _simpler_loops(loop.inner):
            yield replace(loop, inner=inner)
    for condition in _operands(loop.condition):
        yield replace(loop, condition=condition)
    for initial in _simpler_values(loop.initial):
        yield replace(loop, initial=initial)
    for invariants in _simpler_values(loop.invariants):
        yield replace(loop, invariants=invariants)
    for at, expr in enumerate(loop.following):
        if ("var", at) not in parts(loop.condition):  # what ends the loop stays
            for simple in (*_operands(expr), ("var", at)):
                yield replace(loop, following=(*loop.following[:at], simple, *loop.following[at + 1 :]))


def _simpler_values(values: tuple[Expression, ...]) -> Iterator[tuple[Expression, ...]]:
    """Replace one of the expressions by an operand of it."""
    for at, expr in enumerate(values):
        for operand in _operands(expr):
            yield (*values[:at], operand, *values[at + 1 :])


def _uses_inner(loop: Loop) -> bool:
    return any(part[0] == "inner" for expr in loop.following for part in parts(expr))


def _surroundings(inner: Loop | None) -> tuple[Expression, ...]:
    """Return the expressions of a loop inside that belong to the loop around it."""
    return () if inner is None else (*inner.initial, *inner.invariants)


def _without_variable(loop: Loop, number: int) -> Loop | None:
    """Remove a variable that nothing else uses; return None if something does."""
    others = [expr for k, expr in enumerate(loop.following) if k != number]
    for expr in (*others, loop.condition, *_surroundings(loop.inner)):
        if ("var", number) in parts(expr):
            return None
    rest = replace(
        loop,
        initial=loop.initial[:number] + loop.initial[number + 1 :],
        following=tuple(others),
    )
    return _map_inside(rest, "var", number) if others else None


def _renumbered(expr: Expression, kind: str, removed: int) -> Expression:
    """Renumber the leaves of a kind after the one that was removed."""
    return mapped(expr, lambda leaf: (kind, leaf[1] - 1) if leaf[0] == kind and leaf[1] > removed else leaf)


def _map_inside(loop: Loop, kind: str, removed: int) -> Loop:
    """Renumber the leaves of a kind in the expressions of a loop's own scope."""

    def renumber(expr: Expression) -> Expression:
        return _renumbered(expr, kind, removed)

    inner = None if loop.inner is None else _map_outside(loop.inner, renumber)
    following = tuple([renumber(expr) for expr in loop.following])
    return replace(loop, following=following, condition=renumber(loop.condition), inner=inner)


def _map_outside(loop: Loop, change: Callable[[Expression], Expression]) -> Loop:
    """Change the expressions of a loop that belong to its surroundings."""
    initial = tuple([change(expr) for expr in loop.initial])
    return replace(loop, initial=initial, invariants=tuple([change(expr) for expr in loop.invariants]))
