"""How a scale moves into a weight: four small programs, before and after."""

from __future__ import annotations

from dataclasses import dataclass

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 490
PANEL_W, PANEL_H = 230, 234
ROW, TALL = 44, 26


@dataclass(frozen=True)
class Box:
    """A step of a program: its text, its place, and whether the scale is in it."""

    text: str
    row: float
    side: int = 0  # -1 left of the middle, 1 right of it
    scaled: bool = False

    @property
    def wide(self) -> float:
        return 15 + 7.6 * len(self.text)


@dataclass(frozen=True)
class Side:
    """One of a panel's two programs; each box leads to those that are named by their numbers."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]


X, W, CONV = Box("x", 0, -1), Box("w", 0, 1), Box("conv", 1)
WS = Box("w·s", 0, 1, scaled=True)
INTO = ((0, 2), (1, 2))
PANELS = (
    (
        "backward",
        Side((X, W, CONV, Box("· s", 2, scaled=True)), (*INTO, (2, 3))),
        Side((X, WS, CONV), INTO),
        "if nobody else reads conv",
    ),
    (
        "past a sum",
        Side((X, W, CONV, Box("+ b", 2), Box("· s", 3, scaled=True)), (*INTO, (2, 3), (3, 4))),
        Side((X, WS, CONV, Box("+ b·s", 2, scaled=True)), (*INTO, (2, 3))),
        "b takes it along",
    ),
    (
        "past a ReLU",
        Side((X, W, CONV, Box("relu", 2), Box("· s", 3, scaled=True)), (*INTO, (2, 3), (3, 4))),
        Side((X, WS, CONV, Box("relu", 2)), (*INTO, (2, 3))),
        "only if s is positive",
    ),
    (
        "forward",
        Side((X, Box("w", 1, 1), Box("conv", 2), Box("· s", 1, -1, scaled=True)), ((0, 3), (3, 2), (1, 2))),
        Side((Box("x", 1, -1), Box("w·s", 1, 1, scaled=True), Box("conv", 2)), INTO),
        "along the channels that are read",
    ),
)


def _at(box: Box, middle: float, top: float) -> tuple[float, float]:
    return middle + 25 * box.side, top + ROW * box.row


def _side(c: Canvas, side: Side, middle: float, top: float) -> None:
    for start, end in side.arrows:
        (x, y), (to, below) = _at(side.boxes[start], middle, top), _at(side.boxes[end], middle, top)
        c.line((x, y + TALL / 2), (x + (to - x) * 0.75, below - TALL / 2 - 1), edge="known", arrow=True)
    for box in side.boxes:
        x, y = _at(box, middle, top)
        edge, fill = ("hue-orange", "hue-orange-fill") if box.scaled else ("edge", "paper")
        width = 2.4 if box.scaled else 1.5
        c.box(x - box.wide / 2, y - TALL / 2, box.wide, TALL, fill=fill, edge=edge, width=width, radius=6)
        c.text(x, y + 4.5, box.text, size=13, mono=True, anchor="middle", bold=box.scaled)


def draw(c: Canvas) -> None:
    for number, (name, before, after, says) in enumerate(PANELS):
        x, y = 7 + (PANEL_W + 6) * (number % 2), 7 + (PANEL_H + 8) * (number // 2)
        c.box(x, y, PANEL_W, PANEL_H, fill="panel", edge="edge")
        c.text(x + PANEL_W / 2, y + 25, name, size=15, bold=True, anchor="middle")
        _side(c, before, x + 58, y + 58)
        c.line((x + 103, y + 112), (x + 127, y + 112), edge="ink", width=2, arrow=True)
        _side(c, after, x + 172, y + 58)
        c.text(x + PANEL_W / 2, y + PANEL_H - 12, says, size=12.5, colour="soft", anchor="middle")


FIGURE = Figure(
    "scales", WIDTH, HEIGHT, "A scale moves into the weight of a convolution",
    """Four panels, each a program before and after. Backward: conv of x and w, times s, becomes conv of x and
    w times s, if nobody else reads conv. Past a sum: conv, plus b, times s, becomes conv with the weight
    times s, plus b times s: b takes it along. Past a ReLU: conv, relu, times s becomes conv with the weight
    times s, relu, only if s is positive. Forward: x times s, read by conv with w, becomes conv of x with w
    times s, along the channels that are read. What holds the scale has a thick frame.""",
    draw,
)  # fmt: skip
