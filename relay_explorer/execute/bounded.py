"""What recordings of runs share: they are bounded, and count what they leave out."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.errors import RelayError


class BudgetError(Exception):
    """The budget is spent: the run is stopped."""


@dataclass
class Totals:
    """Counts over the whole run, also over what was not recorded. `deepest`: activations on the stack."""

    steps: int = 0
    calls: int = 0
    tail_calls: int = 0
    deepest: int = 0


class Bounded:
    """Keeps the first `limit` steps, counts all, and stops the run after `budget` steps."""

    limit: int
    budget: int
    totals: Totals

    def count(self) -> int:
        """The number of this step."""
        number = self.totals.steps
        if number >= self.budget:
            raise BudgetError
        self.totals.steps += 1
        return number

    def keeps(self, step: int) -> bool:
        """Whether a step is recorded."""
        return step < self.limit


def check_bounds(limit: int, budget: int) -> None:
    """A RelayError where a recording would keep nothing."""
    if limit < 1 or budget < 1:
        raise RelayError(
            f"a recording of {min(limit, budget)} steps shows nothing", help=["ask for at least 1"]
        )
