"""`tvm.tir`: the dimensions that are not numbers."""

from __future__ import annotations

from ...ir.types import Any, SizeVar


def Var(  # noqa: N802 - the name that old code uses
    name: str, dtype: str = "int32"
) -> SizeVar:
    """A named dimension whose size is not known."""
    return SizeVar(name, str(dtype))


__all__ = ["Any", "SizeVar", "Var"]
