"""Is this a pipeline view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any
KEPT, REWRITTEN, ADDED, REMOVED, MOVED = range(5)


def check_pipeline(c: Checker, view: dict[str, Json]) -> None:
    """Stages follow one another in their pipelines; `align` has every row of both its stages once."""
    stages, strings = view["stages"], view["strings"]
    c.need(bool(stages) and stages[0]["before"] == -1, "stages", "the first must have none before it")
    for number, stage in enumerate(stages):
        _check_stage(c, f"stage {number}", stage, number, stages)
    count = len(view["items"])
    for number, (stage, row, label, came, mark, flops, size, *place) in enumerate(view["items"]):
        where = f"item {number}"
        c.index(stage, len(stages), f"{where}: stage")
        c.index(row, c.rows, f"{where}: row", none=True)
        c.text(label, where)
        c.index(mark, 3, f"{where}: mark")
        c.need(all(0 <= source < number for source in came), where, "came from something after it")
        c.need(stage == 0 or (mark == ADDED) == (not came), where, "is added if it came from nothing")
        c.count(flops, f"{where}: flops")
        c.count(size, f"{where}: bytes")
        _check_place(c, where, stage, view["items"], *place)
        first, last = stages[stage]["rows"]
        c.need(row == -1 or first <= row <= last, where, f"row {row} is another stage's")
    for stage in stages:
        for item in stage["gone"]:
            c.index(item, count, "gone")
        for rewrite in stage["rewrites"]:
            _check_rewrite(c, f"{strings[stage['name']]}, a rewrite", rewrite, stage, stages, view["items"])
        c.need(stage["told"] >= len(stage["rewrites"]), "told", "are fewer than there are")
    c.text(view["tree"], "tree")
    c.need(1 <= len(view["pipelines"]) <= 2, "pipelines", "must be one or two")
    for name, numbers in view["pipelines"]:
        c.text(name, "pipeline")
        c.need(numbers[:1] == [0], "pipeline", "must begin with stage 0")
        for before, number in pairwise(numbers):
            c.need(stages[number]["before"] == before, "pipeline", f"stage {number} does not follow {before}")
    ends = view["ends"]
    c.need((ends is None) == (len(view["pipelines"]) == 1), "ends", "are there where two pipelines are")
    if ends is not None:
        c.sentence(ends["say"], "ends")
        last = [numbers[-1] for _, numbers in view["pipelines"]]
        c.need([ends["before"], ends["after"]] == last, "ends", "are not the pipelines' ends")
        _check_align(c, "ends", ends["align"], *(stages[number]["rows"] for number in last))


def _check_place(
    c: Checker, where: str, stage: int, items: list[Json], part: int, operands: list[int], kernel: int
) -> None:
    c.index(part, 3, f"{where}: part")
    c.index(kernel, len(items), f"{where}: kernel", none=True)
    for operand in (*operands, *([kernel] if kernel >= 0 else [])):
        c.index(operand, len(items), f"{where}: operand")
        c.need(items[operand][0] == stage, where, "is computed from another stage's")


def _check_rewrite(
    c: Checker, where: str, rewrite: Json, stage: Json, stages: list[Json], items: list[Json]
) -> None:
    rule, name, path, line, before, after, was, how, became = rewrite
    for text in (rule, name, path, was, how, became):
        c.text(text, where)
    c.count(line, f"{where}: line")
    for side, rows in ((before, stages[stage["before"]]["rows"]), (after, stage["rows"])):
        for item in side:
            c.index(item, len(items), where)
            c.need(items[item][1] == -1 or rows[0] <= items[item][1] <= rows[1], where, "is of another stage")


def _check_stage(c: Checker, where: str, stage: dict[str, Json], number: int, stages: list[Json]) -> None:
    for text in ("name", "what", "source"):
        c.text(stage[text], where)
    c.sentence(stage["say"], where)
    first, last = stage["rows"]
    c.need(0 <= first <= last + 1 <= c.rows, where, f"its rows are {first} to {last}")
    for name, amount in stage["totals"].items():
        c.count(amount, f"{where}: {name}")
    ms = stage["ms"]
    c.need(ms is None or (isinstance(ms, (int, float)) and ms >= 0), where, f"{ms!r} is no time")
    if number == 0:
        return
    c.need(0 <= stage["before"] < number, where, "the stage before it comes after it")
    before = stages[stage["before"]]["rows"]
    if stage["same"]:
        c.need(stage["rows"] == before and not stage["align"], where, "is the same, but has rows of its own")
        return
    _check_align(c, where, stage["align"], before, (first, last))


def _check_align(
    c: Checker, where: str, align: list[int], before: Sequence[int], after: Sequence[int]
) -> None:
    triples = list(zip(align[::3], align[1::3], align[2::3], strict=True))
    for side, (start, end), absent in ((0, before, ADDED), (1, after, REMOVED)):
        shown = [triple[side] for triple in triples if triple[side] >= 0]
        c.need(sorted(shown) == list(range(start, end + 1)), where, "does not have every row once")
        for triple in triples:
            if triple[side] == -1:
                c.need(triple[2] in (absent, MOVED), where, f"{triple} lacks a row")
