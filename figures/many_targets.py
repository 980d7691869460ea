"""One program, many targets: the paper's claim, from our own compiled code (`tools/many_targets.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from figures.canvas import Canvas, Figure

DATA = Path(__file__).with_suffix(".json")
WIDTH, ROW, HEAD, GAP = 480, 128, 120, 12
TRUNK, LEFT = 20, 36
SIZE = 12
NAMES = {
    "x86-64": ("x86-64, AVX-512", "hue-blue"),
    "AArch64": ("AArch64, Raspberry Pi 4", "hue-orange"),
    "NVIDIA": ("NVIDIA GPU, sm_80", "hue-purple"),
}


class Shown(NamedTuple):
    """A target: its lines, and how many elements an instruction computes."""

    name: str
    hue: str
    lines: list[str]
    width: str


def _shown(name: str, data: dict[str, Any]) -> Shown:
    """Return two loads and two multiply-adds of the loop, and the jump back."""
    loop, mark = data["loop"], data["mnemonic"]
    adds = [n for n, line in enumerate(loop) if mark in line]
    loads = [line for line in loop[: adds[0]] if line.startswith(("v", "ld"))][-2:]
    lines = [*loads, *[loop[n] for n in adds[:2]], "…", loop[-1]]
    threads, lanes = data["threads"], data["lanes"]
    width = f"{lanes} lanes per instruction" if threads == 1 else f"{threads} threads, 1 element each"
    return Shown(NAMES[name][0], NAMES[name][1], lines, width)


def _targets() -> list[Shown]:
    data = json.loads(DATA.read_text("utf-8"))["targets"]
    return [_shown(name, data[name]) for name in NAMES]


def draw(c: Canvas) -> None:
    program = json.loads(DATA.read_text("utf-8"))["program"]
    c.box(8, 8, WIDTH - 16, HEAD - 14, fill="panel", edge="known")
    for number, line in enumerate(program):
        c.text(20, 30 + 17 * number, line, size=SIZE, mono=True)
    targets = _targets()
    tops = [HEAD + 10 + number * (ROW + GAP) for number in range(len(targets))]
    c.line((TRUNK, HEAD - 6), (TRUNK, tops[-1] + ROW / 2), edge="known")
    for top, one in zip(tops, targets):
        c.line((TRUNK, top + ROW / 2), (LEFT - 1, top + ROW / 2), edge="known", arrow=True)
        c.box(LEFT, top, WIDTH - LEFT - 8, ROW, fill="paper", edge=one.hue)
        c.text(LEFT + 12, top + 21, one.name, size=14, bold=True)
        c.text(WIDTH - 20, top + 21, one.width, size=12.5, color="soft", anchor="end")
        for place, line in enumerate(one.lines):
            y, is_add = top + 38 + 16 * place, 2 <= place <= 3
            if is_add:
                c.box(LEFT + 6, y - 12, WIDTH - LEFT - 20, 16, fill=f"{one.hue}-fill", edge="none", radius=3)
            c.text(LEFT + 12, y, line, size=SIZE, mono=True, color="ink" if is_add else "soft")


HEIGHT = HEAD + 10 + len(NAMES) * (ROW + GAP)

FIGURE = Figure(
    "many_targets", WIDTH, HEIGHT, "One program, many targets",
    """A dense layer with bias and ReLU in Relay, and below it lines of the innermost loop of its kernel for
    three processors: for x86-64 a broadcast, a load and vfmadd231ps on registers of 16 lanes; for a
    Raspberry Pi 4 ld1r, ldr and fmla on registers of 4 lanes; for an NVIDIA GPU loads from shared memory
    and fma.rn.f32 on single elements, in each of many threads.""",
    draw,
)  # fmt: skip
