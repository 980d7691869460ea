"""Schedules elementwise kernels, and all kernels that no other rule applies to: data movement, several
results, dynamic sizes. Intermediate results are inlined into their users, the last axis is vectorized, and
the outer ones run in parallel.
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
