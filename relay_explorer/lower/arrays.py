"""Arrays as kernels take them: dense, row by row, and at an address that is a multiple of 64.

LLVM makes code that relies on the alignment, and crashes the process on other arrays: so nothing that comes
from outside reaches a kernel before it was looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .require import runtime

if TYPE_CHECKING:
    from numpy import ndarray as Array

ALIGNMENT = 64  # bytes


def aligned(shape: Sequence[int], dtype: str) -> Array:
    """An array, not filled, that kernels can take."""
    import numpy as np

    count = 1
    for extent in shape:
        count *= extent
    size = count * np.dtype(dtype).itemsize
    raw: Array = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(tuple(shape))


def aligned_copy(array: Array) -> Array:
    """A copy that kernels can take."""
    made = aligned(array.shape, array.dtype.name)
    made[...] = array
    return made


def is_aligned(array: Array) -> bool:
    """Whether kernels can read the array itself."""
    return (
        array.flags.c_contiguous
        and array.flags.writeable  # DLPack does not give others away
        and array.dtype.isnative
        and array.ctypes.data % ALIGNMENT == 0
    )


def tensor_maker() -> Callable[[Any], Any]:
    """What makes TVM's tensor of an aligned array. It shares the array's memory, and keeps it alive."""
    made: Callable[[Any], Any] = runtime().from_dlpack
    return made
