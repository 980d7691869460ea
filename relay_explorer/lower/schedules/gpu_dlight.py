"""Applies TVM's own schedule rules for a GPU (dlight), after adapting functions that they mishandle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from ..compose import Composed
from ..require import tvm
from ..targets.target import Target
from ..tvm_types import PrimFunc, Trace
from .parts import REDUCED, Plan

RULES_WITH_COPY = ("GEMV", "GeneralReduction")  # rules that need a block after the reduction
MIN_TERMS_PER_BLOCK = 64  # the fewest terms for which reducing by a thread block pays off


def applied(
    name: str, composed: Composed, target: Target, fits: Callable[[PrimFunc], bool]
) -> tuple[PrimFunc, Trace] | None:
    """Apply one rule; return the scheduled function and its trace, or None if the rule does not apply."""
    rule = getattr(import_module("tvm.s_tir.dlight.gpu"), name)()
    with target.tvm:
        for func, before in _variants(name, composed):
            try:
                schedules = rule.apply(func, target.tvm, False)
            except (AssertionError, RuntimeError, ValueError, TypeError, AttributeError, IndexError):
                continue  # dlight's rules do not check all their preconditions
            sch = schedules[0] if isinstance(schedules, list) else schedules
            if sch is not None and fits(sch.mod["main"]):
                return sch.mod["main"], _concatenated(before, sch.trace)
    return None


def _variants(name: str, composed: Composed) -> Iterator[tuple[PrimFunc, Trace | None]]:
    """Yield the variants of the function to try a rule on, each with the trace of its adaptation.

    If the sums that threads compute together are the kernel's result, GEMV also writes those of threads
    beyond the last row, because it guards only the blocks that follow. A copy of the result is therefore
    appended. With such a copy, GeneralReduction also accepts reductions other than sums.
    """
    if name != "GEMV":
        yield composed.prim_func, None
    plan = Plan(composed, composed.target)
    folds = name in RULES_WITH_COPY and plan.is_reduction(plan.names[-1])
    if folds and (name == "GEMV" or terms(plan, plan.names[-1]) >= MIN_TERMS_PER_BLOCK):
        sch = tvm().s_tir.Schedule(tvm().IRModule({"main": composed.prim_func}))
        sch.cache_write(sch.get_sblock(plan.names[-1]), 0, "local")
        yield sch.mod["main"], sch.trace
    elif name == "GEMV":
        yield composed.prim_func, None


def terms(plan: Plan, name: str) -> float:
    """Return the number of elements that a block reduces to one; ∞ if it is dynamic."""
    count = 1.0
    for var in plan.sch.get(plan.block(name)).iter_vars:
        if int(var.iter_type) == REDUCED:
            count *= getattr(var.dom.extent, "value", float("inf"))
    return count


def _concatenated(first: Trace | None, second: Trace) -> Trace:
    if first is None:
        return second
    decisions = {**dict(first.decisions), **dict(second.decisions)}
    both: Trace = tvm().s_tir.schedule.Trace([*first.insts, *second.insts], decisions)
    return both
