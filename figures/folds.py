"""A list, and what two folds make of it: the same walk, put together from either end."""

from __future__ import annotations

from dataclasses import dataclass

from figures.canvas import Canvas, Figure
from relay_explorer.execute import Interpreter, make_list
from relay_explorer.prelude import Prelude
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 318
ITEMS = (1, 2, 3)
PANEL, LEVEL, SIDE = 160, 56, 34


@dataclass(frozen=True)
class Node:
    """A constructor or a function with two parts, or, without parts, a value."""

    label: str
    left: Node | None = None
    right: Node | None = None


def spine(join: str, end: str) -> Node:
    """ITEMS from the right: join(1, join(2, join(3, end)))."""
    made = Node(end)
    for item in reversed(ITEMS):
        made = Node(join, Node(str(item)), made)
    return made


def leaning(join: str, end: str) -> Node:
    """ITEMS from the left: join(join(join(end, 1), 2), 3)."""
    made = Node(end)
    for item in ITEMS:
        made = Node(join, made, Node(str(item)))
    return made


def value(fold: str) -> int:
    """What the prelude's fold gives for subtraction, from 0."""
    text = "fn (%a: int32, %b: int32) -> int32 { %a - %b }"
    module = parse(f"def @main(%l: List[int32]) {{ @{fold}({text}, 0, %l) }}", init_module=Prelude().mod)
    return int(Interpreter(module).call("main", [make_list(module, ITEMS).inner]))


def _tree(c: Canvas, node: Node, x: float, y: float, shared: str) -> None:
    for part, side in ((node.left, -1), (node.right, 1)):
        if part is not None:
            at = (x + side * SIDE, y + LEVEL)
            c.line((x + side * 8, y + 13), (at[0] - side * 3, at[1] - 15), edge="edge")
            _tree(c, part, *at, shared)
    if node.left is not None:
        wide = 50 if len(node.label) > 1 else 28
        c.box(x - wide / 2, y - 14, wide, 28, fill=f"{shared}-fill", edge=shared, radius=14)
        c.text(x, y + 5, node.label, size=14, anchor="middle", mono=True, colour=shared)
    else:
        end = node.label in ("Nil", "0")
        c.text(x, y + 5, node.label, size=14.5, anchor="middle", mono=True, bold=end)


def draw(c: Canvas) -> None:
    minus = "−"
    panels = (
        ("the list", spine("Cons", "Nil"), 46, "hue-purple", "1, 2, 3"),
        ("`@foldr`", spine(minus, "0"), 42, "hue-teal", f"1 − (2 − (3 − 0)) = {value('foldr')}"),
        ("`@foldl`", leaning(minus, "0"), 118, "hue-teal", f"((0 − 1) − 2) − 3 = −{-value('foldl')}"),
    )
    for index, (title, tree, x, hue, below) in enumerate(panels):
        left = PANEL * index
        c.text(left + PANEL / 2, 22, title, size=14.5, anchor="middle", bold=True)
        _tree(c, tree, left + x, 62, hue)
        c.text(left + PANEL / 2, HEIGHT - 44, below, size=12.5, anchor="middle")
    c.text(
        WIDTH / 2, HEIGHT - 14,
        "`@foldr` puts a function in the place of `Cons`, and a value in that of `Nil`.",
        size=13, anchor="middle",
    )  # fmt: skip


FIGURE = Figure(
    "folds", WIDTH, HEIGHT, "A list and two folds of it",
    """Three trees. The list of 1, 2 and 3 is Cons of 1 and the rest, down to Nil, leaning to the right. The
    fold from the right has the same shape, with minus in the place of Cons and 0 in that of Nil: its value is
    2. The fold from the left leans to the left, with 0 at its lowest left end: its value is minus 6.""",
    draw,
)  # fmt: skip
