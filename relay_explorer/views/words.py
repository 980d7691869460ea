"""Format numbers and counts for sentences."""

from __future__ import annotations

_NAMES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def count(number: int) -> str:
    """Write a number for readers: `812`, `25,600`, `25.6 million`."""
    for size, name in _NAMES:
        if number >= size:
            return f"{number / size:.3g} {name}" if number / size < 1000 else f"{number // size:,} {name}"
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 call`, `3 calls`."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"
