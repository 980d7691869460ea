"""Is this a view of a partial evaluation? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any
_MARKS = 13


def check_partial(c: Checker, view: dict[str, Json]) -> None:
    """Rows stand on their own side; steps speak of the program, and what they bind is in the residual one."""
    split, steps = view["split"], len(view["steps"])
    c.index(split, c.rows + 1, "split")
    for row, name in view["items"]:
        c.index(row, c.rows, "item: row")
        c.text(name, "item: name")
    residual = view["residual"]
    c.need(len(residual) == 3 * (c.rows - split), "residual", "must have three numbers for each of its rows")
    for at in range(0, len(residual) - 2, 3):
        where = f"residual row {at // 3}"
        born, source, needed = residual[at : at + 3]
        c.index(born, steps, f"{where}: born")
        c.index(source, split, f"{where}: source", none=True)
        c.need(needed in (0, 1), where, "needed must be 0 or 1")
    for number, frame in enumerate(view["frames"]):
        _check_frame(c, number, frame, split, steps)
    for number, step in enumerate(view["steps"]):
        _check_step(c, f"step {number}", step, split, len(view["frames"]))
    for name, total in view["totals"].items():
        c.count(total, f"totals: {name}")
    c.index(view["start"], steps, "start")
    if view["gap"] is not None:
        c.index(view["gap"][0], steps, "gap: step")
        c.count(view["gap"][1], "gap: count")


def _check_frame(c: Checker, number: int, frame: Sequence[Json], split: int, steps: int) -> None:
    where = f"frame {number}"
    name, first, last, caller, call, turn, begins, ends = frame
    c.text(name, where)
    for row in (first, last, call):
        c.index(row, split, f"{where}: row", none=True)
    c.index(caller, number, f"{where}: caller", none=True)
    c.count(turn, f"{where}: turn")
    c.index(begins, steps, f"{where}: first step")
    c.need(begins <= ends < steps, where, "ends before it begins, or never")


def _check_step(c: Checker, where: str, step: Sequence[Json], split: int, frames: int) -> None:
    mark, row, frame, say, block, changes = step
    c.index(mark, _MARKS, f"{where}: mark")
    c.index(row, split, f"{where}: row", none=True)
    c.index(frame, frames, f"{where}: frame")
    c.sentence(say, where)
    c.index(block, split, f"{where}: block", none=True)
    for change in changes:
        if change[0] == "b":
            _, owner, at, state, text, other = change
            c.index(owner, frames, f"{where}: frame of a value")
            c.index(at, split, f"{where}: row of a value")
            c.index(state, 4, f"{where}: state")
            c.text(text, where)
            c.need(
                other == -1 or split <= other < c.rows, where, f"{other} is no row of the residual program"
            )
        else:
            c.need(change[0] == "c" and len(change) % 2 == 1, where, f"unknown change {change!r}")
            for text in change[1:]:
                c.text(text, where)
