"""The lowering view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View
from ..words import counted


class LoweringMark(IntEnum):
    """What a step of a schedule is about."""

    BEGIN = 0
    SHAPE = 1
    PLACE = 2
    RUN = 3
    COMPILED = 4


class Operator(NamedTuple):
    """A call of the kernel: its row, its name, and the hue that it has at every level."""

    row: int
    name: str
    hue: str
    detail: str


class Stage(NamedTuple):
    """A tensor expression, and the operator that it belongs to (-1: an argument of the kernel)."""

    operator: int
    text: str


class Part(NamedTuple):
    """A loop (with its turns, -1 where they are not known, and how it runs) or a block (with what it stores)
    of a nest; the operators within it; whether the step is about it.
    """

    is_block: bool
    depth: int
    name: str
    text: str
    extent: int
    how: str
    operators: tuple[int, ...]
    touched: bool = False


class Effect(NamedTuple):
    """What can be counted in a nest: nests of their own, pieces that cores can share (of a GPU: threads),
    lanes of a vector (most), how often unrolled loops write a statement (most); and the estimate of
    `lower.inspect.estimate`: instructions of the busiest core (of a GPU: of one thread), bytes read and
    written, and of the busiest core of a CPU the bytes from beyond its first and second cache, and cycles.
    """

    nests: int
    tasks: int
    lanes: int
    copies: int
    instructions: int
    traffic: int
    near: int
    far: int
    cycles: int


class ScheduleStep(NamedTuple):
    """A primitive of the schedule, and the loops after it."""

    mark: LoweringMark
    primitive: str
    say: Sentence
    why: Sentence
    nest: tuple[Part, ...]
    effect: Effect


class CodeLine(NamedTuple):
    """A line of the machine's code: what it is for (-1: a label), the block that it came from (-1: none), and
    the loops that it is in.
    """

    text: str
    purpose: int
    block: int
    depth: int


class Code(NamedTuple):
    """Code that the loops become: LLVM's text and the assembly, or CUDA C and PTX. `blocks` are the operators
    of each block; `others` the instructions that are not shown because they compute nothing, `cut` the lines
    that are too many to be shown.
    """

    name: str
    purposes: tuple[str, ...]
    blocks: tuple[tuple[int, ...], ...]
    lines: tuple[CodeLine, ...]
    others: int
    cut: int


@dataclass(frozen=True)
class LoweringView(View):
    """One kernel at every level, and its schedule step by step; `times` are the nanoseconds of a run with the
    loops of each step, where that was measured.
    """

    kind: ClassVar[str] = "lowering"
    name: str
    target: str
    rule: str
    choice: tuple[tuple[str, str], ...]
    flops: int
    operators: tuple[Operator, ...]
    stages: tuple[Stage, ...]
    steps: tuple[ScheduleStep, ...]
    codes: tuple[Code, ...]
    times: tuple[int, ...] = ()

    def instructions(self, operator: int) -> str:
        """How many instructions an operator has, for the still picture."""
        code = self.codes[-1]
        blocks = {at for at, owners in enumerate(code.blocks) if operator in owners}
        lines = [line for line in code.lines if line.block in blocks and line.purpose >= 0]
        shared = any(len(code.blocks[line.block]) > 1 for line in lines)
        what = "line" if code.name == "CUDA C" else "instruction"
        return f"{counted(len(lines), what)}{', with others' if shared else ''}" if lines else ""

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "kernel": {
                "name": s(self.name), "target": s(self.target), "rule": s(self.rule),
                "choice": [[s(name), s(value)] for name, value in self.choice], "flops": self.flops,
            },
            "operators": [[o.row, s(o.name), s(o.hue), s(o.detail)] for o in self.operators],
            "stages": [[t.operator, s(t.text)] for t in self.stages],
            "steps": [
                [
                    int(t.mark), s(t.primitive), s.sentence(t.say), s.sentence(t.why) if t.why else [],
                    [
                        [
                            int(p.is_block), p.depth, s(p.name), s(p.text), p.extent, s(p.how),
                            list(p.operators), int(p.touched),
                        ]
                        for p in t.nest
                    ],
                    list(t.effect),
                ]
                for t in self.steps
            ],
            "times": list(self.times),
            "codes": [
                {
                    "name": s(code.name), "purposes": [s(p) for p in code.purposes],
                    "blocks": [list(owners) for owners in code.blocks],
                    "lines": [[s(n.text), n.purpose, n.block, n.depth] for n in code.lines],
                    "others": code.others, "cut": code.cut,
                }
                for code in self.codes
            ],
        }  # fmt: skip
