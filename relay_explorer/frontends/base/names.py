"""Names that are not in use yet."""

from __future__ import annotations

from collections.abc import Container


def unused(name: str, taken: Container[str]) -> str:
    """Return `name`, or if it is taken, the first of `name_1`, `name_2`, … that is not."""
    number, result = 0, name
    while result in taken:
        number += 1
        result = f"{name}_{number}"
    return result
