"""The graph that the solver works on: classes of types and relations, as one inference had it."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.record import PROGRAM, before_solving, shape
from relay_explorer.ir import Op, TensorType, Type
from relay_explorer.typing.solver import Constraint
from relay_explorer.typing.unknown import Unknown

WIDTH, HEIGHT = 480, 484
TOP, STEP = 168, 64
LEFT, LEFT_END, RIGHT, RIGHT_END = 10, 216, 330, 470


def _key(type_: Type, root: dict[int, int]) -> int | str:
    return root[type_.number] if isinstance(type_, Unknown) else shape(type_)


def _operator(relation: Constraint) -> str:
    op = relation.call.op  # type: ignore[attr-defined]
    return op.name if isinstance(op, Op) else relation.relation.name


def draw(c: Canvas) -> None:
    for i, line in enumerate(PROGRAM):
        c.text(14, 22 + 21 * i, line, size=13.5, mono=True)
    c.line((10, 104), (470, 104), edge="line")
    state = before_solving()
    letters = state.letters()
    root = {n: state.root(n) for n in letters}
    rows: dict[int | str, float] = {}
    for relation in state.relations:
        for type_ in relation.args:
            if isinstance(type_, TensorType):
                rows.setdefault(_key(type_, root), TOP + STEP * len(rows))
    for members in state.classes():
        rows.setdefault(members[0], TOP + STEP * len(rows))

    c.text(LEFT, 130, "classes of types", size=14, bold=True, colour="soft")
    c.text(RIGHT, 130, "relations", size=14, bold=True, colour="soft")
    places = sorted(
        state.relations, key=lambda r: sum(rows[_key(t, root)] for t in r.args[:-1]) / r.num_inputs
    )
    for i, relation in enumerate(places):
        y = TOP + STEP / 2 + STEP * i
        for type_ in dict.fromkeys(_key(t, root) for t in relation.args[:-1]):
            c.curve((LEFT_END, rows[type_]), (RIGHT, y - 6), edge="edge", width=2)
        out = rows[_key(relation.args[-1], root)]
        c.curve((RIGHT, y + 6), (LEFT_END + 8, out + 7), edge="run", width=2, dashed=True)
        c.head(LEFT_END, out + 7, 3.1416, "run")
        c.box(RIGHT, y - 20, RIGHT_END - RIGHT, 40, fill="queued-bg", edge="queued", radius=5)
        c.text(
            (RIGHT + RIGHT_END) / 2,
            y + 5,
            _operator(relation),
            size=14.5,
            mono=True,
            anchor="middle",
            colour="queued",
        )
    for members in state.classes():
        y = rows[members[0]]
        c.box(LEFT, y - 20, LEFT_END - LEFT, 40, edge="unknown", radius=20)
        words = "  ".join(f"{letters[n]} {state.name(n)}" for n in sorted(members, key=lambda n: letters[n]))
        c.text((LEFT + LEFT_END) / 2, y + 5, words, size=14.5, mono=True, anchor="middle")
    for key, y in rows.items():
        if isinstance(key, str):
            c.box(LEFT, y - 20, LEFT_END - LEFT, 40, fill="known-bg", edge="known", radius=20)
            c.text(
                (LEFT + LEFT_END) / 2,
                y + 5,
                f"%x : {key}",
                size=14.5,
                mono=True,
                anchor="middle",
                colour="known",
            )
    c.line((LEFT, HEIGHT - 46), (LEFT + 44, HEIGHT - 46), edge="edge", width=2)
    c.text(LEFT + 54, HEIGHT - 41, "the relation reads this class", size=13.5)
    c.line((LEFT + 8, HEIGHT - 20), (LEFT + 44, HEIGHT - 20), edge="run", width=2, dashed=True)
    c.head(LEFT, HEIGHT - 20, 3.1416, "run")
    c.text(LEFT + 54, HEIGHT - 15, "and says something of this one, its output", size=13.5)


FIGURE = Figure(
    "bipartite", WIDTH, HEIGHT, "Types and relations, a bipartite graph",
    """On the left the classes of types of a small program before its relations are run: the known type of
    x; the class of alpha, the type of a, and delta, that of exp; beta, that of tanh; the class of
    gamma, that of add, and the result. On the right the relations. exp reads the type of x and
    determines the class of a; tanh reads that and determines beta; add reads both and determines the
    result.""",
    draw,
)  # fmt: skip
