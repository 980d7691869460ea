"""Assemble a function's code from instructions over unlimited virtual registers: remove dead instructions,
and reuse registers and memory.

All jumps go forward, so one backward pass over the instructions finds the live ones, and a register is live
from its first to its last mention.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from .bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTuple,
    GetField,
    Goto,
    If,
    Instruction,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    ReadRef,
    ReshapeTensor,
    ShapeFunc,
    Switch,
    ends,
    read,
    targets,
    written,
)

_PURE = (
    Move, LoadConst, LoadConsti, AllocStorage, AllocTensor, ReshapeTensor, AllocTuple, AllocADT, AllocClosure,
    GetField, ReadRef,
)  # fmt: skip


class Line(NamedTuple):
    """An instruction, whose targets are labels, in the block `block`; `source` is the expression that it
    computes.
    """

    instruction: Instruction
    block: int
    source: Any = None


def assembled(
    lines: Sequence[Line], labels: Mapping[int, int], pinned: int
) -> tuple[list[Instruction], list[Any], int]:
    """Assemble the instructions; return them, the expression that each computes, and the number of registers.
    `labels` maps labels to positions in `lines`; the first `pinned` registers keep their numbers.
    """
    live = _needed(lines, labels)
    live = _without_idle_jumps(lines, live, labels)
    merged = _shared_storage([(n, lines[n]) for n in live])
    live = [
        n
        for n in live
        if not (isinstance(lines[n].instruction, AllocStorage) and written(lines[n].instruction)[0] in merged)
    ]
    renamed = {n: _renamed(lines[n].instruction, merged) if merged else lines[n].instruction for n in live}
    live = _without_moves(renamed, live, sorted(labels.values()))
    registers, count = _registers([renamed[n] for n in live], pinned)
    places = _places(live, len(lines))
    code = [_renamed(_retargeted(renamed[n], labels, places), registers) for n in live]
    return code, [lines[n].source for n in live], count


def _needed(lines: Sequence[Line], labels: Mapping[int, int]) -> list[int]:
    """Return the numbers of the lines that control reaches, and that have an effect or a used result."""
    reached = [False] * (len(lines) + 1)
    reached[0] = True
    for number, line in enumerate(lines):
        if reached[number]:
            reached[number + 1] |= not ends(line.instruction)
            for label in targets(line.instruction):
                reached[labels[label]] = True
    used: set[int] = set()
    live = []
    for number in range(len(lines) - 1, -1, -1):
        instruction = lines[number].instruction
        if not reached[number] or (isinstance(instruction, _PURE) and written(instruction)[0] not in used):
            continue
        used.update(read(instruction))
        live.append(number)
    live.reverse()
    return live


def _without_idle_jumps(lines: Sequence[Line], numbers: list[int], labels: Mapping[int, int]) -> list[int]:
    """Remove jumps to the next instruction."""
    remaining: list[int] = []
    following = len(lines)  # the next remaining line
    for number in reversed(numbers):
        instruction = lines[number].instruction
        if isinstance(instruction, Goto) and labels[instruction.target] <= following:
            continue
        remaining.append(number)
        following = number
    remaining.reverse()
    return remaining


def _places(numbers: Sequence[int], count: int) -> list[int]:
    """Return, for the number of each line, the index of the first remaining line from there on."""
    places = [len(numbers)] * (count + 1)
    at = len(numbers) - 1
    for number in range(count, -1, -1):
        while at >= 0 and numbers[at] >= number:
            at -= 1
        places[number] = at + 1
    return places


def _retargeted(instruction: Instruction, labels: Mapping[int, int], places: Sequence[int]) -> Instruction:
    def place(label: int) -> int:
        return places[labels[label]]

    match instruction:
        case Goto():
            return Goto(place(instruction.target))
        case If():
            return replace(instruction, otherwise=place(instruction.otherwise))
        case Switch():
            cases = tuple([(name, place(label)) for name, label in instruction.cases])
            otherwise = place(instruction.otherwise) if instruction.otherwise >= 0 else -1
            return replace(instruction, cases=cases, otherwise=otherwise)
    return instruction


def _renamed(instruction: Instruction, names: Mapping[int, int]) -> Instruction:
    """Rename the registers of an instruction."""
    changed: dict[str, Any] = {}
    for part in fields(instruction):
        value = getattr(instruction, part.name)
        if part.type == "Register":
            changed[part.name] = names.get(value, value)
        elif part.type in ("Registers", "Results"):
            changed[part.name] = tuple([names.get(register, register) for register in value])
    return replace(instruction, **changed) if changed else instruction


def _without_moves(code: dict[int, Instruction], numbers: list[int], entries: Sequence[int]) -> list[int]:
    """Remove moves of a value that the previous instruction has just computed and that has no other use: that
    instruction writes to the move's target instead. `entries` are the jump targets, in order.
    """
    uses: dict[int, int] = {}
    for number in numbers:
        for register in read(code[number]):
            uses[register] = uses.get(register, 0) + 1
    remaining: list[int] = []
    for number in numbers:
        move, before = code[number], remaining[-1] if remaining else -1
        apart = bisect(entries, before) < bisect(entries, number)
        if isinstance(move, Move) and uses[move.source] == 1 and not apart and before >= 0:
            previous = code[before]
            if written(previous) == (move.source,) and move.to not in read(previous):
                code[before] = _renamed(previous, {move.source: move.to})
                continue
        remaining.append(number)
    return remaining


# -- memory


def _shared_storage(lines: Sequence[tuple[int, Line]]) -> dict[int, int]:
    """Map storages to the earlier ones that they share memory with. A tensor's memory is free after its last
    use, if only kernels of this activation have seen it; a later tensor of the same block may then occupy it.
    """
    last: dict[int, int] = {}
    escaped: set[int] = set()
    defined: set[int] = set()
    for number, line in lines:
        instruction = line.instruction
        for register in read(instruction):
            last[register] = number
            if not isinstance(instruction, (InvokePacked, ShapeFunc, If)):
                escaped.add(register)
        for register in written(instruction):
            if register in defined:
                escaped.add(register)  # several branches write it
            defined.add(register)
    sizes: dict[int, int] = {}
    free: dict[int, list[int]] = {}  # by block
    ending: dict[int, list[tuple[int, int]]] = {}  # by line: the storages that become free after it
    merged: dict[int, int] = {}
    for number, line in lines:
        instruction = line.instruction
        if isinstance(instruction, AllocStorage):
            sizes[instruction.to] = instruction.size
        elif isinstance(instruction, AllocTensor) and instruction.to not in escaped:
            here = free.setdefault(line.block, [])
            storage, size = instruction.storage, sizes[instruction.storage]
            fitting = [s for s in here if sizes[s] >= size]
            if fitting:
                reused = min(fitting, key=sizes.__getitem__)
                here.remove(reused)
                merged[storage] = storage = reused
            end = last.get(instruction.to, number)
            ending.setdefault(end, []).append((line.block, storage))
        for block, storage in ending.pop(number, ()):
            free.setdefault(block, []).append(storage)
    return merged


# -- registers


def _registers(code: Sequence[Instruction], pinned: int) -> tuple[dict[int, int], int]:
    """Assign a register to each virtual one, reused after its last mention; also return how many there
    are.
    """
    last: dict[int, int] = {}
    for number, instruction in enumerate(code):
        for register in (*written(instruction), *read(instruction)):
            last[register] = number
    names = {register: register for register in range(pinned)}
    free: list[int] = []
    count = pinned
    for number, instruction in enumerate(code):
        for register in written(instruction):
            if register not in names:
                if free:
                    names[register] = free.pop()
                else:
                    names[register] = count
                    count += 1
        for register in dict.fromkeys((*written(instruction), *read(instruction))):
            if register >= pinned and last[register] == number:
                free.append(names[register])
    return names, count
