"""Measure the speed of an answer to `schedule_matmul`, next to the original loops and the compiler's own
schedule.

All three run in alternation, in one process and on one core, and the shortest run of each counts: other
work on the machine only makes runs longer, and if it lasts, it slows all three. The requirement is a ratio,
with a margin below what a correct answer reaches.
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
SECONDS = 0.1  # for the runs of one kernel per repetition; a slow kernel gets fewer runs
RUNS = {"naive": 1, "ours": 30, "yours": 30}  # of each kernel per repetition
TRIES = 3  # measurements of an answer that misses a threshold; the best counts
FAR = 0.5  # of the requirement: below that, measuring again changes nothing


@dataclass(frozen=True)
class Speed:
    """The seconds of one run: of the original loops, of the compiler's schedule, and of the answer's."""

    naive: float
    ours: float
    yours: float

    @property
    def to_naive(self) -> float:
        """Return the speed as a multiple of that of the original loops."""
        return self.naive / self.yours

    @property
    def to_ours(self) -> float:
        """Return the speed as a fraction of that of the compiler's own schedule."""
        return self.ours / self.yours

    def __str__(self) -> str:
        m, n, k = SHAPE
        rate = 2 * m * n * k / self.yours / 1e9
        return (
            f"{self.to_naive:.0f} times as fast as the original loops, {self.to_ours:.2f} of the "
            f"speed of the compiler's own schedule ({rate:.0f} billion operations per second, "
            "on one core)"
        )


@dataclass(frozen=True)
class Step:
    """A speed to reach: a multiple of that of the original loops, or a fraction of the compiler's."""

    to_naive: float = 0.0
    to_ours: float = 0.0

    def reached(self, speed: Speed) -> bool:
        return speed.to_naive >= self.to_naive and speed.to_ours >= self.to_ours

    def is_far(self, speed: Speed) -> bool:
        """Return whether the speed is so low that measuring again is useless."""
        return speed.to_naive < FAR * self.to_naive or speed.to_ours < FAR * self.to_ours

    def __str__(self) -> str:
        if self.to_naive:
            return f"at least {self.to_naive:g} times as fast as the original loops"
        return f"at least {self.to_ours:g} of the speed of the compiler's own schedule"


STEPS = {"faster": Step(to_naive=10), "half": Step(to_ours=0.5), "level": Step(to_ours=0.75)}


_BEST: dict[Loops, Speed] = {}  # for each answer, the best speed measured so far


def fastest(step: Step, scheduled: Scheduled) -> Speed:
    """Return the speed of an answer, measured unless it has reached the previous threshold."""
    loops = Loops(scheduled)
    _BEST[loops] = best(step, lambda: measured(scheduled), _BEST.get(loops))
    return _BEST[loops]


def best(step: Step, measure: Callable[[], Speed], known_speed: Speed | None = None) -> Speed:
    """Return a speed that reaches the threshold: the known one, or a measured one. If none of several
    attempts reaches it, return the best; stop after one that is far from it.
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
    """Return the shortest run of each kernel, in seconds. One repetition shows whether an answer is far
    from every threshold.
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
