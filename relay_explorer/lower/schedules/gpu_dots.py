"""Schedules matrix products of bytes for a GPU with `dp4a`, which adds four products to a sum.

A thread block computes a tile of the result. For some of the inner indices at a time, its threads load both
operands into shared memory, in words of four adjacent inner indices: those of one row of an operand are next
to those of the next row, so that adjacent threads read adjacent words. Each thread accumulates several rows
and columns in registers, and therefore uses each word that it reads several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..compose import Composed
from ..targets.dots import Dot, dot_for
from ..targets.target import Target
from ..tvm_types import LoopRV, SBlockRV, Schedule
from .dots import MARK, sentence
from .gpu_sums import GPUPlan, is_plain, spread
from .parts import REDUCED, SPATIAL, divisors
from .scheduled import Candidate, Choice

ACROSS = 16  # threads of a block along the columns
SUMS = 4  # rows, and columns, of a thread
MAX_CHUNK_WORDS = 16  # words of each row that are loaded at once
MIN_ROWS = 2  # with one row, words would be loaded into shared memory that are used once


@dataclass(frozen=True)
class DotTile:
    """A tile of a thread block: `down` by `across` threads, each with `rows` by `columns` accumulators, and
    `words` words of each row of both operands at a time.
    """

    down: int
    across: int
    rows: int
    columns: int
    words: int


def candidates(composed: Composed, target: Target) -> Iterator[Candidate]:
    """Yield the tile for a product to which an instruction of the target applies."""
    plan = GPUPlan(composed, target)
    name = product_of(plan)
    if name is None:
        return
    block = plan.sch.get(plan.block(name))
    dot = instruction_of(plan, name)
    *_, rows, columns, inner = [int(axis.dom.extent) for axis in block.iter_vars]
    if dot is None or inner % dot.products or inner == dot.products or rows < MIN_ROWS:
        return
    high = min(SUMS, rows)
    down = next(n for n in (16, 8, 4, 2, 1) if n == 1 or n * high < 2 * rows)
    wide = next(n for n in (SUMS, 2, 1) if n == 1 or n * ACROSS < 2 * columns)
    tile = DotTile(down, ACROSS, high, wide, divisors(inner // dot.products, MAX_CHUNK_WORDS)[0])
    size = f"{down * high} × {ACROSS * wide} accumulators per block, {high * wide} per thread"
    yield Candidate({"rule": "Dot", **asdict(tile)}, f"{sentence(dot)}; {size}")


def product_of(plan: GPUPlan) -> str | None:
    """Return the reduction block of a product of two matrices, or of a batch of them, of which the first is
    read by (row, inner index) in any order, and the second by (column, inner index).
    """
    anchor = plan.composed.anchor
    if anchor is None or not plan.composed.is_static:
        return None
    names = [name for name in plan.names if plan.is_reduction(name)]
    if len(names) != 1 or names[0] not in anchor.blocks or not is_plain(plan, names[0]):
        return None
    block, kinds = plan.sch.get(plan.block(names[0])), plan.kinds(names[0])
    if len(kinds) < 3 or kinds != [SPATIAL] * (len(kinds) - 1) + [REDUCED] or len(block.reads) != 2:
        return None
    if 0 in (plan.shape(names[0]) or (0,)) or plan.dtype(names[0]) != "int32":
        return None
    *batch, row, column, inner = [axis.var for axis in block.iter_vars]
    for read, own in zip(block.reads, (row, column)):
        allowed = [*batch, own, inner]
        indices = [part.min for part in read.region]
        if not all(any(index.same_as(axis) for axis in allowed) for index in indices):
            return None
        if not all(any(index.same_as(axis) for index in indices) for axis in (own, inner)):
            return None
    return names[0]


def schedule(composed: Composed, target: Target, choice: Choice) -> Schedule | None:
    """Schedule a product with a tile; the loop over the products of a word stays marked."""
    plan = GPUPlan(composed, target)
    name = product_of(plan)
    if name is None:
        return None
    dot = instruction_of(plan, name)
    if dot is None:
        return None
    tile = DotTile(**{key: int(choice[key]) for key in DotTile.__dataclass_fields__})
    _Product(plan, name, tile, dot).run()
    return plan.sch


def instruction_of(plan: GPUPlan, name: str) -> Dot | None:
    """Return the target's instruction for the element types of a product."""
    reads = plan.sch.get(plan.block(name)).reads
    return dot_for(plan.target, *[str(read.source.dtype) for read in reads])


class _Copy(NamedTuple):
    """The block that copies an operand of `rank` axes, of which number `place` is the inner one."""

    block: SBlockRV
    rank: int
    place: int


class _Product:
    """Applies the primitives for one tile; `name` is the reduction block."""

    def __init__(self, plan: GPUPlan, name: str, tile: DotTile, dot: Dot) -> None:
        self.plan, self.sch, self.name = plan, plan.sch, name
        self.tile, self.dot = tile, dot

    def run(self) -> None:
        plan, sch = self.plan, self.sch
        copies = [self._shared(0), self._shared(1)]
        last = plan.epilogue(self.name)
        keep = [self.name, last, *[str(sch.get(copy.block).name_hint) for copy in copies]]
        plan.inline_before(keep)
        others = [name for name in plan.names if name not in keep]
        threads = self._threads(last)
        sch.compute_at(plan.block(self.name), threads, preserve_unit_loops=True)
        sch.set_scope(plan.block(self.name), 0, "local")
        chunks = self._order()
        for copy in copies:
            self._bring(copy, chunks)
        sch.decompose_reduction(plan.block(self.name), chunks)
        for name in others:
            spread(plan, name)

    def _shared(self, number: int) -> _Copy:
        """Copy an operand to shared memory, in words of adjacent inner indices."""
        sch, block = self.sch, self.plan.block(self.name)
        *_, inner = [axis.var for axis in sch.get(block).iter_vars]
        axes = [part.min.same_as(inner) for part in sch.get(block).reads[number].region]
        place, products = axes.index(True), self.dot.products
        copy = sch.cache_read(block, number, "shared")

        def words(*index: Any) -> list[Any]:
            *batch, own = [*index[:place], *index[place + 1 :]]
            return [*batch, index[place] // products, own, index[place] % products]

        sch.transform_layout(copy, ("write", 0), words)
        return _Copy(copy, len(axes), place)

    def _threads(self, last: str) -> LoopRV:
        """Bind the loops of the block that stores the result; return the loop over the threads of a row."""
        sch, tile = self.sch, self.tile
        *batch, rows, columns = sch.get_loops(self.plan.block(last))
        rows, down, row = sch.split(rows, [None, tile.down, tile.rows])
        columns, across, column = sch.split(columns, [None, tile.across, tile.columns])
        sch.reorder(*batch, rows, columns, down, across, row, column)
        sch.bind(sch.fuse(*batch, rows) if batch else rows, "blockIdx.y")
        sch.bind(columns, "blockIdx.x")
        sch.bind(down, "threadIdx.y")
        sch.bind(across, "threadIdx.x")
        for loop in (row, column):
            sch.unroll(loop)
        return across

    def _order(self) -> LoopRV:
        """Order the loops of the sums; return the loop over what is loaded at once."""
        sch, block = self.sch, self.plan.block(self.name)
        *_, row, column, inner = sch.get_loops(block)
        chunks, word, within = sch.split(inner, [None, self.tile.words, self.dot.products])
        sch.reorder(chunks, word, row, column, within)
        for loop in (row, column):
            sch.unroll(loop)
        sch.add_unit_loop(within)  # the lane: an instruction adds to one sum
        sch.annotate(within, MARK, self.dot.name)
        return chunks

    def _bring(self, copy: _Copy, chunks: LoopRV) -> None:
        """Load a part of an operand by all threads; adjacent threads load adjacent bytes, or whole words if
        the bytes of a word are adjacent in the operand.
        """
        sch, tile = self.sch, self.tile
        sch.compute_at(copy.block, chunks, preserve_unit_loops=True)
        loops = sch.get_loops(copy.block)[-copy.rank :]
        inner = loops.pop(copy.place)
        words, within = sch.split(inner, [None, self.dot.products])
        in_words = copy.place == copy.rank - 1
        slow, fast = (loops[-1], words) if in_words else (words, loops[-1])
        slow, down = sch.split(slow, [None, tile.down])
        fast, across = sch.split(fast, [None, tile.across])
        sch.reorder(slow, fast, down, across, within)
        sch.bind(down, "threadIdx.y")
        sch.bind(across, "threadIdx.x")
        if in_words:
            sch.vectorize(within)
