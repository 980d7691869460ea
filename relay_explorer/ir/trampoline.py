"""Run recursive functions whose frames live on the heap.

Programs may be nested 100,000 levels deep, but Python's own stack is not that deep. A recursive function is
therefore written as a generator: where a plain function would say `x = self.part()`, it says `x = yield
self.part()`, and `run` keeps the suspended callers in a list.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")
Steps = Generator[Any, Any, T]  # yields another Steps, and is sent its result

MAX_SUSPENDED = 500_000  # suspended functions, of a few hundred bytes each; a nested `if` takes four


class TooDeepError(Exception):
    """More than MAX_SUSPENDED functions wait for one another."""


def run(steps: Steps[T]) -> T:
    """Run `steps` without recursion, and return their result."""
    waiting: list[Steps[Any]] = []
    current: Steps[Any] = steps
    value: Any = None
    while True:
        try:
            inner = current.send(value)
        except StopIteration as stop:
            value = stop.value
            if not waiting:
                return value  # type: ignore[no-any-return]  # the outermost generator's own result
            current = waiting.pop()
            continue
        waiting.append(current)
        if len(waiting) > MAX_SUSPENDED:
            raise TooDeepError
        current = inner
        value = None
