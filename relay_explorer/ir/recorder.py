"""Record the events that the compiler and the executors emit.

An algorithm emits *events*: frozen dataclasses, one class per kind of step. A `Recorder` keeps the events of
its kinds, in the order in which they are emitted, while its `with` block runs:

    with Recorder(Rewrite) as recorder:
        simpler = SimplifyExpr()(module)
    for rewrite in recorder.events:
        print(rewrite.name, rewrite.rule)

Without a recorder nothing is recorded, and no event is created. An algorithm looks for one once, at its
start, and compares with None from then on:

    recorder = active(Rewrite)
    ...
    if recorder is not None:
        recorder.emit(Rewrite(...))
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Generic, Self, TypeVar


class Event:
    """One step of an algorithm. Subclasses are dataclasses, frozen and with slots.

    Each algorithm has its own base class (`InferenceEvent`, `EvaluationEvent`, …), which stands for all of
    its events when a recorder is created.
    """

    __slots__ = ()


E = TypeVar("E", bound=Event)


class Recorder(Generic[E]):
    """Keep the events of some kinds that are emitted in the `with` block, in this thread or task.

    A kind is a class of events, including its subclasses. `events` are the first `limit` of them (all, where
    it is None); `counts` and `total` include those that are not kept. Of nested recorders, the innermost one
    for a kind receives the events.

    A subclass may override `record`, to turn each event into something other than an entry of a list, or
    `emit`, to receive every event without counting it.
    """

    def __init__(self, *kinds: type[E], limit: int | None = None) -> None:
        self.kinds = kinds
        self.limit = limit
        self.events: list[E] = []
        self.counts: dict[type[E], int] = {}
        self._tokens: list[Token[tuple[_Entry, ...]]] = []

    def __enter__(self) -> Self:
        self._tokens.append(_ENTRIES.set(((self.kinds, self), *_ENTRIES.get())))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _ENTRIES.reset(self._tokens.pop())

    @property
    def total(self) -> int:
        """The number of events emitted."""
        return sum(self.counts.values())

    @property
    def full(self) -> bool:
        """Whether further events are only counted. An algorithm need not compute what is costly for such an
        event.
        """
        return self.limit is not None and len(self.events) >= self.limit

    def count(self, kind: type[E]) -> None:
        """Count an event that was not created because the recorder is full."""
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def emit(self, event: E) -> None:
        """Receive an event: count it, and record it unless the recorder is full."""
        kind = event.__class__
        if isinstance(event, self.kinds):
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if self.limit is None or len(self.events) < self.limit:
                self.record(event)

    def record(self, event: E) -> None:
        """Append an event to the list."""
        self.events.append(event)


_Entry = tuple[tuple[type[Event], ...], "Recorder[Any] | None"]
_ENTRIES: ContextVar[tuple[_Entry, ...]] = ContextVar("recorders", default=())  # the innermost first


def active(kind: type[E]) -> Recorder[E] | None:
    """Return the innermost recorder that takes events of a kind or of a subclass of it, or None."""
    for kinds, recorder in _ENTRIES.get():
        for requested in kinds:
            if issubclass(kind, requested) or issubclass(requested, kind):
                return recorder
    return None


@contextmanager
def unrecorded(*kinds: type[Event]) -> Iterator[None]:
    """Hide the recorders of some kinds in the `with` block, for an algorithm that runs itself internally."""
    token = _ENTRIES.set(((kinds, None), *_ENTRIES.get()))
    try:
        yield
    finally:
        _ENTRIES.reset(token)
