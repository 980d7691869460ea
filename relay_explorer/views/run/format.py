"""The view of a measured run, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View
from ..lowering.format import LoweringView


class Rule(NamedTuple):
    """A rule that schedules kernels: how its marks are drawn."""

    name: str
    shape: str
    hue: str


class RunKernel(NamedTuple):
    """A kernel: its row, its name, its rule (an index), operations and bytes of one call, nanoseconds of all
    its calls, how many these are, the least nanoseconds that the machine's limits allow for them, whether
    arithmetic is the limit (else memory), and what is said of it.
    """

    row: int
    name: str
    rule: int
    flops: int
    traffic: int
    ns: int
    calls: int
    least: int
    by_arithmetic: bool
    say: Sentence
    why: Sentence


class RunLaunch(NamedTuple):
    """A call of a kernel (an index), with the nanoseconds at which it begins, and its duration."""

    kernel: int
    start: int
    ns: int


class Machine(NamedTuple):
    """What ran the program: its name, what the kernels were made for, threads, and the most that it can do,
    in operations and bytes a second.
    """

    name: str
    target: str
    threads: int
    flops: int
    bandwidth: int


@dataclass(frozen=True)
class RunView(View):
    """A measured run: every kernel under the machine's limits, every launch in time. The kernels are sorted,
    those with the most time first; `levels` has the lowering views of some of them, by their numbers. With
    `live`, Python can make those of the others.
    """

    kind: ClassVar[str] = "run"
    machine: Machine
    ns: int
    runs: int
    say: Sentence
    why: Sentence
    rules: tuple[Rule, ...]
    kernels: tuple[RunKernel, ...]
    launches: tuple[RunLaunch, ...]
    levels: tuple[tuple[int, LoweringView], ...] = ()
    start: int = -1
    live: bool = False

    def measured(self, kernel: RunKernel) -> str:
        """A kernel's time, for the still picture."""
        total = sum(k.ns for k in self.kernels)
        rate = f", {kernel.flops * kernel.calls / kernel.ns:.3g} GFLOP/s" if kernel.flops else ""
        return f"{kernel.ns / total:.1%}, {kernel.ns / 1e6:.3g} ms{rate}"

    def _fields(self, s: Interner) -> dict[str, Json]:
        most = self.machine
        return {
            "machine": {
                "name": s(most.name), "target": s(most.target), "threads": most.threads,
                "flops": most.flops, "bandwidth": most.bandwidth,
            },
            "run": {
                "ns": self.ns, "runs": self.runs, "say": s.sentence(self.say), "why": s.sentence(self.why),
            },
            "rules": [[s(rule.name), rule.shape, rule.hue] for rule in self.rules],
            "kernels": [
                [
                    k.row, s(k.name), k.rule, k.flops, k.traffic, k.ns, k.calls, k.least,
                    int(k.by_arithmetic), s.sentence(k.say), s.sentence(k.why),
                ]
                for k in self.kernels
            ],
            "launches": [list(launch) for launch in self.launches],
            "levels": [[number, view.to_dict()] for number, view in self.levels],
            "start": self.start,
            **({"live": True} if self.live else {}),
        }  # fmt: skip
