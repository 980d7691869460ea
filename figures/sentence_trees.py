"""Two sentences of four words as trees: the same number of combinations, in different orders."""

from __future__ import annotations

from figures.canvas import Canvas, Figure
from figures.graph import Arrow, Box, draw_layout, lay_out

WIDTH, HEIGHT = 480, 302
Tree = str | tuple["Tree", "Tree"]
SENTENCES: tuple[tuple[float, Tree], ...] = (
    (122, (("this", "film"), ("was", "great"))),
    (360, ("we", ("never", ("smiled", "once")))),
)


def _words(tree: Tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [*_words(tree[0]), *_words(tree[1])]


def _depth(tree: Tree) -> int:
    return 0 if isinstance(tree, str) else 1 + max(map(_depth, tree))


class _Tree:
    """The graph of one tree. Phrases are numbered in post-order, each after its parts."""

    def __init__(self, tree: Tree) -> None:
        self.nodes: dict[str, Box] = {}
        self.arrows: list[Arrow] = []
        self.phrases = 0
        self.top = self.add(tree)

    def add(self, tree: Tree) -> str:
        """Add a tree; return the name of its top."""
        if isinstance(tree, str):
            self.nodes[tree] = Box(tree, "known", width=50, fill="known-bg", mono=False, radius=6)
            return tree
        parts = [self.add(part) for part in tree]
        self.phrases += 1
        name = str(self.phrases)
        self.nodes[name] = Box(
            name, "hue-orange", width=34, height=34, circle=True, mono=False, bold=True, stroke=2, size=15
        )
        self.arrows += [Arrow(name, part, edge="soft", head=False) for part in parts]
        return name


def draw(c: Canvas) -> None:
    for middle, tree in SENTENCES:
        graph = _Tree(tree)
        words = _words(tree)
        layout = lay_out(graph.nodes, graph.arrows, apart=4, ranks_apart=28, rows=[words], centered=True)
        layout = layout.moved(middle - layout.width / 2, HEIGHT - 34 - layout.height)
        draw_layout(c, graph.nodes, graph.arrows, layout)
        x, y = layout.centers[graph.top]
        c.line((x, y - 17), (x, y - 37), edge="soft", arrow=True)
        c.text(x, y - 44, "mood", size=14, bold=True, anchor="middle")
        caption = f"{len(words) - 1} combinations, {_depth(tree)} levels"
        c.text(middle, HEIGHT - 10, caption, size=14, anchor="middle", color="soft")


FIGURE = Figure(
    "sentence_trees", WIDTH, HEIGHT, "Two sentences as trees",
    """Two trees. Left, “this film was great”: 1 combines this and film, 2 combines was and great, 3 combines
    these two phrases; three combinations on two levels. Right, “we never smiled once”: 1 combines smiled
    and once, 2 combines never with that phrase, 3 combines we with that one; three combinations on three
    levels. From the top of each tree an arrow leads to the mood.""",
    draw,
)  # fmt: skip
