"""A list and two folds of it, which combine its elements from either end."""

from __future__ import annotations

from dataclasses import dataclass

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_graph
from relay_explorer.execute import Interpreter, make_list
from relay_explorer.prelude import Prelude
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 318
ITEMS = (1, 2, 3)
PANEL = 160


@dataclass(frozen=True)
class Node:
    """A constructor or a function with two parts, or, without parts, a value."""

    label: str
    left: Node | None = None
    right: Node | None = None


def spine(join: str, end: str) -> Node:
    """Build the list of ITEMS from the right: join(1, join(2, join(3, end)))."""
    result = Node(end)
    for item in reversed(ITEMS):
        result = Node(join, Node(str(item)), result)
    return result


def leaning(join: str, end: str) -> Node:
    """Combine ITEMS from the left: join(join(join(end, 1), 2), 3)."""
    result = Node(end)
    for item in ITEMS:
        result = Node(join, result, Node(str(item)))
    return result


def value(fold: str) -> int:
    """Return the result of the prelude's fold with subtraction, from 0."""
    text = "fn (%a: int32, %b: int32) -> int32 { %a - %b }"
    module = parse(f"def @main(%l: List[int32]) {{ @{fold}({text}, 0, %l) }}", init_module=Prelude().mod)
    return int(Interpreter(module).call("main", [make_list(module, ITEMS).inner]))


def _tree(c: Canvas, root: Node, x: float, y: float, hue: str) -> None:
    nodes: dict[str, Box] = {}
    arrows: list[Arrow] = []

    def add(node: Node) -> str:
        name = str(len(nodes))
        if node.left is None or node.right is None:
            end = node.label in ("Nil", "0")
            nodes[name] = Box(node.label, "none", width=12 * len(node.label) + 12, height=26, bold=end)
        else:
            nodes[name] = Box(node.label, hue, True, width=50 if len(node.label) > 1 else 30, radius=14)
            arrows.extend(Arrow(name, add(part), edge="edge", head=False) for part in (node.left, node.right))
        return name

    add(root)
    draw_graph(c, nodes, arrows, x, y, ranks_apart=28)


def draw(c: Canvas) -> None:
    minus = "−"
    panels = (
        ("the list", spine("Cons", "Nil"), "hue-purple", "1, 2, 3"),
        ("`@foldr`", spine(minus, "0"), "hue-teal", f"1 − (2 − (3 − 0)) = {value('foldr')}"),
        ("`@foldl`", leaning(minus, "0"), "hue-teal", f"((0 − 1) − 2) − 3 = −{-value('foldl')}"),
    )
    for index, (title, tree, hue, below) in enumerate(panels):
        left = PANEL * index
        c.text(left + PANEL / 2, 22, title, size=14.5, anchor="middle", bold=True)
        _tree(c, tree, left + PANEL / 2, 46, hue)
        c.text(left + PANEL / 2, HEIGHT - 44, below, size=12.5, anchor="middle")
    c.text(
        WIDTH / 2, HEIGHT - 14,
        "`@foldr` replaces `Cons` by a function, and `Nil` by a value.",
        size=13, anchor="middle",
    )  # fmt: skip


FIGURE = Figure(
    "folds", WIDTH, HEIGHT, "A list and two folds of it",
    """Three trees. The list of 1, 2 and 3 is Cons of 1 and the rest, down to Nil, leaning to the right. The
    fold from the right has the same shape, with Cons replaced by minus and Nil by 0: its value is
    2. The fold from the left leans to the left, with 0 at its lowest left end: its value is minus 6.""",
    draw,
)  # fmt: skip
