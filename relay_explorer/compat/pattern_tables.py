"""`tvm.relay.op.contrib.register`: the patterns of each compiler, by its name, for MergeComposite."""

from __future__ import annotations

from typing import Any

_TABLES: dict[str, list[Any]] = {}


def register_pattern_table(compiler: str, table: Any = None) -> Any:
    """Register the patterns of a compiler: a list of `(name, pattern)` or `(name, pattern, check)`, or a
    function that returns one. Without `table`, return a decorator.
    """

    def enter(table: Any) -> Any:
        _TABLES[compiler] = list(table() if callable(table) else table)
        return table

    return enter if table is None else enter(table)


def get_pattern_table(compiler: str) -> list[Any] | None:
    """Return the patterns of a compiler; None where it has none."""
    return _TABLES.get(compiler)


__all__ = ["get_pattern_table", "register_pattern_table"]
