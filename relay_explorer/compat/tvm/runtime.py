"""`tvm.runtime`: the name by which old code knows constant data."""

from __future__ import annotations

from ...ir.ndarray import NDArray

__all__ = ["NDArray"]
