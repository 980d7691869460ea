"""What the exercise `vm_instruction` gives to a learner: an instruction of which the meaning is missing, and
what a pass over bytecode needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...execute.vm.bytecode import (
    GetField,
    Goto,
    If,
    Instruction,
    Register,
    Shape,
    Switch,
    VMFunction,
    VMProgram,
    ends,
    read,
    targets,
    written,
)
from ...execute.vm.machine import STEP, Machine, Word
from ...ir.lazy_dataclass import dataclass
from ..answer_values import withheld


@dataclass(frozen=True, slots=True)
class GetPath(Instruction):
    """A field of a field, and so on: `path` is the way into `source`, field by field, from the outside in."""

    mnemonic: ClassVar[str] = "get_path"
    to: Register
    source: Register
    path: Shape


Meaning = Callable[[GetPath, list[Any]], object]


class Extended(Machine):
    """The machine, which also runs `get_path`, as `meaning` says."""

    def __init__(self, program: VMProgram, meaning: Meaning) -> None:
        self.meaning = meaning
        super().__init__(program)

    def _word(self, instruction: Instruction) -> Word:
        if isinstance(instruction, GetPath):
            return STEP, lambda registers: self.meaning(instruction, registers), None, None
        return super()._word(instruction)


@withheld
def follow(instruction: GetPath, registers: list[Any]) -> None:
    """Execute `get_path`."""
    value = registers[instruction.source]
    for index in instruction.path:
        value = value[index] if isinstance(value, tuple) else value.fields[index]
    registers[instruction.to] = value


def needed(code: Sequence[Instruction]) -> list[set[int]]:
    """For each instruction, and for the end of the code: the registers whose values are still to be read when
    it begins. All jumps go forward, so one sweep from the end tells.
    """
    result: list[set[int]] = [set() for _ in range(len(code) + 1)]
    for number in range(len(code) - 1, -1, -1):
        instruction = code[number]
        after = set() if ends(instruction) else set(result[number + 1])
        for target in targets(instruction):
            after |= result[target]
        result[number] = (after - set(written(instruction))) | set(read(instruction))
    return result


def jumped_to(code: Sequence[Instruction]) -> set[int]:
    """Return the numbers of the instructions that are jump targets."""
    return {target for instruction in code for target in targets(instruction)}


def retargeted(instruction: Instruction, places: Mapping[int, int] | Sequence[int]) -> Instruction:
    """Redirect the jumps of an instruction: `places[n]` is the new position of instruction `n`."""
    match instruction:
        case Goto():
            return Goto(places[instruction.target])
        case If():
            return replace(instruction, otherwise=places[instruction.otherwise])
        case Switch():
            cases = tuple([(name, places[target]) for name, target in instruction.cases])
            otherwise = instruction.otherwise
            return replace(instruction, cases=cases, otherwise=places[otherwise] if otherwise >= 0 else -1)
    return instruction


@dataclass(frozen=True)
class Rules:
    """How code is combined; the fields that are not True leave out what a right answer minds or does."""

    middle: bool = True  # the value in the middle may be needed later
    entries: bool = True  # an instruction that is jumped to stays
    jumps: bool = True  # jumps go to where the instructions stand now
    runs: bool = True  # more than two
    same: bool = True  # also where the middle register is another than the last


@withheld
def combined(code: Sequence[Instruction], rules: Rules = Rules()) -> list[Instruction]:  # noqa: B008  # frozen
    """Combine each chain of `get_field`, each of which reads the result of the previous one, into one
    `get_path`.
    """
    entries, later = jumped_to(code), needed(code)
    result: list[Instruction] = []
    places: list[int] = []
    for number, instruction in enumerate(code):
        last = result[-1] if result else None
        joins = (
            isinstance(instruction, GetField)
            and isinstance(last, (GetField, GetPath))
            and instruction.source == last.to
            and (number not in entries or not rules.entries)
            and (last.to == instruction.to or not rules.middle or last.to not in later[number + 1])
            and (last.to == instruction.to or rules.same)
            and (isinstance(last, GetField) or rules.runs)
        )
        if joins and isinstance(instruction, GetField) and isinstance(last, (GetField, GetPath)):
            path = (last.index,) if isinstance(last, GetField) else last.path
            result[-1] = GetPath(instruction.to, last.source, (*path, instruction.index))
        else:
            result.append(instruction)
        places.append(len(result) - 1)
    return [retargeted(instruction, places) for instruction in result] if rules.jumps else result


def changed(program: VMProgram, change: Callable[[list[Instruction]], Sequence[Instruction]]) -> VMProgram:
    """Change the code of each function of a program."""
    functions = {
        name: VMFunction(f.name, f.params, f.types, f.captured, f.registers, tuple(change(list(f.code))))
        for name, f in program.functions.items()
    }
    return replace(program, functions=functions)
