"""What the exercise `read_assembly` gives to a learner: kernels as assembly, and what there is to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..answer_values import withheld

_LABEL = re.compile(r"([.\w$]+):")
_JUMP = re.compile(r"(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\s.*?([.\w$]+)$")
_FUSED = re.compile(r"(vfmadd(?:132|213|231)[ps]s|fmla|fmadd)\b")


class Reading(NamedTuple):
    """What can be read off a kernel: the numbers of the lines that multiply and add in its innermost loop
    (counted from 1), how many float32 numbers each of them computes, and in how many registers its sums are.
    """

    lines: tuple[int, ...]
    lanes: int
    sums: int


def kernels() -> list[str]:
    """List the kernels that can be read."""
    return list(_stored())


def kernel(name: str) -> str:
    """Return a kernel as assembly: "layer-avx2", "layer-neon" …"""
    if name not in _stored():
        raise ValueError(f"there is no kernel {name!r}: there are {', '.join(_stored())}")
    return _stored()[name]


def numbered(text: str) -> str:
    """Prefix each line of a text with its number, from 1."""
    return "\n".join(f"{number:4}  {line}" for number, line in enumerate(text.splitlines(), 1))


@cache
def _stored() -> dict[str, str]:
    texts: dict[str, str] = json.loads(Path(__file__).with_name("kernels.json").read_text("utf-8"))
    return texts


# -- the right answer


@withheld
def loops(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the loops, as their first line (the label) and their last (the last jump back to it), from 0."""
    labels = {m[1]: at for at, line in enumerate(lines) if (m := _LABEL.match(line.strip()))}
    result: dict[int, int] = {}
    for at, line in enumerate(lines):
        jump = _JUMP.match(line.strip())
        if jump and labels.get(jump[1], at) < at:
            result[labels[jump[1]]] = at
    return sorted(result.items())


@withheld
def fused(line: str) -> bool:
    """Whether a line multiplies and adds."""
    return _FUSED.match(line.strip()) is not None


@withheld
def innermost(lines: Sequence[str]) -> tuple[int, int] | None:
    """Of the loops with no other one inside, that with the most multiply-adds; None where none has any."""
    all_ = loops(lines)
    inner = [loop for loop in all_ if not any(_inside(other, loop) for other in all_)]
    count = {(a, b): sum(map(fused, lines[a : b + 1])) for a, b in inner}
    best = max(count, key=lambda loop: (count[loop], -loop[0]), default=None)
    return best if best is not None and count[best] else None


def _inside(other: tuple[int, int], loop: tuple[int, int]) -> bool:
    return other != loop and loop[0] <= other[0] and other[1] <= loop[1]


@withheld
def reading(text: str) -> Reading:
    """Read a kernel as the exercise asks."""
    lines = text.splitlines()
    loop = innermost(lines)
    if loop is None:
        return Reading((), 0, 0)
    inside = range(loop[0], loop[1] + 1)
    mine = [at for at in inside if fused(lines[at])]
    sums = {register for at in mine for register in written(lines[at])}
    others = {register for at in inside if at not in mine for register in written(lines[at])}
    return Reading(tuple([at + 1 for at in mine]), lanes(lines[mine[0]]), len(sums - others))


@withheld
def lanes(line: str) -> int:
    """Return the number of float32 lanes of a multiply-add."""
    name, _, operands = line.strip().partition(" ")
    if name.startswith("v"):
        width = re.search(r"%([xyz])mm", operands)
        assert width is not None
        return 1 if name.endswith("ss") else {"x": 4, "y": 8, "z": 16}[width[1]]
    match = re.match(r"\s*v\d+\.(\d)s", operands)
    return int(match[1]) if match else 1


@withheld
def written(line: str) -> list[int]:
    """Return the numbers of the vector registers that an instruction writes: x86 names the destination last,
    ARM first.
    """
    name, _, operands = line.strip().partition(" ")
    if "%" in operands:  # x86
        last = re.search(r"%[xyz]mm(\d+)(?:\s*\{[^}]*\})*$", operands.strip())
        return [int(last[1])] if last and not name.startswith(("vcmp", "vucom")) else []
    if name.startswith(("st", ".")):
        return []
    inputs = operands.partition("[")[0] if name.startswith("ld") else operands.partition(",")[0]
    return [int(number) for number in re.findall(r"\b[vqds](\d+)", inputs)]
