"""Is this a pipeline view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import Checker

Json = Any
KEPT, REWRITTEN, ADDED, REMOVED, MOVED = range(5)


def check_pipeline(c: Checker, view: dict[str, Json]) -> None:
    """Stages follow one another in their pipelines; `align` has every row of both its stages once."""
    stages = view["stages"]
    c.need(bool(stages) and stages[0]["before"] == -1, "stages", "the first must have none before it")
    for number, stage in enumerate(stages):
        _check_stage(c, f"stage {number}", stage, number, stages)
    count = len(view["items"])
    for number, (stage, row, label, came, mark, flops, size) in enumerate(view["items"]):
        where = f"item {number}"
        c.index(stage, len(stages), f"{where}: stage")
        c.index(row, c.rows, f"{where}: row", none=True)
        c.text(label, where)
        c.index(mark, 3, f"{where}: mark")
        c.need(all(0 <= source < number for source in came), where, "came from something after it")
        c.need(stage == 0 or (mark == ADDED) == (not came), where, "is added if it came from nothing")
        c.count(flops, f"{where}: flops")
        c.count(size, f"{where}: bytes")
        first, last = stages[stage]["rows"]
        c.need(row == -1 or first <= row <= last, where, f"row {row} is another stage's")
    for stage in stages:
        for item in stage["gone"]:
            c.index(item, count, "gone")
    c.need(1 <= len(view["pipelines"]) <= 2, "pipelines", "must be one or two")
    for name, numbers in view["pipelines"]:
        c.text(name, "pipeline")
        c.need(numbers[:1] == [0], "pipeline", "must begin with stage 0")
        for before, number in pairwise(numbers):
            c.need(stages[number]["before"] == before, "pipeline", f"stage {number} does not follow {before}")


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
    triples = list(zip(stage["align"][::3], stage["align"][1::3], stage["align"][2::3], strict=True))
    for side, (start, end), absent in ((0, before, ADDED), (1, (first, last), REMOVED)):
        shown = [triple[side] for triple in triples if triple[side] >= 0]
        c.need(sorted(shown) == list(range(start, end + 1)), where, "does not have every row once")
        for triple in triples:
            if triple[side] == -1:
                c.need(triple[2] in (absent, MOVED), where, f"{triple} lacks a row")
