"""One small program in the form that each of the four executors runs. The bytecode is the compiler's own,
without some of its details; the C is shortened.
"""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph
from relay_explorer.execute.vm import compile_program
from relay_explorer.execute.vm.text import instruction_text
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 566
LEFT, PANEL, GAP = 8, 228, 8
TOP, TALL = 100, 226
SIZE = 12
PROGRAM = """
type List { Cons(Tensor[(1, 4), float32], List), Nil, }
def @read(%words: List, %state: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
  match (%words) {
    Nil => { %state },
    Cons(%word, %rest) => { @read(%rest, tanh(%state + %word)) },
  }
}
def @main(%words: List) { @read(%words, zeros(shape=[1, 4], dtype="float32")) }
"""
SHOWN = (
    "match (%words) {",
    "  Nil => %state,",
    "  Cons(%word, %rest) =>",
    "    @read(%rest, tanh(%state + %word)) }",
)


@cache
def instructions() -> list[str]:
    """Return the bytecode of `@read`, split into the lines of the figure."""
    code = compile_program(parse(PROGRAM)).functions["read"].code
    return [f"{number}  {instruction_text(one)}" for number, one in enumerate(code)]


def _panel(c: Canvas, place: int, name: str, foot: tuple[str, str], edge: str) -> tuple[float, float]:
    x, y = LEFT + (PANEL + GAP) * (place % 2), TOP + (TALL + GAP) * (place // 2)
    c.box(x, y, PANEL, TALL, fill="panel", edge=edge)
    c.text(x + 12, y + 24, name, size=14.5, bold=True)
    c.text(x + 12, y + TALL - 28, foot[0], size=12.5, color="soft")
    c.text(x + 12, y + TALL - 11, foot[1], size=12.5, color="soft")
    return x, y + 36


def _interpreter(c: Canvas) -> None:
    x, y = _panel(
        c, 0, "Interpreter", ("walks the program, and decides", "everything while it runs"), "hue-teal"
    )
    names = ("match", "%state", "@read", "%rest", "tanh", "+")
    boxes = {
        name.strip("%"): Box(
            name, "hue-teal" if name in ("match", "@read", "tanh") else "edge",
            width=8 + 7.6 * len(name), height=22, radius=6, size=SIZE,
        )
        for name in names
    }  # fmt: skip
    uses = (("match", "state"), ("match", "@read"), ("@read", "rest"), ("@read", "tanh"), ("tanh", "+"))
    arrows = [Arrow(one, other, edge="edge", head=False) for one, other in uses]
    arrows.append(Arrow("@read", "match", edge="hue-teal", dashed=True, constrain=False))
    draw_graph(c, boxes, arrows, x + PANEL / 2, y, apart=14, ranks_apart=16)


def _graph(c: Canvas) -> None:
    x, y = _panel(
        c,
        1,
        "Graph executor",
        ("a list of kernels and a plan of", "memory: for three words only"),
        "hue-orange",
    )
    kernels = ("zeros", "add·tanh", "add·tanh", "add·tanh")
    for number, name in enumerate(kernels):
        top = y + 2 + number * 30
        c.box(x + 12, top, 92, 22, fill="paper", edge="hue-orange", radius=6)
        c.text(x + 58, top + 15, name, size=SIZE, mono=True, anchor="middle")
        if number:
            c.line((x + 58, top - 8), (x + 58, top - 1), edge="hue-orange", arrow=True)
        c.box(x + 128 + 42 * (number % 2), top, 34, 22, fill="hue-orange-fill", edge="hue-orange", radius=3)
        c.line((x + 105, top + 11), (x + 127 + 42 * (number % 2), top + 11), edge="line", dashed=True)
    for number, name in enumerate("AB"):
        c.text(x + 145 + 42 * number, y + 134, name, size=13, anchor="middle", color="soft")


def _machine(c: Canvas) -> None:
    x, y = _panel(
        c, 2, "Virtual machine", ("instructions and registers;", "jumps and calls while it runs"), "hue-blue"
    )
    for number, line in enumerate(instructions()):
        words = line.split(", (")[0].split(", {")[0]  # without shapes, cases and arguments
        if "invoke_packed" in words:
            c.box(
                x + 8,
                y + 4 + 17.5 * number - 10,
                PANEL - 16,
                17,
                fill="hue-blue-fill",
                edge="hue-blue",
                radius=3,
            )
        c.text(x + 14, y + 6 + 17.5 * number, words, size=SIZE, mono=True)


def _ahead(c: Canvas) -> None:
    x, y = _panel(
        c, 3, "Ahead of time", ("the same as C, linked with", "the kernels: no Python"), "hue-purple"
    )
    lines = (
        "start:",
        "  switch (r[0]->tag) {",
        "  case Nil: goto L1; }",
        "  …",
        "  k0_add_tanh(r1, r2, r5);",
        "  …",
        "  r[0] = a0; r[1] = a1;",
        "  goto start;",
    )
    for number, line in enumerate(lines):
        c.text(x + 14, y + 6 + 17.5 * number, line, size=SIZE, mono=True)


def draw(c: Canvas) -> None:
    c.box(LEFT, 8, WIDTH - 2 * LEFT, 82, fill="paper", edge="known")
    for number, line in enumerate(SHOWN):
        c.text(LEFT + 14, 29 + 17 * number, line, size=SIZE, mono=True)
    for part in (_interpreter, _graph, _machine, _ahead):
        part(c)


FIGURE = Figure(
    "executors", WIDTH, HEIGHT, "One program under four executors",
    """A function that reads a list: for Nil it returns the state, for Cons it calls itself with the rest and
    tanh of the sum. The interpreter walks it as a tree of expressions. The graph executor has
    a list of kernels, zeros and three times add and tanh, with two buffers that are used alternately: it is
    right for three words only. The virtual machine has eight instructions, from a switch over a get_field
    and an invoke_packed to a tail_invoke. Ahead of time, it becomes C with the same steps, and a
    goto where the function called itself.""",
    draw,
)  # fmt: skip
