"""Three kernels or one: the traffic between memory and chip for relu(x * a + b)."""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer import relay
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 396
KERNELS = ("× a", "+ b", "relu")
PROGRAM = """
def @main(%x: Tensor[(1, 64, 112, 112), float32], %a: Tensor[(64, 1, 1), float32],
          %b: Tensor[(64, 1, 1), float32]) { nn.relu(%x * %a + %b) }
"""


@cache
def megabytes() -> float:
    """Return the size of one tensor, which every operator reads and writes."""
    typed = relay.transform.InferType()(parse(PROGRAM))["main"]
    return float(relay.analysis.total_cost(typed).bytes_written) / 3 / 1e6


def _memory(c: Canvas, top: float) -> None:
    c.box(8, top, 464, 34, fill="hue-sky-fill", edge="hue-sky")
    c.text(18, top + 22, "memory", size=13.5, bold=True)


def _tensor(c: Canvas, x: float, top: float, label: str) -> None:
    c.box(x - 36, top + 5, 72, 24, fill="paper", edge="hue-sky", radius=4)
    c.text(x, top + 22, label, size=13, mono=True, anchor="middle")


def _kernel(c: Canvas, x: float, y: float, w: float, label: str) -> None:
    c.box(x - w / 2, y, w, 34, fill="hue-orange-fill", edge="hue-orange")
    c.text(x, y + 22, label, size=13.5, mono=True, anchor="middle")


def _move(c: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    c.line(start, end, edge="hue-sky", arrow=True, width=2)


def draw(c: Canvas) -> None:
    size = f"{megabytes():.1f}"
    c.text(8, 22, f"Apart: 3 launches, 6 × {size} MB = {6 * megabytes():.1f} MB", size=14.5, bold=True)
    _memory(c, 34)
    tensors = (130, 232, 334, 430)
    for x, label in zip(tensors, ("x", "product", "sum", "result"), strict=True):
        _tensor(c, x, 34, label)
    for number, label in enumerate(KERNELS):
        left, right = tensors[number], tensors[number + 1]
        middle = (left + right) / 2
        _kernel(c, middle, 142, 70, label)
        _move(c, (left + 14, 70), (middle - 14, 139))
        _move(c, (middle + 14, 139), (right - 14, 72))
    c.text(8, 164, "chip", size=13.5, bold=True)
    c.text(8, 222, f"Fused: 1 launch, 2 × {size} MB = {2 * megabytes():.1f} MB", size=14.5, bold=True)
    _memory(c, 234)
    _tensor(c, 130, 234, "x")
    _tensor(c, 430, 234, "result")
    _kernel(c, 277, 330, 250, "relu(x * a + b)")
    _move(c, (144, 270), (200, 327))
    _move(c, (360, 327), (416, 272))
    c.text(8, 352, "chip", size=13.5, bold=True)
    c.text(277, 384, "product and sum stay in registers", size=13, anchor="middle", color="soft")


FIGURE = Figure(
    "memory_traffic", WIDTH, HEIGHT, "Memory traffic of three kernels and of one",
    """Above, three kernels on the chip: multiply by a, add b, relu. Each reads a tensor from memory and
    writes one back, so six tensors of 3.2 megabytes travel between memory and chip: x, the product twice,
    the sum twice, and the result. Below, one kernel computes all three: it reads x and writes the result,
    two tensors; product and sum stay in registers.""",
    draw,
)  # fmt: skip
