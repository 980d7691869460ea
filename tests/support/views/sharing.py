"""Is this a sharing view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any


def check_sharing(c: Checker, view: dict[str, Json]) -> None:
    """The forms' rows follow one another, and lives lie within the steps."""
    c.need(len(view["forms"]) == 3, "forms", "must be three")
    at = 0
    for number, form in enumerate(view["forms"]):
        where = f"form {number}"
        first, last = form["rows"]
        if first == -1:
            c.need(last == -1 and not (form["items"] or form["steps"]), where, "has no rows, but items")
            continue
        c.need(first == at and first <= last < c.rows, where, f"its rows {first} to {last} do not follow")
        at = last + 1
        _check_form(c, where, form, len(view["keys"]))
    c.need(at == c.rows, "forms", "do not have all the rows")


def _check_form(c: Checker, where: str, form: dict[str, Json], keys: int) -> None:
    steps, (first, last) = form["steps"], form["rows"]
    for item in form["items"]:
        _check_item(c, where, item, keys, steps)
        c.need(item[1] == -1 or first <= item[1] <= last, where, f"row {item[1]} is another form's")
    c.need(len(form["live"]) == steps, where, f"{len(form['live'])} amounts of {steps} steps")
    _step, most = form["peak"]
    c.need(most == max(form["live"], default=0), where, f"its peak is not {most}")
    c.need(form["total"] >= steps, where, f"has {steps} steps of {form['total']}")


def _check_item(c: Checker, where: str, item: Sequence[Json], keys: int, steps: int) -> None:
    _key, _, _runs, _size, lives = item
    c.need(len(lives) % 2 == 0 and len(lives) <= 400, where, "lives must come in pairs, at most 200")
    for made, until in zip(lives[::2], lives[1::2]):
        c.need(0 <= made <= until < steps, where, f"a life from {made} to {until}, of {steps} steps")
