"""Two programs timed one after the other, and in alternation, while the machine has a slow phase."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 250
LEFT, UNIT, TALL = 10, 29.0, 34
SLOW = (6.0, 15.6)  # the slow phase, in units of time
FACTOR = 1.6  # by which it lengthens a run
RUNS = 6  # of each program
SEQUENTIAL, ALTERNATING = "A" * RUNS + "B" * RUNS, "AB" * RUNS
HUES = {"A": "hue-blue", "B": "hue-orange"}


def timed(order: str) -> list[tuple[str, float, float]]:
    """Return each run's program, start and duration; both programs take one unit of undisturbed time."""
    runs, now = [], 0.0
    for program in order:
        duration = FACTOR if SLOW[0] <= now < SLOW[1] else 1.0
        runs.append((program, now, duration))
        now += duration
    return runs


def shortest(order: str, program: str) -> float:
    """Return the duration of a program's shortest run."""
    return min(duration for name, _, duration in timed(order) if name == program)


def _panel(c: Canvas, y: float, title: str, order: str) -> None:
    c.text(LEFT, y, title, size=14, bold=True)
    x, end = LEFT + UNIT * SLOW[0], LEFT + UNIT * SLOW[1]
    c.text(end, y, "slow phase", size=12.5, color="soft", anchor="end")
    c.box(x, y + 8, end - x, TALL + 20, fill="hue-grey-fill", edge="hue-grey", dashed=True, radius=4)
    for program, start, duration in timed(order):
        c.box(
            LEFT + UNIT * start + 1, y + 18, UNIT * duration - 2, TALL,
            fill=f"{HUES[program]}-fill", edge=HUES[program], radius=5,
        )  # fmt: skip
        c.text(LEFT + UNIT * (start + duration / 2), y + 40, program, size=14, anchor="middle")
    words = ", ".join(f"{name} {shortest(order, name):.1f}" for name in HUES)
    c.text(LEFT, y + 82, f"the shortest run: {words}", size=13.5)


def draw(c: Canvas) -> None:
    _panel(c, 24, "one after the other", SEQUENTIAL)
    _panel(c, 148, "alternating", ALTERNATING)


FIGURE = Figure(
    "alternating", WIDTH, HEIGHT, "One after the other, or alternating",
    f"""Two programs, A and B, that take one unit of time each, six runs of each, while the machine has a slow
    phase. One after the other, the slow phase covers all runs of B: the shortest run of A takes
    {shortest(SEQUENTIAL, "A"):.1f} and that of B {shortest(SEQUENTIAL, "B"):.1f}. Alternating, it covers
    runs of both, and both have fast runs before it: the shortest take {shortest(ALTERNATING, "A"):.1f} and
    {shortest(ALTERNATING, "B"):.1f}.""",
    draw,
)  # fmt: skip
