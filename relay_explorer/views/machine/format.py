"""The machine view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View
from ..memory.format import MemoryView

Shown = int | str  # an object's number, or the text of a value that has no memory of its own
MachineChange = tuple[Shown, ...]  # texts stand last: of "o" and "t", and the value of "w"


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
    rows: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    runs: int


class MachineFunction(NamedTuple):
    """A function: its name, its row, the names of the registers that it begins with, how many registers it
    has, and its code.
    """

    name: str
    row: int
    names: tuple[str, ...]
    registers: int
    code: tuple[CodeLine, ...]


class KernelBox(NamedTuple):
    """A kernel: its name, what it computes, and whether it makes its results itself."""

    name: str
    text: str
    host: bool


class MachineObject(NamedTuple):
    """A thing that takes memory: what it is, its label, its bytes (of storage and tensors), the storage that
    it lies in (-1), whether it came with the arguments, the steps that make it, use it last, and after which
    nothing holds it (the number of steps, where something does to the end), and the instruction that made it.
    """

    kind: int
    label: str
    bytes: int
    storage: int
    given: bool
    made: int
    last: int
    freed: int


class MachineFrame(NamedTuple):
    """An activation: of which function, who waits for it and at which instruction, whose place it took, and
    from when to when it lives.
    """

    function: int
    caller: int
    at: int
    before: int
    turn: int
    entered: int
    left: int


class MachineStep(NamedTuple):
    """One step: after it, `frame` goes on with instruction `following`; `number` is the one that is done."""

    mark: int
    frame: int
    number: int
    following: int
    say: Sentence
    because: tuple[int, ...]
    changes: tuple[MachineChange, ...]


class MachineFailure(NamedTuple):
    """Why a run went wrong: what its step does not say."""

    notes: tuple[Sentence, ...]
    tries: tuple[Sentence, ...]


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
    gap: tuple[int, int] | None
    totals: dict[str, int]
    start: int
    plan: MemoryView | None
    without: Sentence

    def instructions(self) -> dict[int, str]:
        """By row: the instructions that came from it, `@main 0-3, 7`."""
        found: dict[int, dict[str, list[int]]] = {}
        for function in self.functions:
            for number, line in enumerate(function.code):
                for row in line.rows:
                    found.setdefault(row, {}).setdefault(function.name, []).append(number)
        return {
            row: "; ".join(f"{name} {ranges(numbers)}" for name, numbers in by_name.items())
            for row, by_name in found.items()
        }

    def _fields(self, s: Interner) -> dict[str, Json]:
        def shown(value: Shown) -> int:
            return value if isinstance(value, int) else -1 - s(value)

        def change(c: MachineChange) -> list[Json]:
            if c[0] in ("o", "t"):
                return [c[0], c[1], s(str(c[2]))]
            return [c[0], *c[1:-1], shown(c[-1])] if c[0] == "w" else list(c)

        failure = self.failure
        return {
            "functions": [
                [
                    s(f.name), f.row, [s(name) for name in f.names], f.registers,
                    [
                        [s(n.text), s(n.remark), list(n.rows), list(n.reads), list(n.writes), n.runs]
                        for n in f.code
                    ],
                ]
                for f in self.functions
            ],
            "kernels": [[s(k.name), s(k.text), int(k.host)] for k in self.kernels],
            "objects": [
                [o.kind, s(o.label), o.bytes, o.storage, int(o.given), o.made, o.last, o.freed]
                for o in self.objects
            ],
            "frames": [list(frame) for frame in self.frames],
            "steps": [
                [
                    int(t.mark), t.frame, t.number, t.following, s.sentence(t.say), list(t.because),
                    [change(c) for c in t.changes],
                ]
                for t in self.steps
            ],
            "failure": None if failure is None else {
                "notes": [s.sentence(n) for n in failure.notes],
                "try": [s.sentence(t) for t in failure.tries],
            },
            "gap": None if self.gap is None else list(self.gap),
            "totals": self.totals,
            "start": self.start,
            "plan": None if self.plan is None else self.plan.to_dict(),
            "without": s.sentence(self.without) if self.without else [],
        }  # fmt: skip


def ranges(numbers: list[int]) -> str:
    """`0-3, 7`: numbers in order, runs of them as one."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("\u2013".join(map(str, run)) for run in runs)
