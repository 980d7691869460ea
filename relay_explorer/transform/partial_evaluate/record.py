"""The events of a partial evaluation: what the evaluator did with each expression, in order, and why.

A recording is bounded: the first `limit` events are stored and the others only counted; the last one,
`Finished`, is always stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.adt import Match
from ...ir.expr import Call, Expr, Function, If, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.recorder import Event, Recorder
from .values import Known, Measure, StaticFunction, StaticRef, Store, progress

LIMIT = 2_000
MAX_CELLS = 60  # cells whose contents are stored with an event
Cells = tuple[tuple[StaticRef, Known], ...]


@dataclass(eq=False)
class Frame:
    """One evaluation of a function on partially static arguments. `call` is the call that is evaluated; None
    for the function of the module, and for one whose code is generated for the residual program. `turn`
    counts the calls of the same function around this one that are being inlined.
    """

    number: int
    static: StaticFunction
    itself: Known
    args: tuple[Known, ...]
    call: Call | None
    caller: Frame | None
    turn: int
    first: int
    last: int = -1


@dataclass(frozen=True, slots=True)
class PartialEvaluationEvent(Event):
    """A step of the evaluator at `at`, an expression of the program in A-normal form. `known` is what is
    known about its value, `made` are the variables of the residual program that were bound since the previous
    event, and `cells` are the known contents of the cells, if they have changed.
    """

    frame: Frame
    at: Expr
    known: Known | None
    made: tuple[Var, ...]
    cells: Cells | None


@dataclass(frozen=True, slots=True)
class Computed(PartialEvaluationEvent):
    """A call of an operator on static arguments was computed."""

    args: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Built(PartialEvaluationEvent):
    """A tuple, a value of a data type or a function was built: its structure is static, whatever it
    contains.
    """


@dataclass(frozen=True, slots=True)
class Taken(PartialEvaluationEvent):
    """A field of a static tuple, or the known contents of a cell, was taken: nothing is left for run time."""

    source: Known


@dataclass(frozen=True, slots=True)
class Kept(PartialEvaluationEvent):
    """An expression was left in the residual program. `reason` says why: see `Trace.kept`."""

    args: tuple[Known, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Decided(PartialEvaluationEvent):
    """An `if` or `match` on a static value was decided: the evaluation continues with branch `number`;
    `bound` are the variables of the pattern.
    """

    data: Known
    number: int
    bound: tuple[tuple[Var, Known], ...]


@dataclass(frozen=True, slots=True)
class Undecided(PartialEvaluationEvent):
    """An `if` or `match` on a dynamic value stays. `left` are the branches that may be taken."""

    data: Known
    left: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Branch(PartialEvaluationEvent):
    """A branch of the residual program begins."""

    number: int
    bound: tuple[tuple[Var, Known], ...]


@dataclass(frozen=True, slots=True)
class Entered(PartialEvaluationEvent):
    """A function is evaluated in place of its call, or its code is generated for the variable `asked` of the
    residual program. The arguments in `smaller` have decreased since the call around it; -1 is the function
    itself.
    """

    smaller: tuple[int, ...]
    asked: Var | None


@dataclass(frozen=True, slots=True)
class Returned(PartialEvaluationEvent):
    """The evaluation of a function has returned; `left` is its frame."""

    left: Frame


@dataclass(frozen=True, slots=True)
class Finished(PartialEvaluationEvent):
    """The residual program is complete."""


class Trace:
    """Emits the events of one evaluator, and tracks their context: the current function, the variables bound
    since the last event, and whether cells have changed. `inlined` counts the inlined calls.
    """

    def __init__(self, recorder: Recorder[PartialEvaluationEvent], store: Store) -> None:
        self.recorder = recorder
        self.store = store
        self.inlined = 0
        self.total = 0
        self.frames = 0
        self.now: Frame | None = None
        self.made: list[Var] = []
        self.turns: dict[int, int] = {}
        self.version = 0

    def pushed(self, var: Var) -> None:
        """Record that the residual program binds `var`."""
        self.made.append(var)

    def _add(
        self, kind: type[PartialEvaluationEvent], at: Expr, value: Known | None, *rest: Anything
    ) -> None:
        self.total += 1
        if self.recorder.full:
            self.recorder.count(kind)
            return
        assert self.now is not None
        cells: Cells | None = None
        if self.version != self.store.version:
            self.version = self.store.version
            cells = self.store.contents(MAX_CELLS)
        self.recorder.emit(kind(self.now, at, value, tuple(self.made), cells, *rest))
        self.made.clear()

    def computed(self, at: Expr, value: Known, args: Sequence[Known]) -> None:
        self._add(Computed, at, value, tuple(args))

    def built(self, at: Expr, value: Known) -> None:
        self._add(Built, at, value)

    def taken(self, at: Expr, value: Known, source: Known) -> None:
        self._add(Taken, at, value, source)

    def kept(self, at: Expr, value: Known, args: Sequence[Known], reason: str) -> None:
        """Record that an expression was left in the residual program. `reason` is "operator" (an argument is
        dynamic, or the operator cannot be computed at compile time), "field", "cell", "write", "read",
        "function" (the callee is dynamic), "endless" (no argument gets smaller), "size" (the residual program
        is long enough), "branches" or "kernel".
        """
        self._add(Kept, at, value, tuple(args), reason)

    def decided(self, at: If | Match, data: Known, number: int, bound: dict[Var, Known]) -> None:
        self._add(Decided, at, None, data, number, tuple(bound.items()))

    def undecided(self, at: If | Match, data: Known, left: Sequence[int]) -> None:
        self._add(Undecided, at, None, data, tuple(left))

    def branch(self, at: If | Match, number: int, bound: dict[Var, Known]) -> None:
        self._add(Branch, at, None, number, tuple(bound.items()))

    def entered(
        self, static: StaticFunction, itself: Known, args: Sequence[Known], call: Call | None,
        before: Measure, now: Measure,
    ) -> None:  # fmt: skip
        function: Function = static.function
        self.inlined += call is not None
        turn = self.turns.get(id(function), 0)
        self.turns[id(function)] = turn + 1
        frame = Frame(self.frames, static, itself, tuple(args), call, self.now, turn, self.total)
        self.now = frame
        self.frames += not self.recorder.full
        smaller: tuple[int, ...] = ()
        if before is not None and before[0] == now[0] == "fields":
            smaller = tuple(k - 1 for k, (b, n) in enumerate(zip(before[1:], now[1:])) if progress(b, n)[1])
        requested = itself.dynamic if call is None and isinstance(itself.dynamic, Var) else None
        self._add(Entered, call if call is not None else function, None, smaller, requested)

    def returned(self, value: Known) -> None:
        left = self.now
        assert left is not None
        self.turns[id(left.static.function)] -= 1
        left.last = self.total
        self.now = left.caller if left.caller is not None else left
        self._add(Returned, left.call or left.static.function, value, left)

    def finished(self, function: Expr) -> None:
        """Record that the residual program is complete, even if the recorder is full."""
        assert self.now is not None
        cells = self.store.contents(MAX_CELLS) if self.version != self.store.version else None
        event = Finished(self.now, function, None, tuple(self.made), cells)
        if self.recorder.full:
            self.recorder.count(Finished)
            self.recorder.record(event)
        else:
            self.recorder.emit(event)
