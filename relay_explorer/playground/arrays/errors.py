"""The error for what the small arrays do not have."""

from __future__ import annotations

from ...ir.errors import RelayError


class NotHereError(RelayError, AttributeError):
    """The small arrays lack a function of NumPy."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"this operator is not evaluated here: the page has no NumPy, and its small arrays lack {what}",
            help=["every other view works; to evaluate the program, use the package in Python"],
        )
