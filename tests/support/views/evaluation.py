"""Is this an evaluation view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any


def check_evaluation(c: Checker, view: dict[str, Json]) -> None:
    """Every index points somewhere, and the steps replay: frames come and go as on a stack, and nothing is
    spoken of before it appears.
    """
    values = _Values(c, view)
    for number, thing in enumerate(view["objects"]):
        _check_object(c, number, thing, values, len(view["steps"]))
    for number, frame in enumerate(view["frames"]):
        _check_frame(c, number, frame, len(view["steps"]))
    for _name, value in view["args"]:
        values.check(value, "args")
    if view["result"] is not None:
        values.check(view["result"], "result")
    _check_ends(c, view)
    if not c.problems:
        _Replay(c, view, values).run()


class _Values:
    """Values: an object's number, or a text."""

    def __init__(self, c: Checker, view: dict[str, Json]) -> None:
        self.c, self.objects = c, len(view["objects"])

    def check(self, value: Json, where: str) -> None:
        fits = type(value) is int and -self.c.strings <= value < self.objects
        self.c.need(fits, where, f"{value!r} is not a value")


def _check_object(c: Checker, number: int, thing: Sequence[Json], values: _Values, steps: int) -> None:
    where = f"object {number}"
    if len(thing) != 9:
        c.need(False, where, "must have nine parts")
        return
    _kind, _label, _text, _type, parts, _row, step, last, _size = thing
    for _name, value, _role in parts:
        values.check(value, f"{where}: part")
    c.need(type(last) is int and step <= last <= steps, where, f"is of use until {last}, from {step}")


def _check_frame(c: Checker, number: int, frame: Sequence[Json], steps: int) -> None:
    where = f"frame {number}"
    if len(frame) != 9:
        c.need(False, where, "must have nine parts")
        return
    _name, _first, _last, _caller, _call_row, _before, _turn, entered, left = frame
    c.need(type(left) is int and entered <= left < steps, where, f"lives from {entered} to {left}")


def _check_ends(c: Checker, view: dict[str, Json]) -> None:
    failure = view["failure"]
    totals = ["steps", "calls", "tail calls", "deepest", "objects"]
    c.need(list(view["totals"]) == totals, "totals", "must name the five counts")
    if failure is not None:
        c.need(view["result"] is None, "failure", "has a result")


class _Replay:
    """Applies the changes of all steps."""

    def __init__(self, c: Checker, view: dict[str, Json], values: _Values) -> None:
        self.c, self.view, self.values = c, view, values
        self.stack: list[int] = []
        self.seen: set[int] = set()
        self.entered: set[int] = set()
        self.where = ""

    def run(self) -> None:
        kinds: dict[str, Callable[..., None]] = {
            "o": self.appears, "f": self.called, "g": self.replaced, "r": self.left, "b": self.bound,
            "e": self.bound, "k": self.taken, "m": self.opened, "w": self.written, "x": self.stack.clear,
        }  # fmt: skip
        for number, step in enumerate(self.view["steps"]):
            self.where = f"step {number}"
            for kind, *rest in step[5]:
                if kind not in kinds:
                    self.c.need(False, self.where, f"unknown change {kind!r}")
                    return
                try:
                    kinds[kind](*rest)
                except TypeError:
                    self.c.need(False, self.where, f"a change {kind!r} with {len(rest)} parts")
                    return

    def need(self, holds: object, what: str) -> None:
        self.c.need(holds, self.where, what)

    def known(self, value: int) -> None:
        self.values.check(value, self.where)
        self.need(value < 0 or value in self.seen, f"object {value} has not appeared")

    def appears(self, thing: int) -> None:
        self.c.index(thing, self.values.objects, self.where)
        self.need(thing not in self.seen, f"object {thing} appears again")
        self.seen.add(thing)

    def called(self, frame: int) -> None:
        self.c.index(frame, len(self.view["frames"]), self.where)
        self.stack.append(frame)
        self.entered.add(frame)

    def replaced(self, frame: int) -> None:
        self.need(self.stack, "no frame whose place could be taken")
        if self.stack:
            before = self.stack.pop()
            self.need(self.view["frames"][frame][5] == before, f"frame {frame} takes another's place")
        self.called(frame)

    def left(self, frame: int) -> None:
        self.need(self.stack and self.stack.pop() == frame, f"frame {frame} is not the top one")

    def bound(self, frame: int, name: int, value: int) -> None:
        self.need(frame in self.entered, f"frame {frame} has not been entered")
        self.c.index(name, len(self.view["names"]), self.where)
        self.known(value)

    def taken(self, frame: int, row: int) -> None:
        self.need(frame in self.stack, f"frame {frame} is not on the stack")
        self.c.index(row, self.c.rows, self.where)

    def opened(self, *things: int) -> None:
        for thing in things:
            self.need(thing in self.seen, f"object {thing} has not appeared")

    def written(self, thing: int, value: int) -> None:
        self.need(thing in self.seen and self.view["objects"][thing][0] == 3, f"{thing} is not a cell")
        self.known(value)
