"""Decode ONNX tensors into arrays, sharing the memory of the file where its bytes are the array's."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any as Anything

from ...ir.ndarray import NDArray, itemsize
from ..base.errors import ExternalDataError, ModelFileError
from .few_bits import TYPES, FewBits, unpacked
from .types import MOST_ELEMENTS, dtype_of, plain

_EXTERNAL = 1  # TensorProto.DataLocation
_MOST_DENSE = 1 << 28  # elements of a sparse tensor that is made dense
# The field that holds the elements of each type where they are not raw; small types are in `int32_data`.
_FIELDS = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint32": "uint64_data",
    "uint64": "uint64_data",
}  # fmt: skip


class Tensors:
    """Decodes the tensors of a model. `folder` is where its external data may be, None if the model is no
    file. `raw` are the bytes of initializers that have been cut out of the message, by index.
    """

    def __init__(self, folder: Path | None, raw: Mapping[int, memoryview] | None = None) -> None:
        self.folder = folder
        self.raw = raw or {}
        self._files: dict[str, memoryview] = {}
        self._few_bits: dict[int, tuple[NDArray, FewBits]] = {}  # by the arrays' identities

    def initializer(self, proto: Anything, index: int) -> NDArray:
        """Decode the main graph's initializer number `index`."""
        raw = self.raw.get(index)
        return self.array(proto) if raw is None else self._decoded(proto, raw)

    def array(self, proto: Anything) -> NDArray:
        """Decode a `TensorProto`; raise a ModelFileError where it is inconsistent."""
        if proto.data_location == _EXTERNAL:
            return self._decoded(proto, self._external(proto))
        return self._decoded(proto, memoryview(proto.raw_data) if proto.HasField("raw_data") else None)

    def few_bits(self, array: NDArray) -> FewBits | None:
        """Return the element type in the file of an array whose elements have fewer bits there."""
        entry = self._few_bits.get(id(array))
        return None if entry is None else entry[1]

    def dense(self, proto: Anything) -> NDArray:
        """Decode a `SparseTensorProto` as a dense tensor."""
        import numpy as np

        values, indices = self.array(proto.values), self.array(proto.indices)
        shape = tuple(int(dim) for dim in proto.dims)
        count = _count(shape, f"the sparse tensor %{proto.values.name}")
        name = proto.values.name
        if count > _MOST_DENSE:
            raise ModelFileError(
                f"the sparse tensor %{name} of the shape {shape} is too large to be made dense"
            )
        if len(values.shape) != 1 or values.dtype == "bfloat16":
            raise ModelFileError(
                f"the values of the sparse tensor %{name} must be a vector, and not of type bfloat16"
            )
        where = indices.numpy()
        if where.ndim == 2 and where.shape[1] == len(shape):
            inside = (where >= 0).all() and (where < np.array(shape)).all()
            where = np.ravel_multi_index(tuple(where.T), shape) if inside else np.array([-1])
        if where.ndim != 1 or len(where) != values.shape[0] or (where < 0).any() or (where >= count).any():
            raise ModelFileError(
                f"the indices of the sparse tensor %{name} are not {values.shape[0]} indices within the "
                f"shape {shape}"
            )
        result = np.zeros(count, values.dtype)
        result[where] = values.shared()
        return NDArray.sharing(result.reshape(shape))

    def _decoded(self, proto: Anything, raw: memoryview | None) -> NDArray:
        where = f"the tensor %{proto.name}" if proto.name else "the tensor"
        shape = tuple([int(dim) for dim in proto.dims])
        if proto.data_type in TYPES:
            _count(shape, where)
            packed = bytes([int(byte) & 255 for byte in proto.int32_data]) if raw is None else raw
            array = unpacked(packed, TYPES[proto.data_type], shape, where)
            self._few_bits[id(array)] = array, TYPES[proto.data_type]
            return array
        try:
            dtype = dtype_of(proto.data_type)
        except ModelFileError as error:
            raise ModelFileError(f"{where}: {error.message}") from error
        count = _count(shape, where)
        if raw is not None:
            return _from_raw(where, shape, dtype, count, raw)
        return _from_numbers(where, shape, dtype, count, proto)

    def _external(self, proto: Anything) -> memoryview:
        """Return the bytes of a tensor that is stored in a file beside the model."""
        where = f"the external data of %{proto.name}"
        entries = {plain(entry.key): plain(entry.value) for entry in proto.external_data}
        if self.folder is None:
            raise ExternalDataError(
                f"{where} are in another file, {entries.get('location', '')!r}",
                help=["give from_onnx the path of the model, or load it with onnx.load"],
            )
        data = self._mapped(self.folder, entries.get("location", ""), where)
        try:
            offset = int(entries.get("offset") or 0)
            length = int(entries["length"]) if entries.get("length") else len(data) - offset
        except ValueError:
            raise ModelFileError(f"{where} have an offset or a length that is not an integer") from None
        if offset < 0 or length < 0 or offset + length > len(data):
            raise ModelFileError(
                f"the model places {where} at bytes {offset} to {offset + length} of "
                f"{entries.get('location')!r}, which has only {len(data)}: the file is truncated, or belongs "
                "to another model"
            )
        return data[offset : offset + length]

    def _mapped(self, folder: Path, location: str, where: str) -> memoryview:
        """Map a file of the model's folder into memory."""
        contents = self._files.get(location)
        if contents is not None:
            return contents
        if not location or "\0" in location or Path(location).is_absolute() or ".." in Path(location).parts:
            raise ModelFileError(
                f"{where} are at {location[:200]!r}, which is not a path within the model's folder"
            )
        root = folder.resolve()
        try:
            path = (root / location).resolve()
            if not path.is_relative_to(root):
                raise ModelFileError(f"{where} are at {location!r}, a link that leaves the model's folder")
            if not path.is_file():
                raise ModelFileError(
                    f"{where} are missing: there is no file {location!r} in {str(root)!r}",
                    help=["copy the data file to the model's folder"],
                )
            contents = self._files[location] = mapped(path)
        except OSError as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from error
        return contents


def mapped(path: Path) -> memoryview:
    """Return the bytes of a file, mapped into memory: they are read when they are used."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _count(shape: tuple[int, ...], where: str) -> int:
    count = 1
    for dim in shape:
        if dim < 0:
            raise ModelFileError(f"{where} has a negative dimension: {shape[:16]}")
        count *= dim
        if count > MOST_ELEMENTS:
            raise ModelFileError(
                f"{where} has the shape {shape[:16]} in the file, which is too large: the limit is "
                f"{MOST_ELEMENTS:,} elements"
            )
    return count


def _from_raw(where: str, shape: tuple[int, ...], dtype: str, count: int, raw: memoryview) -> NDArray:
    expected = count * itemsize(dtype)
    if len(raw) != expected:
        raise ModelFileError(
            f"{where} of the shape {shape} and the type {dtype} needs {expected} bytes, but the file has "
            f"{len(raw)}: it is truncated, or its weights are missing"
        )
    if dtype == "bool":  # any byte but 0 is true in a file; in memory it must be 1
        import numpy as np

        return NDArray.sharing((np.frombuffer(raw, "u1") != 0).reshape(shape))
    return NDArray(shape, dtype, raw)


def _from_numbers(where: str, shape: tuple[int, ...], dtype: str, count: int, proto: Anything) -> NDArray:
    field = getattr(proto, _FIELDS.get(dtype, "int32_data"))
    if len(field) != count:
        raise ModelFileError(
            f"{where} of the shape {shape} needs {count} elements, but the file has {len(field)}: it is "
            "truncated, or its weights are missing"
        )
    import numpy as np

    if dtype in ("bfloat16", "float16"):  # the bits of each number
        bits = np.array(field, "int32").astype("u2")
        return NDArray(shape, dtype, bits.astype("<u2").tobytes())
    return NDArray.sharing(np.array(field, _wide(dtype)).astype(dtype).reshape(shape))


def _wide(dtype: str) -> str:
    """Return the element type of the field that holds numbers of type `dtype`."""
    return dtype if dtype in _FIELDS else "int32"
