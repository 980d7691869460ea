"""Arrays that kernels can read: dense, in row-major order, and aligned to 64 bytes.

LLVM generates code that relies on the alignment, and crashes the process on other arrays. Every array from
outside is therefore checked here before it reaches a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..require import runtime

if TYPE_CHECKING:
    from numpy import ndarray as Array

ALIGNMENT = 64  # bytes


def element_type(dtype: str) -> Any:
    """Return NumPy's data type for the elements of a kernel's tensors. NumPy has no bfloat16 of its own, so
    that type comes from the package `ml_dtypes`.
    """
    import numpy as np

    if dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def aligned(shape: Sequence[int], dtype: str) -> Array:
    """Allocate an uninitialized array, aligned for kernels."""
    import numpy as np

    kind = element_type(dtype)
    size = prod(shape) * kind.itemsize
    raw: Array = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    result: Array = raw[start : start + size].view(kind).reshape(tuple(shape))
    return result


def aligned_copy(array: Array, dtype: str = "") -> Array:
    """Copy an array to memory that is aligned for kernels; `dtype` is the copy's element type, if it
    differs.
    """
    result = aligned(array.shape, dtype or array.dtype.name)
    result[...] = array
    return result


def is_aligned(array: Array) -> bool:
    """Whether kernels can read the array itself."""
    return (
        array.flags.c_contiguous
        and array.flags.writeable  # NumPy does not export read-only arrays by DLPack
        and array.dtype.isnative
        and array.ctypes.data % ALIGNMENT == 0
    )


def tensor_maker() -> Callable[[Any], Any]:
    """Return a function that makes a TVM tensor from an aligned array. The tensor shares the array's memory,
    and keeps it alive.
    """
    from_dlpack: Callable[[Any], Any] = runtime().from_dlpack
    return lambda array: from_dlpack(array) if array.size else _nothing(array)


def tensor_of(array: Array) -> Any:
    """Return a TVM tensor that shares an aligned array's memory, also for bfloat16, which NumPy does not
    export by DLPack.
    """
    if not array.size:
        return _nothing(array)
    if array.dtype.name != "bfloat16":
        return runtime().from_dlpack(array)
    return _view_as(runtime().from_dlpack(array.view("uint16")), array.shape, "bfloat16")


def array_of(tensor: Any) -> Array:
    """Return a NumPy array that shares a TVM tensor's memory."""
    import numpy as np

    if str(tensor.dtype) != "bfloat16":
        array: Array = np.from_dlpack(tensor)
        return array
    bits = np.from_dlpack(_view_as(tensor, tuple(tensor.shape), "uint16"))
    return bits.view(element_type("bfloat16"))


def _nothing(array: Array) -> Any:
    """Return a TVM tensor for an array without elements, whose NumPy strides kernels would reject."""
    memory = aligned((ALIGNMENT,), "uint8")
    return _view_as(runtime().from_dlpack(memory), array.shape, array.dtype.name)


def _view_as(tensor: Any, shape: Sequence[int], dtype: str) -> Any:
    """Return a view of a TVM tensor's memory with another shape and element type."""
    ffi = runtime()
    view = ffi.get_global_func("runtime.TVMTensorCreateView")
    return view(tensor, ffi.Shape(shape), ffi.dtype(dtype), 0)
