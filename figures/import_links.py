"""Nodes of an ONNX file and the Relay calls that they become."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 352
LEFT, RIGHT, WIDE, TALL, STEP = 12, 314, 154, 32, 40
NODES = (("Gemm", 0), ("Erf", 1), ("Shape", 2), ("Slice", 2), ("Concat", 2), ("Reshape", 2))
CALLS = (("nn.dense", 0), ("nn.bias_add", 0), ("erf", 1), ("reshape", 2))
HUES = ("hue-teal", "hue-orange", "hue-purple")
WORDS = ("one to many", "one to one", "many to one")
NODE_Y = (66, 136, 206, 246, 286, 326)
CALL_Y = (46, 86, 136, 326)
LINKS = ((0, 0), (0, 1), (1, 2), (5, 3))
FOLDED = (2, 3, 4)  # nodes that are evaluated during the import


def draw(c: Canvas) -> None:
    c.text(LEFT + WIDE / 2, 20, "ONNX nodes", size=15, bold=True, anchor="middle")
    c.text(RIGHT + WIDE / 2, 20, "Relay calls", size=15, bold=True, anchor="middle")
    for node, call in LINKS:
        start, end = (LEFT + WIDE + 2, NODE_Y[node]), (RIGHT - 3, CALL_Y[call])
        c.curve(start, end, edge=HUES[NODES[node][1]], width=2)
    for before, after in zip(FOLDED, (3, 4, 5), strict=True):
        y = NODE_Y[before] + TALL / 2
        c.line((LEFT + WIDE / 2, y), (LEFT + WIDE / 2, NODE_Y[after] - TALL / 2), edge="soft", arrow=True)
    for (name, kind), y in zip(NODES, NODE_Y, strict=True):
        folded = NODES.index((name, kind)) in FOLDED
        c.box(
            LEFT, y - TALL / 2, WIDE, TALL,
            fill="paper" if folded else f"{HUES[kind]}-fill", edge=HUES[kind], dashed=folded,
        )  # fmt: skip
        c.text(LEFT + WIDE / 2, y + 5, name, size=14, mono=True, anchor="middle")
    for (name, kind), y in zip(CALLS, CALL_Y, strict=True):
        c.box(RIGHT, y - TALL / 2, WIDE, TALL, fill=f"{HUES[kind]}-fill", edge=HUES[kind])
        c.text(RIGHT + WIDE / 2, y + 5, name, size=14, mono=True, anchor="middle")
    middle = (LEFT + WIDE + RIGHT) / 2
    for words, y in zip(WORDS, (104, 128, 318), strict=True):
        c.text(middle, y, words, size=13, anchor="middle", color="soft")
    c.lines(
        LEFT + WIDE + 14,
        212,
        ("Evaluated during the import,", "because the shape is known:", "no call is left of them."),
        size=13,
    )


FIGURE = Figure(
    "import_links", WIDTH, HEIGHT, "Nodes, and the calls that they become",
    """Left, nodes of an ONNX file; right, Relay calls. Gemm becomes two calls, nn.dense and nn.bias_add: one
    to many. Erf becomes erf: one to one. Shape, Slice and Concat, in dashed boxes, lead one to the next and
    to Reshape; they are evaluated during the import, because the shape is known. The four become one call,
    reshape: many to one.""",
    draw,
)  # fmt: skip
