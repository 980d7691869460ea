"""Explain why a program is rejected: the two types that disagree, and the steps that inferred each."""

from __future__ import annotations

from ..ir.errors import Note, TypeInferenceError
from ..ir.expr import Expr
from ..ir.types import Type
from .events import InferenceEvent, Refused
from .history import History
from .narrate import plain, refusal

MAX_CHAIN_LENGTH = 6


def explain(event: Refused, events: list[InferenceEvent]) -> TypeInferenceError:
    """Explain the failure `event`, the last of `events`."""
    history = History(events)
    sentence, help_ = refusal(event)
    notes: list[Note] = []
    for type_, expr in ((event.left, event.left_expr), (event.right, event.right_expr)):
        notes += _how_known(history, type_, expr, {n.message for n in notes})
    span = event.at.span if event.at is not None else None
    return TypeInferenceError(plain(sentence), span, notes, help_)


def _how_known(history: History, type_: Type | None, expr: Expr | None, reported: set[str]) -> list[Note]:
    """Return the chain of steps that gave `expr` its type, the latest first."""
    if expr is None or type_ is None:
        return []
    notes = []
    for link in history.chain(expr, MAX_CHAIN_LENGTH):
        text = plain(link.sentence)
        if text not in reported:
            notes.append(Note(text, link.span))
    return notes
