"""The steps of a recorded inference that the explorer shows, and the mark of each."""

from __future__ import annotations

from itertools import zip_longest

from ...ir.expr import Function, Var
from ...ir.types import TensorType
from ...typing.events import Annotated, Started, Typed, Unifying
from ...typing.history import Step
from .format import Mark


def told(steps: list[Step]) -> list[Step]:
    """Select the steps that are shown: a function's type is shown together with its binding by `let`."""
    shown = []
    for step, after in zip_longest(steps, steps[1:]):
        main, next_main = step.main, after.main if after is not None else None
        bound = (
            isinstance(next_main, Unifying)
            and next_main.reason.kind == "let"
            and isinstance(main, Typed)
            and next_main.reason.right is main.expr
        )
        if not (bound and isinstance(main, Typed) and isinstance(main.expr, Function)):
            shown.append(step)
    return shown


def annotated_run(steps: list[Step], at: int) -> int:
    """Count the steps from `at` on that introduce annotated variables: they are shown as one."""
    count = 0
    while at + count < len(steps):
        main = steps[at + count].main
        if not (isinstance(main, Typed) and isinstance(main.expr, Var) and main.type.__class__ is TensorType):
            break
        count += 1
    return max(1, count)


def mark_of(step: Step) -> Mark:
    """Classify the step for the timeline."""
    if step.refused is not None:
        return Mark.REFUSE
    if isinstance(step.main, Annotated):
        return Mark.DONE
    if any(m.waited for m in step.moved):
        return Mark.REQUEUE
    if isinstance(step.main, Unifying):
        return Mark.UNIFY
    if isinstance(step.main, Started):
        return Mark.SOLVE if step.done else Mark.WAIT
    return Mark.GENERATE
