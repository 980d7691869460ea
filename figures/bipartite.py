"""The graph that the solver works on: classes of types and relations, as one inference had it."""

from __future__ import annotations

from math import pi

from figures.canvas import Canvas, Figure
from figures.record import PROGRAM, Relation, before_solving, owner, relations, variables

WIDTH, HEIGHT = 480, 484
TOP, STEP = 168, 64
LEFT, LEFT_END, RIGHT, RIGHT_END = 10, 216, 330, 470


def _program(c: Canvas) -> None:
    for i, line in enumerate(PROGRAM):
        c.text(14, 22 + 21 * i, line, size=13.5, mono=True)
    c.line((10, 104), (470, 104), edge="line")
    c.text(LEFT, 130, "classes of types", size=14, bold=True, color="soft")
    c.text(RIGHT, 130, "relations", size=14, bold=True, color="soft")


def _relation(c: Canvas, y: float, relation: Relation, inputs: list[float], output: float) -> None:
    for start in inputs:
        c.curve((LEFT_END, start), (RIGHT, y - 6), edge="edge", width=2)
    c.curve((RIGHT, y + 6), (LEFT_END + 8, output + 7), edge="run", width=2, dashed=True)
    c.head(LEFT_END, output + 7, pi, "run")
    c.box(RIGHT, y - 20, RIGHT_END - RIGHT, 40, fill="queued-bg", edge="queued", radius=5)
    middle = (RIGHT + RIGHT_END) / 2
    c.text(middle, y + 5, relation.operator, size=14.5, mono=True, anchor="middle", color="queued")


def _class(c: Canvas, y: float, words: str, known: bool) -> None:
    fill, edge = ("known-bg", "known") if known else ("none", "unknown")
    c.box(LEFT, y - 20, LEFT_END - LEFT, 40, fill=fill, edge=edge, radius=20)
    middle, ink = (LEFT + LEFT_END) / 2, "known" if known else "ink"
    c.text(middle, y + 5, words, size=14.5, mono=True, anchor="middle", color=ink)


def _legend(c: Canvas) -> None:
    c.line((LEFT, HEIGHT - 46), (LEFT + 44, HEIGHT - 46), edge="edge", width=2)
    c.text(LEFT + 54, HEIGHT - 41, "the relation reads this class", size=13.5)
    c.line((LEFT + 8, HEIGHT - 20), (LEFT + 44, HEIGHT - 20), edge="run", width=2, dashed=True)
    c.head(LEFT, HEIGHT - 20, pi, "run")
    c.text(LEFT + 54, HEIGHT - 15, "and determines this one, its output", size=13.5)


def draw(c: Canvas) -> None:
    _program(c)
    state = before_solving()
    named = variables()
    rows: dict[int, float] = {0: TOP}  # by root; the first is the known type of %x
    for members in state.classes():
        rows[members[0]] = TOP + STEP * len(rows)

    def place(variable: int) -> float:
        return rows[state.root(variable)]

    def height(relation: Relation) -> float:
        inputs = relation.variables[:-1]
        return sum(map(place, inputs)) / len(inputs)

    for i, relation in enumerate(sorted(relations(), key=height)):
        inputs = sorted({place(variable) for variable in relation.variables[:-1]})
        _relation(c, TOP + STEP * (i + 0.5), relation, inputs, place(relation.variables[-1]))
    _class(c, TOP, "%x : (3, 4)", known=True)
    for members in state.classes():
        words = "  ".join(f"{named[n][0]} {owner(n)}" for n in sorted(members))
        _class(c, rows[members[0]], words, known=False)
    _legend(c)


FIGURE = Figure(
    "bipartite", WIDTH, HEIGHT, "Types and relations, a bipartite graph",
    """On the left the classes of types of a small program before its relations are run: the known
    type of x; the class of beta, the type of a, with epsilon, that of exp; gamma, that of tanh; delta,
    that of add, with zeta, the result. On the right the relations. exp reads the type of x and
    determines the class of a; tanh reads that and determines gamma; add reads both and determines
    the result.""",
    draw,
)  # fmt: skip
