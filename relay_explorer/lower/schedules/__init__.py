"""Schedule rules, one file per class of operators: how a kernel's loops are ordered, split, vectorized and
run in parallel.

A rule is a function

    def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None: ...

in a file of this folder. It returns None for a kernel that it does not apply to. With `choice`, it repeats an
earlier choice. The first rule in RULES that returns a schedule is used; the last one applies to every kernel.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ..compose import Composed
from ..require import tvm
from ..targets.target import Target
from .overlap import overlapped
from .scheduled import Candidate, Choice, Scheduled

RULES = (
    "gpu", "int8_blocked", "int8_dense", "int8_batch", "int8_depthwise", "blocked", "winograd", "depthwise",
    "dense", "nbits", "reduction", "fallback",
)  # fmt: skip


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled:
    """Schedule a kernel by the first rule that applies to it. A rule that fails with an error of TVM is
    skipped and recorded in `refused`. If no rule succeeds, the loops stay as the tensor expressions define
    them.
    """
    refused = []
    for rule in RULES:
        try:
            scheduled: Scheduled | None = import_module(f"{__name__}.{rule}").schedule(
                composed, target, choice
            )
        except (tvm().s_tir.ScheduleError, TypeError) as problem:
            lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
            refused.append(f"{rule}: {lines[0] if lines else type(problem).__name__}")
            continue
        if scheduled is not None:
            mod = scheduled.mod if target.kind == "cuda" else overlapped(scheduled.mod)
            return replace(scheduled, mod=mod, refused=(*refused, *scheduled.refused))
    sch = tvm().s_tir.Schedule(composed.mod)
    return Scheduled(composed, sch.mod, sch.trace, "none", refused=tuple(refused))


__all__ = ["RULES", "Candidate", "Choice", "Scheduled", "schedule"]
