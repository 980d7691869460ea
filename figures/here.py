"""The picture that opens each chapter: the whole stack, and where in it the chapter stands."""

from __future__ import annotations

from functools import partial

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 104
BOX, GAP, TOP, TALL = 56, 14, 8, 44
# From the model to its run; each station has the two lines that its box holds.
STATIONS = (
    ("Model", "Python"),
    ("Relay", "program"),
    ("Types", "shapes"),
    ("Passes", "rewrites"),
    ("Loops", "kernels"),
    ("Code", "machine"),
    ("Run", "executor"),
)
MODEL, RELAY, TYPES, PASSES, LOOPS, CODE, RUN = range(len(STATIONS))

# A chapter: the first and last of its stations, and what it adds.
CHAPTERS: dict[str, tuple[int, int, str]] = {
    "1": (MODEL, RUN, "the whole stack, at a glance"),
    "2": (MODEL, MODEL, "how a model becomes a program"),
    "3": (MODEL, CODE, "one small model, from end to end"),
    "4": (RELAY, RELAY, "expressions, and the text they print as"),
    "5": (RELAY, RELAY, "sharing, scopes and `let`"),
    "6": (RELAY, RELAY, "conditions, functions and recursion"),
    "7": (RELAY, RELAY, "lists, trees and pattern matching"),
    "8": (RELAY, RELAY, "visitors, rewriters and patterns"),
    "9": (MODEL, RELAY, "importing models"),
    "10": (TYPES, TYPES, "tensor types and their errors"),
    "11": (TYPES, TYPES, "type relations of operators"),
    "12": (TYPES, TYPES, "the solver"),
    "13": (TYPES, TYPES, "polymorphism and dynamic shapes"),
    "14": (PASSES, PASSES, "passes and pipelines"),
    "15": (PASSES, PASSES, "folding, sharing and dead code"),
    "16": (PASSES, PASSES, "operator fusion"),
    "17": (PASSES, PASSES, "data layouts"),
    "17b": (PASSES, PASSES, "axis scales and parallel convolutions"),
    "18": (PASSES, PASSES, "partial evaluation"),
    "19": (PASSES, PASSES, "gradients"),
    "20": (PASSES, PASSES, "quantization"),
    "21": (LOOPS, LOOPS, "from operators to loop nests"),
    "22": (LOOPS, CODE, "loops that suit a CPU"),
    "22b": (LOOPS, CODE, "convolutions on a CPU"),
    "23": (LOOPS, CODE, "loops that suit a GPU"),
    "24": (CODE, CODE, "code for a phone's processor"),
    "25": (RUN, RUN, "executors"),
    "25b": (RUN, RUN, "memory management"),
    "26": (LOOPS, CODE, "choosing a schedule by measuring"),
    "33": (MODEL, RUN, "what all of it is worth"),
}


def _left(station: int) -> float:
    return 2 + station * (BOX + GAP)


def draw(c: Canvas, chapter: str) -> None:
    first, last, topic = CHAPTERS[chapter]
    for number, (name, what) in enumerate(STATIONS):
        x = _left(number)
        here = first <= number <= last
        c.box(
            x, TOP, BOX, TALL,
            fill="run-bg" if here else "none",
            edge="run" if here else "edge",
            width=2.2 if here else 1.2,
        )  # fmt: skip
        c.text(x + BOX / 2, TOP + 19, name, size=13.5, bold=here, anchor="middle", color="ink")
        c.text(x + BOX / 2, TOP + 35, what, size=11.5, anchor="middle", color="ink" if here else "soft")
        if number:
            c.line((x - GAP + 1.5, TOP + TALL / 2), (x - 2, TOP + TALL / 2), edge="soft", arrow=True)
    # A bracket under the chapter's stations, and the words under it, kept inside the sheet.
    start, end = _left(first), _left(last) + BOX
    middle = (start + end) / 2
    y = TOP + TALL + 5
    c.path(f"M{start:g} {y}v6H{end:g}v-6", edge="run", width=2)
    text = f"You are here: {topic}"
    half = len(text) * 4.6  # fonts differ; this is wide enough for all
    c.line((middle, y + 6), (middle, y + 15), edge="run", width=2)
    x, anchor = middle, "middle"
    if middle + half > WIDTH - 4:
        x, anchor = WIDTH - 4, "end"
    elif middle < half + 4:
        x, anchor = 4, "start"
    c.text(x, y + 32, text, size=14.5, anchor=anchor, color="run", bold=True)


def _figure(chapter: str) -> Figure:
    first, last, topic = CHAPTERS[chapter]
    names = ", ".join(name for name, _ in STATIONS)
    marked = (
        STATIONS[first][0]
        if first == last
        else f"everything from {STATIONS[first][0]} to {STATIONS[last][0]}"
    )
    words = topic.replace("`", "")
    return Figure(
        f"here_{chapter}", WIDTH, HEIGHT, f"The compiler stack, chapter {chapter}",
        f"""The compiler stack from left to right: {names}. A model becomes a Relay program, which gets
        types, is rewritten by passes, becomes loops and machine code, and runs. Marked “you are here”:
        {marked}. Chapter {chapter} is about {words}.""",
        partial(draw, chapter=chapter),
    )  # fmt: skip


FIGURES = tuple(_figure(chapter) for chapter in CHAPTERS)
