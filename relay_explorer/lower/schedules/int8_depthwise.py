"""Schedules depthwise convolutions of small integers, with a processor's dot instruction for bytes.

A lane of the instruction multiplies adjacent columns of one channel by a row of its kernel, which the layout
has padded to whole groups. Without the instruction, each product takes instructions that widen both bytes.
The padded data is materialized for a tile of rows, because a vector has several columns.
"""

from __future__ import annotations

from typing import Any

from ...ir.typed import tensor_type
from ..compose import Composed
from ..targets.dots import Dot, columns_dot
from ..targets.target import Target
from .blocked import sums_in_registers
from .depthwise import MAX_UNROLLED, NAME, in_blocks, rows_of_tasks
from .dots import MARK, sentence, with_dots
from .overlap import overlapped
from .parts import REDUCED, Plan, divisors, product, sizes
from .scheduled import Candidate, Choice, Scheduled


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    attrs: Any = anchor.call.attrs
    block = int(anchor.tensors[0].shape[-1])
    data, weight = map(tensor_type, anchor.call.args)
    dot = columns_dot(target, data.dtype, weight.dtype)
    if dot is None or block != dot.lanes or not in_blocks(attrs, block):
        return None
    if sizes(weight)[3] % dot.products or attrs["dilation"][1] != 1:
        return None
    width = int(anchor.tensors[0].shape[3])
    options = [
        Candidate({"columns": columns}, f"{sentence(dot)}; {columns} accumulators in registers")
        for columns in divisors(width, sums_in_registers(target) * 2 // 5)[:3]
    ]
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _schedule(plan, chosen, dot)
    mod = with_dots(overlapped(plan.sch.mod), dot)
    return Scheduled(composed, mod, plan.sch.trace, "int8_depthwise", chosen, tuple(options))


def _schedule(plan: Plan, choice: dict[str, Any], dot: Dot) -> None:
    sch, anchor = plan.sch, plan.composed.anchor
    assert anchor is not None
    *pads, name = anchor.blocks
    last = plan.epilogue(name)
    plan.inline_before([*pads, name, last])
    others = [other for other in plan.names if other not in (*pads, name, last)]
    n, blocks, height, width, lane = sch.get_loops(plan.block(last))
    row_tiles, _ = sch.split(height, [None, rows_of_tasks(plan, [n, blocks], height)])
    column_tiles, column = sch.split(width, [None, choice["columns"]])
    kernel = product(anchor.call.attrs["kernel_size"])  # type: ignore[index]  # the layout rule sets it
    work = 2 * kernel * product([int(d) for d in anchor.tensors[0].shape]) // dot.products
    tasks = plan.parallel([n, blocks, row_tiles], work)
    sch.unroll(column)
    sch.vectorize(lane)
    sch.compute_at(plan.block(name), column_tiles)
    sch.set_scope(plan.block(name), 0, "local")
    for pad in pads:
        sch.compute_at(plan.block(pad), tasks)
        *_, columns, vector = sch.get_loops(plan.block(pad))
        sch.annotate(columns, "pragma_loop_partition_hint", 1)  # only the first and the last are outside
        sch.vectorize(vector)
    _reduction(plan, name, kernel, dot)
    for other in others:
        plan.vectorized(other)


def _reduction(plan: Plan, name: str, kernel: int, dot: Dot) -> None:
    """Order the loops within a tile: the innermost two become the dot instruction."""
    sch, block = plan.sch, plan.block(name)
    loops = sch.get_loops(block)[3:]
    count = plan.kinds(name).count(REDUCED)
    spatial, (*rows, taps) = loops[:-count], loops[-count:]
    groups, within = sch.split(taps, [None, dot.products])
    sch.reorder(*rows, groups, *spatial, within)
    sch.annotate(within, MARK, dot.name)
    for loop in (*(rows if kernel <= MAX_UNROLLED else ()), groups, *spatial[:-1]):
        sch.unroll(loop)
    init = sch.decompose_reduction(block, (*rows, groups)[0])
    for loop in sch.get_loops(init)[3:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
