"""Save and load parameters in TVM's binary format, which its runtimes read (`.params` files).

All numbers are little-endian. The file: the magic number of a list (u64), a reserved u64, the number of names
(u64), each name as its length (u64) and UTF-8 bytes, the number of arrays (u64), and the arrays in the order
of the names. An array: its magic number (u64), a reserved u64, the device's type and number (i32, i32), the
number of dimensions (i32), the element type (code u8, bits u8, lanes u16), the dimensions (i64 each), the
number of bytes (i64), and the elements in row-major order.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

from ..ir.ndarray import NDArray, itemsize
from .arrays import DeviceArray, array

LIST = 0xF7E58D4F05049CB7
ARRAY = 0xDD5E40F096B4A13F
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4}
_KINDS = {code: kind for kind, code in _CODES.items()}
_CPU = (1, 0)


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Encode `params`, NumPy arrays or arrays of `tvm.nd` by name, as bytes."""
    for name in params:
        if not isinstance(name, str):
            raise TypeError(f"a parameter's name is a string, not {name!r}")
    out = bytearray(struct.pack("<QQQ", LIST, 0, len(params)))
    for name in params:
        encoded = name.encode()
        out += struct.pack("<Q", len(encoded)) + encoded
    out += struct.pack("<Q", len(params))
    for value in params.values():
        out += _write(value if isinstance(value, NDArray) else array(value))
    return out


def _write(value: NDArray) -> bytes:
    if value.dtype == "bool":
        code, bits = _CODES["uint"], 1
    else:
        match = re.fullmatch(r"([a-z]+)(\d+)", value.dtype)
        if match is None or match[1] not in _CODES:
            raise ValueError(f"the format has no elements of type {value.dtype}")
        code, bits = _CODES[match[1]], int(match[2])
    head = struct.pack("<QQiiiBBH", ARRAY, 0, *_CPU, len(value.shape), code, bits, 1)
    return head + struct.pack(f"<{len(value.shape)}qq", *value.shape, len(value.data)) + value.data


class _Reader:
    """Reads numbers from `data` in order; raises a ValueError where the data end too early."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def bytes(self, count: int) -> bytes:
        if count < 0 or count > len(self.data) - self.at:
            raise ValueError(
                f"the parameters end too early: expected {count} bytes at byte {self.at} of {len(self.data)}"
            )
        self.at += count
        return self.data[self.at - count : self.at]

    def take(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{layout}", self.bytes(struct.calcsize(f"<{layout}")))


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, DeviceArray]:
    """Read parameters that `save_param_dict`, here or in TVM, wrote. Raise a ValueError for other bytes."""
    reader = _Reader(bytes(param_bytes))
    mark, _, count = reader.take("QQQ")
    if mark != LIST:
        raise ValueError(f"this is not a file of parameters: it begins with {mark:#x}, not with {LIST:#x}")
    names = []
    for _ in range(count):
        (length,) = reader.take("Q")
        names.append(reader.bytes(length).decode())
    (arrays,) = reader.take("Q")
    if arrays != count:
        raise ValueError(f"the file of parameters has {count} names and {arrays} arrays")
    return {name: _read(reader, name) for name in names}


def _read(reader: _Reader, name: str) -> DeviceArray:
    mark, _, _, _, rank, code, bits, lanes = reader.take("QQiiiBBH")
    if mark != ARRAY or rank < 0:
        raise ValueError(f"the parameter {name!r} is damaged: at byte {reader.at} there is no array")
    kind = _KINDS.get(code)
    if kind is None or lanes != 1:
        raise ValueError(f"the parameter {name!r} has elements of an unknown type ({code}, {bits}, {lanes})")
    dtype = "bool" if (kind, bits) == ("uint", 1) else f"{kind}{bits}"
    shape = reader.take(f"{rank}q")
    (size,) = reader.take("q")
    expected = itemsize(dtype)
    for extent in shape:
        expected *= extent
    if size != expected:
        raise ValueError(f"the parameter {name!r} of shape {shape} and type {dtype} has {size} bytes")
    return DeviceArray(shape, dtype, reader.bytes(size))


__all__ = ["load_param_dict", "save_param_dict"]
