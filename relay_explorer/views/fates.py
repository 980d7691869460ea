"""What became of a row or an expression, between two programs."""

from __future__ import annotations

from enum import IntEnum


class Fate(IntEnum):
    """What a pass did to a row or an expression."""

    KEPT = 0
    REWRITTEN = 1
    ADDED = 2
    REMOVED = 3
    MOVED = 4
