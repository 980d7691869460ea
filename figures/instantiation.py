"""Two calls of one generic function: each gets fresh type variables for the type parameters."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 384
PANEL, TOP, LOW = 226, 92, 206


def _call(c: Canvas, x: float, call: str, a: str, b: str, solved: tuple[str, str]) -> None:
    c.line((240 + (-60 if x < 100 else 60), 62), (x + PANEL / 2, TOP - 4), edge="soft", arrow=True)
    c.box(x, TOP, PANEL, LOW, fill="panel", edge="line", radius=10)
    c.text(x + 12, TOP + 26, call, size=13.5, mono=True, bold=True)
    c.text(x + 12, TOP + 54, f"`A` becomes {a}, `B` becomes {b}", size=13.5)
    for i, (words, tone) in enumerate(
        ((f"fn ({a}) -> {b}", "unknown"), (f"List[{a}]", "unknown"), (f"-> List[{b}]", "unknown"))
    ):
        c.text(x + 12, TOP + 82 + 22 * i, words, size=13.5, mono=True, color=tone)
    c.line((x + 12, TOP + 142), (x + PANEL - 12, TOP + 142), edge="line")
    for i, words in enumerate(solved):
        c.text(x + 12, TOP + 166 + 23 * i, words, size=12.5, mono=True, color="known")


def draw(c: Canvas) -> None:
    c.box(8, 8, 464, 52, fill="queued-bg", edge="queued")
    c.text(20, 30, "@map, for every A and B:", size=13.5, bold=True, color="queued")
    c.text(20, 50, "fn (fn (A) -> B, List[A]) -> List[B]", size=13.5, mono=True)
    _call(c, 8, "@map(%embed, %words)", "χ", "ψ", ("χ = int32", "ψ = Tensor[(300), float32]"))
    _call(c, 246, "@map(%score, %vectors)", "α₁", "β₁", ("α₁ = Tensor[(300), float32]", "β₁ = float32"))
    c.path("M92 300C92 336 340 336 340 306", edge="run", width=2, dashed=True)
    c.head(340, 301, -1.57, "run")
    c.text(
        240,
        350,
        "The result of the first call is the list that the second one reads:",
        size=13.5,
        anchor="middle",
    )
    c.text(240, 372, "List[ψ] = List[α₁], so ψ = α₁", size=13.5, mono=True, anchor="middle", color="run")


FIGURE = Figure(
    "instantiation", WIDTH, HEIGHT, "Two calls of a generic function",
    """The generic function map, for every A and B, and two calls of it. In the first call A and B become the
    fresh variables chi and psi, which turn out to be int32 and a tensor of 300 elements. In the second call
    they become alpha 1 and beta 1: a tensor of 300 elements, and float32. The result of the first call is
    the list that the second one reads, so psi and alpha 1 are the same type.""",
    draw,
)  # fmt: skip
