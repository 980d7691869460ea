"""Sums, maxima and products over axes, of any operator: convolutions in other layouts, matrix products,
pools, softmax and normalizations, plain reductions.

A tile of the result is held in registers while all of the reduction runs. Of what it is made depends on how
the data lies. Where neighbours on the result's last axis are neighbours in the data, a vector is of results.
Where the last axis of the data is itself summed, as in `nn.dense`, a vector is of partial sums, which are
added up at the end. The element-wise stages that follow are applied before the tile leaves the registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..compose import Composed
from ..require import tvm
from ..target import Target
from .blocked import sums_in_registers
from .parts import REDUCED, SPATIAL, Plan, divisors, product, static
from .scheduled import Candidate, Choice, Scheduled

TURNED_FROM = 16  # uses of each element, from which a transposed copy of a matrix pays
TURNED_TO = 8  # vectors in a sum, up to which it does
LONG = 1 << 12  # elements of a sum, from which several rows at a time are too far apart in memory


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    if not composed.is_static or len(composed.outputs) != 1:
        return None
    plan = Plan(composed, target)
    plan.inline_before([])
    reductions = [name for name in plan.names if plan.is_reduction(name)]
    if not reductions or any(Shape.of(plan, name) is None for name in reductions):
        return None
    found: list[Candidate] = []
    for name in reductions:
        inline_makers(plan, name)
        turn(plan, name)
    alone = set(plan.names) - set(reductions)
    for number, name in enumerate(reductions):
        if not Shape.read(plan, name).spatial:
            found.append(Candidate({f"tile{number}": whole(plan, name)}, "partial sums, added up at the end"))
            continue
        tile = best_tile(plan, name)
        alone.discard(reduce(plan, name, tile))
        found.append(Candidate({f"tile{number}": tile.text}, tile.why))
    for name in plan.names:
        if name in alone:
            plan.vectorized(name)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "reduction", dict(choice or {}), tuple(found))


def inline_makers(plan: Plan, name: str) -> None:
    """Computes the element-wise stages that a reduction reads within it, where it reads each element once, or
    where they are the padding of a pool: a comparison costs less there than a padded copy.
    """
    for maker in plan.makers(name):
        shape = plan.shape(maker)
        if plan.is_reduction(maker) or len(plan.users(maker)) != 1 or shape is None:
            continue
        found = Shape.read(plan, name)
        own = plan.composed.stage_of(maker) is plan.composed.stage_of(name) is not None
        if product(found.extents) <= product(shape) or (own and len(found.reads) == 1):
            plan.try_inline(maker)


def turn(plan: Plan, name: str) -> None:
    """Gives a product of two matrices that are both summed along their last axis a transposed copy of the
    second, so that vectors can be of results. That pays where each element is used often, and sums are short:
    adding up a vector of partial sums takes as long as many elements of a sum.
    """
    shape = Shape.read(plan, name)
    if not shape.spatial:
        return
    last, inner = shape.first - 1, len(shape.extents) - 1
    lanes = _lanes(shape.spatial[-1], plan.target.lanes(plan.dtype(name)))
    if lanes == 1 or not _is_partial(shape, plan.target.lanes(plan.dtype(name))) or len(shape.reduced) != 1:
        return
    read = next((n for n, axes in enumerate(shape.reads) if {last, inner} <= axes), None)
    if read is None or shape.contiguous[read] != {inner}:
        return
    block = plan.sch.get(plan.block(name))
    regions = [r for r in block.reads if not r.source.same_as(block.writes[0].source)]
    size = static(regions[read].source.shape)
    if size is None or len(size) < 2 or product(shape.extents) < TURNED_FROM * product(size):
        return
    if shape.reduced[0] > TURNED_TO * lanes:
        return
    copy = plan.sch.cache_read(plan.block(name), read, "global")
    swap = lambda *i: (*i[:-2], i[-1], i[-2])  # noqa: E731
    plan.sch.transform_layout(copy, ("write", 0), swap)


@dataclass(frozen=True)
class Shape:
    """A reduction's axes: `spatial` and `reduced` extents in order, `reads` the axes on which each tensor
    that it reads depends, `contiguous` for each the axes in its last subscript; axes are numbered as the
    block's, `first` is the number of the first reduced one. The last `joined` reduced axes are one stretch of
    memory in all that is read, of `run` elements.
    """

    spatial: tuple[int, ...]
    reduced: tuple[int, ...]
    reads: tuple[frozenset[int], ...]
    contiguous: tuple[frozenset[int], ...]
    joined: int = 1

    @property
    def extents(self) -> tuple[int, ...]:
        return (*self.spatial, *self.reduced)

    @property
    def first(self) -> int:
        return len(self.spatial)

    @property
    def run(self) -> int:
        return product(self.reduced[-self.joined :])

    @staticmethod
    def of(plan: Plan, name: str) -> Shape | None:
        """None for a block that is no plain nest: its loops are its axes, the reduced ones last."""
        kinds = plan.kinds(name)
        count = kinds.count(REDUCED)
        loops = plan.sch.get_loops(plan.block(name))
        if len(loops) != len(kinds) or count == 0:
            return None
        if kinds != [SPATIAL] * (len(kinds) - count) + [REDUCED] * count:
            return None
        if static([plan.sch.get(loop).extent for loop in loops]) is None:
            return None
        return Shape.read(plan, name)

    @staticmethod
    def read(plan: Plan, name: str) -> Shape:
        block = plan.sch.get(plan.block(name))
        axes = [axis.var for axis in block.iter_vars]
        extents = [int(axis.dom.extent) for axis in block.iter_vars]
        kinds = [int(axis.iter_type) for axis in block.iter_vars]
        own = block.writes[0].source
        regions = [r.region for r in block.reads if not r.source.same_as(own)]
        uses = [[_axes_in(part.min, axes) for part in region] for region in regions]
        return Shape(
            tuple([e for e, k in zip(extents, kinds) if k == SPATIAL]),
            tuple([e for e, k in zip(extents, kinds) if k == REDUCED]),
            tuple([frozenset().union(*parts) for parts in uses]),
            tuple([parts[-1] if parts else frozenset() for parts in uses]),
            _stretch(
                [r.source.shape for r in block.reads if not r.source.same_as(own)], uses, extents, kinds
            ),
        )


def _stretch(
    shapes: list[Any], uses: list[list[frozenset[int]]], extents: list[int], kinds: list[int]
) -> int:
    """How many of the last axes, all reduced, go through all of the last dimensions of what is read along
    them.
    """
    first, count = kinds.count(SPATIAL), 1
    while count < kinds.count(REDUCED):
        here = list(range(len(extents) - 1, len(extents) - 2 - count, -1))
        for shape, parts in zip(shapes, uses):
            if all(axis < first for part in parts for axis in part):
                continue
            found = [{axis for axis in part if extents[axis] > 1} for part in reversed(parts)]
            wanted = [{axis} if extents[axis] > 1 else set() for axis in here]
            if found[: count + 1] != wanted or static(shape[-count - 1 :]) != tuple(
                [extents[axis] for axis in reversed(here)]
            ):
                return count
        count += 1
    return count


def _axes_in(expression: Any, axes: list[Any]) -> frozenset[int]:
    used = list(tvm().tirx.analysis.undefined_vars(expression))
    return frozenset([number for number, axis in enumerate(axes) if any(axis.same_as(v) for v in used)])


@dataclass(frozen=True)
class Tile:
    """What is held in registers. `axis` and `rows`: so many places on that axis; `vectors` of `lanes` results
    on the last axis, or, where `partial`, so many results, each `spread` vectors of partial
    sums.
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
    side = 4 if along > 1 else 8  # nothing is used twice: there only have to be enough sums
    partial = _is_partial(shape, lanes)
    if partial:
        lanes = _lanes(shape.run, lanes)
        if along == 1 and shape.run >= LONG:
            return Tile(None, 1, 1, lanes, partial, divisors(shape.run // lanes, 8)[0])
        vectors = divisors(shape.spatial[-1], side)[0]
    else:
        lanes = _lanes(shape.spatial[-1], lanes)
        vectors = divisors(shape.spatial[-1] // lanes, side if lanes > 1 else 1)[0]
    axis = _row_axis(shape, last)
    rows = 1 if axis is None else divisors(shape.spatial[axis], max(1, most // vectors))[0]
    if axis is not None and vectors > 2 and rows < 4:  # a squarer tile needs fewer loads
        fewer = divisors(vectors, 2)[0]
        taller = divisors(shape.spatial[axis], max(1, most // fewer))[0]
        if taller * fewer > rows * vectors:
            rows, vectors = taller, fewer
    return Tile(axis, rows, vectors, lanes, partial)


def _is_partial(shape: Shape, lanes: int) -> bool:
    """Whether all that is read lies along the last reduced axis, and none of it along the result's last."""
    last, inner = shape.first - 1, len(shape.extents) - 1
    if not shape.reads or (shape.spatial[last] > 1 and any(last in axes for axes in shape.contiguous)):
        return False
    return all(inner in axes for axes in shape.contiguous if axes) and _lanes(shape.run, lanes) > 1


def _lanes(extent: int, lanes: int) -> int:
    """The widest vectors that divide an axis."""
    while lanes > 1 and extent % lanes:
        lanes //= 2
    return lanes


def _row_axis(shape: Shape, last: int) -> int | None:
    """The axis of the tile's rows: one on which what is read along the last axis does not depend, so that it
    is used again for each row; the nearest one that is longer than 1 where there is none.
    """
    longer = [axis for axis in range(last - 1, -1, -1) if shape.spatial[axis] > 1]
    if not longer:
        return None
    along = [axes for axes, inner in zip(shape.reads, shape.contiguous) if last in inner or last in axes]
    free = [axis for axis in longer if any(axis not in axes for axes in along)]
    return free[0] if free else longer[0]


def reduce(plan: Plan, name: str, tile: Tile) -> str:
    """Schedules one reduction with its epilogue, and gives the name of that."""
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


def _run(plan: Plan, name: str, shape: Shape) -> Any:
    """The loop over the last reduced axes, which are one where their elements lie one after another."""
    loops = plan.sch.get_loops(plan.block(name))[-shape.joined :]
    return plan.sch.fuse(*loops) if len(loops) > 1 else loops[0]


def whole(plan: Plan, name: str) -> str:
    """Schedules a reduction to a single number, and tells how many partial sums it keeps."""
    sch = plan.sch
    shape, lanes = Shape.read(plan, name), plan.target.lanes(plan.dtype(name))
    width = _lanes(shape.run, lanes)
    if width == 1:
        return "1"
    spread = divisors(shape.run // width, 8)[0]
    _, lane = sch.split(_run(plan, name, shape), [None, spread * width])
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        if not sch.get_loops(block):  # a single number too, made of this one: rfactor stumbles over it
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


def _tiled(sch: Any, loops: list[Any], tile: Tile) -> tuple[list[Any], list[Any]]:
    """The loops over tiles, and those within one."""
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
    """Vectors of results: the reduction outside, the tile within."""
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


def _partial_sums(plan: Plan, name: str, parts: Any, held: int, tile: Tile) -> None:
    """Vectors of partial sums, which are added up when the tile is done."""
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


def _start(sch: Any, block: Any, loop: Any, vector: bool) -> None:
    """Sets the sums to zero before the reduction."""
    init = sch.decompose_reduction(block, loop)
    loops = sch.get_loops(init)[1:]
    for inner in loops[:-1] if vector else loops:
        sch.unroll(inner)
    if vector:
        sch.vectorize(loops[-1])
