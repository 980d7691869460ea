"""Record what instructions do to registers and memory."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.show import show_shape
from ..values import Value
from .bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    GetField,
    Goto,
    If,
    Instruction,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    NewRef,
    ReadRef,
    ReshapeTensor,
    ShapeFunc,
    Switch,
    WriteRef,
    read,
    written,
)
from .heap import Change, Heap, HeapKind, HeapObject, Reference, label_of, tensor_label
from .run import Activation
from .steps import Registers

FEW = 4  # a constant of up to so many elements is shown with its elements


class Effects:
    """Tracks the registers of activations, and the heap of a run, as instructions change them. Each change is
    appended to `changes`.
    """

    def __init__(self, things: Heap) -> None:
        self.things = things
        self.changes: list[Change] = []

    def write(self, now: Activation, register: int, held: Reference, step: int) -> None:
        before = now.registers[register]
        self.things.hold(held)
        now.registers[register], now.origin[register] = held, step
        self.changes.append(("w", now.number, register, held))
        self.things.drop(before, step, self.changes)

    def do(self, it: Instruction, now: Activation, registers: Registers, step: int) -> None:
        """Record the effect of an instruction on registers and memory."""
        held = now.registers
        match it:
            case Move():
                self.write(now, it.to, held[it.source], step)
            case LoadConst() | LoadConsti():
                value = registers[it.to]
                few = value.size <= FEW
                self.write(now, it.to, self.things.text(value) if few else tensor_label(value), step)
            case ShapeFunc():
                for register in it.to:
                    self.write(now, register, show_shape(registers[register]), step)
            case InvokePacked():
                for register in it.results:
                    now.origin[register] = step
                    self._fill(held[register], registers[register], step)
            case GetField():
                self.write(now, it.to, self._part(held[it.source], it.index, registers[it.to], step), step)
            case ReadRef():
                self.write(now, it.to, self._part(held[it.ref], 0, registers[it.to], step), step)
            case WriteRef():
                self._put(held[it.ref], held[it.value], registers[it.value], step)
            case AllocStorage() | AllocTensor() | AllocTensorReg() | ReshapeTensor():
                self.write(now, it.to, self._memory(it, held, registers[it.to], step), step)
            case AllocTuple() | AllocADT() | AllocClosure() | NewRef():
                self.write(now, it.to, self._compound(it, held, registers[it.to], step), step)
            case _:
                for register in written(it):
                    adopted = self.things.adopt(registers[register], step, self.changes)
                    self.write(now, register, adopted, step)

    def _memory(self, it: Instruction, held: Sequence[Reference], value: Value, step: int) -> Reference:
        size = int(value.nbytes)
        match it:
            case AllocStorage():
                new = HeapObject(
                    HeapKind.STORAGE, f"{size:,} byte{'' if size == 1 else 's'}", step, size=size
                )
            case AllocTensor():
                place = held[it.storage]
                new = HeapObject(
                    HeapKind.TENSOR, tensor_label(value), step, [place], "", size, _number_of(place)
                )
            case ReshapeTensor():
                source = held[it.source]
                storage = self.things.all[source].storage if type(source) is int else -1
                new = HeapObject(
                    HeapKind.TENSOR,
                    tensor_label(value),
                    step,
                    [source],
                    self.things.text(value),
                    size,
                    storage,
                )
            case _:
                new = HeapObject(HeapKind.TENSOR, tensor_label(value), step, size=size)
        return self.things.add(new, self.changes)

    def _compound(self, it: Instruction, held: Sequence[Reference], value: Value, step: int) -> Reference:
        parts = [held[register] for register in read(it)]
        if not parts:
            return self.things.text(value)
        kind = {
            AllocTuple: HeapKind.TUPLE, AllocADT: HeapKind.DATA, AllocClosure: HeapKind.CLOSURE,
            NewRef: HeapKind.CELL,
        }[type(it)]  # fmt: skip
        text = self.things.text(value.value if kind is HeapKind.CELL else value)
        new = HeapObject(kind, label_of(value, self.things.text), step, parts, text, wrote=step)
        return self.things.add(new, self.changes)

    def _fill(self, held: Reference, value: Value, step: int) -> None:
        if type(held) is int:
            self.things.use(held, step)
            self.things.all[held].text = text = self.things.text(value)
            self.changes.append(("t", held, text))

    def _part(self, held: Reference, index: int, value: Value, step: int) -> Reference:
        """Return a part of an object; the parts of a very long list from outside are recorded only when they
        are reached.
        """
        if type(held) is not int:
            return self.things.adopt(value, step, self.changes)
        parts = self.things.all[held].parts
        if parts[index] is None:
            parts[index] = self.things.adopt(value, step, self.changes)
            self.things.hold(parts[index])
        return parts[index]

    def _put(self, cell: Reference, held: Reference, value: Value, step: int) -> None:
        assert type(cell) is int, "a cell is a heap object"
        target = self.things.all[cell]
        self.things.hold(held)
        before, target.parts, target.wrote = target.parts[0], [held], step
        target.text = text = self.things.text(value)
        self.changes.append(("t", cell, text))
        self.things.drop(before, step, self.changes)

    def reused(self, it: Instruction, now: Activation) -> int:
        """Return the tensor that occupied the storage before, -1 if there was none."""
        if not isinstance(it, AllocTensor):
            return -1
        storage = now.registers[it.storage]
        same = [n for n, other in enumerate(self.things.all) if other.storage == storage]
        return same[-1] if same else -1


def following(it: Instruction, number: int, registers: Registers) -> int:
    """Return the instruction that follows instruction `number`, given the registers' current values."""
    match it:
        case If():
            return number + 1 if registers[it.condition] else it.otherwise
        case Goto():
            return it.target
        case Switch():
            return dict(it.cases).get(registers[it.source].constructor.name_hint, it.otherwise)
    return number + 1


def results(it: Instruction) -> tuple[int, ...]:
    """Return the registers that hold an instruction's results."""
    return it.results if isinstance(it, InvokePacked) else written(it)


def _number_of(held: Reference) -> int:
    return held if type(held) is int else -1
