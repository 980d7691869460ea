"""A type as a tree of its parts, down to shapes and element types."""

from __future__ import annotations

from collections.abc import Iterator

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_arrow, lay_out
from relay_explorer.relay import FuncType, RefType, TensorType, TupleType, Type

WIDTH, HEIGHT = 480, 306
TOP, LEAF = 70, 118
NUMBER = TensorType((), "int32")
TYPE = FuncType(
    [TensorType((1, 784), "float32"), RefType(NUMBER)],
    TupleType([TensorType((1, 10), "float32"), TensorType((), "bool")]),
)


def parts(type_: Type) -> list[tuple[str, Type]]:
    """Return the direct parts of a type, each with its role: `first`, `result`, `.0` …"""
    if isinstance(type_, FuncType):
        ordinals = ("first", "second", "third")
        return [*zip(ordinals, type_.arg_types, strict=False), ("result", type_.ret_type)]
    if isinstance(type_, TupleType):
        return [(f".{i}", field) for i, field in enumerate(type_.fields)]
    return [("holds", type_.value)] if isinstance(type_, RefType) else []


def _node(c: Canvas, x: float, y: float, type_: Type) -> None:
    if isinstance(type_, TensorType):
        shape = str(type_.shape) if len(type_.shape) != 1 else f"({type_.shape[0]})"
        c.box(x - LEAF / 2 + 4, y - 22, LEAF - 8, 44, fill="known-bg", edge="known", radius=20)
        c.text(x, y - 4, shape, size=13.5, mono=True, anchor="middle", color="known")
        c.text(x, y + 14, type_.dtype, size=13.5, mono=True, anchor="middle", color="known")
    else:
        kind = {FuncType: "function", TupleType: "tuple", RefType: "reference"}[type(type_)]
        c.box(x - 48, y - 18, 96, 36, fill="panel", edge="edge")
        c.text(x, y + 5, kind, size=14, bold=True, anchor="middle")


def _walk(type_: Type, key: str = "t") -> Iterator[tuple[str, Type, str, str]]:
    """Yield each part of a type: its key, the part, the key of what contains it, and its role there."""
    for index, (role, part) in enumerate(parts(type_)):
        yield f"{key}{index}", part, key, role
        yield from _walk(part, f"{key}{index}")


def draw(c: Canvas) -> None:
    c.text(8, 22, f"fn ({', '.join(map(str, TYPE.arg_types))})", size=13.5, mono=True)
    c.text(8, 43, f"  -> {TYPE.ret_type}", size=13.5, mono=True)
    edges = list(_walk(TYPE))
    types: dict[str, Type] = {"t": TYPE}
    types |= {key: part for key, part, _, _ in edges}
    boxes = {
        key: Box("", width=LEAF - 8, height=44)
        if isinstance(part, TensorType)
        else Box("", width=96, height=36)
        for key, part in types.items()
    }
    arrows = [Arrow(start, key, edge="edge") for key, _, start, _ in edges]
    layout = lay_out(boxes, arrows, apart=8, ranks_apart=52)
    layout = layout.moved((WIDTH - layout.width) / 2, TOP)
    for arrow, curve, (_, _, _, role) in zip(arrows, layout.curves, edges, strict=True):
        draw_arrow(c, arrow, curve)
        (x0, y0), (x1, y1) = layout.centers[arrow.start], layout.centers[arrow.end]
        left = x1 < x0 - 40
        x, y = x0 + 0.6 * (x1 - x0) + (-14 if left else 10), y0 + 0.62 * (y1 - y0)
        c.text(x, y, role, size=12.5, anchor="end" if left else "start", color="soft")
    for key, part in types.items():
        _node(c, *layout.centers[key], part)


FIGURE = Figure(
    "type_tree", WIDTH, HEIGHT, "A type as a tree",
    """The type of a function, written as text and drawn as a tree. The function has two parameters and a
    result. The first parameter is a tensor of shape (1, 784) of float32. The second is a reference, which
    holds an int32. The result is a tuple of a tensor of shape (1, 10) of float32, and of a bool.""",
    draw,
)  # fmt: skip
