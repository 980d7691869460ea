"""The data of the view of a measured run."""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..ir.format import Hue, Shape
from ..lowering.format import LoweringView
from ..schema import Amount, Count, Index, RowIndex, Size, Wire, as_object

Positive = Annotated[int, Count(1)]
KernelIndex = Annotated[int, Index("kernels")]


class Rule(NamedTuple):
    """A schedule rule, and how the marks of its kernels are drawn."""

    name: str
    shape: Shape
    hue: Hue


class RunKernel(NamedTuple):
    """A kernel: its row, its name, its rule (an index), operations and bytes of one call, nanoseconds of all
    its calls, their number, the fewest nanoseconds that the machine's limits allow for them, whether
    arithmetic is the limit (else memory), and its two sentences.
    """

    row: RowIndex
    name: str
    rule: Annotated[int, Index("rules")]
    flops: Amount
    traffic: Amount
    ns: Positive
    calls: Positive
    least: Positive
    by_arithmetic: bool
    say: Sentence
    why: Sentence


class RunLaunch(NamedTuple):
    """A call of a kernel (an index): its start and its duration in nanoseconds."""

    kernel: KernelIndex
    start: Amount
    ns: Positive


class Level(NamedTuple):
    """A kernel (an index), and its view at every level."""

    kernel: KernelIndex
    view: LoweringView


@as_object
class Machine(NamedTuple):
    """The machine that ran the program: its name, the target of the kernels, the number of threads, and its
    limits in operations and bytes per second.
    """

    name: str
    target: str
    threads: Positive
    flops: Positive
    bandwidth: Positive


@dataclass(frozen=True)
class RunView(View):
    """A measured run: every kernel under the machine's limits, every launch in time. The kernels are sorted,
    those with the most time first; `levels` has the lowering views of some of them, by their numbers. With
    `live`, Python can build those of the others.
    """

    kind: ClassVar[str] = "run"
    machine: Machine
    ns: Annotated[Amount, Wire(inside="run")]
    runs: Annotated[Amount, Wire(inside="run")]
    say: Annotated[Sentence, Wire(inside="run")]
    why: Annotated[Sentence, Wire(inside="run")]
    rules: tuple[Rule, ...]
    kernels: Annotated[tuple[RunKernel, ...], Size(least=1)]
    launches: Annotated[tuple[RunLaunch, ...], Size(least=1)]
    levels: tuple[Level, ...] = ()
    start: Annotated[int, Index("kernels", none=True)] = -1
    live: Annotated[bool, Wire(omitted=True)] = False

    def measured(self, kernel: RunKernel) -> str:
        """Write a kernel's time, for the static picture."""
        total = sum(k.ns for k in self.kernels)
        rate = f", {kernel.flops * kernel.calls / kernel.ns:.3g} GFLOP/s" if kernel.flops else ""
        return f"{kernel.ns / total:.1%}, {kernel.ns / 1e6:.3g} ms{rate}"

    def beside(self) -> dict[int, str]:
        return {kernel.row: self.measured(kernel) for kernel in self.kernels}

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [(f"{k.say[0]} {k.why[0]}", *k.say[1:]) for k in self.kernels]
