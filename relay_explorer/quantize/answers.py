"""Ask a scheme, and say which decision of which scheme failed, and about what, where it raises an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..ir.errors import Note, RelayError
from ..ir.span import Span

if TYPE_CHECKING:
    from .scheme import Scheme

# A method that is not written yet, and limits of the machine, say what is wrong themselves.
_UNCHANGED = (NotImplementedError, RecursionError, MemoryError)


@contextmanager
def asking(scheme: Scheme, method: str, about: str, span: Span | None = None) -> Iterator[None]:
    """Run code of a scheme, its `method` or what that has built. A RelayError gets a note that names the
    scheme, and what was asked `about`; another error becomes the cause of a RelayError that does.
    """
    try:
        yield
    except RelayError as error:
        if not any(scheme.name in text for text in (error.message, *[note.message for note in error.notes])):
            note = f"this comes from `{method}` of the scheme {scheme.name}, for {about}"
            error.notes = (*error.notes, Note(note, span))
        raise
    except _UNCHANGED:
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise RelayError(
            f"`{method}` of the scheme {scheme.name} failed for {about}: {text:.300}",
            span,
            help=[_remedy(error, method)],
        ) from error


def _remedy(error: Exception, method: str) -> str:
    """Say what to look at, for an error that a scheme raised."""
    if isinstance(error, TypeError) and "argument" in str(error):
        return f"look at the parameters of `{method}`, or of the function that it calls"
    return f"the traceback of the first error shows the line of `{method}`, or of what it calls"
