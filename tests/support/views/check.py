"""Is this a view? Holds a dictionary, as `View.to_dict` gives it, to its schema and to more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relay_explorer.views.format import NAME, VERSION
from relay_explorer.views.validate import problem
from tools.view_contract import kinds

SHAPES = frozenset({"rect", "round", "hex", "diamond", "circle", "trapezium", "parallelogram", "bar"})
HUES = frozenset({"blue", "orange", "teal", "red", "purple", "olive", "sky", "pink", "brown", "grey"})
Json = Any


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
        self.need(fits, where, f"{value!r} is no index into {count}")

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
        self.need(is_integer(value) and value >= 0, where, f"{value!r} is no count")


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
    from tests.support.views.run import check_run
    from tests.support.views.sharing import check_sharing

    of_kind = {
        "ir": _check_ir, "types": _check_types, "evaluation": check_evaluation, "sharing": check_sharing,
        "fusion": check_fusion, "pipeline": check_pipeline, "gradient": check_gradient,
        "machine": check_machine,
        "partial": check_partial, "memory": check_memory, "lowering": check_lowering, "run": check_run,
    }.get(view["view"])  # fmt: skip
    if of_kind is None and view["view"] not in kinds():
        return [f"an unknown view: {view['view']!r}"]
    broken = problem(view, kinds()[view["view"]])
    if broken is not None or of_kind is None:
        return [] if broken is None else [broken]
    checker = Checker(view)
    for name in ("title", "summary"):
        checker.need(isinstance(view[name], str) and view[name], name, "must be a text")
    checker.need(all(type(s) is str for s in view["strings"]), "strings", "must be texts")
    checker.need(len(set(view["strings"])) == checker.strings, "strings", "one is there twice")
    named = {
        "ir": "nodes",
        "types": "vars",
        "evaluation": "names",
        "sharing": "keys",
        "fusion": "functions",
        "pipeline": "items",
        "gradient": "values",
        "partial": "items",
        "memory": "values",
        "lowering": "operators",
        "machine": "functions",
        "run": "kernels",
    }
    refs = len(view[named[view["view"]]])
    if view["view"] == "fusion":  # a row's tokens name the nodes of its own function
        refs = max((len(function["nodes"]) for function in view["functions"]), default=0)
    if view["view"] == "gradient":
        refs += len(view["lines"])
    nodes = len(view["nodes"]) if view["view"] == "ir" else 0
    for number, row in enumerate(view["program"]["rows"]):
        _check_row(checker, number, row, refs, nodes)
    _check_nesting(checker, [(n, r[4]) for n, r in enumerate(view["program"]["rows"]) if r[4] >= 0], "row")
    of_kind(checker, view)
    return checker.problems


def _check_row(c: Checker, number: int, row: Sequence[Json], refs: int, nodes: int) -> None:
    where = f"row {number}"
    if len(row) != 5 or len(row[2]) % 3:
        c.need(False, where, "must have five parts, the tokens in threes")
        return
    kind, depth, tokens, node, end = row
    c.index(kind, 10, f"{where}: kind")
    c.count(depth, f"{where}: depth")
    for at in range(0, len(tokens), 3):
        c.index(tokens[at], 10, f"{where}: token class")
        c.text(tokens[at + 1], f"{where}: token")
        c.index(tokens[at + 2], refs, f"{where}: token's ref", none=True)
    c.index(node, nodes, f"{where}: node", none=True)
    c.index(end, c.rows, f"{where}: end", none=True)
    c.need(end == -1 or end > number, where, f"ends at {end}, before it starts")


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
    for number, (name, shape, hue) in enumerate(view["families"]):
        c.text(name, f"family {number}")
        c.need(shape in SHAPES, f"family {number}", f"unknown shape {shape!r}")
        c.need(hue in HUES, f"family {number}", f"unknown hue {hue!r}")
    nodes, groups = len(view["nodes"]), len(view["groups"])
    uses = [0] * nodes
    edges = view["edges"]
    c.need(len(edges) % 3 == 0, "edges", "must come in threes")
    for at in range(0, len(edges) - 2, 3):
        source, target, operand = edges[at : at + 3]
        c.index(source, nodes, f"edge {at // 3}")
        c.index(target, nodes, f"edge {at // 3}")
        c.count(operand, f"edge {at // 3}: operand")
        if 0 <= source < nodes:
            uses[source] += 1
    for number, node in enumerate(view["nodes"]):
        _check_node(c, number, node, uses[number], groups, len(view["families"]))
    for number, (label, parent, first, last, kind, repeat) in enumerate(view["groups"]):
        where = f"group {number}"
        c.text(label, where)
        c.text(repeat, where)
        c.index(parent, number, f"{where}: parent", none=True)
        c.index(first, c.rows, f"{where}: first row")
        c.index(last, c.rows, f"{where}: last row")
        c.index(kind, 3, f"{where}: kind")
        c.need(first <= last, where, "ends before it starts")
        if 0 <= parent < number:
            _, _, outer_first, outer_last, _, _ = view["groups"][parent]
            c.need(
                outer_first <= first and last <= outer_last,
                where,
                f"is not inside its parent, group {parent}",
            )
    for number, (row, first, last) in enumerate(view["scopes"]):
        for place in (row, first, last):
            c.index(place, c.rows, f"scope {number}")
        c.need(row < first <= last, f"scope {number}", "must come after its `let`")
    totals = view["totals"]
    c.need(
        list(totals) == ["nodes", "calls", "params", "flops", "bytes"], "totals", "must name the five sums"
    )
    for name, value in totals.items():
        c.count(value, f"totals: {name}")
    c.need(totals.get("nodes") == nodes, "totals", "counts other nodes than there are")


def _check_node(c: Checker, number: int, node: Sequence[Json], uses: int, groups: int, families: int) -> None:
    where = f"node {number}"
    if len(node) != 12:
        c.need(False, where, "must have twelve parts")
        return
    label, family, row, type_, short, params, flops, bytes_, attributes, group, used, detail = node
    for text in (label, type_, short, attributes, detail):
        c.text(text, where)
    c.index(family, families, f"{where}: family")
    c.index(row, c.rows, f"{where}: row", none=True)
    for count in (params, flops, bytes_):
        c.count(count, where)
    c.index(group, groups, f"{where}: group", none=True)
    c.need(used == uses, where, f"says {used} uses, and has {uses} edges")


def _check_types(c: Checker, view: dict[str, Json]) -> None:
    variables, relations, steps = len(view["vars"]), len(view["rels"]), len(view["steps"])
    for number, (name, row, what) in enumerate(view["vars"]):
        c.text(name, f"variable {number}")
        c.index(row, c.rows, f"variable {number}: row", none=True)
        c.text(what, f"variable {number}")
    for number, (name, row, label, connected) in enumerate(view["rels"]):
        c.text(name, f"relation {number}")
        c.index(row, c.rows, f"relation {number}: row", none=True)
        c.text(label, f"relation {number}")
        for variable in connected:
            c.index(variable, variables, f"relation {number}: variable")
    for number, (mark, row, say, because, changes) in enumerate(view["steps"]):
        where = f"step {number}"
        c.index(mark, 7, f"{where}: mark")
        c.index(row, c.rows, f"{where}: row", none=True)
        c.sentence(say, where)
        for cause in because:
            c.index(cause, number, f"{where}: because")
        for change in changes:
            _check_change(c, where, change, variables, relations)
    for number, (name, first, last) in enumerate(view["functions"]):
        c.text(name, f"function {number}")
        c.index(first, c.rows, f"function {number}")
        c.index(last, c.rows, f"function {number}")
    if "start" in view:
        c.index(view["start"], steps, "start")
    if view["conflict"] is not None:
        _check_conflict(c, view["conflict"], steps)


def _check_change(c: Checker, where: str, change: Sequence[Json], variables: int, relations: int) -> None:
    def variable(at: int) -> None:
        c.index(change[at], variables, f"{where}: {change}")

    def relation() -> None:
        c.index(change[1], relations, f"{where}: {change}")

    def typed() -> None:
        variable(1)
        c.text(change[2], where)
        c.text(change[3], where)
        c.index(change[4], 3, f"{where}: known")

    def united() -> None:
        variable(1)
        variable(2)

    def status() -> None:
        relation()
        c.index(change[2], 6, f"{where}: status")

    kinds: dict[str, tuple[int, Callable[[], None]]] = {
        "v": (2, lambda: variable(1)), "t": (5, typed), "u": (3, united), "r": (3, status),
        "q": (2, relation), "f": (2, relation), "p": (2, relation),
    }  # fmt: skip
    length, inspect = kinds.get(change[0], (0, lambda: None))
    c.need(len(change) == length, where, f"unknown change {change!r}")
    if len(change) == length:
        inspect()


def _check_conflict(c: Checker, conflict: dict[str, Json], steps: int) -> None:
    c.index(conflict["step"], steps, "conflict: step")
    c.index(conflict["row"], c.rows, "conflict: row", none=True)
    c.sentence(conflict["say"], "conflict")
    for side in (conflict["left"], conflict["right"]):
        c.text(side["type"], "conflict: type")
        for step, row, say in side["chain"]:
            c.index(step, steps, "conflict: chain")
            c.index(row, c.rows, "conflict: chain", none=True)
            c.sentence(say, "conflict: chain")
    for say in conflict["try"]:
        c.sentence(say, "conflict: try")
