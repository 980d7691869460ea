"""Base of the recorders of runs: they keep a bounded number of steps, and count the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..ir.errors import RelayError
from ..ir.recorder import Event, Recorder

E = TypeVar("E", bound=Event)


class BudgetError(Exception):
    """Raised to stop a run that has spent its budget of steps."""


@dataclass
class Totals:
    """Counts over the whole run, unrecorded steps included. `deepest`: activations on the stack."""

    steps: int = 0
    calls: int = 0
    tail_calls: int = 0
    deepest: int = 0


class BoundedRecorder(Recorder[E]):
    """Records the first steps of a run, counts all of them, and stops the run after `budget` steps.

    A subclass has a method for each class of events and names them in `handlers`.
    """

    def __init__(self, kind: type[E], steps: int, budget: int) -> None:
        super().__init__(kind)
        self.most_steps = steps
        self.budget = budget
        self.totals = Totals()
        self._handlers = self.handlers()

    def handlers(self) -> Mapping[type[E], Callable[[Any], None]]:
        """Return the method for each class of events."""
        raise NotImplementedError

    def emit(self, event: E) -> None:
        self._handlers[event.__class__](event)

    def next_step(self) -> int:
        """Return the number of this step; raise BudgetError where it exceeds the budget."""
        number = self.totals.steps
        if number >= self.budget:
            raise BudgetError
        self.totals.steps += 1
        return number

    def keeps(self, step: int) -> bool:
        """Whether a step is recorded."""
        return step < self.most_steps


def check_bounds(limit: int, budget: int) -> None:
    """Raise a RelayError if a recording would be empty."""
    if limit < 1 or budget < 1:
        raise RelayError(
            f"a recording of {min(limit, budget)} steps is empty", help=["record at least 1 step"]
        )
