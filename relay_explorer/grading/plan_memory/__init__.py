"""The steps of a program, as the exercise `plan_memory` gives them to a learner, and the right answers."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...analysis.liveness import Liveness
from ...analysis.straight_line import Origin
from ...ir.expr import Call, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ..answer_values import withheld

Life = tuple[int, int]  # the step that computes a tensor, and the last one at which it is live


class Step(NamedTuple):
    """One operator's execution: its name, and the tensors that it reads and computes, as indices."""

    name: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """A program in one order: its steps, the tensors of its result, and the size in bytes of each tensor
    that a step computes.
    """

    steps: tuple[Step, ...]
    result: tuple[int, ...]
    sizes: Mapping[int, int]

    @property
    @withheld
    def lives(self) -> dict[int, Life]:
        """Return the lifetime of each computed tensor; the program's results are live to the end."""
        result: dict[int, Life] = {}
        for number, step in enumerate(self.steps):
            for tensor in step.writes:
                result[tensor] = number, number
            for tensor in step.reads:
                if tensor in result:
                    result[tensor] = result[tensor][0], number
        for tensor in self.result:
            if tensor in result:
                result[tensor] = result[tensor][0], len(self.steps)
        return result


def work_of(function: Function, schedule: str = "program") -> Work:
    """Return the steps of a function of operators with known types. Raise a RelayError for any other
    function.
    """
    liveness = Liveness(function, schedule, views=False)
    steps = []
    for step in liveness.steps:
        callee = step.expr.op if isinstance(step.expr, Call) else None
        name = callee.name if isinstance(callee, Op) else "kernel"
        steps.append(Step(name, tuple(dict.fromkeys(step.reads)), step.writes))
    sizes = {t.number: t.bytes for t in liveness.tensors if t.origin is Origin.COMPUTED}
    result = {tensor for step in steps for tensor in step.writes}
    return Work(tuple(steps), liveness.code.result, {n: size for n, size in sizes.items() if n in result})


Choose = Callable[
    [list[tuple[int, int]], int], int
]  # from the free (size, buffer) pairs, in order, and a size: an index


@withheld
def planned(work: Work, choose: Choose | None = None) -> dict[int, int]:
    """Assign a buffer to each tensor by the rule of the exercise; `choose` is another rule: it returns an
    index into the list of free buffers, or -1 for a new one.
    """
    choose = best if choose is None else choose
    lives, free, sizes = work.lives, list[tuple[int, int]](), list[int]()
    result: dict[int, int] = {}
    ending = sorted(lives, key=lambda t: lives[t][1])
    for tensor in sorted(lives, key=lambda t: (lives[t][0], t)):
        while ending and lives[ending[0]][1] < lives[tensor][0]:
            buffer = result[ending.pop(0)]
            insort(free, (sizes[buffer], buffer))
        need = work.sizes[tensor]
        at = choose(free, need) if free else -1
        if at < 0:
            buffer = len(sizes)
            sizes.append(need)
        else:
            buffer = free.pop(at)[1]
            sizes[buffer] = max(sizes[buffer], need)
        result[tensor] = buffer
    return result


def best(free: list[tuple[int, int]], need: int) -> int:
    """Choose the smallest buffer that is large enough; if there is none, the largest, which grows."""
    at = bisect_left(free, (need, -1))
    return at if at < len(free) else len(free) - 1


def total(plan: Mapping[int, int], sizes: Mapping[int, int]) -> int:
    """Sum the bytes of a plan's buffers: each is as large as its largest tensor."""
    buffers: dict[int, int] = {}
    for tensor, buffer in plan.items():
        buffers[buffer] = max(buffers.get(buffer, 0), sizes[tensor])
    return sum(buffers.values())


def clash(plan: Mapping[int, int], lives: Mapping[int, Life]) -> tuple[int, int] | None:
    """Find two tensors that share a buffer while both are live, the earlier one first; None if there are
    none.
    """
    by_buffer: dict[int, list[int]] = {}
    for tensor in sorted(plan, key=lambda t: (lives[t], t)):
        by_buffer.setdefault(plan[tensor], []).append(tensor)
    for tensors in by_buffer.values():
        latest = tensors[0]
        for tensor in tensors[1:]:
            if lives[tensor][0] <= lives[latest][1]:
                return latest, tensor
            latest = max(latest, tensor, key=lambda t: lives[t][1])
    return None
