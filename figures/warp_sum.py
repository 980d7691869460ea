"""A sum over the 32 threads of a warp in five steps."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 300
THREADS = 32
LEFT, STEP, TOP, ROW = 68, 12.7, 50, 42
DISTANCES = (16, 8, 4, 2, 1)


def sums() -> list[int]:
    """Return the value that thread 0 holds, at first and after each step."""
    values = list(range(THREADS))
    held = [values[0]]
    for distance in DISTANCES:
        values = [values[t] + values[min(t + distance, THREADS - 1)] for t in range(THREADS)]
        held.append(values[0])
    return held


def draw(c: Canvas) -> None:
    c.text(LEFT - 10, 20, "distance", size=13, anchor="end", color="soft")
    c.text(LEFT, 20, "threads 0 to 31; in thread 0, the sum so far:", size=13, color="soft")
    for step, held in enumerate(sums()):
        y = TOP + ROW * step - 14
        live = THREADS >> step
        if step:
            c.text(LEFT - 10, y + 14, str(DISTANCES[step - 1]), size=13.5, anchor="end")
        for thread in range(live):
            c.box(
                LEFT + STEP * thread, y, STEP - 2, 18,
                fill="hue-blue-fill", edge="hue-blue", width=1.3, radius=2,
            )  # fmt: skip
        if step < len(DISTANCES):
            distance = DISTANCES[step]
            for thread in range(distance):
                start, end = LEFT + STEP * (thread + distance + 0.42), LEFT + STEP * (thread + 0.42)
                c.line((start, y + 19), (end, y + ROW - 2), edge="hue-orange", width=0.8)
        if step:
            c.text(LEFT + STEP * live + 8, y + 14, str(held), size=13.5, bold=True, color="hue-blue")


FIGURE = Figure(
    "warp_sum", WIDTH, HEIGHT, "A sum over the threads of a warp",
    "The 32 threads of a warp, which begin with 0 to 31, in six rows. In each of five steps a thread adds "
    "the value of the thread 16, 8, 4, 2 and then 1 positions further on. Marked are the threads whose value "
    "still matters: 32, 16, 8, 4, 2 and 1. Thread 0 holds "
    + ", ".join(map(str, sums()[:-1]))
    + f" and finally {sums()[-1]}.",
    draw,
)  # fmt: skip
