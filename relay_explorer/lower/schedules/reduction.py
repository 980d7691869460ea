"""Schedules reductions of any operator for a CPU: convolutions in other layouts, matrix products, pools,
softmax and normalizations, plain sums, maxima and products.

A tile of the result stays in registers during the whole reduction. Its vectors depend on the data's layout.
If adjacent elements along the result's last axis read adjacent data, a vector consists of results. If the
last axis of the data is itself reduced, as in `nn.dense`, a vector consists of partial sums, which are added
up at the end. The elementwise stages that follow are applied before the tile leaves the registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..compose import Composed
from ..require import tvm
from ..targets.target import Target
from ..tvm_types import LoopRV, SBlockRV, Schedule
from .access import access_of
from .blocked import sums_in_registers
from .parts import Plan, divisors, product, static
from .scheduled import Candidate, Choice, Scheduled
from .shape import Shape
from .tail import MARK

TRANSPOSE_MIN_USES = 16  # uses of each element from which a transposed copy of a matrix pays off
TRANSPOSE_MAX_VECTORS = 8  # vectors per sum up to which it pays off
REORDER_MIN_USES = 2  # uses of each element from which a reordered copy pays off
MIN_OVERLAP_LANES = 4  # lanes of a vector from which overlapping vectors pay off
REMAINDER_FACTOR = 0.95  # relative speed of a tile whose start must be computed, since the last one overlaps
MIN_LONG_SUM = 1 << 12  # elements of a sum from which several rows at a time are too far apart in memory


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    if not composed.is_static or len(composed.outputs) != 1:
        return None
    plan = Plan(composed, target)
    plan.inline_before([])
    reductions = [name for name in plan.names if plan.is_reduction(name)]
    if not reductions or any(Shape.of(plan, name) is None for name in reductions):
        return None
    candidates: list[Candidate] = []
    for name in reductions:
        inline_makers(plan, name)
        turn(plan, name)
        unstride(plan, name)
    alone = set(plan.names) - set(reductions)
    for number, name in enumerate(reductions):
        if not Shape.read(plan, name).spatial:
            candidates.append(
                Candidate({f"tile{number}": whole(plan, name)}, "partial sums, added up at the end")
            )
            continue
        tile = best_tile(plan, name)
        alone.discard(reduce(plan, name, tile))
        candidates.append(Candidate({f"tile{number}": tile.text}, tile.why))
    for name in plan.names:
        if name in alone:
            plan.vectorized(name)
    return Scheduled(
        composed, plan.sch.mod, plan.sch.trace, "reduction", dict(choice or {}), tuple(candidates)
    )


def inline_makers(plan: Plan, name: str) -> None:
    """Inline the elementwise stages that a reduction reads, if it reads each element once, or if they are the
    padding of a pool in blocked layout. One comparison per vector costs less than a padded copy; one per
    element does not.
    """
    for maker in plan.makers(name):
        shape = plan.shape(maker)
        if plan.is_reduction(maker) or len(plan.users(maker)) != 1 or shape is None:
            continue
        reduction = Shape.read(plan, name)
        own = plan.composed.stage_of(maker) is plan.composed.stage_of(name) is not None
        alone = own and len(reduction.reads) == 1 and not _branches(plan, maker)
        if product(reduction.extents) <= product(shape) or alone:
            plan.try_inline(maker)


def _branches(plan: Plan, name: str) -> bool:
    return access_of(plan.sch.get(plan.block(name)), plan.target.lanes(plan.dtype(name))).branches


def turn(plan: Plan, name: str) -> None:
    """Copy the second operand of a matrix product, transposed, if both operands are reduced along their last
    axis, so that vectors can run along the result. This pays off if each element is used often and the sums
    are short, because adding up a vector of partial sums takes as long as many elements of a sum.
    """
    shape = Shape.read(plan, name)
    if not shape.spatial or len(shape.reduced) != 1:
        return
    last, inner = shape.first - 1, len(shape.extents) - 1
    lanes = plan.target.lanes(plan.dtype(name))
    read = next((n for n, axes in enumerate(shape.reads) if {last, inner} <= axes), None)
    if read is None or shape.contiguous[read] != {inner} or _wide(shape.spatial[-1], lanes) == 1:
        return
    if any(last in axes for axes in shape.contiguous):
        return
    block = plan.sch.get(plan.block(name))
    regions = [r for r in block.reads if not r.source.same_as(block.writes[0].source)]
    size = static(regions[read].source.shape)
    if size is None or len(size) < 2 or product(shape.extents) < TRANSPOSE_MIN_USES * product(size):
        return
    if _is_partial(shape, lanes) and shape.reduced[0] > TRANSPOSE_MAX_VECTORS * lanes:
        return
    copy = plan.sch.cache_read(plan.block(name), read, "global")
    swap = lambda *i: (*i[:-2], i[-1], i[-2])  # noqa: E731
    plan.sch.transform_layout(copy, ("write", 0), swap)


def unstride(plan: Plan, name: str) -> None:
    """Reorder the data of windows with a stride s along the last axis, so that elements s apart become
    adjacent, and can be read as a vector. The data is reordered where it is computed, or in a copy.
    """
    shape = Shape.read(plan, name)
    block = plan.sch.get(plan.block(name))
    regions = [r for r in block.reads if not r.source.same_as(block.writes[0].source)]
    if not shape.spatial or shape.spatial[-1] < MIN_OVERLAP_LANES:
        return
    last = block.iter_vars[shape.first - 1].var
    for number, region in enumerate(regions):
        size = static(region.source.shape)
        step = _step(region.region[-1].min, last) if size else 1
        if size is None or step < 2 or product(shape.extents) < REORDER_MIN_USES * product(size):
            continue
        makers = [maker for maker in plan.makers(name) if plan.buffer(maker).same_as(region.source)]
        copied = bool(makers) and plan.users(makers[0]) == [name] and not plan.is_reduction(makers[0])
        copy = plan.block(makers[0]) if copied else plan.sch.cache_read(plan.block(name), number, "global")
        padding = tvm().tirx.const(0, str(region.source.dtype)) if size[-1] % step else None
        plan.sch.transform_layout(copy, ("write", 0), _unstrided(step), pad_value=padding)


def _unstrided(step: int) -> Callable[..., tuple[Any, ...]]:
    return lambda *i: (*i[:-1], i[-1] % step, i[-1] // step)


def _step(index: Any, last: Any) -> int:
    """Return the distance in elements between the loads of adjacent results."""
    coefficients = tvm().sym.detect_linear_equation(index, [last])
    return int(coefficients[0]) if coefficients and hasattr(coefficients[0], "value") else 1


@dataclass(frozen=True)
class Tile:
    """A register tile. It has `rows` positions along `axis`, and along the last axis `vectors` vectors of
    `lanes` results. If `partial`, it has `vectors` results along the last axis instead, each of which is
    `spread` vectors of `lanes` partial sums.
    """

    axis: int | None
    rows: int
    vectors: int
    lanes: int
    partial: bool
    spread: int = 1

    @property
    def text(self) -> str:
        vectors = self.vectors * self.spread
        return f"{self.rows} × {vectors}" + (f" × {self.lanes}" if self.lanes > 1 else "")

    @property
    def why(self) -> str:
        kind = "partial sums" if self.partial else "results"
        return f"{self.rows * self.vectors * self.spread} vectors of {self.lanes} {kind} in registers"


def best_tile(plan: Plan, name: str) -> Tile:
    shape = Shape.read(plan, name)
    lanes = plan.target.lanes(plan.dtype(name))
    last = shape.first - 1
    most = sums_in_registers(plan.target)
    along = sum(1 for axes in shape.reads if any(axis >= shape.first for axis in axes))
    side = 4 if along > 1 else 8  # with one operand nothing is reused: only enough sums in flight are needed
    partial = _is_partial(shape, lanes)
    if partial:
        lanes = _along(shape.run, lanes)
        if along == 1 and shape.run >= MIN_LONG_SUM and shape.run % lanes == 0:
            return Tile(None, 1, 1, lanes, partial, divisors(shape.run // lanes, 8)[0])
        vectors = _best_count(shape.spatial[-1], side)
    else:
        lanes = _wide(shape.spatial[-1], lanes)
        vectors = _best_count(shape.spatial[-1], side if lanes > 1 else 1, lanes)
    axis = _row_axis(shape, last)
    rows = 1 if axis is None else _best_count(shape.spatial[axis], max(1, most // vectors))
    if axis is not None and vectors > 2 and rows < 4:  # a squarer tile needs fewer loads
        fewer = _best_count(vectors, 2)
        taller = _best_count(shape.spatial[axis], max(1, most // fewer))
        if taller * fewer > rows * vectors:
            rows, vectors = taller, fewer
    return Tile(axis, rows, vectors, lanes, partial)


def _best_count(size: int, most: int, lanes: int = 1) -> int:
    """Return the number of vectors of a tile along an axis. More are better, but if the tile does not divide
    the axis, the last tile begins earlier, and recomputes results of the previous one (see `overlap`).
    """
    scores = []
    for count in range(1, min(most, size // lanes) + 1):
        tile = count * lanes
        once = size / (-(-size // tile) * tile)
        scores.append((once * (count / (count + 1)) * (1.0 if once == 1 else REMAINDER_FACTOR), count))
    return max(scores)[1]


def _is_partial(shape: Shape, lanes: int) -> bool:
    """Whether all loads of a sum run along the last reduced axis, and none along the result's last axis. A
    value that is read once for a whole sum, such as the maximum of its row, does not count.
    """
    last, inner = shape.first - 1, len(shape.extents) - 1
    summed = [a for a, axes in zip(shape.contiguous, shape.reads) if any(n >= shape.first for n in axes)]
    if not shape.reads or (shape.spatial[last] > 1 and any(last in axes for axes in summed)):
        return False
    return all(inner in axes for axes in summed if axes) and _along(shape.run, lanes) > 1


def _lanes(extent: int, lanes: int) -> int:
    """Return the widest vector length that divides an axis."""
    while lanes > 1 and extent % lanes:
        lanes //= 2
    return lanes


def _along(run: int, lanes: int) -> int:
    """Return the vector length for partial sums: the widest that divides a contiguous run of elements. If
    that is narrow, return the full width; the remainder is then summed afterwards (see `tail`).
    """
    exact = _lanes(run, lanes)
    return lanes if exact < lanes // 2 and run > lanes else exact


def _wide(extent: int, lanes: int) -> int:
    """Return the widest vector length that fits into an axis, or, if it is very short, that divides it."""
    while lanes > extent:
        lanes //= 2
    return lanes if lanes >= MIN_OVERLAP_LANES else _lanes(extent, lanes)


def _row_axis(shape: Shape, last: int) -> int | None:
    """Return the axis of the tile's rows: one on which some operand that is read along the last axis does not
    depend, so that its elements are reused for each row. If there is none, return the last of the axes longer
    than 1; None if all have length 1.
    """
    longer = [axis for axis in range(last - 1, -1, -1) if shape.spatial[axis] > 1]
    if not longer:
        return None
    along = [axes for axes, inner in zip(shape.reads, shape.contiguous) if last in inner or last in axes]
    free = [axis for axis in longer if any(axis not in axes for axes in along)]
    return free[0] if free else longer[0]


def reduce(plan: Plan, name: str, tile: Tile) -> str:
    """Schedule one reduction with its epilogue, and return the epilogue's name."""
    sch = plan.sch
    shape = Shape.read(plan, name)
    parts = None
    if tile.partial:
        _, lane = sch.split(_run(plan, name, shape), [None, tile.spread * tile.lanes])
        parts = sch.rfactor(lane, len(shape.spatial))
    last = plan.epilogue(name)
    outer, inner = _tiled(sch, sch.get_loops(plan.block(last)), tile)
    sch.reorder(*outer, *inner)
    tasks = plan.parallel(outer, 2 * product(shape.extents))
    sch.compute_at(plan.block(name), tasks)
    sch.set_scope(plan.block(name), 0, "local")
    if parts is not None:
        sch.compute_at(parts, tasks)
        if shape.run % (tile.spread * tile.lanes):
            sch.annotate(sch.get_loops(parts)[-1], MARK, shape.run % tile.lanes)
        sch.set_scope(parts, 0, "local")
    for loop in inner[:-1]:
        sch.unroll(loop)
    if not tile.partial and tile.lanes > 1:
        sch.vectorize(inner[-1])
    held = [size for size in (tile.rows, tile.vectors * (1 if tile.partial else tile.lanes)) if size > 1]
    if parts is not None:
        _partial_sums(plan, name, parts, len(held), tile)
    elif max(shape.reduced) > 1:
        _results(plan, name, tile, len(held))
    return last


def _run(plan: Plan, name: str, shape: Shape) -> LoopRV:
    """Return the loop over the last reduced axes, fused if their elements are contiguous."""
    loops = plan.sch.get_loops(plan.block(name))[-shape.joined :]
    return plan.sch.fuse(*loops) if len(loops) > 1 else loops[0]


def whole(plan: Plan, name: str) -> str:
    """Schedule a reduction to one element; return the number of partial sums, as "vectors × lanes"."""
    sch = plan.sch
    shape, lanes = Shape.read(plan, name), plan.target.lanes(plan.dtype(name))
    width = _lanes(shape.run, lanes)
    if width == 1:
        return "1"
    spread = divisors(shape.run // width, 8)[0]
    _, lane = sch.split(_run(plan, name, shape), [None, spread * width])
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        if not sch.get_loops(block):  # a block of a single element, which has no loops: rfactor fails on it
            sch.add_unit_loop(block)
    parts = sch.rfactor(lane, 0)
    sch.set_scope(parts, 0, "local")
    *reduced, lane = sch.get_loops(parts)
    wide, vector = sch.split(lane, [spread, width])
    sch.unroll(wide)
    sch.vectorize(vector)
    init = sch.decompose_reduction(parts, reduced[0])
    wide, vector = sch.get_loops(init)
    sch.unroll(wide)
    sch.vectorize(vector)
    sch.unroll(sch.get_loops(plan.block(name))[-1])
    return f"{spread} × {width}"


def _tiled(sch: Schedule, loops: list[LoopRV], tile: Tile) -> tuple[list[LoopRV], list[LoopRV]]:
    """Split the loops; return the loops over tiles, and the loops within a tile."""
    *before, last = loops
    inner = []
    if tile.axis is not None:
        before[tile.axis], row = sch.split(before[tile.axis], [None, tile.rows])
        inner.append(row)
    if tile.partial:
        last, vector = sch.split(last, [None, tile.vectors])
        inner.append(vector)
    else:
        last, vector, lane = sch.split(last, [None, tile.vectors, tile.lanes])
        inner += [vector, lane]
    return [*before, last], inner


def _results(plan: Plan, name: str, tile: Tile, held: int) -> None:
    """Schedule a tile with vectors of results: the reduction outside, the tile inside."""
    sch, block = plan.sch, plan.block(name)
    loops = sch.get_loops(block)[1:]
    spatial, reduced = loops[:held], loops[held:]
    lane = None
    if tile.vectors * tile.lanes > 1 and tile.lanes > 1:
        wide, lane = sch.split(spatial[-1], [None, tile.lanes])
        spatial = [*spatial[:-1], wide]
    sch.reorder(*reduced, *spatial, *([lane] if lane is not None else []))
    for loop in spatial:
        sch.unroll(loop)
    if lane is not None:
        sch.vectorize(lane)
    _start(sch, block, reduced[0], lane is not None)


def _partial_sums(plan: Plan, name: str, parts: SBlockRV, held: int, tile: Tile) -> None:
    """Schedule a tile with vectors of partial sums, which are added up when the reduction is done."""
    sch = plan.sch
    lane, *inner = sch.get_loops(parts)[1:]
    spatial, reduced = inner[:held], inner[held:]
    if tile.spread > 1:
        wide, lane = sch.split(lane, [tile.spread, tile.lanes])
        spatial.append(wide)
    sch.reorder(*reduced, *spatial, lane)
    for loop in spatial:
        sch.unroll(loop)
    sch.vectorize(lane)
    if reduced:
        _start(sch, parts, reduced[0], True)
    for loop in sch.get_loops(plan.block(name))[1:]:
        sch.unroll(loop)


def _start(sch: Schedule, block: SBlockRV, loop: LoopRV, vector: bool) -> None:
    """Initialize the accumulators before the reduction."""
    init = sch.decompose_reduction(block, loop)
    loops = sch.get_loops(init)[1:]
    for inner in loops[:-1] if vector else loops:
        sch.unroll(inner)
    if vector:
        sch.vectorize(loops[-1])
