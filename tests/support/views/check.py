"""Is this a view? Holds a dictionary, as `View.to_dict` gives it, to its schema and to more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from relay_explorer.views.format import NAME, VERSION
from tests.support.views.validate import problem
from tools.view_contract import kinds

SHAPES = frozenset({"rect", "round", "hex", "diamond", "circle", "trapezium", "parallelogram", "bar"})
HUES = frozenset({"blue", "orange", "teal", "red", "purple", "olive", "sky", "pink", "brown", "grey"})
Json = Any
# What a row's tokens name, by the kind of view: it is not in the schema.
_NAMED = {
    "ir": "nodes",
    "types": "vars",
    "evaluation": "names",
    "sharing": "keys",
    "fusion": "functions",
    "pipeline": "items",
    "gradient": "values",
    "partial": "items",
    "quantize": "items",
    "memory": "values",
    "lowering": "operators",
    "machine": "functions",
    "run": "kernels",
    "source": "nodes",
}


def is_integer(value: Json) -> bool:
    """Whether JSON writes it as a whole number; a size may be an integer that knows its type."""
    return isinstance(value, int) and not isinstance(value, bool)


class Checker:
    """Gathers what is wrong, with the place in the view."""

    def __init__(self, view: dict[str, Json]) -> None:
        self.view = view
        self.problems: list[str] = []
        self.strings = len(view["strings"])
        self.rows = len(view["program"]["rows"])

    def need(self, holds: object, where: str, what: str) -> None:
        if not holds:
            self.problems.append(f"{where}: {what}")

    def index(self, value: Json, count: int, where: str, none: bool = False) -> None:
        """`value` is a number below `count`, or -1 where none is allowed."""
        fits = is_integer(value) and (-1 if none else 0) <= value < count
        self.need(fits, where, f"{value!r} is not an index into {count}")

    def text(self, value: Json, where: str) -> None:
        self.index(value, self.strings, where)

    def sentence(self, say: Json, where: str) -> None:
        """A template and as many arguments as it has places."""
        self.need(say, where, "an empty sentence")
        for part in say:
            self.text(part, where)
        if say and not self.problems:
            strings = self.view["strings"]
            try:
                strings[say[0]].format(*(strings[a] for a in say[1:]))
            except (IndexError, KeyError, ValueError) as problem:
                self.need(False, where, f"{strings[say[0]]!r} does not fit its arguments: {problem}")

    def count(self, value: Json, where: str) -> None:
        self.need(is_integer(value) and value >= 0, where, f"{value!r} is not a count")


def check(view: dict[str, Json]) -> list[str]:
    """What is wrong with `view`, one sentence each; nothing if it is a view of version 1."""
    if view.get("format") != NAME or view.get("version") != VERSION:
        return [f"not a view of {NAME}, version {VERSION}"]
    from tests.support.views.evaluation import check_evaluation
    from tests.support.views.fusion import check_fusion
    from tests.support.views.gradient import check_gradient
    from tests.support.views.lowering import check_lowering
    from tests.support.views.machine import check_machine
    from tests.support.views.memory import check_memory
    from tests.support.views.partial import check_partial
    from tests.support.views.pipeline import check_pipeline
    from tests.support.views.quantize import check_quantize
    from tests.support.views.run import check_run
    from tests.support.views.sharing import check_sharing
    from tests.support.views.source import check_source

    of_kind = {
        "ir": _check_ir, "evaluation": check_evaluation, "sharing": check_sharing,
        "fusion": check_fusion, "pipeline": check_pipeline, "gradient": check_gradient,
        "machine": check_machine,
        "partial": check_partial, "memory": check_memory, "lowering": check_lowering, "run": check_run,
        "source": check_source, "quantize": check_quantize,
    }.get(view["view"])  # fmt: skip
    if of_kind is None and view["view"] not in kinds():
        return [f"an unknown view: {view['view']!r}"]
    broken = problem(view, kinds()[view["view"]])
    if broken is not None:
        return [broken]
    if view["view"] not in _NAMED:
        return []
    checker = Checker(view)
    for name in ("title", "summary"):
        checker.need(isinstance(view[name], str) and view[name], name, "must be a text")
    checker.need(all(type(s) is str for s in view["strings"]), "strings", "must be texts")
    checker.need(len(set(view["strings"])) == checker.strings, "strings", "one is there twice")
    refs = len(view[_NAMED[view["view"]]])
    if view["view"] == "fusion":  # a row's tokens name the nodes of its own function
        refs = max((len(function["nodes"]) for function in view["functions"]), default=0)
    if view["view"] == "gradient":
        refs += len(view["lines"])
    nodes = len(view["nodes"]) if view["view"] == "ir" else 0
    for number, row in enumerate(view["program"]["rows"]):
        _check_row(checker, number, row, refs, nodes)
    _check_nesting(checker, [(n, r[4]) for n, r in enumerate(view["program"]["rows"]) if r[4] >= 0], "row")
    if of_kind is not None:
        of_kind(checker, view)
    return checker.problems


def _check_row(c: Checker, number: int, row: Sequence[Json], refs: int, nodes: int) -> None:
    _, _, tokens, node, end = row[:5]  # an imported row has its node of the model too
    for ref in tokens[2::3]:
        c.index(ref, refs, f"row {number}: token's ref", none=True)
    c.index(node, nodes, f"row {number}: node", none=True)
    c.need(end == -1 or end > number, f"row {number}", f"ends at {end}, before it starts")


def _check_nesting(c: Checker, ranges: Sequence[tuple[int, int]], what: str) -> None:
    """Ranges lie inside one another or apart."""
    open_ends: list[int] = []
    for first, last in sorted(ranges, key=lambda r: (r[0], -r[1])):
        while open_ends and open_ends[-1] <= first:
            open_ends.pop()
        c.need(
            not open_ends or last <= open_ends[-1],
            f"{what} {first}",
            f"its block, to {last}, crosses the end of another",
        )
        open_ends.append(last)


def _check_ir(c: Checker, view: dict[str, Json]) -> None:
    for number, (_, shape, hue) in enumerate(view["families"]):
        c.need(shape in SHAPES, f"family {number}", f"unknown shape {shape!r}")
        c.need(hue in HUES, f"family {number}", f"unknown hue {hue!r}")
    edges = view["edges"]
    uses = Counter(edges[::3])
    for number, node in enumerate(view["nodes"]):
        c.need(
            node[10] == uses[number], f"node {number}", f"says {node[10]} uses, and has {uses[number]} edges"
        )
    for number, (_, parent, first, last, *_) in enumerate(view["groups"]):
        where = f"group {number}"
        c.need(parent < number, where, "comes before its parent")
        c.need(first <= last, where, "ends before it starts")
        if 0 <= parent < number:
            outer_first, outer_last = view["groups"][parent][2:4]
            inside = outer_first <= first and last <= outer_last
            c.need(inside, where, f"is not inside its parent, group {parent}")
    for number, (row, first, last) in enumerate(view["scopes"]):
        c.need(row < first <= last, f"scope {number}", "must come after its `let`")
    totals = view["totals"]
    sums = ["nodes", "calls", "params", "flops", "bytes"]
    c.need(list(totals) == sums, "totals", "must name the five sums")
    c.need(totals.get("nodes") == len(view["nodes"]), "totals", "counts other nodes than there are")
