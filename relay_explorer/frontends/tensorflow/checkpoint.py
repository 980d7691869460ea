"""Read TensorFlow's checkpoints: an index, a sorted table of keys, and files with the tensors' bytes.

The index has the format of LevelDB's tables: blocks of entries whose keys share prefixes, an index block that
locates them, and a footer that locates the index block. The entry of the empty key describes the checkpoint;
every other says where in which data file a tensor lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, KeysView
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray, is_supported, itemsize
from ..base.errors import ModelFileError
from .messages import parse
from .tensors import dtype_name, static_extents

_FOOTER = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER = 5  # after each block: the kind of compression, and a checksum
_MOST_INDEX = 1 << 28  # bytes of an index


class Checkpoint:
    """The tensors of a checkpoint by key. `prefix` is the path without `.index`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        path = prefix + ".index"
        if os.path.getsize(path) > _MOST_INDEX:
            raise ModelFileError(f"the index {path!r} exceeds {_MOST_INDEX:,} bytes")
        with open(path, "rb") as file:
            table = dict(_Table(file.read(), path).entries())
        header = parse("BundleHeader", table.pop(b"", b""), repr(path))
        if header.endianness != 0:
            raise ModelFileError(f"{path!r} belongs to a checkpoint in big-endian order")
        self._shards = max(int(header.num_shards), 1)
        self._entries: dict[str, Anything] = {
            key.decode("utf-8", "backslashreplace"): parse("BundleEntry", value, repr(path))
            for key, value in table.items()
        }

    def keys(self) -> KeysView[str]:
        """Return the keys of all tensors."""
        return self._entries.keys()

    def tensor(self, key: str) -> NDArray:
        """Return a tensor; raise a ModelFileError where the files do not have all of it."""
        entry = self._entries.get(key)
        if entry is None:
            raise ModelFileError(f"the checkpoint {self._prefix!r} has no tensor `{key}`")
        dtype = dtype_name(entry.dtype)
        if not is_supported(dtype):
            raise RelayError(f"the variable `{key}` has type {dtype}, which Relay does not have")
        if entry.slices:
            raise RelayError(
                f"the variable `{key}` is stored in slices, which this importer does not read",
                help=["create the variables without a partitioner, and save them again"],
            )
        shape = static_extents(entry.shape)
        size = itemsize(dtype)
        for extent in shape:
            size *= extent
        if size != entry.size:
            raise ModelFileError(
                f"the variable `{key}` of shape {shape} and type {dtype} needs {size:,} bytes, but its entry "
                f"has {entry.size:,}"
            )
        if not 0 <= entry.shard_id < self._shards or entry.offset < 0:
            raise ModelFileError(f"the entry of the variable `{key}` is inconsistent")
        path = f"{self._prefix}.data-{entry.shard_id:05d}-of-{self._shards:05d}"
        if not os.path.isfile(path):
            raise ModelFileError(f"the file {path!r} is missing, which has the variable `{key}`")
        if os.path.getsize(path) < entry.offset + size:
            raise ModelFileError(f"the file {path!r} is truncated within the variable `{key}`")
        with open(path, "rb") as file:
            file.seek(entry.offset)
            return NDArray(shape, dtype, file.read(size))


class _Table:
    """A sorted table of keys and values."""

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._path = path
        self._read = 0  # bytes of keys

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Return all keys with their values."""
        if len(self._data) < _FOOTER or int.from_bytes(self._data[-8:], "little") != _MAGIC:
            raise ModelFileError(f"{self._path!r} is not the index of a checkpoint, or it is truncated")
        footer = self._data[-_FOOTER:]
        _, position = self._handle(footer, 0)  # of the block of metadata, which is empty
        (start, size), _ = self._handle(footer, position)
        seen: set[int] = set()
        for _, value in self._block(start, size):
            (begin, length), _ = self._handle(value, 0)
            if begin in seen:
                raise ModelFileError(f"the index {self._path!r} refers twice to the same block")
            seen.add(begin)
            yield from self._block(begin, length)

    def _block(self, start: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries of a block; each key begins with a part of the key before it."""
        if start + size + _TRAILER > len(self._data):
            raise ModelFileError(f"the index {self._path!r} is truncated")
        if self._data[start + size] != 0:
            raise RelayError(f"the index {self._path!r} is compressed, which this importer does not read")
        block = self._data[start : start + size]
        restarts = int.from_bytes(block[-4:], "little")
        end = size - 4 * (restarts + 1)
        if size < 4 or end < 0:
            raise ModelFileError(f"the index {self._path!r} has an inconsistent block")
        key, position = b"", 0
        while position < end:
            shared, position = self._varint(block, position)
            rest, position = self._varint(block, position)
            length, position = self._varint(block, position)
            if shared > len(key) or position + rest + length > end:
                raise ModelFileError(f"the index {self._path!r} has an inconsistent entry")
            key = key[:shared] + block[position : position + rest]
            self._read += len(key)
            if self._read > _MOST_INDEX:
                raise ModelFileError(f"the keys of the index {self._path!r} exceed {_MOST_INDEX:,} bytes")
            position += rest
            yield key, block[position : position + length]
            position += length

    def _handle(self, data: bytes, position: int) -> tuple[tuple[int, int], int]:
        """Read where a block begins and how long it is."""
        start, position = self._varint(data, position)
        size, position = self._varint(data, position)
        return (start, size), position

    def _varint(self, data: bytes, position: int) -> tuple[int, int]:
        value = shift = 0
        while position < len(data) and shift < 64:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, position
            shift += 7
        raise ModelFileError(f"the index {self._path!r} has a malformed number")
