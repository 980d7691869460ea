"""The data of the machine view: a recorded run of the virtual machine."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..memory.format import MemoryView
from ..schema import (
    Amount,
    Count,
    Entity,
    Index,
    OneOf,
    RowIndex,
    RowOrNone,
    SentenceOrNone,
    Wire,
    as_object,
)

Shown = int | str  # an object's index, or the text of a value that has no memory of its own
Value = Annotated[Shown, Entity("objects")]
ObjectIndex = Annotated[int, Index("objects")]
FrameIndex = Annotated[int, Index("frames")]
StepIndex = Annotated[int, Index("steps")]
Register = Annotated[int, Index("registers")]


class MachineMark(IntEnum):
    """What a step does."""

    BEGIN = 0
    LOAD = 1
    MEMORY = 2
    KERNEL = 3
    MADE = 4
    CELL = 5
    CHOICE = 6
    CALL = 7
    TAIL_CALL = 8
    RETURN = 9
    FAILURE = 10
    END = 11
    GAP = 12


class CodeLine(NamedTuple):
    """An instruction: its text, a remark, the rows that it came from (the one that it is about first), the
    registers that it reads and writes, and how often it ran (-1: not counted).
    """

    text: str
    remark: str
    rows: tuple[RowIndex, ...]
    reads: tuple[Register, ...]
    writes: tuple[Register, ...]
    runs: Annotated[int, Count(-1)]


class MachineFunction(NamedTuple):
    """A function: its name, its row, the names of the registers that it begins with, how many registers it
    has, and its code.
    """

    name: str
    row: RowOrNone
    names: tuple[str, ...]
    registers: Amount
    code: tuple[CodeLine, ...]


class KernelBox(NamedTuple):
    """A kernel: its name, what it computes, and whether it makes its results itself."""

    name: str
    text: str
    host: bool


class ObjectKind(IntEnum):
    """What occupies memory."""

    STORAGE = 0
    TENSOR = 1
    TUPLE = 2
    DATA = 3
    CLOSURE = 4
    CELL = 5


class MachineObject(NamedTuple):
    """An object that occupies memory: what it is, its label, its bytes (of storage and tensors), the storage
    that it lies in (-1), whether it is part of the arguments, the steps that make it, use it last, and after
    which nothing holds it (the number of steps, where something does to the end), and the instruction that
    made it.
    """

    kind: Annotated[int, OneOf(ObjectKind)]
    label: str
    bytes: Amount
    storage: Annotated[int, Index("objects", none=True, order="earlier")]
    given: bool
    made: Amount
    last: Amount
    freed: Amount


class MachineFrame(NamedTuple):
    """An activation: of which function, which activation waits for it and at which instruction, whose place
    it took, and from when to when it lives.
    """

    function: Annotated[int, Index("functions")]
    caller: Annotated[int, Index("frames", none=True, order="earlier")]
    at: Annotated[int, Count(-1)]
    before: Annotated[int, Index("frames", none=True, order="earlier")]
    turn: Amount
    entered: Amount
    left: Amount


class Appears(NamedTuple):
    """The object appears, with this in it ("": a tensor that is not filled)."""

    tag: Literal["o"]
    object: ObjectIndex
    text: str


class Filled(NamedTuple):
    """This is in the object now."""

    tag: Literal["t"]
    object: ObjectIndex
    text: str


class Freed(NamedTuple):
    """The object is freed."""

    tag: Literal["d"]
    object: ObjectIndex


class Called(NamedTuple):
    """The frame is pushed onto the stack."""

    tag: Literal["f"]
    frame: FrameIndex


class Replaced(NamedTuple):
    """The frame replaces the top one."""

    tag: Literal["g"]
    frame: FrameIndex


class Left(NamedTuple):
    """The frame leaves the stack."""

    tag: Literal["r"]
    frame: FrameIndex


class Written(NamedTuple):
    """The register is written."""

    tag: Literal["w"]
    frame: FrameIndex
    register: Amount
    value: Value


class Unknown(NamedTuple):
    """The stack is not recorded at a gap."""

    tag: Literal["x"]


MachineChange = Appears | Filled | Freed | Called | Replaced | Left | Written | Unknown


class MachineStep(NamedTuple):
    """One step: after it, `frame` goes on with instruction `following`; `number` is the one that is done."""

    mark: Annotated[int, OneOf(MachineMark)]
    frame: FrameIndex
    number: Annotated[int, Count(-1)]
    following: Annotated[int, Count(-1)]
    say: Sentence
    because: tuple[Annotated[int, Index("steps", order="earlier")], ...]
    changes: tuple[MachineChange, ...]


class Gap(NamedTuple):
    """Step `step` stands for `left_out` steps that are not in the data."""

    step: StepIndex
    left_out: Amount


@as_object
class MachineFailure(NamedTuple):
    """Why a run went wrong: what its step does not say."""

    notes: tuple[Sentence, ...]
    tries: Annotated[tuple[Sentence, ...], Wire("try")]


@dataclass(frozen=True)
class MachineView(View):
    """A recorded run of the virtual machine. `totals` are of the whole run; `gap` is the step that stands for
    what is left out, and how many steps that is. `plan` is the graph executor's plan of the same program,
    where it can run it; `without` says why there is none.
    """

    kind: ClassVar[str] = "machine"
    functions: tuple[MachineFunction, ...]
    kernels: tuple[KernelBox, ...]
    objects: tuple[MachineObject, ...]
    frames: tuple[MachineFrame, ...]
    steps: tuple[MachineStep, ...]
    failure: MachineFailure | None
    gap: Gap | None
    totals: dict[str, Amount]
    start: StepIndex
    plan: MemoryView | None
    without: SentenceOrNone

    def instructions(self) -> dict[int, str]:
        """By row: the instructions that came from it, `@main 0-3, 7`."""
        by_row: dict[int, dict[str, list[int]]] = {}
        for function in self.functions:
            for number, line in enumerate(function.code):
                for row in line.rows:
                    by_row.setdefault(row, {}).setdefault(function.name, []).append(number)
        return {
            row: "; ".join(f"{name} {ranges(numbers)}" for name, numbers in by_name.items())
            for row, by_name in by_row.items()
        }

    def beside(self) -> dict[int, str]:
        return self.instructions()

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]


def ranges(numbers: list[int]) -> str:
    """`0-3, 7`: numbers in order, runs of them as one."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("\u2013".join(map(str, run)) for run in runs)
