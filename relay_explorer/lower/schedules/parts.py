"""Shared by the schedule rules: access to a kernel's blocks and loops by name, and its epilogue, the
elementwise stages that follow the anchor, merged into one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.ndarray import itemsize
from ...ir.op import OpPattern
from ...ops.te.lowered import MATERIALIZED
from ..compose import Composed, block_names
from ..require import tvm
from ..targets.target import Target
from ..tvm_types import Buffer, LoopRV, SBlockRV, Schedule
from .access import Access, access_of, conditions_in
from .contiguous import narrower_lanes
from .inlining_cost import InliningCost

SPATIAL, REDUCED = 0, 2  # TVM's codes of the types of a block's axes
MIN_PARALLEL_OPERATIONS = 1 << 18  # of a loop nest; for fewer, waking the threads costs more than it saves
MIN_PARALLEL_ELEMENTS = 1 << 14  # of a nest that only moves data, for the same reason
MIN_LANES = 4  # of a vector: with fewer, most of it is idle
TASKS_PER_CORE = 8  # more than one, so that a slow core delays the others little


class Plan:
    """A kernel that is being scheduled: TVM's schedule `sch`, and queries and primitives by block name."""

    def __init__(self, composed: Composed, target: Target) -> None:
        self.composed = composed
        self.target = target
        self.sch = tvm().s_tir.Schedule(composed.mod)
        self.sch.work_on(composed.name)
        self.taken: set[str] = set()  # blocks that are already the epilogue of an anchor
        self.growth = InliningCost(composed)

    def block(self, name: str) -> SBlockRV:
        return self.sch.get_sblock(name)

    @property
    def names(self) -> list[str]:
        """The blocks that have not been inlined, in order."""
        return block_names(self.sch, self.composed.name)

    def kinds(self, name: str) -> list[int]:
        return [int(var.iter_type) for var in self.sch.get(self.block(name)).iter_vars]

    def is_reduction(self, name: str) -> bool:
        return REDUCED in self.kinds(name)

    def buffer(self, name: str) -> Buffer:
        """Return the buffer that a block writes."""
        return self.sch.get(self.block(name)).writes[0].source

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of the buffer that a block writes; None if it is dynamic."""
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
        """Return the last of the elementwise blocks that follow `anchor`, after inlining those in between
        into it. If none follows, return a new block that copies the anchor's result, so that there is always
        a block that stores the result from registers; without `copy`, return `anchor` itself.
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
        """Return elementwise blocks that follow `anchor`: as many as can be inlined into the last one,
        because all but the last are used only by each other, and the last stays small enough.
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
        """Whether only the last of the blocks is used outside of them."""
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
        """Inline blocks into their users, except reductions, the blocks in `keep`, and those that a reduction
        reads.
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
            return False  # several outputs, or not a simple loop nest: it stays a separate block
        self.growth.inlined(name, users)
        return True

    # -- loops

    def vectorized(self, name: str) -> None:
        """Apply the default schedule to a block: vectorize the last axis, run the others in parallel."""
        plain_loops(self.sch, self.block(name), self.target)

    def parallel(
        self, loops: Sequence[LoopRV], operations: int, least: int = MIN_PARALLEL_OPERATIONS
    ) -> LoopRV:
        """Fuse the loops, and run the fused loop, which is returned, in parallel if there is enough work."""
        loop = self.sch.fuse(*loops) if len(loops) > 1 else loops[0]
        if operations >= least and self.extent(loop) > 1 and self.target.cores > 1:
            self.sch.parallel(loop)
        return loop


def sizes(type_: Any) -> tuple[int, ...]:
    """Return the static sizes of a tensor type."""
    result: tuple[int, ...] = type_.concrete_shape
    return result


def size_bytes(type_: Any) -> int:
    """Return the size of a tensor of static shape."""
    return product(sizes(type_)) * itemsize(type_.dtype)


def static(shape: Sequence[Any]) -> tuple[int, ...] | None:
    return tuple([int(d) for d in shape]) if all(hasattr(d, "value") for d in shape) else None


def product(numbers: Sequence[int]) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total


def divisors(number: int, most: int) -> list[int]:
    """Return the divisors of a number up to `most`, the largest first."""
    return [d for d in range(min(number, most), 0, -1) if number % d == 0]


def plain_loops(sch: Schedule, block: SBlockRV, target: Target) -> None:
    """Order one block's loops: spatial ones in parallel, then reductions, then a vector of the last axis.
    Blocks whose loops do not correspond to their axes are left unchanged.
    """
    kinds = [int(var.iter_type) for var in sch.get(block).iter_vars]
    loops = sch.get_loops(block)
    if len(loops) != len(kinds) or any(kind not in (SPATIAL, REDUCED) for kind in kinds):
        return
    spatial = [loop for loop, kind in zip(loops, kinds) if kind == SPATIAL]
    reduced = [loop for loop, kind in zip(loops, kinds) if kind == REDUCED]
    if not spatial:
        _initialized(sch, block, reduced)
        return
    extents = [_static_extent(sch.get(loop).extent) for loop in spatial]
    lanes = target.lanes(str(sch.get(block).writes[0].source.dtype))
    vector: LoopRV | None
    access = Access() if reduced else access_of(sch.get(block), lanes)
    if access.across is not None and (tiled := _transposed(sch, spatial, extents, access.across, lanes)):
        outer, vector = tiled
    elif access.vectors:
        narrow = 0 if reduced else narrower_lanes(sch.get(block), extents[-1] or 0, lanes)
        joined, lanes = (1, narrow or lanes) if reduced or narrow else (_joined(sch, block), lanes)
        outer, vector = _split_vector(sch, spatial, extents, lanes, joined)
    else:
        outer, vector = spatial[:-1], None
        if access.pieces:  # lets TVM create a loop for each piece, without the conditions
            sch.annotate(spatial[-1], "pragma_loop_partition_hint", 1)
    if vector is not None and reduced:
        sch.reorder(*outer, *reduced, vector)
    large = None in extents or product([e or 1 for e in extents]) >= MIN_PARALLEL_ELEMENTS
    if outer and large and target.cores > 1:
        shared = _tasks(sch, outer, TASKS_PER_CORE * target.cores)
        sch.parallel(sch.fuse(*shared) if len(shared) > 1 else shared[0])
    if vector is not None:
        sch.vectorize(vector)
    _initialized(sch, block, reduced, vector is not None)


def _initialized(sch: Schedule, block: SBlockRV, reduced: list[LoopRV], vector: bool = False) -> None:
    """Initialize a reduction before its loops if one of them has a dynamic extent. Otherwise, TVM initializes
    it in the first iteration, which a reduction over no elements does not have.
    """
    if all(_static_extent(sch.get(loop).extent) is not None for loop in reduced):
        return
    init = sch.decompose_reduction(block, reduced[0])
    if vector:
        sch.vectorize(sch.get_loops(init)[-1])


def _static_extent(extent: Any) -> int | None:
    return int(extent) if hasattr(extent, "value") else None


def _transposed(
    sch: Schedule, loops: list[LoopRV], extents: list[int | None], across: int, lanes: int
) -> tuple[list[LoopRV], LoopRV] | None:
    """Schedule a transpose tile by tile, so that reads and writes touch few cache lines at a time, each of
    which is used completely. Return the outer loops, and the loop over a vector of elements that are read.
    Return None if sizes are dynamic or small.
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
    """Return the fewest outermost loops whose iterations give at least `tasks` parallel tasks. These loops
    will be fused into one, whose indices are recovered by division, so inner loops that are not needed stay
    separate. So does a loop of a computed length, because TVM does not divide by such a length.
    """
    count = 1
    for number, loop in enumerate(loops):
        extent = sch.get(loop).extent
        if not isinstance(extent, (tvm().tirx.IntImm, tvm().tirx.Var)):
            alone = all(_static_extent(sch.get(outer).extent) == 1 for outer in loops[:number])
            return [loop] if alone else loops[:number]
        count *= _static_extent(extent) or 1
        if count >= tasks:
            return loops[: number + 1]
    return loops


def _joined(sch: Schedule, block: SBlockRV) -> int:
    """Return the number of last axes that may be fused for vectors. Every operand must depend on all of them
    or on none, and so must every condition. An operand with one element per row, for example, would need a
    gather in a vector across two rows.
    """
    realized = sch.get(block)
    reads = [{v.name for part in r.region for v in _variables(part.min)} for r in realized.reads]
    reads += [{v.name for v in _variables(condition)} for condition in conditions_in(realized)]
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
    """Return the outer loops, and a loop over a vector. The vector is taken from the last axis if the lanes
    divide it, otherwise from as few as possible of the last `joined` axes, fused, that they divide, or from
    the last axis at a half or less of the width. If none fits, return None for the vector; LLVM then
    vectorizes what it can.
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
    while joined == 1 and lanes > MIN_LANES and size:
        lanes = max(lanes // 2, MIN_LANES)
        if size % lanes == 0:
            wide, vector = sch.split(loops[-1], [None, lanes])
            return [*loops[:-1], wide], vector
    return loops, None
