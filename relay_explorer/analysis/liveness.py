"""Liveness: the steps from which and to which each tensor of a function is needed, under an order of
evaluation.

A tensor is live from the step that computes it to the last step that reads it; the function's result is live
to the end. Under a runtime that frees names only at the end of their scope (`lifetimes="scope"`), a tensor is
live longer: until the body of the last `let` that names it has been evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from ..ir.expr import Expr, Function, If
from ..ir.scopes import Scope
from .schedules import ordered
from .straight_line import Operation, StraightLine

LIFETIMES = ("last use", "scope")


class StepKind(Enum):
    """The kind of a step."""

    COMPUTE = "compute"  # an operator or a kernel
    VIEW = "view"  # the argument with another shape, or a part of it: nothing is computed
    BRANCH = "branch"  # the condition of an `if` decides which branch follows
    COPY = "copy"  # the result of a branch becomes the value of the `if`


class Step(NamedTuple):
    """One step of the evaluation. `reads` and `writes` are numbers of tensors, those of arguments in order. A
    COPY copies each tensor of `reads` to the tensor of `writes` at the same position, and ends the branch
    `branch` (0: the true one).
    """

    kind: StepKind
    expr: Expr
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    branch: int = -1


class Lifetime(NamedTuple):
    """The steps at which a tensor is computed and last used, both included. Parameters and constants exist
    before the first step, at -1; tensors of the result are used after the last one.
    """

    made: int
    last: int


class Liveness:
    """A function's tensors, the `steps` of its evaluation, and `lives`, the Lifetime of each tensor.

    A step number is an index in the order; the branches of an `if` follow one another, although only one is
    taken. Raises a RelayError for a program that cannot be planned, and a ValueError where types are missing
    or there is no such schedule.
    """

    def __init__(
        self,
        function: Function,
        schedule: str = "program",
        lifetimes: str = "last use",
        views: bool = True,
        parts: int = 0,
    ) -> None:
        if lifetimes not in LIFETIMES:
            raise ValueError(
                f"there are no lifetimes {lifetimes!r}: they are {', '.join(map(repr, LIFETIMES))}"
            )
        self.code = StraightLine(function, views, parts)
        self.tensors = self.code.tensors
        self.steps = _steps(ordered(self.code, schedule))
        self.lives = self._lives()
        if lifetimes == "scope":
            self._to_the_end_of_scopes()
        for part, (source, _) in reversed(self.code.within.items()):  # nested parts first
            life = self.lives[source]
            self.lives[source] = Lifetime(life.made, max(life.last, self.lives[part].last))

    def _lives(self) -> list[Lifetime]:
        first = [-1] * len(self.tensors)
        last = [-1] * len(self.tensors)
        for number, step in enumerate(self.steps):
            for tensor in step.writes:
                if first[tensor] < 0:
                    first[tensor] = number
                last[tensor] = number
            for tensor in step.reads:
                last[tensor] = number
        for tensor in self.code.result:
            last[tensor] = len(self.steps)
        return [Lifetime(*life) for life in zip(first, last)]

    def _to_the_end_of_scopes(self) -> None:
        """Extend the lifetime of each named tensor to the end of the last scope in which it has a name."""
        end = self._scope_ends()
        for tensor, scopes in self.code.scopes.items():
            life = self.lives[tensor]
            last = max([life.last, *(end[scope] for scope in scopes if scope in end)])
            self.lives[tensor] = Lifetime(life.made, last)

    def _scope_ends(self) -> dict[Scope, int]:
        """Return for each scope the last step in it, or in a nested scope."""
        end: dict[Scope, int] = {}
        for number, step in enumerate(self.steps):
            end[self.code.home[step.expr]] = number
        scopes = set(end)
        for scope in list(scopes):
            while scope.parent not in scopes:
                scope = scope.parent
                scopes.add(scope)
        for scope in sorted(scopes, key=lambda s: -s.depth):
            end[scope.parent] = max(end.get(scope.parent, -1), end.get(scope, -1))
        return end


def _steps(block: Sequence[Operation]) -> list[Step]:
    """Return the operations as steps, with branches expanded in place."""
    steps: list[Step] = []
    pending: list[Operation | Step] = list(reversed(block))
    while pending:
        current = pending.pop()
        if isinstance(current, Step):
            steps.append(current)
        elif isinstance(current.expr, If):
            steps.append(Step(StepKind.BRANCH, current.expr, current.reads[:1], ()))
            for number in (1, 0):
                copy = Step(StepKind.COPY, current.expr, current.results[number], current.writes, number)
                pending += [copy, *reversed(current.blocks[number])]
        else:
            kind = StepKind.VIEW if current.is_view or current.is_part else StepKind.COMPUTE
            steps.append(Step(kind, current.expr, current.reads, current.writes))
    return steps
