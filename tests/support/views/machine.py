"""Is this a machine view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any
MARKS, KINDS = 13, 6
TOTALS = ["steps", "calls", "tail calls", "deepest", "kernels", "storage"]


def check_machine(c: Checker, view: dict[str, Json]) -> None:
    """Every index points somewhere, and the steps replay: frames come and go as on a stack, nothing is spoken
    of before it appears or after it has gone, and storage holds one thing that is in use at a time.
    """
    steps = len(view["steps"])
    for number, function in enumerate(view["functions"]):
        _check_function(c, f"function {number}", function)
    for number, (_name, _text, host) in enumerate(view["kernels"]):
        c.need(host in (0, 1), f"kernel {number}", "runs somewhere else")
    for number, thing in enumerate(view["objects"]):
        _check_object(c, view, number, thing)
    for number, (_function, _caller, at, _before, turn, entered, left) in enumerate(view["frames"]):
        where = f"frame {number}"
        c.need(at >= -1 and turn >= 0 and 0 <= entered <= left < steps, where, "lives at no time")
    for number, (_mark, frame, at, following, _say, _because, _) in enumerate(view["steps"]):
        where = f"step {number}"
        code = len(view["functions"][view["frames"][frame][0]][4])
        for instruction in (at, following):
            c.index(instruction, code, f"{where}: instruction", none=True)
    _check_ends(c, view)
    if not c.problems:
        _Replay(c, view).run()
    if view["plan"] is not None:
        from tests.support.views.check import check

        for problem in check(view["plan"]):
            c.need(False, "plan", problem)


def _check_function(c: Checker, where: str, function: Json) -> None:
    _name, _row, names, registers, code = function
    c.need(len(names) <= registers, where, "has more names than registers")
    for number, (_text, _remark, _rows, _reads, _writes, runs) in enumerate(code):
        line = f"{where}: instruction {number}"
        c.need(runs >= -1, line, "ran less than never")


def _check_object(c: Checker, view: dict[str, Json], number: int, thing: Json) -> None:
    where, steps = f"object {number}", len(view["steps"])
    _kind, _label, _size, storage, given, made, last, freed = thing
    c.need(not 0 <= storage < number or view["objects"][storage][0] == 0, where, "lies in no storage")
    c.need(given in (0, 1), where, "comes from nowhere")
    c.need(0 <= made <= last < steps and last <= freed <= steps, where, f"lives {made}, {last}, {freed}")


def _check_ends(c: Checker, view: dict[str, Json]) -> None:
    c.need(list(view["totals"]) == TOTALS, "totals", "must name the six counts")
    c.need((view["plan"] is None) == bool(view["without"]), "plan", "is there and is not")


class _Replay:
    """Applies the changes of all steps."""

    def __init__(self, c: Checker, view: dict[str, Json]) -> None:
        self.c, self.view = c, view
        self.stack: list[int] = []
        self.seen: set[int] = set()
        self.gone: set[int] = set()
        self.where = ""

    def run(self) -> None:
        kinds: dict[str, Callable[..., None]] = {
            "o": self.appears, "t": self.filled, "d": self.goes, "f": self.called, "g": self.replaced,
            "r": self.left, "w": self.written, "x": self.stack.clear,
        }  # fmt: skip
        for number, step in enumerate(self.view["steps"]):
            self.where = f"step {number}"
            for kind, *rest in step[6]:
                if kind not in kinds:
                    self.need(False, f"unknown change {kind!r}")
                    return
                kinds[kind](*rest)
            if self.stack and step[0] != 12:
                self.need(self.stack[-1] == step[1], f"frame {step[1]} goes on, and is not the top one")

    def need(self, holds: object, what: str) -> None:
        self.c.need(holds, self.where, what)

    def appears(self, thing: int, text: int) -> None:
        self.c.index(thing, len(self.view["objects"]), self.where)
        self.c.text(text, self.where)
        self.need(thing not in self.seen, f"object {thing} appears again")
        self.seen.add(thing)

    def filled(self, thing: int, text: int) -> None:
        self.c.text(text, self.where)
        self.need(thing in self.seen - self.gone, f"object {thing} is filled, and is not there")

    def goes(self, thing: int) -> None:
        self.need(thing in self.seen - self.gone, f"object {thing} goes, and is not there")
        self.gone.add(thing)

    def called(self, frame: int) -> None:
        self.c.index(frame, len(self.view["frames"]), self.where)
        self.stack.append(frame)

    def replaced(self, frame: int) -> None:
        self.need(self.stack, "no frame whose place could be taken")
        before = self.stack.pop() if self.stack else -1
        self.need(self.view["frames"][frame][3] == before, f"frame {frame} takes another's place")
        self.called(frame)

    def left(self, frame: int) -> None:
        self.need(self.stack and self.stack.pop() == frame, f"frame {frame} is not the top one")

    def written(self, frame: int, register: int, value: int) -> None:
        self.need(frame in self.stack, f"frame {frame} is not on the stack")
        count = self.view["functions"][self.view["frames"][frame][0]][3]
        self.c.index(register, count, f"{self.where}: register")
        if value < 0:
            self.c.index(-1 - value, self.c.strings, f"{self.where}: value")
        else:
            self.need(value in self.seen - self.gone, f"object {value} is written, and is not there")
