"""Convolutions of each channel by itself, in blocks (`nn.contrib_depthwise_conv2d_NCHWc`).

There is little to compute for each number that is read, so the reads decide: a tile of one row of the result
is held in registers, all places of the kernel are written out one after the other, and what neighbouring
windows share is then loaded once. The padded data is made for a few rows at a time, which stay in the cache.
"""

from __future__ import annotations

from typing import Any

from ..compose import Composed
from ..target import Target
from .blocked import sums_in_registers
from .parts import REDUCED, Plan, divisors, product, sizes
from .scheduled import Candidate, Choice, Scheduled

NAME = "nn.contrib_depthwise_conv2d_NCHWc"
UNROLLED = 32  # places of a kernel that are written out; larger ones by the row


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    if not _in_blocks(anchor.call.attrs, int(anchor.tensors[0].shape[-1])):
        return None
    if product(anchor.call.attrs["kernel_size"]) == 1:  # type: ignore[index]  # the layout rule sets it
        return None
    found = candidates(composed, target)
    chosen = dict(choice or found[0].choice)
    plan = Plan(composed, target)
    _schedule(plan, chosen)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "depthwise", chosen, tuple(found))


def _in_blocks(attrs: Any, block: int) -> bool:
    return bool(attrs["data_layout"] == attrs["out_layout"] == f"NCHW{block}c")


def candidates(composed: Composed, target: Target) -> list[Candidate]:
    """Tiles of a row, and how many rows are padded at a time: what fits half of the second-level cache."""
    anchor = composed.anchor
    assert anchor is not None
    data = sizes(anchor.call.args[0].checked_type)
    _, _, height, width, lane = [int(d) for d in anchor.tensors[0].shape]
    plane = 4 * data[2] * data[3] * lane
    room = target.caches[1] // 4
    rows = divisors(height, max(1, height * room // plane))[0]
    found = []
    for columns in divisors(width, sums_in_registers(target))[:3]:
        why = f"{columns} sums in registers, {rows} rows padded at a time"
        found.append(Candidate({"columns": columns, "rows": rows}, why))
    return found


def _schedule(plan: Plan, choice: dict[str, Any]) -> None:
    sch, anchor = plan.sch, plan.composed.anchor
    assert anchor is not None
    name = anchor.blocks[-1]
    pad = anchor.blocks[0] if len(anchor.blocks) > 1 else None
    kernel = product(anchor.call.attrs["kernel_size"])  # type: ignore[index]  # the layout rule sets it
    last = plan.epilogue(name)
    keep = [name, last, *([pad] if pad else [])]
    plan.inline_before(keep)
    others = [other for other in plan.names if other not in keep]
    n, blocks, height, width, lane = sch.get_loops(plan.block(last))
    row_tiles, row = sch.split(height, [None, choice["rows"]])
    column_tiles, column = sch.split(width, [None, choice["columns"]])
    sch.reorder(n, blocks, row_tiles, row, column_tiles, column, lane)
    work = 2 * kernel * product([int(d) for d in anchor.tensors[0].shape])
    tasks = plan.parallel([n, blocks, row_tiles], work)
    sch.unroll(column)
    sch.vectorize(lane)
    sch.compute_at(plan.block(name), column_tiles)
    sch.set_scope(plan.block(name), 0, "local")
    if pad is not None:
        sch.compute_at(plan.block(pad), tasks)
        sch.vectorize(sch.get_loops(plan.block(pad))[-1])
    _reduction(plan, name, kernel)
    for other in others:
        plan.vectorized(other)


def _reduction(plan: Plan, name: str, kernel: int) -> None:
    """The places of the kernel outside, the tile within, all of it written out."""
    sch, block = plan.sch, plan.block(name)
    loops = sch.get_loops(block)[3:]
    count = plan.kinds(name).count(REDUCED)
    spatial, reduced = loops[:-count], loops[-count:]
    sch.reorder(*reduced, *spatial)
    for loop in spatial[:-1]:
        sch.unroll(loop)
    sch.vectorize(spatial[-1])
    for loop in reduced if kernel <= UNROLLED else reduced[-1:]:
        sch.unroll(loop)
    init = sch.decompose_reduction(block, reduced[0])
    for loop in sch.get_loops(init)[3:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
