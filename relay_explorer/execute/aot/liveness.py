"""Compute which registers are live at each instruction, so that dead values are freed at once."""

from __future__ import annotations

from collections.abc import Sequence

from ..vm.bytecode import Instruction, ends, read, targets, written


def live_before(code: Sequence[Instruction]) -> list[frozenset[int]]:
    """Return, for each instruction and for the end, the registers that will be read before they are written.
    All jumps go forward, so one backward pass is enough.
    """
    live: list[frozenset[int]] = [frozenset()] * (len(code) + 1)
    for number in range(len(code) - 1, -1, -1):
        instruction = code[number]
        after: set[int] = set()
        for following in successors(code, number):
            after |= live[following]
        after.difference_update(written(instruction))
        after.update(read(instruction))
        live[number] = frozenset(after)
    return live


def successors(code: Sequence[Instruction], number: int) -> list[int]:
    """Return the instructions that may execute next."""
    instruction = code[number]
    following = list(dict.fromkeys(targets(instruction)))
    if not ends(instruction) and number + 1 not in following:
        following.append(number + 1)
    return following
