"""Is this a fusion view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any


def check_fusion(c: Checker, view: dict[str, Json]) -> None:
    """Nodes stand in post-order; in every variant, the steps' merges lead to its kernels, and its order of
    the rows computes everything before it is used.
    """
    known = {number for number, *_ in view["patterns"]}
    c.need(bool(view["functions"]), "functions", "must not be empty")
    taken = -1
    for function in sorted(view["functions"], key=lambda f: tuple(f["rows"])):
        first, last = function["rows"]
        c.need(taken < first <= last < c.rows, "functions", f"rows {first} to {last} are another's")
        taken = last
    for function in view["functions"]:
        _check_function(c, function, view["program"]["rows"], known)


def _check_function(c: Checker, view: dict[str, Json], rows: Sequence[Json], known: set[int]) -> None:
    count = len(view["nodes"])
    for number, node in enumerate(view["nodes"]):
        _row, _name, _label, pattern, _type, _size, uses, held, _part, *alone = node
        where = f"node {number}"
        c.need(len(alone) == 3, where, "must have twelve parts")
        c.need(pattern in known, where, f"pattern {pattern} is not in the legend")
        c.need(all(number < user < count for user in uses), where, "is used before it is computed")
        c.need(held in (0, 1), where, "held must be 0 or 1")
    c.need(bool(view["variants"]), "variants", "must not be empty")
    for number, variant in enumerate(view["variants"]):
        _check_variant(c, f"variant {number}", variant, count, known)
        if variant["order"]:
            _check_order(c, f"variant {number}: order", variant["order"], view["nodes"], rows)


def _check_order(
    c: Checker, where: str, order: Sequence[int], nodes: Sequence[Json], rows: Sequence[Json]
) -> None:
    """Blocks stay whole, and what is used is computed before."""
    c.need(sorted(order) == list(range(len(rows))), where, "does not have every row once")
    if c.problems:
        return
    place = {row: at for at, row in enumerate(order)}
    for number, row in enumerate(rows):
        if row[4] >= 0:
            same = [place[inner] - place[number] for inner in range(number, row[4] + 1)]
            c.need(sorted(same) == list(range(len(same))), where, f"the block of row {number} is torn")
            c.need(same[-1] == len(same) - 1, where, f"the block of row {number} does not end with its end")
    for row, *_, uses, _held, _part, _read, _written, _flops in nodes:
        for user in uses:
            after = nodes[user][0]
            if 0 <= row < after:
                c.need(place[row] < place[after], where, f"row {after} comes before row {row}, which it uses")


def _check_variant(c: Checker, where: str, variant: dict[str, Json], count: int, known: set[int]) -> None:
    for _node, pattern in variant["patterns"]:
        c.need(pattern in known, where, f"pattern {pattern} is not in the legend")
    c.need(len(variant["dominators"]) == count, where, "dominators must be one for each node")
    for number, dominator in enumerate(variant["dominators"]):
        c.need(
            dominator == -1 or number < dominator < count, where, f"node {number} has dominator {dominator}"
        )
    group = list(range(count))
    for number, step in enumerate(variant["steps"]):
        _check_step(c, f"{where}, step {number}", step, count, group)
    in_kernels = [node for kernel in variant["kernels"] for node in kernel[1]]
    c.need(len(in_kernels) == len(set(in_kernels)), where, "a node is in two kernels")
    for _name, nodes, *_amounts, result in variant["kernels"]:
        c.need(
            result in nodes and nodes == sorted(nodes),
            where,
            "a kernel's nodes are in post-order, with its result",
        )
        c.need(len({group[node] for node in nodes}) == 1, where, f"the merges do not make the kernel {nodes}")
    for at, (_before, after) in zip((8, 9), variant["totals"].values(), strict=True):
        c.need(
            variant["steps"][-1][at] == after, where, "the last step's totals are not those of the kernels"
        )


def _check_step(c: Checker, where: str, step: Sequence[Json], count: int, group: list[int]) -> None:
    """Checks a step, and merges its groups: `group` has each node's."""
    mark, phase, _node, target, _told, _rule, _obstacle, merged, _launches, _moved = step
    c.index(phase, 3, f"{where}: phase", none=True)
    c.need((mark == 1) == bool(merged), where, "merges nodes if it is a merge")
    old = {group[n] for n in merged}
    for at, number in enumerate(group):
        if number in old:
            group[at] = group[target]
