"""How a pass is tested: random programs in, four checks, and a small counterexample out."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 304
CHECKS = ("input unchanged?", "well typed?", "type the same?", "value the same?")


def _step(c: Canvas, x: float, y: float, w: float, title: str, below: str, hue: str) -> None:
    c.box(x, y, w, 52, fill=f"{hue}-fill", edge=hue)
    c.text(x + w / 2, y + 22, title, size=14, bold=True, anchor="middle")
    c.text(x + w / 2, y + 41, below, size=13, anchor="middle")


def draw(c: Canvas) -> None:
    _step(c, 6, 14, 156, "generate", "100 random programs", "hue-blue")
    c.line((162, 40), (184, 40), edge="ink", arrow=True)
    _step(c, 186, 14, 110, "run the pass", "on each", "hue-purple")
    c.line((296, 40), (318, 40), edge="ink", arrow=True)
    c.box(320, 14, 154, 128, fill="panel", edge="edge")
    for number, check in enumerate(CHECKS):
        y = 42 + 28 * number
        holds = number < len(CHECKS) - 1
        c.text(330, y, "✓" if holds else "✗", size=15, bold=True, color="known" if holds else "bad")
        c.text(350, y, check, size=13)
    c.line((397, 142), (397, 182), edge="bad", arrow=True)
    c.text(388, 166, "2 programs fail", size=13, anchor="end", color="bad", bold=True)
    _step(c, 302, 184, 172, "shrink", "335 → 8 expressions", "hue-orange")
    c.line((302, 210), (248, 210), edge="ink", arrow=True)
    c.box(6, 168, 240, 104, fill="paper", edge="bad", radius=4)
    program = ("%0 = ref(0f);", "let %x = ref_write(%0, 2f);", "ref_read(%0)")
    for number, line in enumerate(program):
        c.text(16, 192 + 20 * number, line, size=13, mono=True)
    c.text(16, 260, "2 became 0", size=13.5, bold=True, color="bad")
    c.text(6, HEIGHT - 14, "`Sweep` dropped the unused `%x`, and with it the write.", size=13.5)


FIGURE = Figure(
    "contract_test", WIDTH, HEIGHT, "Testing a pass against its contract",
    """From left to right: a generator makes 100 random programs; the pass runs on each; four checks follow:
    is the input unchanged, is the result well typed, is its type the same, is its value the same? The last
    one fails for 2 programs. One of them is shrunk from 335 expressions to 8 as long as it still fails. What
    is left creates a cell that contains 0, writes 2 to it in an unused let, and reads it: 2 became 0.""",
    draw,
)  # fmt: skip
