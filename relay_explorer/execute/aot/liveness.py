"""Which registers are needed when: so that what nobody will read is given back as soon as that is so."""

from __future__ import annotations

from collections.abc import Sequence

from ..vm.bytecode import Instruction, ends, read, targets, written


def live_before(code: Sequence[Instruction]) -> list[frozenset[int]]:
    """For each instruction, and for the end, the registers that will be read before they are written. All
    jumps go forward, so that one look backwards is enough.
    """
    found: list[frozenset[int]] = [frozenset()] * (len(code) + 1)
    for number in range(len(code) - 1, -1, -1):
        instruction = code[number]
        after: set[int] = set()
        for following in successors(code, number):
            after |= found[following]
        after.difference_update(written(instruction))
        after.update(read(instruction))
        found[number] = frozenset(after)
    return found


def successors(code: Sequence[Instruction], number: int) -> list[int]:
    """The instructions that may come next."""
    instruction = code[number]
    found = list(dict.fromkeys(targets(instruction)))
    if not ends(instruction) and number + 1 not in found:
        found.append(number + 1)
    return found
