"""Errors as data that the editor underlines: message, place, notes and remedies."""

from __future__ import annotations

from typing import Any

from ..ir.errors import RelayError
from ..ir.span import Span

MAX_MESSAGE = 2_000  # characters: a type of a hostile program can be longer than the program
MAX_NOTES = 12


def problem(error: BaseException, source: str) -> dict[str, Any]:
    """Return an error as data. Places are kept where they are in the text named `source`."""
    if isinstance(error, RelayError):
        return {
            "message": _cut(error.message),
            "place": _place(error.span, source),
            "notes": [
                {"message": _cut(note.message), "place": _place(note.span, source)}
                for note in error.notes[:MAX_NOTES]
            ],
            "help": [_cut(text) for text in error.help[:MAX_NOTES]],
        }
    message, help = _of_python(error)
    return {"message": _cut(message), "place": None, "notes": [], "help": help}


def _of_python(error: BaseException) -> tuple[str, list[str]]:
    """Describe an error that the program did not cause, or not alone."""
    if isinstance(error, MemoryError):
        return "the memory of the page is used up", ["make the program, or its tensors, smaller"]
    if isinstance(error, RecursionError):
        return "the program is nested too deeply to be shown in a page", ["bind inner expressions with let"]
    if isinstance(error, ImportError) and error.name:
        return f"this needs {error.name.partition('.')[0]}, which does not run in a page", [
            "use the package in Python, or a notebook"
        ]
    if isinstance(error, (ValueError, TypeError, NotImplementedError, ArithmeticError)) and str(error):
        return str(error), []
    return f"the package failed: {type(error).__name__}: {error}", ["please report this program as a bug"]


def _place(span: Span | None, source: str) -> list[int] | None:
    """Return [line, column, end line, end column], from 1; None for a place outside the text."""
    if span is None or span.source.name != source:
        return None
    return [span.line, span.column, span.end_line, span.end_column]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]} …"
