"""What the schedules share: a kernel's blocks and loops by name, and its epilogue, the element-wise stages
that follow the anchor, made one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.op import OpPattern
from ...ops.te.lowered import MATERIALIZED
from ..compose import Composed, block_names
from ..require import tvm
from ..targets.target import Target
from ..tvm_types import Buffer, LoopRV, SBlockRV, Schedule
from .access import Access, access_of
from .inlining_cost import InliningCost

SPATIAL, REDUCED = 0, 2  # TVM's numbers of the kinds of a block's axes
MIN_PARALLEL_OPERATIONS = 1 << 18  # of a loop nest; for fewer, waking the threads costs more than it saves
MIN_PARALLEL_ELEMENTS = 1 << 14  # of a nest that only moves data, for the same reason
TASKS_PER_CORE = 8  # more than one, so that a late core delays the others little


class Plan:
    """A kernel that is being scheduled: `sch`, and questions about it."""

    def __init__(self, composed: Composed, target: Target) -> None:
        self.composed = composed
        self.target = target
        self.sch = tvm().s_tir.Schedule(composed.mod)
        self.sch.work_on(composed.name)
        self.taken: set[str] = set()  # blocks that are the epilogue of one already
        self.growth = InliningCost(composed)

    def block(self, name: str) -> SBlockRV:
        return self.sch.get_sblock(name)

    @property
    def names(self) -> list[str]:
        """The blocks that are left, in order."""
        return block_names(self.sch, self.composed.name)

    def kinds(self, name: str) -> list[int]:
        return [int(var.iter_type) for var in self.sch.get(self.block(name)).iter_vars]

    def is_reduction(self, name: str) -> bool:
        return REDUCED in self.kinds(name)

    def buffer(self, name: str) -> Buffer:
        """Return the buffer that a block writes."""
        return self.sch.get(self.block(name)).writes[0].source

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape that a block writes; None where it is dynamic."""
        return static(self.buffer(name).shape)

    def dtype(self, name: str) -> str:
        return str(self.buffer(name).dtype)

    def users(self, name: str) -> list[str]:
        return [str(self.sch.get(user).name_hint) for user in self.sch.get_consumers(self.block(name))]

    def makers(self, name: str) -> list[str]:
        return [str(self.sch.get(maker).name_hint) for maker in self.sch.get_producers(self.block(name))]

    def extent(self, loop: LoopRV) -> int:
        return int(self.sch.get(loop).extent)

    # -- the blocks around an anchor

    def epilogue(self, anchor: str, copy: bool = True) -> str:
        """Return the last of the element-wise blocks that follow `anchor`, with all in between inlined into
        it. Where none follows, return a copy of the anchor's result, so that there is always a block that
        stores the result from registers; without `copy`, `anchor` itself.
        """
        followers = self._followers(anchor)
        for name in followers[:-1]:
            self.growth.inlined(name, self.users(name))
            self.sch.compute_inline(self.block(name))
        if not followers and copy:
            self.sch.cache_write(self.block(anchor), 0, "local")
            return self.users(anchor)[0]
        self.taken.update(followers[-1:])
        return followers[-1] if followers else anchor

    def _followers(self, anchor: str) -> list[str]:
        """Return the element-wise blocks that depend on `anchor` alone, as far as all but the last of them
        are used nowhere else, and the last, with all of them inlined, stays small enough.
        """
        followers = [anchor]
        users = {anchor: self.users(anchor)}
        for name in self.names:
            if self._is_elementwise(name, anchor) and set(self.makers(name)) & set(followers):
                followers.append(name)
                users[name] = self.users(name)
        while len(followers) > 1 and not (
            self._has_one_exit(followers, users) and self._is_small(followers, users)
        ):
            followers.pop()
        return followers[1:]

    def _is_elementwise(self, name: str, anchor: str) -> bool:
        stage = self.composed.stage_of(name)
        if name == anchor or name in self.taken or stage is None or stage.op.pattern > OpPattern.BROADCAST:
            return False
        return not self.is_reduction(name) and self.shape(name) == self.shape(anchor)

    def _has_one_exit(self, names: list[str], users: dict[str, list[str]]) -> bool:
        """Whether only the last of the blocks is used outside."""
        inside = set(names)
        return all(set(users[name]) <= inside and not self._is_output(name) for name in names[:-1])

    def _is_small(self, names: list[str], users: dict[str, list[str]]) -> bool:
        growth = self.growth.copy()
        for name in names[1:-1]:
            if not growth.bounded(name, users[name]):
                return False
            growth.inlined(name, users[name])
        return True

    def _is_output(self, name: str) -> bool:
        outputs = self.sch.get_output_blocks(self.block("root"))
        return name in [str(self.sch.get(block).name_hint) for block in outputs]

    def inline_before(self, keep: Sequence[str]) -> None:
        """Inline the element-wise blocks into their users, except those in `keep` and those that only a
        reduction reads.
        """
        for name in self.names:
            users = self.users(name)
            if name in keep or not users or self.is_reduction(name) or any(map(self.is_reduction, users)):
                continue
            self.try_inline(name)

    def try_inline(self, name: str) -> bool:
        users = self.users(name)
        if MATERIALIZED in self.sch.get(self.block(name)).annotations or not self.growth.bounded(name, users):
            return False
        try:
            self.sch.compute_inline(self.block(name))
        except tvm().s_tir.ScheduleError:
            return False  # several outputs, or no plain loop: it stays a stage
        self.growth.inlined(name, users)
        return True

    # -- loops

    def vectorized(self, name: str) -> None:
        """Schedule a block that stands alone by default: vectorize the last axis, run the others in
        parallel.
        """
        plain_loops(self.sch, self.block(name), self.target)

    def parallel(
        self, loops: Sequence[LoopRV], operations: int, least: int = MIN_PARALLEL_OPERATIONS
    ) -> LoopRV:
        """Fuse the loops, and run the result in parallel where there is enough work."""
        loop = self.sch.fuse(*loops) if len(loops) > 1 else loops[0]
        if operations >= least and self.extent(loop) > 1 and self.target.cores > 1:
            self.sch.parallel(loop)
        return loop


def sizes(type_: Any) -> tuple[int, ...]:
    """Return the static sizes of a tensor type."""
    result: tuple[int, ...] = type_.concrete_shape
    return result


def static(shape: Sequence[Any]) -> tuple[int, ...] | None:
    return tuple([int(d) for d in shape]) if all(hasattr(d, "value") for d in shape) else None


def product(numbers: Sequence[int]) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total


def divisors(number: int, most: int) -> list[int]:
    """Return the divisors up to `most`, the largest first."""
    return [d for d in range(min(number, most), 0, -1) if number % d == 0]


def plain_loops(sch: Schedule, block: SBlockRV, target: Target) -> None:
    """Orders one block's loops: spatial ones in parallel, reductions, then a vector of the last axis."""
    kinds = [int(var.iter_type) for var in sch.get(block).iter_vars]
    loops = sch.get_loops(block)
    if len(loops) != len(kinds) or any(kind not in (SPATIAL, REDUCED) for kind in kinds):
        return
    spatial = [loop for loop, kind in zip(loops, kinds) if kind == SPATIAL]
    reduced = [loop for loop, kind in zip(loops, kinds) if kind == REDUCED]
    if not spatial:
        return
    extents = [_known(sch.get(loop).extent) for loop in spatial]
    lanes = target.lanes(str(sch.get(block).writes[0].source.dtype))
    vector: LoopRV | None
    access = Access() if reduced else access_of(sch.get(block), lanes)
    if access.across is not None and (turned := _turned(sch, spatial, extents, access.across, lanes)):
        outer, vector = turned
    elif access.vectors:
        joined = 1 if reduced else _joined(sch, block)
        outer, vector = _split_vector(sch, spatial, extents, lanes, joined)
    else:
        outer, vector = spatial[:-1], None
        if access.pieces:  # a loop for each of them, without the conditions
            sch.annotate(spatial[-1], "pragma_loop_partition_hint", 1)
    if vector is not None and reduced:
        sch.reorder(*outer, *reduced, vector)
    large = None in extents or product([e or 1 for e in extents]) >= MIN_PARALLEL_ELEMENTS
    if outer and large and target.cores > 1:
        shared = _tasks(sch, outer, TASKS_PER_CORE * target.cores)
        sch.parallel(sch.fuse(*shared) if len(shared) > 1 else shared[0])
    if vector is not None:
        sch.vectorize(vector)


def _known(extent: Any) -> int | None:
    return int(extent) if hasattr(extent, "value") else None


def _turned(
    sch: Schedule, loops: list[LoopRV], extents: list[int | None], across: int, lanes: int
) -> tuple[list[LoopRV], LoopRV] | None:
    """Schedule a transpose tile by tile, so that reads and writes stay within few cache lines, each of which
    is used completely. Return the outer loops, and one over a vector of what is read.
    """
    high, wide = extents[across] or 0, extents[-1] or 0
    if None in extents or min(high, wide) < 4:
        return None
    rows, row = sch.split(loops[across], [None, min(high, max(4, min(lanes, 16)))])
    columns, column = sch.split(loops[-1], [None, min(wide, 8)])
    outer = [*loops[:across], rows, *loops[across + 1 : -1], columns]
    sch.reorder(*outer, column, row)
    sch.unroll(column)
    return [sch.fuse(*outer)], row


def _tasks(sch: Schedule, loops: list[LoopRV], tasks: int) -> list[LoopRV]:
    """Return the outermost loops that make up as many parallel tasks as are `wanted`. The cores share them as
    one fused loop, whose indices are recovered by division: inner loops with few iterations stay separate. So
    does a loop of a computed length, because TVM does not divide by such a length.
    """
    count = 1
    for number, loop in enumerate(loops):
        extent = sch.get(loop).extent
        if not isinstance(extent, (tvm().tirx.IntImm, tvm().tirx.Var)):
            alone = all(_known(sch.get(outer).extent) == 1 for outer in loops[:number])
            return [loop] if alone else loops[:number]
        count *= _known(extent) or 1
        if count >= tasks:
            return loops[: number + 1]
    return loops


def _joined(sch: Schedule, block: SBlockRV) -> int:
    """Return how many of the last axes may be fused for vectors: none that only some subscripts of a tensor
    depend on, such as one element per row, which a vector across two rows would gather.
    """
    realized = sch.get(block)
    reads = [{v.name for part in r.region for v in _variables(part.min)} for r in realized.reads]
    for count in range(2, len(realized.iter_vars) + 1):
        last = {a.var.name for a in realized.iter_vars[-count:] if static([a.dom.extent]) != (1,)}
        if any(0 < len(used & last) < len(last) for used in reads):
            return count - 1
    return len(realized.iter_vars)


def _variables(expression: Any) -> list[Any]:
    return list(tvm().tirx.analysis.undefined_vars(expression))


def _split_vector(
    sch: Schedule, loops: list[LoopRV], extents: list[int | None], lanes: int, joined: int
) -> tuple[list[LoopRV], LoopRV | None]:
    """Return the outer loops, and one over a vector: of the last axis, or, where the lanes do not divide it,
    of as many of the last axes as they divide, among the last `joined`; or of the last axis, half as wide.
    Return None for the vector where none fits: LLVM then vectorizes what it can.
    """
    for count in range(1, min(len(loops), joined) + 1):
        last = extents[-count:]
        total = product([e or 0 for e in last])
        if total == 0:
            break
        if total % lanes == 0:
            inner = sch.fuse(*loops[-count:]) if count > 1 else loops[-1]
            wide, vector = sch.split(inner, [None, lanes])
            return [*loops[:-count], wide], vector
    size = extents[-1] or 0
    if joined == 1 and lanes >= 8 and size and size % (lanes // 2) == 0:
        wide, vector = sch.split(loops[-1], [None, lanes // 2])
        return [*loops[:-1], wide], vector
    return loops, None
