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
    residual = view["residual"]
    c.need(len(residual) == 3 * (c.rows - split), "residual", "must have three numbers for each of its rows")
    for at in range(0, len(residual) - 2, 3):
        where = f"residual row {at // 3}"
        _born, _source, needed = residual[at : at + 3]
        c.need(needed in (0, 1), where, "needed must be 0 or 1")
    for number, frame in enumerate(view["frames"]):
        _check_frame(c, number, frame, split, steps)
    for number, step in enumerate(view["steps"]):
        _check_step(c, f"step {number}", step, split, len(view["frames"]))


def _check_frame(c: Checker, number: int, frame: Sequence[Json], split: int, steps: int) -> None:
    where = f"frame {number}"
    _name, _first, _last, _caller, _call, _turn, begins, ends = frame
    c.need(begins <= ends < steps, where, "ends before it begins, or never")


def _check_step(c: Checker, where: str, step: Sequence[Json], split: int, frames: int) -> None:
    _mark, _row, _frame, _say, _block, changes = step
    for change in changes:
        if change[0] == "b":
            _, _owner, _at, _state, _text, other = change
            c.need(
                other == -1 or split <= other < c.rows, where, f"{other} is not a row of the residual program"
            )
        else:
            c.need(change[0] == "c" and len(change) % 2 == 1, where, f"unknown change {change!r}")
