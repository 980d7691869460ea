"""Group the recorded events of inference into steps, each with its causes.

A step groups events that a reader sees as one action: an expression receives its type and its relation is
queued; two types are unified, with the consequences; a relation is run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..ir.adt import Constructor
from ..ir.expr import Expr, Let, Var
from ..ir.span import Span
from ..ir.substitute import parts_of, with_parts
from ..ir.types import TensorType, Type
from .events import (
    Annotated,
    Bound,
    Ended,
    FunctionEntered,
    InferenceEvent,
    Merged,
    Moved,
    Named,
    Queued,
    Refused,
    Started,
    Typed,
    Unifying,
)
from .narrate import Sentence, cause
from .solver import operand_exprs
from .variables import InferenceVariable

Opening = FunctionEntered | Typed | Started | Unifying | Refused | Annotated


@dataclass
class Step:
    """One step. `main` is the event that opens it, `events` are all its events, `because` the earlier steps
    whose results it used.
    """

    index: int
    main: Opening
    events: list[InferenceEvent]
    because: list[int] = field(default_factory=list)

    @property
    def refused(self) -> Refused | None:
        last = self.events[-1]
        return last if isinstance(last, Refused) else None

    @property
    def bound(self) -> list[Bound]:
        return [e for e in self.events if isinstance(e, Bound)]

    @property
    def merged(self) -> list[Merged]:
        return [e for e in self.events if isinstance(e, Merged)]

    @property
    def moved(self) -> list[Moved]:
        return [e for e in self.events if isinstance(e, Moved)]

    @property
    def done(self) -> bool:
        """For the run of a relation: whether the relation is solved."""
        return any(isinstance(e, Ended) and e.done for e in self.events)

    @property
    def postponed(self) -> bool:
        """For the run of a relation: whether it ended because another one is about to compute an operand."""
        return any(isinstance(e, Ended) and e.postponed for e in self.events)


class Link(NamedTuple):
    """One link of the chain that led to a type: the step, its sentence, and its source location."""

    step: int
    sentence: Sentence
    span: Span | None
    expr: Expr | None


class History:
    """The steps of a recording, and the types known after each."""

    def __init__(self, events: list[InferenceEvent]) -> None:
        self.steps: list[Step] = []
        self.typed: dict[Expr, tuple[int, Type]] = {}
        self.named: dict[Expr, Expr] = {}  # maps a variable to the value that a `let` binds to it
        self.parent: dict[int, int] = {}
        self.known: dict[int, Type] = {}  # maps a root to the known type of its class
        self.since: dict[int, int] = {}  # maps a root to the step in which that became known
        for event in events:
            self.add(event)

    # -- replaying

    def add(self, event: InferenceEvent) -> None:
        """Replay one more event."""
        if (
            isinstance(event, (Named, Bound, Merged, Moved, Ended))
            or (isinstance(event, Queued) and self._belongs(event))
            or (
                isinstance(event, Refused)
                and self.steps
                and isinstance(self.steps[-1].main, (Started, Unifying))
                and not self._ended()
            )
        ):
            self.steps[-1].events.append(event)
        elif isinstance(event, Queued):
            self.steps.append(
                Step(len(self.steps), Typed(event.relation.call, event.relation.args[-1]), [event])
            )
        else:
            assert isinstance(event, Opening)
            step = Step(len(self.steps), event, [event])
            step.because = self._causes(event)
            self.steps.append(step)
        self._apply(event, len(self.steps) - 1)

    def _belongs(self, event: Queued) -> bool:
        main = self.steps[-1].main if self.steps else None
        return isinstance(main, Typed) and main.expr is event.relation.call

    def _ended(self) -> bool:
        return isinstance(self.steps[-1].events[-1], Ended)

    def _apply(self, event: InferenceEvent, step: int) -> None:
        if isinstance(event, Typed):
            self.typed.setdefault(event.expr, (step, event.type))
        elif isinstance(event, Named):
            self.named[event.var] = event.value
        elif isinstance(event, Merged):
            self.parent[event.loser] = event.winner
            type_ = self.known.pop(event.loser, None)
            since = self.since.pop(event.loser, None)
            if type_ is not None and since is not None and event.winner not in self.known:
                self.known[event.winner], self.since[event.winner] = type_, since
        elif isinstance(event, Bound):
            self.known[event.root] = event.type
            self.since.setdefault(event.root, step)

    def root(self, number: int) -> int:
        """Return the root of a variable's class, as of the last event replayed."""
        while number in self.parent:
            number = self.parent[number]
        return number

    def resolve(self, type_: Type, depth: int = 0) -> Type:
        """Return `type_` with every variable solved so far replaced by its type."""
        if isinstance(type_, InferenceVariable):
            solution = self.known.get(self.root(type_.number))
            return type_ if solution is None else self.resolve(solution, depth + 1)
        if isinstance(type_, TensorType) or depth > 128:
            return type_
        parts = parts_of(type_)
        return with_parts(type_, [self.resolve(p, depth + 1) for p in parts]) if parts else type_

    # -- causes

    def value_of(self, expr: Expr | None) -> Expr | None:
        """Return the expression that determines the type of `expr`: the body of a `let`, the value of its
        variable.
        """
        while expr is not None:
            if isinstance(expr, Let):
                expr = expr.body
            elif expr in self.named:
                expr = self.named[expr]
            else:
                break
        return expr

    def origin(self, type_: Type | None, expr: Expr | None) -> int | None:
        """Return the step in which the type of `expr` became known; None if it did not, or needs no cause."""
        if isinstance(type_, InferenceVariable):
            return self.since.get(self.root(type_.number))
        expr = self.value_of(expr)
        entry = self.typed.get(expr) if expr is not None else None
        return None if entry is None else entry[0]

    def _causes(self, event: InferenceEvent) -> list[int]:
        pairs: list[tuple[Type | None, Expr | None]] = []
        if isinstance(event, Started):
            constraint = event.relation
            exprs = operand_exprs(constraint.call)
            for position, type_ in enumerate(constraint.args):
                pairs.append((type_, exprs[position] if position < len(exprs) else None))
        elif isinstance(event, Unifying):
            pairs = [(event.left, event.reason.left), (event.right, event.reason.right)]
        elif isinstance(event, Refused):
            pairs = [(event.left, event.left_expr), (event.right, event.right_expr)]
        origins = [self.origin(t, e) for t, e in pairs]
        return list(dict.fromkeys(i for i in origins if i is not None))

    def chain(self, expr: Expr, longest: int) -> list[Link]:
        """Return how the type of `expr` became known: the latest step first, then the steps that it used,
        those of earlier operands first.
        """
        entry = self.typed.get(self.value_of(expr) or expr)
        if entry is None:
            return []
        start = self.origin(entry[1], expr)
        pending = [start if start is not None else entry[0]]
        links: list[Link] = []
        visited: set[int] = set()
        while pending and len(links) < longest:
            index = pending.pop()
            if index in visited:
                continue
            visited.add(index)
            step = self.steps[index]
            sentence = cause(step.main, self.resolve)
            place = step_expr(step)
            if sentence is not None:
                declared = _declaration(step) or place
                links.append(Link(index, sentence, declared.span if declared is not None else None, place))
            pending.extend(reversed(step.because))
        return links


def _declaration(step: Step) -> Expr | None:
    """Return the constructor whose declaration determined the type of a pattern's variable, if it has a
    source location.
    """
    reason = step.main.reason if isinstance(step.main, Unifying) else None
    constructor = reason.left if reason is not None and reason.kind == "pattern" else None
    return constructor if isinstance(constructor, Constructor) and constructor.span is not None else None


def step_expr(step: Step) -> Expr | None:
    """Return the expression that a step is about."""
    main = step.main
    if isinstance(main, Typed):
        return main.expr
    if isinstance(main, Started):
        return main.relation.call
    if isinstance(main, Unifying):
        at = main.reason.at
        right = main.reason.right
        return right if main.reason.kind in ("clause", "pattern") and isinstance(right, Var) else at
    if isinstance(main, Refused):
        return main.at
    if isinstance(main, FunctionEntered):
        return main.function
    return None
