"""Errors that name the place, say what disagrees, and what to try.

Every error that a user's program can cause is a `RelayError`. It holds the parts (message, span, notes,
help) so that a view can draw them, and renders them as text with the line and a caret.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .span import Span

_MAX_LINE_LENGTH = 160  # longer source lines are cut around the caret: some have megabytes


class Note(NamedTuple):
    """A sentence that belongs to an error, and the place it speaks of, if any."""

    message: str
    span: Span | None = None


class RelayError(RuntimeError):
    """A program, or a use of the package, that cannot be accepted.

    `message` is one sentence; `span` the place; `notes` how it was derived; `help` what to try, one entry a
    suggestion.
    """

    def __init__(
        self, message: str, span: Span | None = None, notes: Sequence[Note] = (), help: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.notes = tuple(notes)
        self.help = tuple(help)

    def __str__(self) -> str:
        parts = [_placed(self.message, self.span, "error")]
        parts += [_placed(note.message, note.span, "note") for note in self.notes]
        parts += [f"help: {text}" for text in self.help]
        return "\n".join(parts)


class ParseError(RelayError):
    """Text that is not a Relay program."""


class TypeInferenceError(RelayError):
    """A program whose types disagree, or cannot all be found."""


class AttributeSchemaError(RelayError):
    """An operator given an attribute that it does not have, or a value of the wrong kind."""


class UnknownOperatorError(RelayError):
    """An operator name that nothing defines."""


class ModuleError(RelayError):
    """A module asked for something that it does not hold, or told to hold a name twice."""


class PassError(RelayError):
    """A pass of the package went wrong: its own fault, not the program's. The error that it ended with is the
    cause.
    """


class PassOptionError(RelayError, TypeError):
    """A pass given an option that it does not have, or a value that the option cannot have."""


def _placed(message: str, span: Span | None, word: str) -> str:
    if span is None:
        return f"{word}: {message}"
    return f"{span}: {word}: {message}\n{_excerpt(span)}"


def _excerpt(span: Span) -> str:
    """Return the line of `span` with carets under it."""
    text = span.source.line(span.line)
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(text)
    lead = ""
    if len(text) > _MAX_LINE_LENGTH:
        cut = max(0, start - _MAX_LINE_LENGTH // 2)
        lead = "…" if cut else ""
        text, start, end = text[cut : cut + _MAX_LINE_LENGTH], start - cut, end - cut
    shown = "".join(
        [c if c.isprintable() else " " for c in text]
    )  # one column each, and nothing a terminal obeys
    carets = "^" * max(1, min(end, len(shown)) - start)
    gutter = f"{span.line:>4} | "
    return f"{gutter}{lead}{shown}\n{' ' * (len(gutter) - 2)}| {' ' * (len(lead) + start)}{carets}"
