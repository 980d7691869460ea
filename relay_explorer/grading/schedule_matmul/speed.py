"""How fast an answer to `schedule_matmul` is, beside the loops as they were and beside the compiler's own
schedule.

All three run in turns, in one process and on one core, and of each the shortest run counts: whatever else the
machine does only makes runs longer, and what it does for a while, it does to all three. What is required is a
ratio, with room below what a right answer reaches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ...lower.require import tvm
from ...lower.schedules import Scheduled, schedule
from ..machine_code import Loops
from . import Shape, host, matrices, product, runs, serial

SHAPE: Shape = (256, 256, 256)
ROUNDS = 4
SECONDS = 0.1  # for the runs of one of them in a round; a slow one gets fewer
RUNS = {"naive": 1, "ours": 30, "yours": 30}  # of each in a round
TRIES = 3  # measurements of an answer that does not reach a step; the best counts
FAR = 0.5  # of what is required: below that another try changes nothing


@dataclass(frozen=True)
class Speed:
    """The seconds of one run of each: the loops unscheduled, the compiler's schedule, and the answer's."""

    naive: float
    ours: float
    yours: float

    @property
    def to_naive(self) -> float:
        """How many times as fast as the loops unscheduled."""
        return self.naive / self.yours

    @property
    def to_ours(self) -> float:
        """The part of the speed of the compiler's schedule."""
        return self.ours / self.yours

    def __str__(self) -> str:
        m, n, k = SHAPE
        rate = 2 * m * n * k / self.yours / 1e9
        return (
            f"{self.to_naive:.0f} times as fast as unscheduled, {self.to_ours:.2f} of the speed of "
            f"the compiler's own schedule ({rate:.0f} billion operations a second, on one core)"
        )


@dataclass(frozen=True)
class Step:
    """A speed to be reached: so many times that of the loops unscheduled, or a part of the compiler's."""

    to_naive: float = 0.0
    to_ours: float = 0.0

    def reached(self, speed: Speed) -> bool:
        return speed.to_naive >= self.to_naive and speed.to_ours >= self.to_ours

    def is_far(self, speed: Speed) -> bool:
        """Whether so much is missing that measuring again is of no use."""
        return speed.to_naive < FAR * self.to_naive or speed.to_ours < FAR * self.to_ours

    def __str__(self) -> str:
        if self.to_naive:
            return f"at least {self.to_naive:g} times as fast as unscheduled"
        return f"at least {self.to_ours:g} of the speed of the compiler's own schedule"


STEPS = {"faster": Step(to_naive=10), "half": Step(to_ours=0.5), "level": Step(to_ours=0.75)}


_BEST: dict[Loops, Speed] = {}  # of each answer the best speed that was measured


def fastest(step: Step, scheduled: Scheduled) -> Speed:
    """Return the speed of an answer, measured unless it has reached the previous step."""
    loops = Loops(scheduled)
    _BEST[loops] = best(step, lambda: measured(scheduled), _BEST.get(loops))
    return _BEST[loops]


def best(step: Step, measure: Callable[[], Speed], known_speed: Speed | None = None) -> Speed:
    """Return a speed that reaches the step: the known one, or a measured one. If none of several attempts
    reaches it, return the best; stop after one that is far from it.
    """
    if known_speed is not None and step.reached(known_speed):
        return known_speed
    for _ in range(TRIES):
        speed = measure()
        if step.reached(speed):
            return speed
        if known_speed is None or speed.to_ours > known_speed.to_ours:
            known_speed = speed
        if step.is_far(known_speed):
            break
    assert known_speed is not None
    return known_speed


def measured(scheduled: Scheduled) -> Speed:
    """Measure the three kernels alternately."""
    return Speed(**timed({**_others(), "yours": runs(serial(scheduled))}, arrays()))


@cache
def _others() -> dict[str, Callable[..., Any]]:
    """Return the machine code that an answer is compared with."""
    composed = product(SHAPE)
    sch = tvm().s_tir.Schedule(composed.mod)
    return {
        "naive": runs(Scheduled(composed, sch.mod, sch.trace, "none")),
        "ours": runs(serial(schedule(composed, host()))),
    }


def arrays() -> list[Any]:
    """Return A, B, and memory for C, as TVM tensors."""
    import numpy as np

    a, b, c = matrices(SHAPE)
    return [tvm().runtime.tensor(array) for array in (a, b, np.zeros_like(c))]


def timed(kernels: dict[str, Callable[..., Any]], args: list[Any]) -> dict[str, float]:
    """Return the shortest run of each kernel, in seconds. One round shows whether an answer is far from every
    step.
    """
    shortest = dict.fromkeys(kernels, float("inf"))
    for _ in range(ROUNDS):
        for name, kernel in kernels.items():
            end = time.perf_counter() + SECONDS
            for _ in range(RUNS[name]):
                start = time.perf_counter()
                kernel(*args)
                shortest[name] = min(shortest[name], time.perf_counter() - start)
                if time.perf_counter() > end:
                    break
        if all(step.is_far(Speed(**shortest)) for step in STEPS.values()):
            break
    return shortest
