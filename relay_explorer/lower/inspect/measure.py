"""Measures the gain of each primitive of a schedule: times the kernel on this machine after each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.errors import RelayError
from ..codegen.search import measured
from ..require import tvm
from ..schedules import Scheduled
from ..schedules.overlap import overlapped
from .replay import Primitive


def step_times(kernel: Scheduled, primitives: Sequence[Primitive]) -> list[float]:
    """Return the seconds of one run (the minimum of several): before the first primitive, then after each.
    Every variant is compiled separately, which takes a few tenths of a second.
    """
    composed = kernel.composed
    if not composed.target.runs_here:
        raise RelayError(
            f"the kernel `{composed.name}` is compiled for {composed.target}, which this machine cannot "
            "run, so it cannot be measured here",
            help=["show it without `measure`"],
        )
    if not composed.is_static:
        raise RelayError(
            f"the kernel `{composed.name}` cannot be measured, because some of its sizes are dynamic",
            help=["show it without `measure`"],
        )
    functions = [composed.prim_func, *(p.func for p in primitives)]
    modules = [overlapped(tvm().IRModule({composed.name: func})) for func in functions]
    return [measured(replace(kernel, mod=module)) for module in modules]
