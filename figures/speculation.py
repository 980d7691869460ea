"""The cost of sharing an expression that is needed only in some branches; counted in runs."""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer import relay
from relay_explorer.execute import record
from relay_explorer.text import parse

WIDTH, HEIGHT = 480, 250
PROGRAM = """
def @main(%x: float32, %a: bool, %b: bool) {
  %0 = if (%a) { exp(%x) } else { %x };
  %1 = if (%b) { exp(%x) } else { %x };
  %0 + %1
}
"""
CASES = ((False, False), (False, True), (True, False), (True, True))


@cache
def counts() -> tuple[tuple[int, ...], ...]:
    """Count the evaluations of `exp` in each case, before sharing and after it."""
    written = parse(PROGRAM)
    shared = relay.transform.EliminateCommonSubexpr()(written)
    return tuple(
        tuple(record(module, 1.0, a, b).operators()["exp"] for a, b in CASES) for module in (written, shared)
    )


def draw(c: Canvas) -> None:
    before, after = counts()
    c.text(8, 22, "How often is `exp(%x)` evaluated?", size=14.5, bold=True)
    for x, title in ((176, "as written"), (332, "shared")):
        c.text(x + 8, 52, title, size=14, bold=True)
    for row, ((a, b), old, new) in enumerate(zip(CASES, before, after, strict=True)):
        y = 82 + 38 * row
        c.text(8, y, f"%a {'✓' if a else '✗'}   %b {'✓' if b else '✗'}", size=13.5, mono=True)
        for x, count in ((184, old), (340, new)):
            for number in range(count):
                c.box(x + 52 * number, y - 18, 46, 27, fill="hue-blue-fill", edge="hue-blue", radius=5)
                c.text(x + 52 * number + 23, y, "exp", size=13, mono=True, anchor="middle")
            if count == 0:
                c.text(x, y, "0", size=13.5, color="soft")
        if new > old:
            c.text(394, y, "wasted", size=13, bold=True, color="bad")
        elif new < old:
            c.text(394, y, "one saved", size=13, bold=True, color="known")
    c.text(8, HEIGHT - 12, "✓ the branch that needs `exp(%x)` is taken, ✗ the other one", size=13)


FIGURE = Figure(
    "speculation", WIDTH, HEIGHT, "Sharing may compute what no branch needs",
    """A table of four cases: neither, the second, the first or both of two branches that need exp of x are
    taken. As written, exp is evaluated 0, 1, 1 and 2 times. Shared, it is evaluated once in every case:
    one evaluation is wasted in the first case, and one is saved in the last.""",
    draw,
)  # fmt: skip
