"""Read MXNet's `.params` files: a list of arrays, and their names (`arg:conv0_weight`,
`aux:bn0_moving_mean`).

A file begins with the number 0x112 and eight reserved bytes. The arrays follow, preceded by their number, and
then the names, each preceded by its length. All numbers are little-endian. An array is written in one of four
formats, which differ in how its shape is written and in whether it may be sparse; a sparse one is converted
to a dense one. Every length is checked against the rest of the file before memory is allocated.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...ir.ndarray import NDArray, itemsize
from ..base.errors import ModelFileError
from .attributes import DTYPES

if TYPE_CHECKING:
    from numpy import ndarray as Array

_LIST = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_DENSE, _ROW_SPARSE, _CSR = 0, 1, 2
_AUXILIARY = {_DENSE: 0, _ROW_SPARSE: 1, _CSR: 2}  # index arrays of each kind of storage
_RANK = 32
LARGEST = 1 << 31  # bytes of an array that is sparse in the file


def read(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """Return the arrays of a `.params` file by name. The file is mapped into memory."""
    where = Path(path)
    try:
        with where.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise ModelFileError(f"{where} is empty")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ModelFileError(f"{where} cannot be read: {error.strerror}") from error
    return parse(data, where.name)


def parse(data: bytes | memoryview, name: str = "the file") -> dict[str, NDArray]:
    """Return the arrays of the contents of a `.params` file by name."""
    reader = _Reader(memoryview(data), name)
    if reader.number("Q") != _LIST:
        raise ModelFileError(
            f"{name} is not a file of MXNet arrays: it does not begin with 0x112",
            help=["arg_params takes the .params file that HybridBlock.export or save_checkpoint wrote"],
        )
    reader.number("Q")
    arrays = [reader.array() for _ in range(reader.count(4, "arrays"))]
    names = [reader.text() for _ in range(reader.count(8, "names"))]
    if len(names) != len(arrays):
        raise ModelFileError(f"{name} has {len(arrays)} arrays, but {len(names)} names")
    result: dict[str, NDArray] = {}
    for key, value in zip(names, arrays):
        if key in result:
            raise ModelFileError(f"{name} has two arrays called {key!r}")
        if value is not None:
            result[key] = value
    return result


class _Reader:
    """Reads numbers and arrays from bytes, from the front."""

    def __init__(self, data: memoryview, name: str) -> None:
        self.data = data.toreadonly()
        self.name = name
        self.position = 0

    def take(self, count: int) -> memoryview:
        """Return the next `count` bytes."""
        if not 0 <= count <= len(self.data) - self.position:
            raise ModelFileError(
                f"{self.name} is truncated or damaged: {count} bytes are expected at position "
                f"{self.position}, but it has {len(self.data)} in all"
            )
        self.position += count
        return self.data[self.position - count : self.position]

    def number(self, code: str) -> int:
        (value,) = struct.unpack(f"<{code}", self.take(struct.calcsize(code)))
        return int(value)

    def count(self, least: int, what: str) -> int:
        """Return a number of things that take at least `least` bytes each."""
        count = self.number("Q")
        if count * least > len(self.data) - self.position:
            raise ModelFileError(f"{self.name} is truncated or damaged: it cannot have {count} {what}")
        return count

    def text(self) -> str:
        try:
            return bytes(self.take(self.number("Q"))).decode("utf-8")
        except UnicodeDecodeError:
            raise ModelFileError(f"{self.name} is damaged: the name of an array is not text") from None

    def shape(self, rank: int, code: Literal["q", "I"] = "q") -> tuple[int, ...]:
        if not 0 <= rank <= _RANK:
            raise ModelFileError(f"{self.name} is damaged: an array has {rank} axes, not 0 to {_RANK}")
        shape = struct.unpack(f"<{rank}{code}", self.take(rank * struct.calcsize(f"<{code}")))
        if any(extent < 0 for extent in shape):
            raise ModelFileError(f"{self.name} is damaged: an array has the negative extents {shape}")
        return shape

    def array(self) -> NDArray | None:
        """Return the next array; None for one without a shape, which has not been initialized."""
        magic = self.number("I")
        if magic in (_V2, _V3):
            return self._array(magic == _V3)
        shape = self.shape(self.number("I")) if magic == _V1 else self.shape(magic, "I")
        if not shape:
            return None
        self.take(8)  # the device
        return self._dense(shape, self._dtype())

    def _array(self, numpy_shapes: bool) -> NDArray | None:
        storage = self.number("i")
        if storage not in _AUXILIARY:
            raise ModelFileError(f"{self.name} has an array with the unknown kind of storage {storage}")
        stored = self.shape(self.number("i")) if _AUXILIARY[storage] else ()
        rank = self.number("i")
        if rank == -1 or (rank == 0 and not numpy_shapes):
            return None
        shape = self.shape(rank)
        self.take(8)  # the device
        dtype = self._dtype()
        if storage == _DENSE:
            return self._dense(shape, dtype)
        indices = [(self._dtype(), self.shape(self.number("i"))) for _ in range(_AUXILIARY[storage])]
        values = self._dense(stored, dtype).numpy()
        parts = [self._dense(extents, kind).numpy() for kind, extents in indices]
        return self._densified(storage, shape, values, parts)

    def _dtype(self) -> str:
        number = self.number("i")
        if number not in DTYPES:
            raise ModelFileError(f"{self.name} has an array of the unknown element type {number}")
        return DTYPES[number]

    def _dense(self, shape: tuple[int, ...], dtype: str) -> NDArray:
        size = itemsize(dtype)
        for extent in shape:
            size *= extent
        data = self.take(size)
        aligned = (self.position - size) % itemsize(dtype) == 0
        return NDArray(shape, dtype, data if aligned else bytes(data))

    def _densified(self, storage: int, shape: tuple[int, ...], values: Array, parts: list[Array]) -> NDArray:
        import numpy

        size = values.itemsize
        for extent in shape:
            size *= extent
        if size > LARGEST:
            raise ModelFileError(
                f"{self.name} has a sparse array of shape {shape}, too large to be made dense: the limit is "
                f"{LARGEST:,} bytes"
            )
        dense = numpy.zeros(shape, values.dtype)
        try:
            if storage == _ROW_SPARSE:
                rows = _checked(parts[0], shape[0])
                dense[rows] = values
            else:
                starts, columns = _checked(parts[0], len(values) + 1), _checked(parts[1], shape[1])
                if len(shape) != 2 or len(starts) != shape[0] + 1 or bool(numpy.any(numpy.diff(starts) < 0)):
                    raise ValueError("its row pointers do not match its shape")
                if int(starts[-1]) != len(values) or len(columns) != len(values):
                    raise ValueError("its row pointers do not match its values")
                dense[numpy.repeat(numpy.arange(shape[0]), numpy.diff(starts)), columns] = values
        except (ValueError, IndexError) as error:
            raise ModelFileError(
                f"{self.name} has a damaged sparse array of shape {shape}: {error}"
            ) from None
        return NDArray.sharing(dense)


def _checked(indices: Array, extent: int) -> Array:
    """Return indices as int64; raise a ValueError for one that is not below `extent`."""
    result = indices.astype("int64")
    if result.ndim != 1 or (result.size and not 0 <= int(result.min()) <= int(result.max()) < extent):
        raise ValueError("an index is out of range")
    return result
