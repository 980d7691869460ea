"""TVM's own rules for kernels of a GPU (dlight), and what a function needs before they take it rightly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ..compose import Composed
from ..require import tvm
from ..targets.target import Target
from .parts import REDUCED, Plan

COPIED = ("GEMV", "GeneralReduction")  # rules that want something to follow their sums
LONG = 64  # numbers for which a block of threads is worth it


def applied(
    name: str, composed: Composed, target: Target, fits: Callable[[Any], bool]
) -> tuple[Any, Any] | None:
    """The function scheduled by one rule, and the record of it; None where the rule is for other kernels."""
    rule = getattr(import_module("tvm.s_tir.dlight.gpu"), name)()
    with target.tvm:
        for func, before in _ways(name, composed):
            try:
                made = rule.apply(func, target.tvm, False)
            except (AssertionError, RuntimeError, ValueError, TypeError, AttributeError, IndexError):
                continue  # it does not always look whether it can
            sch = made[0] if isinstance(made, list) else made
            if sch is not None and fits(sch.mod["main"]):
                return sch.mod["main"], _one_after_the_other(before, sch.trace)
    return None


def _ways(name: str, composed: Composed) -> Iterator[tuple[Any, Any]]:
    """The function as a rule may be given it, and the record of what was done to it before.

    Where the sums that threads compute together are the result, GEMV writes those of threads beyond the last
    row, too: who is within is asked only for what follows. So a copy follows. With one, GeneralReduction also
    takes what folds otherwise than by adding.
    """
    if name != "GEMV":
        yield composed.prim_func, None
    plan = Plan(composed, composed.target)
    folds = name in COPIED and plan.is_reduction(plan.names[-1])
    if folds and (name == "GEMV" or terms(plan, plan.names[-1]) >= LONG):
        sch = tvm().s_tir.Schedule(tvm().IRModule({"main": composed.prim_func}))
        sch.cache_write(sch.get_sblock(plan.names[-1]), 0, "local")
        yield sch.mod["main"], sch.trace
    elif name == "GEMV":
        yield composed.prim_func, None


def terms(plan: Plan, name: str) -> float:
    """How many numbers a block folds into one; ∞ where that is not known."""
    found = 1.0
    for var in plan.sch.get(plan.block(name)).iter_vars:
        if int(var.iter_type) == REDUCED:
            found *= getattr(var.dom.extent, "value", float("inf"))
    return found


def _one_after_the_other(first: Any, second: Any) -> Any:
    if first is None:
        return second
    decisions = {**dict(first.decisions), **dict(second.decisions)}
    return tvm().s_tir.schedule.Trace([*first.insts, *second.insts], decisions)
