"""A type as a tree: what it is built of, down to shapes and kinds of number."""

from __future__ import annotations

from collections.abc import Iterator

from figures.canvas import Canvas, Figure
from relay_explorer.relay import FuncType, RefType, TensorType, TupleType, Type

WIDTH, HEIGHT = 480, 306
TOP, LEVEL, LEAF = 92, 92, 118
NUMBER = TensorType((), "int32")
TYPE = FuncType(
    [TensorType((1, 784), "float32"), RefType(NUMBER)],
    TupleType([TensorType((1, 10), "float32"), TensorType((), "bool")]),
)


def parts(type_: Type) -> list[tuple[str, Type]]:
    """What a type is built of, each with its place."""
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
        c.text(x, y - 4, shape, size=13.5, mono=True, anchor="middle", colour="known")
        c.text(x, y + 14, type_.dtype, size=13.5, mono=True, anchor="middle", colour="known")
    else:
        kind = {FuncType: "function", TupleType: "tuple", RefType: "reference"}[type(type_)]
        c.box(x - 48, y - 18, 96, 36, fill="panel", edge="edge")
        c.text(x, y + 5, kind, size=14, bold=True, anchor="middle")


def _tree(c: Canvas, type_: Type, level: int, columns: Iterator[int]) -> float:
    """Draws a type below what holds it, and gives its place from the left."""
    y = TOP + LEVEL * level
    below = [(name, _tree(c, part, level + 1, columns)) for name, part in parts(type_)]
    x = sum(at for _, at in below) / len(below) if below else 4 + LEAF * (next(columns) + 0.5)
    for (name, at), (_, part) in zip(below, parts(type_), strict=True):
        half = 22 if isinstance(part, TensorType) else 18
        c.line((x, y + 18), (at, y + LEVEL - half - 2), edge="edge", arrow=True)
        left = at < x - 40
        c.text(
            (x + at) / 2 + (-12 if left else 12),
            y + LEVEL / 2,
            name,
            size=12.5,
            anchor="end" if left else "start",
            colour="soft",
        )
    _node(c, x, y, type_)
    return x


def draw(c: Canvas) -> None:
    c.text(8, 22, f"fn ({', '.join(map(str, TYPE.arg_types))})", size=13.5, mono=True)
    c.text(8, 43, f"  -> {TYPE.ret_type}", size=13.5, mono=True)
    _tree(c, TYPE, 0, iter(range(4)))


FIGURE = Figure(
    "type_tree", WIDTH, HEIGHT, "A type as a tree",
    """The type of a function, written as text and drawn as a tree. The function has two parameters and a
    result. The first parameter is a tensor of shape (1, 784) of float32. The second is a reference, which
    holds an int32. The result is a tuple of a tensor of shape (1, 10) of float32, and of a bool.""",
    draw,
)  # fmt: skip
