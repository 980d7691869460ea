"""`tvm.nd`: constant data."""

from __future__ import annotations

from ...ir.expr import to_ndarray
from ...ir.ndarray import NDArray


def array(arr: object, device: object = None) -> NDArray:
    """Data from a NumPy array or nested lists; the device is not looked at."""
    return to_ndarray(arr)


__all__ = ["NDArray", "array"]
