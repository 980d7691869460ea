"""Sentences of the run view: about the run, and about each kernel under the machine's limits."""

from __future__ import annotations

from collections.abc import Sequence

from ...lower.profiling.measurement import MeasuredKernel, Measurement
from ..format import Sentence
from ..words import counted

BEYOND = 1.05  # of the limit: above it, the limit does not hold for this kernel
_CALLERS = {"vm": "in the instructions of the virtual machine", "aot": "in the program's own C code"}


def duration(ns: float) -> str:
    """Write a duration: `812 ns`, `20.1 µs`, `3.5 ms`."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def percent(part: float) -> str:
    """Write a percentage; small ones with one decimal."""
    if part < 0.001:
        return "less than 0.1%"
    return f"{part:.0%}" if part >= 0.0995 else f"{part:.1%}"


def run(measured: Measurement, times: Sequence[int]) -> Sentence:
    """Describe the whole run. `times` are the kernels' times, the longest first."""
    total, half, most = sum(times), 0, 0
    while half < len(times) and 2 * most < total:
        most += times[half]
        half += 1
    where = "the slowest of them" if half == 1 else f"the {half} slowest of them"
    calls = counted(len(measured.launches), "kernel call")
    if len(times) == 1:
        return (f"A run takes **{duration(measured.ns)}**: {calls} of one kernel.",)
    return (
        f"A run takes **{duration(measured.ns)}**: {calls} of "
        f"{counted(len(times), 'kernel')}. **{percent(most / total)}** of the time is spent in {where}.",
    )


def run_why(measured: Measurement, least: int, busy: int) -> Sentence:
    """Compare the run with the limits of the machine, and say how it was measured."""
    between, where = measured.span - busy, ""
    if measured.executor in _CALLERS:
        # Reading the clock delays these calls, so the time between them is taken from a run without it.
        between, where = max(measured.ns - busy, 0) or between, f", {_CALLERS[measured.executor]}"
    after = f", and {duration(between)} pass between them{where}" if len(measured.launches) > 1 else ""
    several = len({launch.kernel for launch in measured.launches}) > 1
    them = ("kernels", "they take") if several else ("kernel", "it takes")
    return (
        f"At the limits of this machine, {measured.limits}, the {them[0]} would take {duration(least)}; "
        f"{them[1]} {duration(busy)}{after}. Measured "
        f"on {{0}}: the fastest of {counted(measured.runs, 'run')} with the clock read before and after each "
        "kernel.",
        measured.machine,
    )


def kernel(number: int, operators: Sequence[str], ns: int, calls: int, total: int) -> Sentence:
    """Describe the share of the run that a kernel takes."""
    names = " · ".join([f"{{{k}}}" for k in range(len(operators[:5]))]) + (
        " · …" if len(operators) > 5 else ""
    )
    each = f", {duration(ns / calls)} each" if calls > 1 else ""
    return (
        f"**Kernel {number}**, {names}: **{percent(ns / total)}** of the time, {duration(ns)} in "
        f"{counted(calls, 'call')}{each}.",
        *operators[:5],
    )


def limited(k: MeasuredKernel, ns: int, calls: int, least: int, by_arithmetic: bool) -> Sentence:
    """Describe which limit bounds a kernel, and how far it is from that limit."""
    rate = k.flops * calls / ns
    bytes_ = k.traffic * calls / ns
    reached = least / ns if ns else 0.0
    if not k.flops:
        done = f"It performs no arithmetic, and moves {bytes_:.3g} GB/s. **Memory** bounds it"
    else:
        intensity = k.flops / k.traffic if k.traffic else float("inf")
        done = (
            f"{rate:.3g} GFLOP/s and {bytes_:.3g} GB/s: an arithmetic intensity of "
            f"{intensity:.3g} operations "
            f"per byte. **{'Compute' if by_arithmetic else 'Memory bandwidth'}** bounds it"
        )
    if reached <= BEYOND:
        return (f"{done}; it reaches **{percent(reached)}** of that bound ({duration(least)} at best).",)
    if by_arithmetic:
        why = "Winograd's algorithm needs fewer multiplications than the layer's definition"
        why = why if k.rule == "winograd" else "a processor's clock frequency varies"
    else:
        why = "its input is still in the caches, where the previous kernel left it"
    return (f"{done}, and it is **{reached:.2g} times** as fast as that bound: {why}.",)


def summary(measured: Measurement, least: int) -> str:
    """Summarize the first frame as text."""
    return (
        f"{measured.program} on {measured.machine}: {duration(measured.ns)} a run, "
        f"{counted(len(measured.launches), 'kernel call')}; at the limits of the machine ({measured.limits}) "
        f"the kernels would take {duration(least)}."
    )
