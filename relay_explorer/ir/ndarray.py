"""Constant data without NumPy: shape, element type and bytes. NumPy is imported only where an array is
requested.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray as Array

_FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip

_HASHED = 64  # bytes at each end of a tensor


@lru_cache(256)
def itemsize(dtype: str) -> int:
    """Return the bytes of one element; an element of less than a byte counts as one byte."""
    if dtype == "bool":
        return 1
    bits = "".join(c for c in dtype.split("x")[0] if c.isdigit())
    return max(1, int(bits or 32) // 8)


class NDArray:
    """An immutable dense tensor in row-major order, little-endian.

    `data` are its bytes, which may belong to another object, such as a file that is mapped into memory: then
    they are a read-only memoryview of format "B", and nothing is copied.
    """

    __slots__ = ("data", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: str, data: bytes | memoryview) -> None:
        count = 1
        for extent in shape:
            count *= extent
        if len(data) != count * itemsize(dtype):
            raise ValueError(f"{len(data)} bytes cannot be a tensor of shape {shape} and type {dtype}")
        self.shape = shape
        self.dtype = dtype
        self.data = data

    @staticmethod
    def scalar(value: bool | int | float, dtype: str) -> NDArray:
        """Create a scalar. Raise a ValueError for a number that `dtype` cannot represent."""
        return NDArray((), dtype, _pack([value], dtype))

    @staticmethod
    def from_list(values: list[bool | int | float], shape: tuple[int, ...], dtype: str) -> NDArray:
        """Create a tensor from the numbers of `values`, in row-major order."""
        return NDArray(shape, dtype, _pack(values, dtype))

    @staticmethod
    def from_numpy(array: Array) -> NDArray:
        """Copy `array`."""
        import numpy

        array = numpy.asarray(array, order="C")  # ascontiguousarray would turn a scalar into a vector
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return NDArray(tuple(int(d) for d in numpy.shape(array)), str(array.dtype), little.tobytes())

    @staticmethod
    def sharing(array: Array) -> NDArray:
        """Create a tensor that shares the memory of `array` if its elements are in order; otherwise copy
        them. The caller must not change the array afterwards.
        """
        if not array.flags.c_contiguous or array.dtype.byteorder == ">" or not array.size:
            return NDArray.from_numpy(array)
        data = array.reshape(-1).view("u1").data.toreadonly()
        return NDArray(tuple([int(d) for d in array.shape]), str(array.dtype), data)

    def shared(self) -> Array:
        """Return the values as a read-only NumPy array that shares their memory; bfloat16 is copied."""
        if self.dtype == "bfloat16":
            return self.numpy()
        import numpy

        return numpy.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)

    def numpy(self) -> Array:
        """Return the values as a new NumPy array."""
        try:
            import numpy
        except ImportError:
            raise ImportError("values need NumPy: pip install numpy") from None
        if self.dtype == "bfloat16":
            wide = numpy.frombuffer(self.data, dtype="<u2").astype("<u4") << 16
            return wide.view("<f4").reshape(self.shape).copy()
        return numpy.frombuffer(self.data, dtype=self.dtype).reshape(self.shape).copy()

    def values(self) -> list[bool | int | float]:
        """Return the elements in row-major order, as Python numbers."""
        if self.dtype == "bfloat16":
            halves = struct.unpack(f"<{len(self.data) // 2}H", self.data)
            return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves]
        code = _FORMATS[self.dtype]
        return list(struct.unpack(f"<{len(self.data) // itemsize(self.dtype)}{code}", self.data))

    def item(self) -> bool | int | float:
        """Return the single element of a scalar."""
        values = self.values()
        if len(values) != 1:
            raise ValueError(f"a tensor of shape {self.shape} is not a single number")
        return values[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NDArray):
            return NotImplemented
        return self.shape == other.shape and self.dtype == other.dtype and self.data == other.data

    def __hash__(self) -> int:
        # The ends suffice: weights are large, and tensors that differ only between them are rare. (A view of
        # memory has no hash where its object has none.)
        ends = (self.data[:_HASHED], self.data[-_HASHED:])
        return hash((self.shape, self.dtype, *map(bytes, ends)))

    def __reduce__(self) -> tuple[type[NDArray], tuple[tuple[int, ...], str, bytes]]:
        return (NDArray, (self.shape, self.dtype, bytes(self.data)))

    def __array__(self, dtype: object = None, copy: object = None) -> Array:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)  # type: ignore[call-overload]  # NumPy checks the dtype

    def __repr__(self) -> str:
        if not self.shape:
            return f"NDArray({self.item()}, {self.dtype})"
        return f"NDArray(shape={self.shape}, dtype={self.dtype})"


def is_supported(dtype: str) -> bool:
    """Whether constants can have an element type; programs may also name others."""
    return dtype in _FORMATS or dtype == "bfloat16"


def _pack(values: list[bool | int | float], dtype: str) -> bytes:
    if dtype == "bfloat16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    code = _FORMATS.get(dtype)
    if code is None:
        raise ValueError(
            f"constants of type {dtype} are not supported; supported are {', '.join(_FORMATS)}, bfloat16"
        )
    convert = bool if dtype == "bool" else float if dtype.startswith("float") else int
    try:
        return struct.pack(f"<{len(values)}{code}", *map(convert, values))
    except (struct.error, OverflowError):
        raise ValueError(f"the number does not fit {dtype}") from None
