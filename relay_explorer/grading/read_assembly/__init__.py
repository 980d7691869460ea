"""The kernels that the exercise `read_assembly` gives to a learner as assembly, and the right answers."""

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
    """The properties of a kernel: the line numbers, from 1, of the multiply-adds in its innermost loop, the
    float32 values that each of them computes, and the number of registers that hold accumulators.
    """

    lines: tuple[int, ...]
    lanes: int
    accumulators: int


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


# -- expected results


@withheld
def loops(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the loops, each as its first line, the label, and its last, the last jump back to it; from 0."""
    labels = {m[1]: at for at, line in enumerate(lines) if (m := _LABEL.match(line.strip()))}
    result: dict[int, int] = {}
    for at, line in enumerate(lines):
        jump = _JUMP.match(line.strip())
        if jump and labels.get(jump[1], at) < at:
            result[labels[jump[1]]] = at
    return sorted(result.items())


@withheld
def fused(line: str) -> bool:
    """Return whether a line multiplies and adds."""
    return _FUSED.match(line.strip()) is not None


@withheld
def innermost(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the loop with the most multiply-adds among those that contain no other; None if no loop has
    any.
    """
    all_ = loops(lines)
    inner = [loop for loop in all_ if not any(_inside(other, loop) for other in all_)]
    count = {(a, b): sum(map(fused, lines[a : b + 1])) for a, b in inner}
    best = max(count, key=lambda loop: (count[loop], -loop[0]), default=None)
    return best if best is not None and count[best] else None


def _inside(other: tuple[int, int], loop: tuple[int, int]) -> bool:
    return other != loop and loop[0] <= other[0] and other[1] <= loop[1]


@withheld
def reading(text: str) -> Reading:
    """Analyze a kernel as the exercise asks."""
    lines = text.splitlines()
    loop = innermost(lines)
    if loop is None:
        return Reading((), 0, 0)
    inside = range(loop[0], loop[1] + 1)
    mine = [at for at in inside if fused(lines[at])]
    targets = {register for at in mine for register in written(lines[at])}
    others = {register for at in inside if at not in mine for register in written(lines[at])}
    return Reading(tuple([at + 1 for at in mine]), lanes(lines[mine[0]]), len(targets - others))


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
    """Return which vector registers an instruction writes, by number: x86 names the destination last, ARM
    first.
    """
    name, _, operands = line.strip().partition(" ")
    if "%" in operands:  # x86
        last = re.search(r"%[xyz]mm(\d+)(?:\s*\{[^}]*\})*$", operands.strip())
        return [int(last[1])] if last and not name.startswith(("vcmp", "vucom")) else []
    if name.startswith(("st", ".")):
        return []
    inputs = operands.partition("[")[0] if name.startswith("ld") else operands.partition(",")[0]
    return [int(number) for number in re.findall(r"\b[vqds](\d+)", inputs)]
