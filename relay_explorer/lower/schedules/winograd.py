"""Schedules convolutions by Winograd's algorithm (`nn.contrib_conv2d_winograd_without_weight_transform`) for
a CPU.

The kernel transforms the data of a group of tiles for all channels. Then it multiplies the transformed data
by the weights, a few blocks of output channels at a time: one matrix product for each of the 36 elements of a
tile, with the accumulators in registers. It transforms the products back while they are in the cache and
writes them contiguously, with bias and ReLU applied. The transformed data is therefore read once for every
few blocks of output channels, and the weights once for each group.

The choice is the size of the groups, which should fit in L2, and the tile of the product.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..compose import Composed, Stage
from ..targets.target import Target
from ..tvm_types import LoopRV
from .blocked import sums_in_registers, tile_score
from .parts import Plan, divisors, product, sizes
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_conv2d_winograd_without_weight_transform"


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    if not _in_blocks(anchor):
        return None
    options = candidates(composed, target)
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _Winograd(plan, anchor, chosen).run()
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "winograd", chosen, tuple(options))


def _in_blocks(anchor: Stage) -> bool:
    """Whether the data, the weight and the result all have blocks of channels."""
    types = [arg.checked_type for arg in anchor.call.args]
    ranks = [len(sizes(t)) for t in types]
    result = anchor.tensors[0].shape
    return ranks == [5, 5] and len(result) == 5 and sizes(types[1])[4] == int(result[4]) > 1


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Return the best group sizes, those that read the least from beyond the L2 cache first, each with the
    best tile for the product.
    """
    anchor = composed.anchor
    assert anchor is not None
    side, _, blocks, channels, _ = sizes(anchor.call.args[1].checked_type)
    tile = anchor.call.attrs["tile_size"]  # type: ignore[index]  # its relation needs attributes
    _, _, height, width, block = [int(d) for d in anchor.tensors[0].shape]
    down, across = -(-height // tile), -(-width // tile)
    most = sums_in_registers(target)
    whole = 4 * side * side * channels
    scored = []
    for rows in divisors(down, down) if height % tile == 0 else [down]:
        for columns in divisors(across, across) if width % tile == 0 else [across]:
            groups = down // rows * (across // columns)
            if 1 < groups < target.cores:  # some cores would have nothing to do
                continue
            score, count, tile_columns = _best_product(blocks, columns, most)
            data, products = whole * rows * columns, 4 * side**2 * rows * columns * count * block
            reads = _cost(whole * blocks * block, target) * groups
            reads += _cost(data, target) * groups * (1 + blocks // count)
            reads += _cost(products, target) * groups * 2 * (blocks // count)
            choice = {"rows": rows, "across": columns, "channels": count, "columns": tile_columns}
            in_registers = f"{count} × {tile_columns} accumulators in registers"
            why = f"{groups} groups of {rows} × {columns} tiles, {in_registers}"
            scored.append((reads / score, -rows * columns, Candidate(choice, why)))
    scored.sort(key=lambda entry: entry[:2])
    return [candidate for _, _, candidate in scored[:4]]


def _cost(size: int, target: Target) -> float:
    """Estimate the cost of reading `size` bytes again, which depends on whether they fit into the L2 cache,
    into a shared cache beyond it, or only into memory.
    """
    cache = target.caches[1]
    return size * (0.1 if size <= cache * 3 // 4 else 1 if size <= 24 * cache else 4)


def _best_product(blocks: int, columns: int, most: int) -> tuple[float, int, int]:
    """Choose the best tile of a matrix product: its score, blocks of output channels, and tiles of data."""
    tiles = [
        (tile_score(count, width, most), count, width)
        for width in divisors(columns, most)
        for count in divisors(blocks, min(4, most // width))
    ]
    return max(tiles)


class _Winograd:
    """Applies the primitives for one choice."""

    def __init__(self, plan: Plan, anchor: Stage, choice: dict[str, Any]) -> None:
        self.plan, self.sch, self.choice = plan, plan.sch, choice
        *pads, self.rows, self.data, self.products, self.lines, self.tiles, self.result = anchor.blocks
        self.pads = pads
        self.side, _, self.blocks, self.channels, _ = sizes(anchor.call.args[1].checked_type)
        self.tile = int(anchor.call.attrs["tile_size"])  # type: ignore[index]
        self.lane = int(anchor.tensors[0].shape[4])
        self.inner = int(anchor.call.args[0].checked_type.concrete_shape[4])  # type: ignore[attr-defined]
        self.work = 2 * self.side**2 * product([int(d) for d in anchor.tensors[0].shape]) * self.channels
        self.work //= self.tile**2

    def run(self) -> None:
        plan, sch = self.plan, self.sch
        for pad in self.pads:
            sch.compute_inline(plan.block(pad))
        last = plan.epilogue(self.result, copy=False)
        if last != self.result:
            sch.compute_inline(plan.block(self.result))
        keep = [self.rows, self.data, self.products, self.lines, self.tiles, last]
        plan.inline_before(keep)
        others = [name for name in plan.names if name not in keep]
        group, channels = self._groups(last)
        self._back(channels)
        self._product(channels)
        self._transform(group)
        for name in others:
            plan.vectorized(name)

    def _groups(self, last: str) -> tuple[LoopRV | None, LoopRV]:
        """Return the loops over groups of tiles (None if there is one group) and over blocks of channels."""
        sch, choice = self.sch, self.choice
        n, blocks, height, width, lane = sch.get_loops(self.plan.block(last))
        several = choice["rows"] * self.tile < self.plan.extent(height)
        wide = choice["across"] * self.tile < self.plan.extent(width)
        group, row = sch.split(height, [None, choice["rows"] * self.tile] if several else [1, None])
        column_group, column = sch.split(width, [None, choice["across"] * self.tile] if wide else [1, None])
        channels, block = sch.split(blocks, [None, choice["channels"]])
        sch.reorder(n, group, column_group, channels, block, row, column, lane)
        sch.vectorize(lane)
        if several or wide:
            return self.plan.parallel([n, group, column_group], self.work), channels
        return None, self.plan.parallel([n, group, column_group, channels], self.work)

    def _loops(self, name: str, at: LoopRV, extents: Mapping[str, int]) -> dict[str, LoopRV]:
        """Move a block into the loop `at`, and return its own loops there, by name. The move removes loops of
        one iteration.
        """
        block = self.plan.block(name)
        self.sch.compute_at(block, at)
        loops = self.sch.get_loops(block)
        names = [axis for axis, extent in extents.items() if extent > 1]
        return dict(zip(names, loops[-len(names) :], strict=True))

    def _in_registers(self, name: str, at: LoopRV, extents: Mapping[str, int]) -> None:
        """Compute the transform of one tile in registers, completely unrolled."""
        *loops, lane = self._loops(name, at, extents).values()
        for loop in loops:
            self.sch.unroll(loop)
        self.sch.vectorize(lane)
        self.sch.set_scope(self.plan.block(name), 0, "local")

    def _back(self, channels: LoopRV) -> None:
        """Schedule the inverse transform, tile by tile."""
        choice, m = self.choice, self.tile
        loops = self._loops(self.tiles, channels, {
            "o": choice["channels"], "i": choice["rows"], "j": choice["across"], "p": m, "q": m,
            "v": self.lane,
        })  # fmt: skip
        outer = [loop for axis, loop in loops.items() if axis in "oij"]
        for axis in "pq":
            self.sch.unroll(loops[axis])
        self.sch.vectorize(loops["v"])
        at = outer[-1] if outer else channels
        self._in_registers(self.lines, at, {"p": m, "f": self.side, "v": self.lane})

    def _product(self, channels: LoopRV) -> None:
        """Schedule the matrix products: for each element of a Winograd tile, the accumulators of a register
        tile over all input channels.
        """
        sch, choice = self.sch, self.choice
        loops = self._loops(self.products, channels, {
            "o": choice["channels"], "i": choice["rows"], "e": self.side, "f": self.side,
            "j": choice["across"], "v": self.lane, "rc": self.channels // self.inner, "ri": self.inner,
        })  # fmt: skip
        held = []
        outer = [loops["e"], loops["f"], *([loops["i"]] if "i" in loops else [])]
        if "j" in loops:
            across, column = sch.split(loops["j"], [None, choice["columns"]])
            outer.append(across)
            held.append(column)
        held += [loops["o"]] if "o" in loops else []
        reduced = [loops[axis] for axis in ("rc", "ri") if axis in loops]
        sch.reorder(*outer, *reduced, *held, loops["v"])
        block = self.plan.block(self.products)
        self._unrolled([*held, loops["v"]])
        copy = sch.cache_write(block, 0, "local")
        sch.reverse_compute_at(copy, outer[-1])
        self._unrolled(sch.get_loops(copy)[-1 - self._count() :])
        init = sch.decompose_reduction(block, reduced[0])
        self._unrolled(sch.get_loops(init)[-1 - self._count() :])

    def _count(self) -> int:
        """Return the number of loops of the product's register tile, without the vector."""
        return sum(1 for name in ("columns", "channels") if self.choice[name] > 1)

    def _unrolled(self, loops: list[LoopRV]) -> None:
        for loop in loops[:-1]:
            self.sch.unroll(loop)
        self.sch.vectorize(loops[-1])

    def _transform(self, group: LoopRV | None) -> None:
        """Schedule the transform of the data of a group, tile by tile; of all data if there is one group."""
        sch, plan = self.sch, self.plan
        extents = {
            "i": self.choice["rows"], "c": self.channels // self.inner, "e": self.side, "f": self.side,
            "j": self.choice["across"], "v": self.inner,
        }  # fmt: skip
        if group is not None:
            by_name = self._loops(self.data, group, extents)
        else:
            loops = sch.get_loops(plan.block(self.data))
            by_name = dict(zip("nicefjv", loops, strict=True))
        outer = [loop for axis, loop in by_name.items() if axis in "nicj"]
        sch.reorder(*outer, by_name["e"], by_name["f"], by_name["v"])
        if group is None:
            outer = [plan.parallel(outer[:-1], self.work // 8), outer[-1]]
        self._unrolled([by_name["e"], by_name["f"], by_name["v"]])
        at = outer[-1] if outer else group
        assert at is not None
        self._in_registers(self.rows, at, {"e": self.side, "b": self.side, "v": self.inner})
