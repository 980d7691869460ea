"""Arrays as kernels take them: dense, row by row, and at an address that is a multiple of 64.

LLVM makes code that relies on the alignment, and crashes the process on other arrays: so nothing that comes
from outside reaches a kernel before it was looked at here.
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
    """NumPy's type for the elements of a kernel's tensors. It has a bfloat16 only where it is taught one."""
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
        and array.flags.writeable  # DLPack does not give others away
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
    """TVM's tensor of an aligned array, also of one of bfloat16, which DLPack's NumPy does not give away."""
    if not array.size:
        return _nothing(array)
    if array.dtype.name != "bfloat16":
        return runtime().from_dlpack(array)
    return _seen_as(runtime().from_dlpack(array.view("uint16")), array.shape, "bfloat16")


def array_of(tensor: Any) -> Array:
    """NumPy's array of a tensor's memory."""
    import numpy as np

    if str(tensor.dtype) != "bfloat16":
        array: Array = np.from_dlpack(tensor)
        return array
    bits = np.from_dlpack(_seen_as(tensor, tuple(tensor.shape), "uint16"))
    return bits.view(element_type("bfloat16"))


def _nothing(array: Array) -> Any:
    """TVM's tensor of an array without elements, whose strides in NumPy are not those that kernels want."""
    place = aligned((ALIGNMENT,), "uint8")
    return _seen_as(runtime().from_dlpack(place), array.shape, array.dtype.name)


def _seen_as(tensor: Any, shape: Sequence[int], dtype: str) -> Any:
    ffi = runtime()
    view = ffi.get_global_func("runtime.TVMTensorCreateView")
    return view(tensor, ffi.Shape(shape), ffi.dtype(dtype), 0)
