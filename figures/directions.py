"""In which directions type relations derive types; the operators' own relations compute the shapes."""

from __future__ import annotations

from math import pi
from typing import Any

from figures.canvas import Canvas, Figure
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.relay import IncompleteType, TensorType, Type, op

WIDTH, HEIGHT = 480, 580
LEFT, LEFT_END, MIDDLE, MIDDLE_END, RIGHT, RIGHT_END = 8, 168, 200, 286, 318, 472
BOX, STEP = 32, 40
Shape = tuple[int, ...] | None
CASES: tuple[tuple[str, str, tuple[Shape, ...], dict[str, Any]], ...] = (
    ("tanh", "the argument is known", ((2, 3), None), {}),
    ("tanh", "the result is known", (None, (2, 3)), {}),
    ("add", "both arguments are known", ((8, 1, 6, 1), (7, 1, 5), None), {}),
    ("nn.dense", "the data is known, and units=256", ((1, 784), None, None), {"units": 256}),
    (
        "nn.conv2d", "the image is known, and 64 channels, 7 × 7", ((1, 3, 224, 224), None, None),
        {"channels": 64, "kernel_size": [7, 7], "strides": [2, 2], "padding": [3, 3]},
    ),
)  # fmt: skip


class Assignments:
    """A reporter that stores what a relation derives."""

    def __init__(self) -> None:
        self.types: dict[Type, Type] = {}

    def assign(self, target: Type, value: Type) -> None:
        pair = (target, value) if isinstance(target, IncompleteType) else (value, target)
        self.types[pair[0]] = pair[1]


def answers(name: str, shapes: tuple[Shape, ...], attrs: dict[str, Any]) -> list[tuple[str, bool]]:
    """Run a relation; return each of its types as text, and whether the relation derived it."""
    operator, assignments = op.get(name), Assignments()
    types = [IncompleteType() if shape is None else TensorType(shape) for shape in shapes]
    schema = operator.attrs_class
    operator.relation.rule(types, len(types) - 1, schema(**attrs) if schema else None, assignments)
    results = [assignments.types.get(t, t) for t in types]
    return [
        ("" if isinstance(r, IncompleteType) else str(as_tensor_type(r).shape), t is not r)
        for t, r in zip(types, results, strict=True)
    ]


def _type(c: Canvas, x: float, end: float, y: float, shape: str, derived: bool) -> None:
    tone = "run" if derived else "known"
    c.box(x, y - BOX / 2, end - x, BOX, fill=f"{tone}-bg", edge=tone, dashed=derived, radius=BOX / 2)
    c.text((x + end) / 2, y + 5, shape, size=14, mono=True, anchor="middle", color=tone)


def _arrow(c: Canvas, start: tuple[float, float], end: tuple[float, float], derived: bool) -> None:
    edge = "run" if derived else "edge"
    c.curve(start, end, edge=edge, width=2, dashed=derived)
    c.head(*end, 0 if end[0] > start[0] else pi, edge)


def _case(c: Canvas, y: float, name: str, note: str, types: list[tuple[str, bool]]) -> None:
    *inputs, (result, result_derived) = types
    c.text(LEFT, y, f"`{name}`: {note}", size=14)
    middle = y + 28 + STEP * (len(inputs) - 1) / 2
    for i, (shape, derived) in enumerate(inputs):
        at = y + 28 + STEP * i
        near = middle + 10 * (i - (len(inputs) - 1) / 2)
        ends = ((LEFT_END, at), (MIDDLE - 2, near))
        _arrow(c, *(((MIDDLE, near), (LEFT_END + 2, at)) if derived else ends), derived)
        _type(c, LEFT, LEFT_END, at, shape, derived)
    ends = ((MIDDLE_END, middle), (RIGHT - 2, middle))
    _arrow(c, *(ends if result_derived else ((RIGHT, middle), (MIDDLE_END + 2, middle))), result_derived)
    _type(c, RIGHT, RIGHT_END, middle, result, result_derived)
    c.box(MIDDLE, middle - 18, MIDDLE_END - MIDDLE, 36, fill="queued-bg", edge="queued", radius=5)
    c.text((MIDDLE + MIDDLE_END) / 2, middle + 5, name, size=13, mono=True, anchor="middle", color="queued")


def draw(c: Canvas) -> None:
    y = 22.0
    for name, note, shapes, attrs in CASES:
        types = answers(name, shapes, attrs)
        _case(c, y, name, note, types)
        y += 76 + STEP * (len(types) - 2)
    c.line((LEFT, HEIGHT - 42), (LEFT + 42, HEIGHT - 42), edge="edge", width=2, arrow=True)
    c.text(LEFT + 54, HEIGHT - 37, "known: the relation reads it", size=13.5)
    c.line((LEFT, HEIGHT - 16), (LEFT + 34, HEIGHT - 16), edge="run", width=2, dashed=True)
    c.head(LEFT + 42, HEIGHT - 16, 0, "run")
    c.text(LEFT + 54, HEIGHT - 11, "derived: the relation determines it", size=13.5)


FIGURE = Figure(
    "directions", WIDTH, HEIGHT, "In which directions relations derive types",
    """Five runs of relations, arguments on the left, results on the right. tanh determines its result
    from its argument, and its argument from its result. add determines its result from both arguments. dense
    with 256 units reads the data and determines both the result and the weight. conv2d, given the number of
    channels and the size of the kernel, reads the image and determines both the result and the kernel.""",
    draw,
)  # fmt: skip
