"""Schedules convolutions in blocks of channels (`nn.contrib_conv2d_NCHWc`) for a CPU.

A tile of the result stays in registers for the whole reduction: `channels` vectors of output channels by
`columns` pixels of a row. For each input channel and each element of the window, the kernel loads one vector
of each block of weights, broadcasts one element of the data to a vector, and accumulates their product in the
tile. Bias, residual and ReLU are applied before the tile leaves the registers.

The choice is the tile's sides, and whether an image's rows or its channels are the outermost loop.
"""

from __future__ import annotations

from ..compose import Composed
from ..targets.target import Target
from ..tvm_types import LoopRV
from .parts import REDUCED, Plan, divisors, product, size_bytes, sizes
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_conv2d_NCHWc"
MIN_UTILIZATION = 0.75  # of the cores: if tiles of channels use less, the cores share tiles of rows instead
SINGLE_CORE_FACTOR = 0.6  # relative speed of a tile that leaves all work to one of several cores
REMAINDER_FACTOR = 0.6  # relative speed of a tile that does not divide the row: it checks bounds


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    attrs = anchor.call.attrs
    assert attrs is not None
    if attrs["out_layout"] != f"NCHW{anchor.tensors[0].shape[-1]}c":
        return None
    options = candidates(composed, target)
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    Convolution(plan, chosen).run()
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "blocked", chosen, tuple(options))


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Return the tiles that fit into registers, those with the most arithmetic per load first."""
    anchor = composed.anchor
    assert anchor is not None
    batch, blocks, height, width, _ = [int(d) for d in anchor.tensors[0].shape]
    most = sums_in_registers(target)
    whole = batch == 1 and target.cores > 1 and not _even_rows(batch, height, target.cores)
    tiles = []
    for columns in range(1, min(width, most) + 1):
        used = width / (columns * -(-width // columns)) if width % columns else 1 / REMAINDER_FACTOR
        for channels in divisors(blocks, min(4, most // columns)):
            shared = SINGLE_CORE_FACTOR if whole and channels == blocks else 1
            tiles.append(
                (REMAINDER_FACTOR * used * shared * tile_score(channels, columns, most), channels, columns)
            )
    tiles.sort(reverse=True)
    result = []
    for _, channels, columns in tiles[:3]:
        for rows in _row_tiles(composed, height, blocks // channels, target):
            why = f"{channels} × {columns} accumulators in registers, {channels + columns} loads per step"
            result.append(Candidate({"channels": channels, "columns": columns, "rows": rows}, why))
    return result


def sums_in_registers(target: Target) -> int:
    """Return the number of accumulator vectors that a tile may hold. Some registers must stay free for loads:
    if LLVM hoists loads and runs out of registers, it spills accumulators to memory, which takes twice the
    time.
    """
    registers = 32 if target.vector_bytes == 64 or target.kind == "arm64" else 16
    return registers * 5 // 8


def tile_score(channels: int, columns: int, most: int) -> float:
    """Return the number of multiply-adds per load, reduced for tiles with so few accumulators that they
    cannot hide the latency of an addition.
    """
    held = channels * columns
    return held / (channels + columns) * min(1.0, held / (0.6 * most))


def _row_tiles(composed: Composed, height: int, block_tiles: int, target: Target) -> list[int]:
    """Return candidates for the number of result rows that are computed before the next channels' weights are
    read, the best first: all rows, or as many as have their data in the L2 cache. In the latter case the
    cores share tiles of rows, so there must be enough of them; the same holds if there are too few tiles of
    channels to share evenly.
    """
    anchor = composed.anchor
    assert anchor is not None
    data, weight = (size_bytes(arg.checked_type) for arg in anchor.call.args)
    batch, room, cores = int(anchor.tensors[0].shape[0]), target.caches[1] // 2, target.cores
    fits = [r for r in divisors(height, max(1, height * room // data)) if batch * height // r >= cores]
    if data <= room or not fits or fits[0] == height:
        by_rows = _even_rows(batch, height, cores)
        return [
            height if _evenly(batch * block_tiles, cores) > MIN_UTILIZATION or not by_rows else by_rows[0]
        ]
    if weight > 8 * target.caches[1]:  # each tile of rows would read the weights from memory again
        return [height, fits[0]]
    return [fits[0], height]


def _even_rows(batch: int, height: int, cores: int) -> list[int]:
    """Return the numbers of rows per tile with which the cores share the tiles evenly, the largest first."""
    return [r for r in divisors(height, height) if _evenly(batch * height // r, cores) == 1]


def _evenly(tasks: int, cores: int) -> float:
    """Return the utilization of the cores by `tasks` equal tasks."""
    return tasks / (cores * -(-tasks // cores))


class Convolution:
    """Applies the primitives for one choice of a tile's `channels`, `columns` and `rows`."""

    def __init__(self, plan: Plan, choice: Choice) -> None:
        self.plan = plan
        self.sch = plan.sch
        self.choice = choice
        anchor = plan.composed.anchor
        assert anchor is not None
        self.anchor = anchor.blocks[-1]
        self.pad = anchor.blocks[0] if len(anchor.blocks) > 1 else None
        self.work = 2 * product([int(d) for d in anchor.tensors[0].shape])
        weight = anchor.call.args[1].checked_type
        self.work *= product(sizes(weight)) // int(anchor.tensors[0].shape[1] * anchor.tensors[0].shape[4])

    def run(self) -> None:
        plan, sch = self.plan, self.sch
        last = plan.epilogue(self.anchor)
        keep = [self.anchor, last, *([self.pad] if self.pad else [])]
        plan.inline_before(keep)
        others = [name for name in plan.names if name not in keep]
        outer, inner = self._tiles(last)
        sch.compute_at(plan.block(self.anchor), outer[-1])
        sch.set_scope(plan.block(self.anchor), 0, "local")
        if self.pad is not None:
            self._padding(outer)
        self._reduction(len(outer))
        for loop in inner[:-1]:
            sch.unroll(loop)
        sch.vectorize(inner[-1])
        for name in others:
            plan.vectorized(name)

    def _tiles(self, last: str) -> tuple[list[LoopRV], list[LoopRV]]:
        """Split the loops of the epilogue; return the loops over tiles, and the loops within a tile."""
        sch = self.sch
        n, blocks, height, width, lane = sch.get_loops(self.plan.block(last))
        rows, channels, columns = (int(self.choice[k]) for k in ("rows", "channels", "columns"))
        block_tiles, block = sch.split(blocks, [None, channels])
        row_tiles, row = sch.split(height, [None, rows])
        column_tiles, column = sch.split(width, [None, columns])
        self.by_rows = self.plan.extent(row_tiles) > 1
        if self.by_rows:
            outer = [n, row_tiles, block_tiles, row, column_tiles]
        else:
            outer = [n, block_tiles, row_tiles, row, column_tiles]
        sch.reorder(*outer, block, column, lane)
        tasks = self.plan.parallel(outer[:2], self.work)
        return [tasks, *outer[2:]], [block, column, lane]

    def _padding(self, outer: list[LoopRV]) -> None:
        """Compute the padded data: per tile of rows if rows are tiled, otherwise all of it beforehand."""
        sch, plan = self.sch, self.plan
        assert self.pad is not None
        block = plan.block(self.pad)
        if self.by_rows:
            sch.compute_at(block, outer[0])
            loops = sch.get_loops(block)
            sch.vectorize(loops[-1])
        else:
            plan.vectorized(self.pad)

    def _reduction(self, depth: int) -> None:
        sch = self.sch
        block = self.plan.block(self.anchor)
        loops = sch.get_loops(block)[depth:]
        kinds = self.plan.kinds(self.anchor)
        reduced = loops[-kinds.count(REDUCED) :]
        spatial = loops[: -kinds.count(REDUCED)]
        self.order(reduced, spatial)
        for loop in spatial[:-1]:
            sch.unroll(loop)
        init = sch.decompose_reduction(block, reduced[0])
        inits = sch.get_loops(init)[depth:]
        for loop in inits[:-1]:
            sch.unroll(loop)
        sch.vectorize(inits[-1])

    def order(self, reduced: list[LoopRV], spatial: list[LoopRV]) -> None:
        """Order the loops of the reduction; the innermost one becomes a vector."""
        self.sch.reorder(*reduced, *spatial)
        self.sch.vectorize(spatial[-1])
