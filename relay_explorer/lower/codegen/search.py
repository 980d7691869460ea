"""Searches for a kernel's fastest schedule: compiles and times every candidate on this machine.

The first candidate, which is used without a search, is meant to be good on any machine; a search finds the
best for this one. It takes about a fifth of a second for each candidate, and its result is stored with the
kernel.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from ...ir.expr import Function
from ..require import tvm
from ..schedules import Scheduled
from ..targets.target import Target
from .compile_kernel import generated, scheduled

# the rules whose candidates can be chosen
RULES = (
    "blocked", "winograd", "depthwise", "dense", "nbits", "int8_blocked",
    "int8_dense", "int8_batch", "int8_depthwise",
)  # fmt: skip
SECONDS = 0.03  # for which a candidate runs, at least three times


def searched(function: Function, name: str, target: Target) -> Scheduled:
    """Return a kernel's fastest schedule, with the times of all its candidates. If there is only one
    candidate, or this machine cannot run the code, return the schedule that is chosen without a search.
    """
    first = scheduled(function, name, target)
    if first.rule not in RULES or len(first.candidates) < 2 or not target.runs_here:
        return first
    tried = []
    for candidate in first.candidates:
        variant = scheduled(function, name, target, candidate.choice)
        tried.append((measured(variant), variant))
    timed = [replace(c, seconds=s) for c, (s, _) in zip(first.candidates, tried, strict=True)]
    _, best = min(tried, key=lambda pair: pair[0])
    return replace(best, candidates=tuple(timed))


def measured(kernel: Scheduled) -> float:
    """Return the seconds of one run: the minimum of several, because other work on the machine only makes
    runs longer.
    """
    run = generated(kernel)[kernel.composed.name]
    arrays = [_array(tensor) for tensor in (*kernel.composed.inputs, *kernel.composed.outputs)]
    fastest = float("inf")
    end, runs = time.perf_counter() + SECONDS, 0
    while runs < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run(*arrays)
        fastest = min(fastest, time.perf_counter() - start)
        runs += 1
    return fastest


def _array(tensor: Any) -> Any:
    """Create an argument of a kernel. Its values are arbitrary, but not denormal, because arithmetic on
    denormal numbers is slow.
    """
    import numpy as np

    return tvm().runtime.tensor(np.ones([int(d) for d in tensor.shape], str(tensor.dtype)))
