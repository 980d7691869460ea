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
    Text,
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
    """The kind of a step."""

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
    """An instruction: its text, a remark, the rows that it came from (the most important one first), the
    registers that it reads and writes, and how often it ran (-1: not counted).
    """

    text: str
    remark: str
    rows: tuple[RowIndex, ...]
    reads: tuple[Register, ...]
    writes: tuple[Register, ...]
    runs: Annotated[int, Count(-1)]


class MachineFunction(NamedTuple):
    """A function: its name, its row, the names of its first registers (parameters and captured values), the
    number of its registers, and its code.
    """

    name: str
    row: RowOrNone
    names: tuple[str, ...]
    registers: Amount
    code: tuple[CodeLine, ...]


class KernelBox(NamedTuple):
    """A kernel: its name, what it computes, and whether it allocates its results itself."""

    name: str
    text: str
    host: bool


class ObjectKind(IntEnum):
    """The kind of an object that occupies memory."""

    STORAGE = 0
    TENSOR = 1
    TUPLE = 2
    DATA = 3
    CLOSURE = 4
    CELL = 5


class MachineObject(NamedTuple):
    """An object that occupies memory: its kind, its label, its bytes (of storage and tensors), the storage in
    which it lies (-1: none), whether it is part of the arguments, the step that creates it, the last one that
    uses it, and the one after which no reference to it remains (the number of steps if one remains to the
    end).
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
    """A stack frame: its function, its caller and the instruction at which the caller waits, the frame that
    it replaced by a tail call (`before`), the number of such replacements so far (`turn`), and the steps that
    enter and leave it.
    """

    function: Annotated[int, Index("functions")]
    caller: Annotated[int, Index("frames", none=True, order="earlier")]
    at: Annotated[int, Count(-1)]
    before: Annotated[int, Index("frames", none=True, order="earlier")]
    turn: Amount
    entered: Amount
    left: Amount


class Appears(NamedTuple):
    """The object appears with this content ("": an uninitialized tensor)."""

    tag: Literal["o"]
    object: ObjectIndex
    text: str


class Filled(NamedTuple):
    """The object has this content from now on."""

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
    """The frame is popped from the stack."""

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
    """One step: it executes instruction `number`, and `frame` continues with instruction `following`."""

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
    """Why a run failed: notes and suggestions that its last step's sentence does not contain."""

    notes: tuple[Sentence, ...]
    tries: Annotated[tuple[Sentence, ...], Wire("try")]


@dataclass(frozen=True)
class MachineView(View):
    """A recorded run of the virtual machine. `totals` are of the whole run; `gap` is the step that stands for
    the omitted ones, and their number. `plan` is the graph executor's plan of the same program, if it can run
    it; otherwise `without` says why not. `texts` are the arguments as the playground reads them ("": one that
    is too large to be written).
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
    texts: Annotated[tuple[Text, ...], Wire(omitted=True)] = ()

    def instructions(self) -> dict[int, str]:
        """Return, by row, the instructions that came from it: `@main 0-3, 7`."""
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

    def opening(self) -> str:
        match self.steps[self.start].mark if self.steps else None:
            case MachineMark.FAILURE:
                return "where the machine stops with an error"
            case MachineMark.CALL:
                return "the call at which the stack is highest"
            case MachineMark.KERNEL:
                return "the first kernel that is launched"
        return ""

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]


def ranges(numbers: list[int]) -> str:
    """Format ascending numbers, consecutive ones as a range: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("\u2013".join(map(str, run)) for run in runs)
