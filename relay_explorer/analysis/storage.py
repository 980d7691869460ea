"""Static memory planning: assign a location to every tensor that a function computes, before it runs.

One pass over the steps allocates a buffer for each tensor when it is computed and frees the buffer after the
tensor's last use, so that later tensors reuse it. A tensor gets the smallest free buffer that is large
enough; failing that, the largest of the smaller ones, which grows. A buffer that is more than RANGE times
larger or smaller is left for a tensor that fits it better. This is how TVM's graph executor plans its memory:
`GraphPlanMemory`, tvm/src/relay/backend/graph_plan_memory.cc (0.14).

The tensors that a step reads stay allocated until it ends, so no operator overwrites its own arguments.

Instead of whole buffers, tensors can be assigned ranges of addresses (`packing.py`), which takes less memory.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import accumulate
from typing import Any as Anything
from typing import NamedTuple

from ..ir.expr import Expr, Function
from ..ir.hooks import hook
from ..ir.lazy_dataclass import dataclass
from .liveness import Lifetime, Liveness, Step
from .packing import packed
from .straight_line import Origin, StraightLine, Tensor

RANGE = 16
ALIGNMENT = 64  # in bytes; the alignment that TVM's kernels expect of their arguments


class Buffer(NamedTuple):
    """A range of the arena, in bytes from `offset`, and the tensors that are stored in it, one after
    another.
    """

    number: int
    offset: int
    size: int
    tensors: tuple[int, ...]


class Choice(NamedTuple):
    """Why a tensor has its buffer: the `rule` (see RULES), the previous tensor in it (-1: none), the number
    of free buffers, and the buffer's size before and after.
    """

    rule: str
    before: int
    free: int
    was: int
    size: int


RULES = {
    "first": "no buffer is free, so there is a new one",
    "apart": f"every free buffer is more than {RANGE} times larger or smaller, so there is a new one",
    "alone": "buffers are not used again",
    "same": "a free buffer is just as large",
    "larger": "of the free buffers that are large enough, it is the smallest",
    "grown": "no free buffer is large enough, so the largest of them grows",
    "packed": "it lies as low as what lives at the same time allows, the larger ones first",
}


class Place(NamedTuple):
    """The location of a tensor: `size` bytes from `offset` on, in `buffer`; for parameters and constants,
    which are not in the arena, buffer and offset are -1.
    """

    tensor: int
    buffer: int
    offset: int
    size: int


@dataclass(frozen=True)
class StoragePlan:
    """The location of every tensor of a function, and its lifetime.

    `tensors`, `lives`, `places` and `choices` (None for tensors that are not computed) are indexed by a
    tensor's number; `steps` is the order of evaluation. Sizes are in bytes; those of the plan are multiples
    of `alignment`, so that `peak` <= `arena` <= `total`.
    """

    code: StraightLine
    schedule: str
    lifetimes: str
    alignment: int
    steps: tuple[Step, ...]
    lives: tuple[Lifetime, ...]
    places: tuple[Place, ...]
    choices: tuple[Choice | None, ...]
    buffers: tuple[Buffer, ...]
    live: tuple[int, ...]

    @property
    def tensors(self) -> Sequence[Tensor]:
        return self.code.tensors

    @property
    def result(self) -> tuple[int, ...]:
        """The tensors of the function's result."""
        return self.code.result

    def places_of(self, expr: Expr) -> tuple[Place, ...]:
        """Return the locations of the value of an expression: one Place for each of its tensors."""
        return tuple([self.places[number] for number in self.code.of(expr)])

    def plot(self, ax: Anything = None, *, what: str = "addresses", theme: str = "light") -> Anything:
        """Draw the plan, its "addresses" or its live "bytes" over time: `relay_explorer.interop.plot_memory`.
        Return matplotlib's Axes.
        """
        return hook("plot")(self, ax, what=what, theme=theme)

    @property
    def arena(self) -> int:
        """The total size of the buffers."""
        return max((buffer.offset + buffer.size for buffer in self.buffers), default=0)

    @property
    def total(self) -> int:
        """The total size of the computed tensors if no buffer were reused."""
        own = [t for t in self.tensors if t.number not in self.code.within]
        return sum(_rounded(t.bytes, self.alignment) for t in own if t.origin is Origin.COMPUTED)

    @property
    def peak(self) -> int:
        """The largest number of bytes live at one step: no plan for this order and these lifetimes can need
        less.
        """
        return max(self.live, default=0)

    @property
    def peak_step(self) -> int:
        """The first step at which that many bytes are live; -1 if there are no steps."""
        return self.live.index(self.peak) if self.live else -1


def plan_memory(
    function: Function,
    schedule: str = "program",
    lifetimes: str = "last use",
    reuse: bool = True,
    views: bool = True,
    alignment: int = ALIGNMENT,
    addresses: bool = False,
    parts: bool = False,
) -> StoragePlan:
    """Plan the memory of a typed function that consists of operators, kernels, tuples, `let` and `if`.

    `schedule` is one of `analysis.SCHEDULES`; `lifetimes` is "last use" or "scope" (names are freed at the
    end of their scope); without `reuse` every tensor has its own buffer; without `views` a reshape is a copy.
    Offsets and sizes of buffers are multiples of `alignment`, a power of two. With `addresses`, each tensor
    has its own buffer, and buffers that are used at different times may overlap. With `parts`, the result of
    a kernel that only takes a contiguous part of a computed tensor, starting at an aligned byte, is stored as
    that part of the tensor's memory.

    Raise a RelayError for a program that cannot be planned, and a ValueError where types are missing or an
    option has an invalid value.
    """
    if alignment < 1 or alignment & (alignment - 1):
        raise ValueError(f"an alignment is a power of two, not {alignment!r}")
    liveness = Liveness(function, schedule, lifetimes, views, alignment if parts else 0)
    planner = _Planner(liveness, reuse and not addresses, alignment)
    if addresses and reuse:
        planner.pack()
    return StoragePlan(
        liveness.code, schedule, lifetimes, alignment, tuple(liveness.steps), tuple(liveness.lives),
        planner.places(), tuple(planner.choices), planner.buffers(), tuple(planner.live),
    )  # fmt: skip


class _Planner:
    def __init__(self, liveness: Liveness, reuse: bool, alignment: int) -> None:
        self.liveness = liveness
        self.reuse = reuse
        self.needs = [_rounded(t.bytes, alignment) for t in liveness.tensors]
        self.sizes: list[int] = []  # the size of each buffer
        self.had: list[list[int]] = []  # the tensors that have been stored in each buffer
        self.of = [-1] * len(liveness.tensors)
        self.choices: list[Choice | None] = [None] * len(liveness.tensors)
        self.free: list[tuple[int, int]] = []  # size and number of each free buffer, sorted
        self.live: list[int] = []  # bytes in use during each step
        self.offsets: list[int] = []  # the offset of each buffer, if they are not consecutive
        self.within = liveness.code.within
        ends: list[list[int]] = [[] for _ in liveness.steps]
        for number, life in enumerate(liveness.lives):
            if number not in self.within and life.made >= 0 and life.last < len(liveness.steps):
                ends[life.last].append(number)
        used = 0
        for number, step in enumerate(liveness.steps):
            for tensor in step.writes:
                # The branches of an `if` write the same tensor.
                if self.of[tensor] < 0 and tensor not in self.within:
                    self._place(tensor)
                    used += self.needs[tensor]
            self.live.append(used)
            for tensor in ends[number]:
                used -= self.needs[tensor]
                if reuse:
                    insort(self.free, (self.sizes[self.of[tensor]], self.of[tensor]))

    def _place(self, tensor: int) -> None:
        """Assign a buffer to a tensor: a free one if one has a suitable size."""
        need, free = self.needs[tensor], len(self.free)
        at = bisect_left(self.free, (need, -1))
        if at < free and self.free[at][0] <= need * RANGE:
            rule = "same" if self.free[at][0] == need else "larger"
        elif at and self.free[at - 1][0] * RANGE >= need:
            rule, at = "grown", at - 1
        else:
            rule = "alone" if not self.reuse else "apart" if free else "first"
            self.choices[tensor] = Choice(rule, -1, free, need, need)
            self.of[tensor] = len(self.sizes)
            self.sizes.append(need)
            self.had.append([tensor])
            return
        was, buffer = self.free.pop(at)
        self.sizes[buffer] = max(was, need)
        self.choices[tensor] = Choice(rule, self.had[buffer][-1], free, was, self.sizes[buffer])
        self.of[tensor] = buffer
        self.had[buffer].append(tensor)

    def pack(self) -> None:
        """Assign each tensor its own buffer; buffers may overlap."""
        sizes = {had[0]: size for had, size in zip(self.had, self.sizes)}
        offsets = packed(sizes, {tensor: self.liveness.lives[tensor] for tensor in sizes})
        self.offsets = [offsets[tensor] for tensor in sizes]
        for tensor, size in sizes.items():
            self.choices[tensor] = Choice("packed", -1, 0, size, size)

    def buffers(self) -> tuple[Buffer, ...]:
        """Return the buffers, which are consecutive unless they have been packed."""
        offsets = self.offsets or [0, *accumulate(self.sizes)]
        return tuple(
            Buffer(number, offset, size, tuple(had))
            for number, (offset, size, had) in enumerate(zip(offsets, self.sizes, self.had))
        )

    def places(self) -> tuple[Place, ...]:
        offsets = [buffer.offset for buffer in self.buffers()]
        places: list[Place] = []
        for tensor, buffer in zip(self.liveness.tensors, self.of):
            if tensor.number in self.within:  # the tensor that it is a part of has a smaller number
                source, first = self.within[tensor.number]
                buffer, offset = places[source].buffer, places[source].offset + first
            else:
                offset = offsets[buffer] if buffer >= 0 else -1
            places.append(Place(tensor.number, buffer, offset, tensor.bytes))
        return tuple(places)


def _rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
