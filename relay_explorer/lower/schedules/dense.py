"""Schedules matrix products with a packed weight (`nn.contrib_dense_pack`) for a CPU.

As in a convolution, a tile of the result stays in registers: `units` vectors of output features by `rows` of
the data. With one row, there is one multiply-add for each weight, and the weights are read once,
sequentially. The time is then that of reading them, and several vectors only serve to keep enough loads and
additions in flight.
"""

from __future__ import annotations

from collections.abc import Callable

from ..compose import Composed
from ..targets.target import Target
from .blocked import sums_in_registers, tile_score
from .parts import MIN_PARALLEL_OPERATIONS, Plan, divisors, product, size_bytes, sizes
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_dense_pack"
REMAINDER_FACTOR = 0.85  # relative speed of a tile that does not divide the rows


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    shape = sizes(anchor.call.args[1].checked_type)
    if len(shape) != 3 or shape[1] == 1:  # not in blocks, or no reduction
        return None
    options = candidates(composed, target)
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    tile(plan, chosen, shape[2], shape[1], _reduction)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "dense", chosen, tuple(options))


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Return the best tiles that fit into registers."""
    anchor = composed.anchor
    assert anchor is not None
    weight = anchor.call.args[1].checked_type
    blocks, each = sizes(weight)[0], size_bytes(weight) // sizes(weight)[0]
    height = ([1] + [int(d) for d in anchor.tensors[0].shape[:-1]])[-1]
    return best_tiles(height, blocks, each, target)


def best_tiles(height: int, blocks: int, each: int, target: Target) -> list[Candidate]:
    """Return the best tiles for `height` rows and `blocks` blocks of weights of `each` bytes. Tiles are
    preferred whose weights fit into the L2 cache, because the weights are read again for each tile of rows.
    """
    most = sums_in_registers(target)
    tiles = []
    for rows in range(min(height, most), 0, -1):
        once = height / (-(-height // rows) * rows)  # the fraction of computed rows that no tile recomputes
        for units in divisors(blocks, min(4 if height > 1 else 8, most // rows)):
            fit = 1.0 if height == rows or units * each <= target.caches[1] else 0.5
            fit *= 1.0 if once == 1 else once * REMAINDER_FACTOR
            tiles.append((fit * tile_score(rows, units, most), rows, units))
    if height == 1:
        streams = _streams(target, blocks, each)
        tiles = [(-abs(units - streams), rows, units) for _, rows, units in tiles]
    tiles.sort(reverse=True)
    return [
        Candidate({"rows": rows, "units": units}, f"{rows} × {units} accumulators in registers")
        for _, rows, units in tiles[:4]
    ]


def _streams(target: Target, blocks: int, size: int) -> int:
    """Return the number of blocks of weights to sum at a time if each, of `size` bytes, is read only once, so
    that reading dominates. From the caches, eight keep the arithmetic units busy, as long as the cores get
    equal shares; from memory, four are enough.
    """
    shared = blocks * size >= 2 * MIN_PARALLEL_OPERATIONS and blocks // 8 % target.cores
    return 4 if shared or blocks * size > target.caches[1] else 8


def tile(
    plan: Plan, choice: Choice, block: int, features: int, reduction: Callable[[Plan, str, int], None]
) -> None:
    """Apply the primitives for one choice of a tile's `rows` and `units`; `reduction` orders the loops within
    a tile.
    """
    sch, anchor = plan.sch, plan.composed.anchor
    assert anchor is not None
    name = anchor.blocks[-1]
    last = plan.epilogue(name)
    plan.inline_before([name, last])
    others = [other for other in plan.names if other not in (name, last)]
    *lead, unit = sch.get_loops(plan.block(last))
    unit_tiles, units, lane = sch.split(unit, [None, choice["units"], block])
    work = 2 * features * product([int(d) for d in anchor.tensors[0].shape])
    inner = [units, lane]
    outer = [unit_tiles]
    if lead:
        row_tiles, row = sch.split(lead[-1], [None, choice["rows"]])
        inner, outer = [row, units, lane], [unit_tiles, *lead[:-1], row_tiles]
    sch.reorder(*outer, *inner)
    tasks = plan.parallel(outer, work)
    for loop in inner[:-1]:
        sch.unroll(loop)
    sch.vectorize(lane)
    sch.compute_at(plan.block(name), tasks)
    sch.set_scope(plan.block(name), 0, "local")
    reduction(plan, name, block)
    for other in others:
        plan.vectorized(other)


def _reduction(plan: Plan, name: str, block: int) -> None:
    sch, product = plan.sch, plan.block(name)
    *rows, unit, k = sch.get_loops(product)[1:]
    units, lane = sch.split(unit, [None, block])
    sch.reorder(k, *rows, units, lane)
    for loop in (*rows, units):
        sch.unroll(loop)
    sch.vectorize(lane)
    init = sch.decompose_reduction(product, k)
    for loop in sch.get_loops(init)[1:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
