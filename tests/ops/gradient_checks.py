"""Holds gradients against difference quotients, in float64, along one random direction: a gradient that is
wrong anywhere is almost surely wrong there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

import numpy as np

from relay_explorer import relay
from relay_explorer.ir import Expr, Function, IRModule, TensorType, TupleGetItem, TupleType, Type, Var, const
from relay_explorer.lower.executor import create_executor
from relay_explorer.transform import gradient
from relay_explorer.typing import infer_types

MODES = ("first_order", "higher_order")
STEP = 1e-5


def scalar(function: Function, random: np.random.Generator, values: Sequence[Anything]) -> Function:
    """A function whose result is one number: all floating-point elements of the result, each times a random
    number of its own, added up.
    """
    typed = infer_types(IRModule.from_expr(function))["main"]
    assert isinstance(typed, Function)
    body, type_ = typed.body, typed.body.checked_type
    fields = (
        [TupleGetItem(body, k) for k in range(len(type_.fields))] if isinstance(type_, TupleType) else [body]
    )
    types = type_.fields if isinstance(type_, TupleType) else (type_,)
    found = create_executor().evaluate(function)(*values)
    results = found if isinstance(type_, TupleType) else [found]
    total: Expr = const(0.0, "float64")
    for field, part, result in zip(fields, types, results, strict=True):
        if isinstance(part, TensorType) and part.dtype == "float64":
            weights = const(random.normal(size=result.numpy().shape), "float64")
            total = total + relay.sum(field * weights)
    return Function(typed.params, total)


def moved(values: Sequence[Anything], directions: Sequence[Anything], step: float) -> list[Anything]:
    """The arguments, a step along the directions; whole numbers stay."""
    made = []
    for value, direction in zip(values, directions, strict=True):
        if isinstance(value, tuple):
            made.append(tuple(moved(value, direction, step)))
        else:
            made.append(value if direction is None else value + step * direction)
    return made


def direction_for(value: Anything, random: np.random.Generator) -> Anything:
    if isinstance(value, tuple):
        return tuple([direction_for(part, random) for part in value])
    return random.normal(size=value.shape) if value.dtype.kind == "f" else None


def along(found: Anything, directions: Anything) -> float:
    """The slope that derivatives say, in the directions."""
    if isinstance(directions, (tuple, list)):
        return sum(along(f, d) for f, d in zip(found, directions, strict=True))
    return 0.0 if directions is None else float((found.numpy() * directions).sum())


def slopes(
    function: Function, values: Sequence[Anything], random: np.random.Generator, modes: Sequence[str] = MODES
) -> tuple[float, list[float]]:
    """The difference quotient of a function that gives one number, and the slopes that its gradients say."""
    directions = [direction_for(value, random) for value in values]
    run = create_executor().evaluate(function)
    ends = [float(run(*moved(values, directions, step)).numpy()) for step in (STEP, -STEP)]
    said = []
    for mode in modes:
        module = infer_types(IRModule.from_expr(gradient(function, mode=mode)))
        _, found = create_executor(mod=module).evaluate()(*values)
        said.append(along(found, directions))
    return (ends[0] - ends[1]) / (2 * STEP), said


def check(function: Function, values: Sequence[Anything], random: np.random.Generator) -> None:
    """Both kinds of gradient of a function, of any number of results, at `values`."""
    quotient, said = slopes(scalar(function, random, values), values, random)
    np.testing.assert_allclose(said, quotient, rtol=1e-4, atol=1e-6)


def variables(values: Sequence[Anything]) -> list[Var]:
    return [Var(f"x{k}", type_of(value)) for k, value in enumerate(values)]


def type_of(value: Anything) -> Type:
    if isinstance(value, tuple):
        return TupleType([type_of(part) for part in value])
    return TensorType(value.shape, str(value.dtype))
