"""Schedules depthwise convolutions in blocks of channels (`nn.contrib_depthwise_conv2d_NCHWc`) for a CPU.

There is little arithmetic for each element that is read, so loads determine the time. A tile of one row of
the result stays in registers, and the loops over the kernel are unrolled, so that elements that adjacent
windows share are loaded once. The padded data is not materialized: elements outside are computed as 0 where
they are read. Only the first and last columns of a tile can be outside, which is decided at compile time,
because the columns are unrolled.
"""

from __future__ import annotations

from typing import Any

from ..compose import Composed
from ..targets.target import Target
from ..tvm_types import LoopRV
from .blocked import sums_in_registers
from .parts import REDUCED, Plan, divisors, product
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_depthwise_conv2d_NCHWc"
MAX_UNROLLED = 32  # positions of a kernel that are unrolled; larger kernels are unrolled by row


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    if not in_blocks(anchor.call.attrs, int(anchor.tensors[0].shape[-1])):
        return None
    if product(anchor.call.attrs["kernel_size"]) == 1:  # type: ignore[index]  # the layout rule sets it
        return None
    options = candidates(composed, target)
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _schedule(plan, chosen)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "depthwise", chosen, tuple(options))


def in_blocks(attrs: Any, block: int) -> bool:
    """Whether data and result are in blocks of `block` channels."""
    return bool(attrs["data_layout"] == attrs["out_layout"] == f"NCHW{block}c")


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Return tiles of a row, the longest first. They are short enough to leave registers for the weights and
    for the elements that windows share.
    """
    anchor = composed.anchor
    assert anchor is not None
    width = int(anchor.tensors[0].shape[3])
    return [
        Candidate({"columns": columns}, f"{columns} accumulators in registers")
        for columns in divisors(width, sums_in_registers(target) * 2 // 5)[:3]
    ]


def _schedule(plan: Plan, choice: dict[str, Any]) -> None:
    sch, anchor = plan.sch, plan.composed.anchor
    assert anchor is not None
    *pads, name = anchor.blocks
    kernel = product(anchor.call.attrs["kernel_size"])  # type: ignore[index]  # the layout rule sets it
    for pad in pads:
        sch.compute_inline(plan.block(pad))
    last = plan.epilogue(name)
    plan.inline_before([name, last])
    others = [other for other in plan.names if other not in (name, last)]
    n, blocks, height, width, lane = sch.get_loops(plan.block(last))
    row_tiles, _ = sch.split(height, [None, rows_of_tasks(plan, [n, blocks], height)])
    column_tiles, column = sch.split(width, [None, choice["columns"]])
    work = 2 * kernel * product([int(d) for d in anchor.tensors[0].shape])
    plan.parallel([n, blocks, row_tiles], work)
    sch.unroll(column)
    sch.vectorize(lane)
    sch.compute_at(plan.block(name), column_tiles)
    sch.set_scope(plan.block(name), 0, "local")
    _reduction(plan, name, kernel)
    for other in others:
        plan.vectorized(other)


def rows_of_tasks(plan: Plan, tasks: list[LoopRV], height: Any) -> int:
    """Return the number of rows per task: as many as possible, so that weights stay in registers from row to
    row, but few enough that there are tasks for all cores.
    """
    count, rows = product([plan.extent(loop) for loop in tasks]), plan.extent(height)
    for least in (4, 2, 1):  # tasks per core
        least_tasks = least * plan.target.cores
        enough = [r for r in divisors(rows, rows) if count * rows // r >= least_tasks]
        if enough and enough[0] >= min(rows, 4):
            return enough[0]
    return rows


def _reduction(plan: Plan, name: str, kernel: int) -> None:
    """Reorder the loops of the reduction, the kernel's positions outside and the tile inside, and unroll
    them; of a large kernel only the last axis is unrolled.
    """
    sch, block = plan.sch, plan.block(name)
    loops = sch.get_loops(block)[3:]
    count = plan.kinds(name).count(REDUCED)
    spatial, reduced = loops[:-count], loops[-count:]
    sch.reorder(*reduced, *spatial)
    for loop in spatial[:-1]:
        sch.unroll(loop)
    sch.vectorize(spatial[-1])
    for loop in reduced if kernel <= MAX_UNROLLED else reduced[-1:]:
        sch.unroll(loop)
    init = sch.decompose_reduction(block, reduced[0])
    for loop in sch.get_loops(init)[3:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
