"""The instruction that the exercise `vm_instruction` lets a learner define, and helpers for passes over
bytecode.
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
    """Follow a path of fields into the value of `source`, and write the last field to `to`."""

    mnemonic: ClassVar[str] = "get_path"
    to: Register
    source: Register
    path: Shape


Meaning = Callable[[GetPath, list[Any]], object]


class Extended(Machine):
    """The machine, which also executes `get_path`, as `meaning` defines it."""

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


def live_registers(code: Sequence[Instruction]) -> list[set[int]]:
    """Compute the live registers before each instruction and at the end of the code: those whose values are
    still to be read. All jumps go forward, so a single backward sweep suffices.
    """
    result: list[set[int]] = [set() for _ in range(len(code) + 1)]
    for number in range(len(code) - 1, -1, -1):
        instruction = code[number]
        after = set() if ends(instruction) else set(result[number + 1])
        for target in targets(instruction):
            after |= result[target]
        result[number] = (after - set(written(instruction))) | set(read(instruction))
    return result


def jump_targets(code: Sequence[Instruction]) -> set[int]:
    """Return the indices of the instructions that are jump targets."""
    return {target for instruction in code for target in targets(instruction)}


def retarget(instruction: Instruction, positions: Mapping[int, int] | Sequence[int]) -> Instruction:
    """Redirect the jumps of an instruction: `positions[n]` is the new index of instruction `n`."""
    match instruction:
        case Goto():
            return Goto(positions[instruction.target])
        case If():
            return replace(instruction, otherwise=positions[instruction.otherwise])
        case Switch():
            cases = tuple([(name, positions[target]) for name, target in instruction.cases])
            otherwise = instruction.otherwise
            return replace(instruction, cases=cases, otherwise=positions[otherwise] if otherwise >= 0 else -1)
    return instruction


@dataclass(frozen=True)
class Rules:
    """The rules for combining code; each field that is not True leaves out something that a correct answer
    does.
    """

    middle: bool = True  # the intermediate value may be needed later
    entries: bool = True  # a jump target stays
    jumps: bool = True  # jumps lead to the new indices
    runs: bool = True  # chains of more than two
    same: bool = True  # also if the intermediate register differs from the last one


@withheld
def combined(code: Sequence[Instruction], rules: Rules = Rules()) -> list[Instruction]:  # noqa: B008  # frozen
    """Combine each chain of `get_field`, each of which reads the result of the previous one, into one
    `get_path`.
    """
    entries, later = jump_targets(code), live_registers(code)
    result: list[Instruction] = []
    positions: list[int] = []
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
        positions.append(len(result) - 1)
    return [retarget(instruction, positions) for instruction in result] if rules.jumps else result


def changed(program: VMProgram, change: Callable[[list[Instruction]], Sequence[Instruction]]) -> VMProgram:
    """Change the code of each function of a program."""
    functions = {
        name: VMFunction(f.name, f.params, f.types, f.captured, f.registers, tuple(change(list(f.code))))
        for name, f in program.functions.items()
    }
    return replace(program, functions=functions)
