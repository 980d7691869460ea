"""The data of the lowering view: one kernel at every level."""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..schema import Amount, Count, Index, OneOf, RowOrNone, SentenceOrNone, Size, Wire, as_object
from ..words import counted

OperatorIndex = Annotated[int, Index("operators")]


class LoweringMark(IntEnum):
    """What a step of a schedule affects."""

    BEGIN = 0
    SHAPE = 1
    PLACE = 2
    RUN = 3
    COMPILED = 4


class Operator(NamedTuple):
    """A call of the kernel: its row, its name, and the hue that it has at every level."""

    row: RowOrNone
    name: str
    hue: str
    detail: str


class Stage(NamedTuple):
    """A tensor expression, and the operator that it belongs to (-1: an argument of the kernel)."""

    operator: Annotated[int, Index("operators", none=True)]
    text: str


class Part(NamedTuple):
    """A part of a loop nest: a loop (with its number of iterations, -1 if dynamic, and its kind) or a block
    (with the statement that stores its result); the operators within it; whether the step affects it.
    """

    is_block: bool
    depth: Amount
    name: str
    text: str
    extent: Annotated[int, Count(-1)]
    how: str
    operators: tuple[OperatorIndex, ...]
    touched: bool = False


class Effect(NamedTuple):
    """Numbers that are counted in the loops: separate nests, parallel tasks (on a GPU: threads), SIMD lanes
    (the most), copies of a statement in unrolled loops (the most); and those that `lower.inspect.estimate`
    estimates: instructions of the busiest core (on a GPU: of one thread), bytes read and written, and for the
    busiest core of a CPU the bytes fetched from beyond L1 and from beyond L2, and cycles.
    """

    nests: Amount
    tasks: Amount
    lanes: Amount
    copies: Amount
    instructions: Amount
    traffic: Amount
    near: Amount
    far: Amount
    cycles: Amount


class ScheduleStep(NamedTuple):
    """A primitive of the schedule, and the loops after it."""

    mark: Annotated[int, OneOf(LoweringMark)]
    primitive: str
    say: Sentence
    why: SentenceOrNone
    nest: tuple[Part, ...]
    effect: Effect


class CodeLine(NamedTuple):
    """A line of code: its purpose (-1: a label), the block that it came from (-1: none), and the number of
    loops around it.
    """

    text: str
    purpose: Annotated[int, Index("purposes", none=True)]
    block: Annotated[int, Index("blocks", none=True)]
    depth: Amount


class Choice(NamedTuple):
    """A choice of the schedule, such as a tile size, and its value."""

    name: str
    value: str


@as_object
class Code(NamedTuple):
    """Code that is generated from the loops: LLVM IR, assembly, CUDA C or PTX. `blocks` are the operators
    of each block; `others` counts the instructions that are left out because they compute nothing, `cut` the
    lines beyond the limit.
    """

    name: str
    purposes: tuple[str, ...]
    blocks: tuple[tuple[OperatorIndex, ...], ...]
    lines: tuple[CodeLine, ...]
    others: Amount
    cut: Amount


@dataclass(frozen=True)
class LoweringView(View):
    """One kernel at every level, and its schedule step by step; `times` are the nanoseconds of a run with the
    loops of each step, where that was measured.
    """

    kind: ClassVar[str] = "lowering"
    name: Annotated[str, Wire(inside="kernel")]
    target: Annotated[str, Wire(inside="kernel")]
    rule: Annotated[str, Wire(inside="kernel")]
    choice: Annotated[tuple[Choice, ...], Wire(inside="kernel")]
    flops: Annotated[Amount, Wire(inside="kernel")]
    operators: tuple[Operator, ...]
    stages: tuple[Stage, ...]
    steps: Annotated[tuple[ScheduleStep, ...], Size(least=1)]
    times: tuple[Annotated[int, Count(1)], ...] = field(default=(), kw_only=True)
    codes: Annotated[tuple[Code, ...], Size(least=1)]

    def instructions(self, operator: int) -> str:
        """Return how many instructions (or lines of CUDA C) an operator has, for the static picture."""
        code = self.codes[-1]
        blocks = {at for at, owners in enumerate(code.blocks) if operator in owners}
        lines = [line for line in code.lines if line.block in blocks and line.purpose >= 0]
        shared = any(len(code.blocks[line.block]) > 1 for line in lines)
        what = "line" if code.name == "CUDA C" else "instruction"
        return f"{counted(len(lines), what)}{', with others' if shared else ''}" if lines else ""

    def beside(self) -> dict[int, str]:
        return {operator.row: self.instructions(number) for number, operator in enumerate(self.operators)}

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]
