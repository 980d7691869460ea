"""The inference algorithm of section 3.2: generate, solve, annotate, and how the solver's loop ends."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 640


def _phase(c: Canvas, y: float, h: float, number: str, name: str) -> None:
    c.box(10, y, 460, h, fill="panel", edge="line", radius=10)
    c.circle(34, y + 25, 13, fill="accent", edge="accent")
    c.text(34, y + 30, number, size=14, color="accent-ink", anchor="middle", bold=True)
    c.text(56, y + 31, name, size=17, bold=True)


def _outcomes(c: Canvas, y: float) -> None:
    for x, name, what, fill, edge in (
        (26, "solved", ("remove it from", "the queue"), "known-bg", "known"),
        (176, "too early", ("move it to the end", "of the queue"), "partial-bg", "partial"),
        (326, "cannot hold", ("type error: show", "what led here"), "bad-bg", "bad"),
    ):
        c.box(x, y, 130, 74, fill=fill, edge=edge)
        c.text(x + 65, y + 23, name, size=14, bold=True, color=edge, anchor="middle")
        c.lines(x + 65, y + 44, what, size=12.5, anchor="middle")
        c.line((240, y - 22), (x + 65, y - 4), edge="soft", arrow=True)


def draw(c: Canvas) -> None:
    _phase(c, 8, 116, "1", "Generate")
    c.text(26, 64, "Walk the program once.", size=14)
    c.text(26, 86, "Give every expression a type or a variable: α, β, γ …", size=13.5)
    c.text(26, 108, "Put a relation into the queue for every operator call.", size=13.5)
    c.line((240, 126), (240, 146), edge="soft", arrow=True)
    _phase(c, 150, 372, "2", "Solve")
    for i, (name, tone) in enumerate((("add", "run"), ("exp", "queued"), ("tanh", "queued"))):
        c.box(150 + i * 78, 166, 70, 28, fill=f"{tone}-bg", edge=tone, radius=6)
        c.text(185 + i * 78, 185, name, size=13.5, mono=True, color=tone, anchor="middle")
    c.text(392, 185, "the queue", size=13, color="soft")
    c.line((185, 196), (185, 214), edge="run", arrow=True)
    c.box(26, 218, 428, 62, fill="run-bg", edge="run")
    c.text(40, 243, "Run the relation at the front.", size=14.5, bold=True)
    c.text(40, 265, "It reads the types known so far, and derives others.", size=13.5)
    _outcomes(c, 306)
    c.box(26, 396, 428, 60, fill="queued-bg", edge="queued")
    c.text(40, 420, "Whenever a variable gets its type:", size=14, bold=True)
    c.text(40, 442, "move the relations that read its class to the front.", size=13.5)
    c.lines(
        26,
        481,
        (
            "Queue empty: go on. If every relation left is too early, and",
            "nothing changed: type error. The program says too little.",
        ),
        size=13.5,
    )
    c.line((240, 524), (240, 544), edge="soft", arrow=True)
    _phase(c, 548, 84, "3", "Annotate")
    c.text(26, 608, "Write every type into a copy of the program.", size=14)


FIGURE = Figure(
    "inference", WIDTH, HEIGHT, "Type inference: generate, solve, annotate",
    """Three phases. Generate: walk the program once; every expression gets a type or a type variable,
    every operator call a relation in the queue. Solve: run the relation at the front; if it is
    solved it leaves the queue, if it is too early it goes to the end, if it cannot hold there is a type
    error; whenever a variable gets its type, the relations that read its class move to the front; when
    every relation left is too early and nothing changed, there is a type error as well.
    Annotate: write every type into a copy of the program.""",
    draw,
)  # fmt: skip
