"""Element-wise kernels, and all that no other rule is for: data that is moved, several results, sizes that
are known only when the kernel runs. Elements are computed where they are needed, the last axis in vectors,
the outer ones in parallel.
"""

from __future__ import annotations

from ..compose import Composed
from ..targets.target import Target
from .parts import Plan
from .scheduled import Choice, Scheduled


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled:
    plan = Plan(composed, target)
    plan.inline_before([])
    for name in plan.names:
        plan.vectorized(name)
    return Scheduled(composed, plan.sch.mod, plan.sch.trace, "fallback", dict(choice or {}))
