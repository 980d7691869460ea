"""Schedules GPU kernels in which each thread computes one element: it accumulates a sum in a register, and
applies the epilogue before it stores the element. Adjacent threads store adjacent elements.
"""

from __future__ import annotations

from ..compose import Composed
from ..targets.target import Target
from ..tvm_types import LoopRV, Schedule
from .parts import REDUCED, SPATIAL, Plan

THREADS = 256  # threads of a block


class GPUPlan(Plan):
    """A kernel that is being scheduled for a GPU. A block of the anchor's own operator that follows its sum,
    such as the conversion to a narrow type, counts as an elementwise follower.
    """

    def _is_elementwise(self, name: str, anchor: str) -> bool:
        if super()._is_elementwise(name, anchor):
            return True
        stage = self.composed.stage_of(name)
        same = stage is not None and stage is self.composed.stage_of(anchor)
        after = same and name != anchor and name not in self.taken and self.makers(name) == [anchor]
        return after and not self.is_reduction(name) and self.shape(name) == self.shape(anchor)


def schedule(composed: Composed, target: Target) -> Schedule | None:
    """Schedule the kernel; return None if it contains anything other than simple loop nests."""
    plan = GPUPlan(composed, target)
    for name in plan.names:
        if plan.users(name) and not plan.is_reduction(name):
            plan.try_inline(
                name
            )  # even a padding into a reduction: checking bounds costs less than another launch
    if not all(is_plain(plan, name) for name in plan.names):
        return None
    for name in plan.names:
        if name in plan.names and plan.is_reduction(name):
            summed(plan, name)
    for name in plan.names:
        if not is_bound(plan, name):
            spread(plan, name)
    return plan.sch


def is_plain(plan: Plan, name: str) -> bool:
    """Whether a block stores one element in each iteration of its loops, which correspond to its axes."""
    kinds = plan.kinds(name)
    block = plan.sch.get(plan.block(name))
    return (
        len(block.writes) == 1
        and set(kinds) <= {SPATIAL, REDUCED}
        and len(plan.sch.get_loops(plan.block(name))) == len(kinds)
    )


def is_bound(plan: Plan, name: str) -> bool:
    """Whether a loop around a block is bound to thread blocks or threads."""
    loops = plan.sch.get_loops(plan.block(name))
    return any(plan.sch.get(loop).thread_binding is not None for loop in loops)


def summed(plan: Plan, name: str) -> None:
    """Compute a sum in a register of the thread that stores the result of its epilogue."""
    sch = plan.sch
    threads = spread(plan, plan.epilogue(name))
    kinds = plan.kinds(name)
    sch.compute_at(plan.block(name), threads, preserve_unit_loops=True)
    sch.set_scope(plan.block(name), 0, "local")
    loops = sch.get_loops(plan.block(name))[-len(kinds) :]
    reduced = [loop for loop, kind in zip(loops, kinds) if kind == REDUCED]
    spatial = [loop for loop, kind in zip(loops, kinds) if kind == SPATIAL]
    sch.reorder(*spatial, *reduced)
    sch.decompose_reduction(plan.block(name), reduced[0])


def spread(plan: Plan, name: str) -> LoopRV:
    """Fuse a block's loops and distribute them over threads; return the loop over a thread block."""
    sch, block = plan.sch, plan.block(name)
    loops = sch.get_loops(block) or [sch.add_unit_loop(block)]
    blocks, threads = sch.split(sch.fuse(*loops) if len(loops) > 1 else loops[0], [None, THREADS])
    sch.bind(blocks, "blockIdx.x")
    sch.bind(threads, "threadIdx.x")
    return threads
