"""The scopes of a function with an `if`, and the scope in which each shared value is computed."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 330
ELSE = 360


def _node(c: Canvas, x: float, y: float, name: str, half: float, edge: str = "known") -> None:
    c.box(x - half, y - 17, 2 * half, 34, fill="paper", edge=edge)
    c.text(x, y + 5, name, size=13.5, mono=True, anchor="middle")


def _scope(c: Canvas, x: float, y: float, w: float, h: float, title: str, fill: str, foot: bool) -> None:
    c.box(x, y, w, h, fill=fill, edge="edge", radius=12)
    c.text(x + 14, y + (h - 14 if foot else 24), title, size=14, bold=True)


def draw(c: Canvas) -> None:
    _scope(c, 8, 8, 464, 290, "body of `@main`: depth 0", "panel", False)
    _scope(c, 24, 136, 216, 148, "then branch: depth 1", "paper", True)
    _scope(c, 256, 136, 200, 148, "else branch: depth 1", "paper", True)
    _node(c, 118, 76, "sum(%x) < 3f", 64)
    _node(c, 300, 76, "exp(%x)", 42, "hue-orange")
    c.text(350, 81, "two users", size=13, color="hue-orange")
    _node(c, 72, 212, "sqrt(%x)", 42, "hue-blue")
    c.text(72, 245, "one user", size=13, color="hue-blue", anchor="middle")
    _node(c, 182, 170, "multiply", 44)
    _node(c, ELSE, 170, "add", 30)
    c.line((155, 188), (117, 205), edge="hue-blue", width=2, arrow=True)
    c.line((200, 152), (276, 95), edge="hue-orange", width=2, arrow=True)
    c.line((ELSE - 8, 152), (322, 95), edge="hue-orange", width=2, arrow=True)
    c.text(WIDTH / 2, 319, "Arrows lead from an operator to its operand.", size=13, color="soft",
           anchor="middle")  # fmt: skip


FIGURE = Figure(
    "scopes", WIDTH, HEIGHT, "Scopes, and where shared values are computed",
    """A large box, the body of the function, contains two smaller boxes side by side, the branches then and
    else. sqrt of x and multiply are in the then branch, where an arrow leads from multiply to sqrt. add is in
    the else branch. exp of x is outside of both branches, in the body, and two arrows lead to it, from
    multiply and from add. The condition, sum of x less than 3, is in the body too.""",
    draw,
)  # fmt: skip
