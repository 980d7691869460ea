"""What no rule is made for: elements are computed where they are needed, the last axis in vectors, the outer
ones in parallel.
"""

from __future__ import annotations

from typing import Any

from ..compose import Composed, block_names
from ..require import tvm
from ..target import Target
from .scheduled import Choice, Scheduled

PARALLEL_FROM = 1 << 14  # elements; below, waking the other threads costs more than they save


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled:
    sch = tvm().s_tir.Schedule(composed.mod)
    sch.work_on(composed.name)
    inline(sch, composed)
    for name in block_names(sch, composed.name):
        _loops(sch, sch.get_sblock(name), target)
    return Scheduled(composed, sch.mod, sch.trace, "fallback", dict(choice or {}))


def inline(sch: Any, composed: Composed) -> None:
    """Computes element-wise stages where they are used, unless that would repeat them in a reduction."""
    for name in block_names(sch, composed.name):
        block = sch.get_sblock(name)
        users = [sch.get(user) for user in sch.get_consumers(block)]
        if not users or is_reduction(sch.get(block)) or any(map(is_reduction, users)):
            continue
        try:
            sch.compute_inline(block)
        except tvm().s_tir.ScheduleError:
            continue  # several outputs, or no plain loop: it stays a stage


def is_reduction(block: Any) -> bool:
    return any(int(var.iter_type) == 2 for var in block.iter_vars)


def _loops(sch: Any, block: Any, target: Target) -> None:
    """Orders one block's loops: spatial ones in parallel, reductions, then a vector of the last axis."""
    kinds = [int(var.iter_type) for var in sch.get(block).iter_vars]
    loops = sch.get_loops(block)
    if len(loops) != len(kinds) or any(kind not in (0, 2) for kind in kinds):
        return
    spatial = [loop for loop, kind in zip(loops, kinds) if kind == 0]
    reduced = [loop for loop, kind in zip(loops, kinds) if kind == 2]
    extents = [_extent(sch, loop) for loop in spatial]
    if not spatial or None in extents:
        return
    total = 1
    for extent in extents:
        total *= extent or 1
    dtype = str(sch.get(block).writes[0].source.dtype)
    lanes = target.lanes(dtype)
    vector = None
    if extents[-1] and extents[-1] >= lanes and extents[-1] % lanes == 0:
        *outer, last = spatial
        wide, vector = sch.split(last, [None, lanes])
        spatial = [*outer, wide]
    if vector is not None:
        sch.reorder(*spatial, *reduced, vector)
    if total >= PARALLEL_FROM:
        sch.parallel(sch.fuse(*spatial) if len(spatial) > 1 else spatial[0])
    if vector is not None:
        sch.vectorize(vector)


def _extent(sch: Any, loop: Any) -> int | None:
    extent = sch.get(loop).extent
    return int(extent) if hasattr(extent, "value") else None
