"""Schedules, one file an operator class: how a kernel's loops are ordered, split, vectorized and run in
parallel.

A rule is a function

    def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None: ...

of a file of this folder, which gives None for a kernel that it is not for. `choice` makes it repeat what it
chose before. The first file of RULES that gives a schedule is taken; the last one takes every kernel.
"""

from __future__ import annotations

from importlib import import_module

from ..compose import Composed
from ..target import Target
from .scheduled import Candidate, Choice, Scheduled

RULES = ("gpu", "blocked", "winograd", "depthwise", "dense", "reduction", "fallback")


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled:
    """The schedule of a kernel by the first rule that is for it."""
    for rule in RULES:
        found: Scheduled | None = import_module(f"{__name__}.{rule}").schedule(composed, target, choice)
        if found is not None:
            return found
    raise AssertionError("the last rule takes every kernel")


__all__ = ["RULES", "Candidate", "Choice", "Scheduled", "schedule"]
