"""Reference counts of a list while its first word is read: instructions 2 and 3 of chapter 25's `@read`."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 414
LEFT = 12


class Panel:
    """Registers and list cells at one moment."""

    def __init__(self, c: Canvas, y: float, title: str, note: str) -> None:
        self.c, self.y = c, y
        c.text(LEFT, y, title, size=13.5, bold=True, mono=False)
        c.text(WIDTH - 10, y, note, size=13, anchor="end", color="soft")

    def value(self, x: float, row: int, name: str, count: int, freed: bool = False) -> None:
        top = self.y + 16 + 52 * row
        hue = "edge" if freed else "hue-blue"
        self.c.box(
            x, top, 86, 36, fill="none" if freed else "hue-blue-fill", edge=hue, dashed=freed, radius=6
        )
        self.c.text(x + 36, top + 23, name, size=13.5, anchor="middle", color="soft" if freed else "ink")
        self.c.circle(x + 84, top + 2, 11, fill="paper", edge=hue)
        self.c.text(x + 84, top + 7, str(count), size=13.5, bold=True, anchor="middle")

    def register(self, name: str, row: int) -> None:
        top = self.y + 23 + 52 * row
        self.c.box(LEFT, top, 36, 22, fill="paper", edge="hue-orange", width=1.3, radius=4)
        self.c.text(LEFT + 18, top + 15.5, name, size=13, mono=True, anchor="middle")

    def arrow(self, *points: tuple[float, float], hue: str = "hue-blue") -> None:
        self.c.line(*[(x, self.y + y) for x, y in points], edge=hue, width=1.4, arrow=True)


CONS, REST = 130, 330


def _list(panel: Panel, word: int, cons: int, rest: int) -> None:
    freed = cons == 0
    panel.value(CONS, 0, "Cons", cons, freed)
    panel.value(REST, 0, "Cons …", rest)
    panel.value(CONS, 1, "“not”", word)
    if not freed:
        panel.arrow((CONS + 98, 34), (REST - 2, 34))
        panel.arrow((CONS + 36, 53), (CONS + 36, 66))


def draw(c: Canvas) -> None:
    first = Panel(c, 20, "@read begins", "r0 owns the list")
    _list(first, 1, 1, 1)
    first.register("r0", 0)
    first.arrow((50, 34), (CONS - 2, 34), hue="hue-orange")

    second = Panel(c, 156, "2: get_field r2, r0, 0", "keep: one more refers to the word")
    _list(second, 2, 1, 1)
    second.register("r0", 0)
    second.arrow((50, 34), (CONS - 2, 34), hue="hue-orange")
    second.register("r2", 1)
    second.arrow((50, 86), (CONS - 2, 86), hue="hue-orange")

    third = Panel(c, 292, "3: get_field r3, r0, 1", "keep the rest, clear r0: Cons is freed")
    _list(third, 1, 0, 1)
    third.register("r3", 0)
    third.arrow((50, 34), (86, 34), (86, 10), (REST - 26, 10), (REST - 26, 34), (REST - 2, 34),
                hue="hue-orange")  # fmt: skip
    third.register("r2", 1)
    third.arrow((50, 86), (CONS - 2, 86), hue="hue-orange")


FIGURE = Figure(
    "reference_counts", WIDTH, HEIGHT, "Reference counts while a list is read",
    """Three moments. First, register r0 refers to a Cons with count 1, which refers to the word not and to
    the rest of the list, both with count 1. After instruction 2, register r2 refers to the word as well,
    whose count is 2. After instruction 3, register r3 refers to the rest of the list and r0 is empty: the
    count of the Cons has become 0, it is freed, and its references to the word and to the rest are gone, so
    both have count 1 again.""",
    draw,
)  # fmt: skip
