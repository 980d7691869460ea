"""Build TensorFlow's loops and conditionals. What a loop does not change is computed before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...ir.errors import RelayError
from ...ir.expr import Expr, Var, const
from ...ops import namespaces as relay
from ..base import loops

if TYPE_CHECKING:
    from .importer import Importer

_MOST_BRANCHES = 100  # each is an `if` within that of the branch before it

Body = Callable[[Sequence[Expr], Sequence[Expr]], tuple[Expr, Callable[[], list[Expr]]]]
"""Given the values of a loop's variables and of the values from outside, returns whether to go on, and a
function that returns the variables' next values."""


def loop(
    importer: Importer,
    name: str,
    labels: Sequence[str],
    initial: Sequence[Expr],
    unchanged: Sequence[bool],
    outside: Sequence[Expr],
    body: Body,
) -> list[Expr]:
    """Build a loop; return the final values of its variables.

    Variables that are `unchanged` by an iteration are no variables of the recursive function: the body uses
    their values as it uses those from `outside`.
    """
    context = importer.context
    varying = [index for index, same in enumerate(unchanged) if not same]
    if not varying:  # such a loop runs never, or for ever
        varying = list(range(len(initial)))
    following: dict[Expr, Callable[[], list[Expr]]] = {}

    def condition(params: Sequence[Var]) -> Expr:
        values = list(initial)
        for index, param in zip(varying, params):
            values[index] = param
        going_on, next_values = body(values, outside)
        following[params[0]] = next_values
        return going_on

    def iteration(params: Sequence[Var]) -> Sequence[Expr]:
        values = following[params[0]]()
        if len(values) != len(initial):
            raise RelayError(f"the loop has {len(initial)} variables, but its body returns {len(values)}")
        return [values[index] for index in varying]

    variables = [(labels[index], initial[index]) for index in varying]
    finals = loops.while_loop(context, name, variables, condition, iteration)
    results = list(initial)
    for index, final in zip(varying, finals):
        results[index] = final
    return results


def choice(
    importer: Importer,
    condition: Expr,
    then: Callable[[], Sequence[Expr]],
    otherwise: Callable[[], Sequence[Expr]],
) -> Sequence[Expr]:
    """Build a conditional, or only the branch that is taken if the condition is known at compile time."""
    value = importer.value(condition)
    if value is not None and value.size == 1:
        return then() if bool(value.reshape(-1)[0]) else otherwise()
    return loops.conditional(importer.context, condition, then, otherwise)


def selected(
    importer: Importer, index: Expr, branches: Sequence[Callable[[], Sequence[Expr]]]
) -> Sequence[Expr]:
    """Build the choice of a branch by its number; a number out of range means the last branch."""

    if len(branches) > _MOST_BRANCHES:
        raise RelayError(
            f"a conditional has {len(branches):,} branches, but at most {_MOST_BRANCHES} are supported"
        )

    def from_branch(position: int) -> Sequence[Expr]:
        if position == len(branches) - 1:
            return branches[position]()
        condition = relay.equal(index, const(position, "int32"))
        return choice(importer, condition, branches[position], partial(from_branch, position + 1))

    return from_branch(0)
