"""The registry of passes by name: each subclass of Pass is registered when it is defined.

Pipelines written as text and `Pass.required` name passes; they are looked up here, so nothing in the
infrastructure imports the passes. A pass from outside the package is held weakly: it leaves the registry when
nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias
from weakref import ref

from ...ir.errors import RelayError

if TYPE_CHECKING:
    from .passes import Pass

    Entry: TypeAlias = type[Pass] | Pass

PACKAGE = __name__.partition(".")[0]
_ours: dict[str, type[Pass]] = {}
_outside: dict[str, list[ref[Entry]]] = {}  # by name, the latest last


def register(name: str, entry: Entry) -> None:
    """Register a pass class, or a pass made from a function, under its name. The last definition wins."""
    if isinstance(entry, type) and is_ours(entry):
        _ours[name] = entry
    else:
        alive = [other for other in _outside.get(name, ()) if other() is not None]
        _outside[name] = [*alive, ref(entry)]


def _latest(name: str) -> Entry | None:
    """Return the latest definition from outside that is still in use."""
    for entry in reversed(_outside.get(name, ())):
        alive = entry()
        if alive is not None:
            return alive
    return None


def is_ours(cls: type) -> bool:
    """Whether a class is defined in this package."""
    return cls.__module__.partition(".")[0] == PACKAGE


def names() -> list[str]:
    """List the names of all registered passes."""
    return sorted({*_ours, *(name for name in _outside if _latest(name) is not None)})


def find(name: str) -> Entry | None:
    """Return the pass called `name`, or None. Raise a RelayError if both the package and a reader define
    it.
    """
    ours, outside = _ours.get(name), _latest(name)
    if ours is not None and outside is not None:
        raise RelayError(
            f"`{name}` names two passes: one of {PACKAGE}, and one defined outside of it",
            help=["rename yours, or give the passes as objects instead of text"],
        )
    return ours or outside


def required(name: str) -> Entry | None:
    """Return the pass that `Pass.required` means by `name`; the package's own one if there are two."""
    return _ours.get(name) or _latest(name)


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """List the candidates that are most similar to `name`, the nearest first; case does not matter."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    import difflib

    close = difflib.get_close_matches(name[:200].lower(), by_lower, n=3, cutoff=0.6)
    return [by_lower[each] for each in close]
