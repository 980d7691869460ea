"""Element types, shapes, tensors and attributes of TensorFlow as Python values."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray, itemsize
from ...ir.show import counted
from ...ir.types import Any, Dim
from ..base.errors import ModelFileError

_DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    8: "complex64", 9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16",
    15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128", 19: "float16", 20: "resource",
    21: "variant", 22: "uint32", 23: "uint64",
}  # fmt: skip
_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val",
    "int16": "int_val", "int8": "int_val", "uint16": "int_val", "int64": "int64_val", "bool": "bool_val",
    "uint32": "uint32_val", "uint64": "uint64_val", "float16": "half_val", "bfloat16": "half_val",
}  # fmt: skip
MOST_BYTES = 1 << 34  # of one tensor; a repeated value may declare more than the file holds
_MOST_FILLED = 1 << 28  # bytes of a tensor that the file stores as fewer values, of which the last repeats
_MOST_AXES = 254  # TensorFlow's own limit

Shape = tuple[Dim, ...]


class DType(str):
    """An element type in an attribute, by Relay's name where Relay has it."""

    __slots__ = ()


class FunctionName(str):
    """The name of a function of the graph's library, in an attribute."""

    __slots__ = ()


def dtype_name(number: int) -> str:
    """Return the name of an element type; references to variables count as their values."""
    name = _DTYPES.get(number - 100 if number > 100 else number)
    if name is None:
        raise ModelFileError(f"{number} is not an element type of TensorFlow")
    return name


def shape_of(proto: Anything) -> Shape | None:
    """Return a shape, with `?` for unknown extents; None if even the rank is unknown."""
    if proto.unknown_rank:
        return None
    if len(proto.dim) > _MOST_AXES:
        raise ModelFileError(f"a shape has {len(proto.dim):,} axes, but TensorFlow allows {_MOST_AXES}")
    return tuple([Any() if dim.size < 0 else int(dim.size) for dim in proto.dim])


def tensor_dtype(proto: Anything) -> str:
    """Return the element type of a tensor in a file."""
    return dtype_name(proto.dtype)


def tensor_value(proto: Anything) -> NDArray:
    """Return the value of a tensor in a file, after checking that its size agrees with its content."""
    import numpy as np

    dtype = tensor_dtype(proto)
    field = _FIELDS.get(dtype)
    if field is None:
        raise RelayError(f"tensors of type {dtype} cannot be imported, because Relay has no such type")
    extents = static_extents(proto.tensor_shape)
    count = _count(extents)
    need = count * itemsize(dtype)
    content = proto.tensor_content
    if content:
        if len(content) != need:
            raise ModelFileError(
                f"a tensor of shape {extents} and type {dtype} needs {need:,} bytes, but the file has "
                f"{len(content):,}"
            )
        if dtype == "bool" and max(content, default=0) > 1:
            raise ModelFileError("a boolean tensor has bytes other than 0 and 1")
        return NDArray(extents, dtype, content)
    values = getattr(proto, field)
    if len(values) > max(count, 1):
        raise ModelFileError(f"a tensor of {counted(count, 'element')} has {counted(len(values), 'value')}")
    if len(values) < count and need > _MOST_FILLED:
        raise ModelFileError(
            f"a tensor declares {need:,} bytes, but the file has only {counted(len(values), 'value')} of it"
        )
    # The last value repeats; without any, all elements are zero.
    storage = "uint16" if field == "half_val" else dtype
    if field == "half_val" and any(not 0 <= value < 1 << 16 for value in values):
        raise ModelFileError(f"a {dtype} tensor has values that do not fit into 16 bits")
    filled = np.zeros(count, storage)
    stored = np.asarray(list(values)[:count], storage) if len(values) else filled[:0]
    filled[: len(stored)] = stored
    if len(stored):
        filled[len(stored) :] = stored[-1]
    return NDArray(extents, dtype, filled.tobytes())


def strings_of(proto: Anything) -> list[bytes]:
    """Return the elements of a tensor of strings."""
    count = _count(static_extents(proto.tensor_shape))
    values = list(proto.string_val)
    if len(values) != count:
        raise ModelFileError(f"a tensor of {count:,} strings has {len(values):,}")
    return values


def static_extents(shape: Anything) -> tuple[int, ...]:
    """Return the shape of a tensor in a file, which must be known and of a reasonable size."""
    if shape.unknown_rank or any(dim.size < 0 for dim in shape.dim):
        raise ModelFileError("a tensor in the file has a shape of unknown rank or a negative extent")
    if len(shape.dim) > _MOST_AXES:
        raise ModelFileError(f"a tensor has {len(shape.dim):,} axes, but TensorFlow allows {_MOST_AXES}")
    extents = tuple([int(dim.size) for dim in shape.dim])
    if _count(extents) * 16 > MOST_BYTES:
        raise ModelFileError(f"a tensor of shape {extents} exceeds {MOST_BYTES >> 30} GiB")
    return extents


def _count(extents: tuple[int, ...]) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return count


def attribute(proto: Anything) -> Anything:
    """Return an attribute as a Python value: an int, float, bool, text, `DType`, shape (None where the rank
    is unknown), NDArray, `FunctionName`, or a tuple of these. A tensor of strings stays a message.
    """
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    if kind == "list":
        return _list(proto.list)
    return _single(kind, getattr(proto, kind))


def _list(proto: Anything) -> tuple[Anything, ...]:
    for kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        values = getattr(proto, kind)
        if len(values):
            return tuple([_single(kind, value) for value in values])
    return ()


def _single(kind: str, value: Anything) -> Anything:
    if kind == "s":
        return value.decode("utf-8", "backslashreplace")
    if kind == "type":
        return DType(dtype_name(value))
    if kind == "shape":
        return shape_of(value)
    if kind == "tensor":
        return value if tensor_dtype(value) not in _FIELDS else tensor_value(value)
    if kind == "func":
        return FunctionName(value.name)
    return value
