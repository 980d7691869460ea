"""Is this a source view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any
ROW, FATE, ROWS = 0, 1, 12  # fields of a node
NOTHING = 2


def check_source(c: Checker, view: dict[str, Json]) -> None:
    """Nodes are in the node list, in its order, and what they became is in the program."""
    split = view["split"]
    c.need(0 < split < c.rows, "split", "one of the two lists is empty")
    rows = [node[ROW] for node in view["nodes"]]
    c.need(rows == sorted(set(rows)), "nodes", "are not in the order of their rows")
    for number, node in enumerate(view["nodes"]):
        where = f"node {number}"
        c.need(node[ROW] < split, where, "is not in the node list")
        c.need(all(row >= split for row in node[ROWS]), where, "became a row of the node list")
        c.need(node[ROWS] == sorted(set(node[ROWS])), where, "has rows twice, or out of order")
        c.need((node[FATE] == NOTHING) <= (not node[ROWS]), where, "became nothing, and yet has rows")
    heads = [row for row in range(split) if row not in set(rows)]
    c.need([module[0] for module in view["modules"]] == heads, "modules", "are not the other rows")
    totals = view["totals"]
    counted = totals["expressions"] + totals["constants"] + totals["nothing"]
    c.need(counted == len(view["nodes"]), "totals", "count other nodes than there are")
