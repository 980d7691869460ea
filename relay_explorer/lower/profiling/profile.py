"""Profiles of a run: the time of each kernel call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...execute.graph import Launch
from ...execute.graph_executor import GraphExecutor
from ...ir.hooks import hook
from ...ir.lazy_dataclass import dataclass
from ..runtime.executable import Executable, GraphExecutable
from ..runtime.kernel import Kernel
from ..runtime.services import provides
from .timed import Program, fastest, timed


class StepTime(NamedTuple):
    """A kernel call of the run: its kernel, its seconds, its floating-point operations, and the bytes of its
    arguments and results.
    """

    kernel: Kernel
    seconds: float
    flops: int
    traffic: int


@dataclass(frozen=True)
class Profile:
    """A run: its kernel calls in order, and `seconds`, the time of a whole run without timing the calls."""

    steps: tuple[StepTime, ...]
    seconds: float

    def by_kernel(self) -> list[tuple[Kernel, float, int]]:
        """Return the kernels, the slowest first, with the seconds of all their calls and the number of
        calls.
        """
        totals: dict[Kernel, tuple[float, int]] = {}
        for step in self.steps:
            seconds, count = totals.get(step.kernel, (0.0, 0))
            totals[step.kernel] = seconds + step.seconds, count + 1
        rows = [(kernel, seconds, count) for kernel, (seconds, count) in totals.items()]
        return sorted(rows, key=lambda row: -row[1])

    def __str__(self) -> str:
        total = sum(step.seconds for step in self.steps) or 1.0
        lines = [f"{self.seconds * 1e3:.3f} ms a run, {len(self.steps)} kernel calls", _HEAD]
        for kernel, seconds, count in self.by_kernel():
            gflops = kernel.flops * count / seconds / 1e9 if seconds else 0.0
            gbytes = kernel.traffic * count / seconds / 1e9 if seconds else 0.0
            lines.append(
                f"{seconds / total:6.1%} {seconds * 1e6:10.1f} {count:6} {gflops:9.1f} {gbytes:7.1f}  "
                f"{kernel.rule:12} {kernel.name}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None, *, most: int = 12, theme: str = "light") -> Any:
        """Draw the time of each kernel: `relay_explorer.interop.plot_profile`. Return matplotlib's Axes."""
        return hook("plot")(self, ax, most=most, theme=theme)


_HEAD = " share         µs  calls  GFLOP/s    GB/s  schedule     kernel"


@provides("profile")
def profile_of(exe: Executable, args: Sequence[Any], named: dict[str, Any], repeat: int) -> Profile:
    """Profile an executable: return the minimum time of each step of a graph program, or the calls of the
    fastest run of bytecode.
    """
    if not isinstance(exe, GraphExecutable):
        return profile_calls(timed(exe, args, named), repeat)
    with exe.executor.lock:
        exe.bind(args, named)
        return profile(exe.executor, exe.kernels, repeat)


def profile_calls(program: Program, repeat: int) -> Profile:
    """Profile a program of bytecode: return the calls of its fastest run."""
    _, calls, ns = fastest(program, max(1, repeat), 0)
    costs = {call.kernel: program.cost(call.kernel) for call in calls}
    steps = [
        StepTime(program.kernels[call.kernel], (call.stop - call.start) / 1e9, *costs[call.kernel])
        for call in calls
    ]
    return Profile(tuple(steps), ns / 1e9)


def profile(executor: GraphExecutor, kernels: Sequence[Kernel], repeat: int) -> Profile:
    """Profile a graph program whose parameters are bound: return the minimum time of each kernel call."""
    import time

    executor.run()
    runs = [executor.timed() for _ in range(max(1, repeat))]
    whole = []
    for _ in range(max(1, repeat)):
        start = time.perf_counter()
        executor.run()
        whole.append(time.perf_counter() - start)
    steps = []
    for number, step in enumerate(executor.program.steps):
        if isinstance(step, Launch):
            kernel = kernels[step.kernel]
            seconds = min(run[number] for run in runs)
            steps.append(StepTime(kernel, seconds, kernel.flops, kernel.traffic))
    return Profile(tuple(steps), min(whole))
