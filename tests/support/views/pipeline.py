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
    len(view["items"])
    for number, (stage, row, _label, came, mark, _flops, _size, *place) in enumerate(view["items"]):
        where = f"item {number}"
        c.need(all(0 <= source < number for source in came), where, "came from something after it")
        c.need(stage == 0 or (mark == ADDED) == (not came), where, "is added if it came from nothing")
        _check_place(c, where, stage, view["items"], *place)
        first, last = stages[stage]["rows"]
        c.need(row == -1 or first <= row <= last, where, f"row {row} is another stage's")
    for stage in stages:
        for rewrite in stage["rewrites"]:
            _check_rewrite(c, f"{strings[stage['name']]}, a rewrite", rewrite, stage, stages, view["items"])
        c.need(stage["told"] >= len(stage["rewrites"]), "told", "are fewer than there are")
    c.need(1 <= len(view["pipelines"]) <= 2, "pipelines", "must be one or two")
    for _name, numbers in view["pipelines"]:
        c.need(numbers[:1] == [0], "pipeline", "must begin with stage 0")
        for before, number in pairwise(numbers):
            c.need(stages[number]["before"] == before, "pipeline", f"stage {number} does not follow {before}")
    ends = view["ends"]
    c.need((ends is None) == (len(view["pipelines"]) == 1), "ends", "are there where two pipelines are")
    if ends is not None:
        for side, (_name, numbers) in zip(("a", "b"), view["pipelines"], strict=True):
            first, last = stages[numbers[-1]]["rows"]
            c.need(len(ends[side]["program"]["rows"]) == last - first + 1, "ends", f"{side} is not the end")


def _check_place(
    c: Checker, where: str, stage: int, items: list[Json], part: int, operands: list[int], kernel: int
) -> None:
    for operand in (*operands, *([kernel] if kernel >= 0 else [])):
        c.need(items[operand][0] == stage, where, "is computed from another stage's")


def _check_rewrite(
    c: Checker, where: str, rewrite: Json, stage: Json, stages: list[Json], items: list[Json]
) -> None:
    _rule, _name, _path, _line, before, after, _was, _how, _became = rewrite
    for side, rows in ((before, stages[stage["before"]]["rows"]), (after, stage["rows"])):
        for item in side:
            c.need(items[item][1] == -1 or rows[0] <= items[item][1] <= rows[1], where, "is of another stage")


def _check_stage(c: Checker, where: str, stage: dict[str, Json], number: int, stages: list[Json]) -> None:
    first, last = stage["rows"]
    c.need(0 <= first <= last + 1 <= c.rows, where, f"its rows are {first} to {last}")
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
