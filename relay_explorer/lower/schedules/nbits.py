"""Schedules matrix products with packed weights of few bits (`nn.contrib_dense_nbits`) for a CPU.

One load brings a vector of words, each of which has several weights of one output. The loop over the weights
in a word is unrolled, so shifts and masks by constants unpack them in registers, and each is multiplied by an
element of the data that is broadcast to a vector. Sums of the current group, and of all groups before it,
stay in registers: `units` vectors of outputs by `rows` of the data, as in a product of float32.
"""

from __future__ import annotations

from typing import Any

from ..compose import Composed
from ..targets.target import Target
from ..tvm_types import LoopRV, SBlockRV
from .blocked import sums_in_registers, tile_score
from .parts import REDUCED, Plan, divisors, product, sizes
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_dense_nbits"
STREAMS = 4  # vectors of outputs that hide the latency of an addition, if there is one row of data
MAX_UNROLLED = 256  # multiply-adds in the innermost loop; more take LLVM seconds
REMAINDER_FACTOR = 0.85  # relative speed of a tile that does not divide the rows


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    if len(sizes(anchor.call.args[1].checked_type)) != 3:  # not in blocks
        return None
    options = candidates(composed, target)
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _schedule(plan, chosen)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "nbits", chosen, tuple(options))


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Return the best tiles that fit into registers. Unpacking a weight takes three instructions, so tiles
    with many rows are preferred, which reuse it.
    """
    anchor = composed.anchor
    assert anchor is not None
    assert anchor.call.attrs is not None
    blocks, bits = sizes(anchor.call.args[1].checked_type)[0], int(anchor.call.attrs["bits"])
    height = ([1] + [int(d) for d in anchor.tensors[0].shape[:-1]])[-1]
    most = sums_in_registers(target)
    tiles = []
    for rows in range(min(height, most // 2), 0, -1):
        once = height / (-(-height // rows) * rows)
        whole = once * (1.0 if once == 1 else REMAINDER_FACTOR)
        fits = min(2 * STREAMS, most // rows, MAX_UNROLLED * bits // (32 * rows))
        for units in divisors(blocks, max(1, fits)):
            reuse = rows / (rows + 3)
            score = -abs(units - STREAMS) if height == 1 else whole * reuse * tile_score(rows, units, most)
            tiles.append((score, rows, units))
    tiles.sort(reverse=True)
    return [
        Candidate(
            {"rows": rows, "units": units},
            f"{32 // bits} weights of {bits} bits per lane, unpacked in registers by shifts and masks; "
            f"{rows} × {units} accumulators",
        )
        for _, rows, units in tiles[:4]
    ]


def _schedule(plan: Plan, choice: dict[str, Any]) -> None:
    sch, anchor = plan.sch, plan.composed.anchor
    assert anchor is not None
    *_, name = anchor.blocks
    # the sum over the words of a group, and the weights in a word
    group = next(block for block in anchor.blocks if plan.kinds(block).count(REDUCED) == 2)
    block = sizes(anchor.call.args[1].checked_type)[2]
    features = int(plan.buffer(group).shape[-1]) * int(anchor.call.attrs["group_size"])  # type: ignore[index]  # PackBits sets it
    last = plan.epilogue(name)
    plan.inline_before([group, name, last])
    others = [other for other in plan.names if other not in (group, name, last)]
    *lead, unit = sch.get_loops(plan.block(last))
    unit_tiles, units, lane = sch.split(unit, [None, choice["units"], block])
    inner, outer = [units, lane], [unit_tiles]
    if lead:
        row_tiles, row = sch.split(lead[-1], [None, choice["rows"]])
        inner, outer = [row, units, lane], [unit_tiles, *lead[:-1], row_tiles]
    sch.reorder(*outer, *inner)
    tasks = plan.parallel(outer, 2 * features * product([int(d) for d in anchor.tensors[0].shape]))
    _unrolled(plan, inner)
    sch.compute_at(plan.block(name), tasks, preserve_unit_loops=True)
    sch.set_scope(plan.block(name), 0, "local")
    g = _groups(plan, name, block)
    sch.compute_at(plan.block(group), g, preserve_unit_loops=True)
    sch.set_scope(plan.block(group), 0, "local")
    _one_group(plan, group, block)
    for other in others:
        plan.vectorized(other)


def _groups(plan: Plan, name: str, block: int) -> LoopRV:
    """Schedule the sum over the groups, and return its loop."""
    sch, sums = plan.sch, plan.block(name)
    *rows, unit, g = sch.get_loops(sums)[1:]
    units, lane = sch.split(unit, [None, block])
    sch.reorder(g, *rows, units, lane)
    _unrolled(plan, [*rows, units, lane])
    _initialized(plan, sums, g, 1)
    return g


def _one_group(plan: Plan, group: str, block: int) -> None:
    """Schedule the sum of one group: words outside, then the weights in a word, then the tile."""
    sch, sums = plan.sch, plan.block(group)
    *rows, unit, single, word, place = sch.get_loops(sums)[2:]  # `single`: this group
    units, lane = sch.split(unit, [None, block])
    sch.reorder(single, word, place, *rows, units, lane)
    sch.unroll(place)
    _unrolled(plan, [*rows, units, lane])
    _initialized(plan, sums, word, 3)


def _unrolled(plan: Plan, loops: list[LoopRV]) -> None:
    """Unroll the loops of a tile, the last of which becomes vectors."""
    for loop in loops[:-1]:
        plan.sch.unroll(loop)
    plan.sch.vectorize(loops[-1])


def _initialized(plan: Plan, block: SBlockRV, loop: LoopRV, outside: int) -> None:
    """Set the accumulators to 0 before a loop; `outside` loops are around the tile."""
    init = plan.sch.decompose_reduction(block, loop)
    _unrolled(plan, plan.sch.get_loops(init)[outside:])
