"""Errors that point at the source location, say what disagrees, and suggest what to try.

Every error that a user's program can cause is a `RelayError`. It keeps its parts (message, span, notes, help)
separate so that a view can draw them, and renders them as text with the source line and carets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .span import Span

_MAX_LINE_LENGTH = 160  # longer source lines are truncated around the caret: some have megabytes


class Note(NamedTuple):
    """A sentence that explains an error, and the source location that it refers to, if any."""

    message: str
    span: Span | None = None


class RelayError(RuntimeError):
    """An invalid program, or an invalid use of the package.

    `message` is one sentence; `span` the source location; `notes` the derivation of the error; `help`
    suggestions of what to try, one per entry.
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
    """The text is not a Relay program."""


class TypeInferenceError(RelayError):
    """The types of a program disagree, or cannot all be inferred."""


class AttributeSchemaError(RelayError):
    """A call gives an operator an attribute that it does not have, or a value of the wrong kind."""


class UnknownOperatorError(RelayError):
    """No operator has the given name."""


class ModuleError(RelayError):
    """A module does not define a name that was looked up, or defines a name already."""


class PassError(RelayError):
    """A pass of the package failed: a bug of the pass, not of the program. The original error is its
    cause.
    """


class PassOptionError(RelayError, TypeError):
    """A pass was given an option that it does not have, or a value that is invalid for the option."""


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
    )  # one column per character, without control characters
    carets = "^" * max(1, min(end, len(shown)) - start)
    gutter = f"{span.line:>4} | "
    return f"{gutter}{lead}{shown}\n{' ' * (len(gutter) - 2)}| {' ' * (len(lead) + start)}{carets}"
