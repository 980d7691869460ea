"""Read a `.pt2` file without executing anything in it.

`torch.export.load` unpickles example inputs, tensor subclasses and custom objects, and loads compiled
libraries; a file can run any code through them. Here the archive's entries are read as plain data: the graph
is JSON, which `checked` admits by an allowlist, and weights are raw bytes. Pickles are refused.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ...ir.errors import RelayError
from ...ir.show import counted
from ..base.errors import ModelFileError
from ..base.require import require
from .checked import checked_program

LARGEST = 16 << 30  # bytes of all entries together, uncompressed
LARGEST_GRAPH = 512 << 20  # bytes of a JSON file
MOST_ENTRIES = 100_000
_HIGHEST_RATIO = 200  # of uncompressed to compressed bytes; PyTorch stores entries uncompressed
_SMALL = 1 << 20  # bytes; an entry as small may have any ratio


class Archive:
    """The entries of a `.pt2` file, whose number, sizes and names have been checked."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = Path(path).name
        self._path = Path(path)
        try:
            with zipfile.ZipFile(path) as archive:
                self._entries = self._checked(archive.infolist())
        except (zipfile.BadZipFile, EOFError, ValueError) as error:
            raise self.error(f"it is not an archive that torch.export.save writes ({error})") from error

    def error(self, reason: str) -> ModelFileError:
        """Return the error for a file that cannot be read."""
        return ModelFileError(
            f"`{self.name}` cannot be read: {reason}",
            help=["write it with torch.export.save(torch.export.export(model, args), path)"],
        )

    def _checked(self, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Return the entries by their names without the root folder; reject what no model needs."""
        if len(infos) > MOST_ENTRIES:
            raise self.error(f"it has {len(infos):,} entries, more than {MOST_ENTRIES:,}")
        total = sum(info.file_size for info in infos)
        size = self._path.stat().st_size
        if total > LARGEST:
            raise self.error(f"its entries have {total:,} bytes in all, more than {LARGEST:,}")
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            parts = info.filename.replace("\\", "/").split("/")
            if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
                raise self.error(f"its entry `{info.filename:.80}` lies outside the archive")
            if info.flag_bits & 1:
                raise self.error(f"its entry `{info.filename:.80}` is encrypted")
            if info.file_size > _SMALL and info.file_size > _HIGHEST_RATIO * max(1, info.compress_size):
                raise self.error(
                    f"its entry `{info.filename:.80}` grows from {info.compress_size:,} to "
                    f"{info.file_size:,} bytes, as only a zip bomb does"
                )
            if info.compress_type == zipfile.ZIP_STORED and info.compress_size > size:
                raise self.error(f"its entry `{info.filename:.80}` is longer than the file")
            name = "/".join(parts[1:])
            if name in entries:
                raise self.error(f"it has two entries named `{name:.80}`")
            entries[name] = info
        return entries

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self, start: str) -> list[str]:
        """Return the names of the entries that begin with `start`."""
        return [name for name in self._entries if name.startswith(start)]

    def read(self, name: str, at_most: int = LARGEST) -> bytes:
        """Return the bytes of an entry, checked against its checksum."""
        info = self._entries.get(name)
        if info is None:
            raise self.error(f"it has no entry `{name:.80}`")
        if info.file_size > at_most:
            raise self.error(f"its entry `{name:.80}` has {info.file_size:,} bytes, more than {at_most:,}")
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(info) as stream:
                data = stream.read(info.file_size + 1)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
            raise self.error(f"its entry `{name:.80}` is damaged ({error})") from error
        if len(data) != info.file_size:
            raise self.error(f"its entry `{name:.80}` does not have the size that the directory states")
        return data

    def json(self, name: str) -> Any:
        """Return the contents of a JSON entry."""
        try:
            return json.loads(self.read(name, LARGEST_GRAPH))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise self.error(f"its entry `{name:.80}` is not JSON ({error})") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Return the `torch.export.ExportedProgram` in a `.pt2` file. Nothing in the file is executed.

    Raise a ModelFileError for a file that is damaged, too large, or contains pickles or custom objects.
    """
    require("torch", "torch")
    archive = Archive(path)
    graphs = archive.names("models/")
    if not graphs:
        raise archive.error("it contains no exported program (no entry `models/….json`)")
    if len(graphs) > 1 and "models/model.json" not in graphs:
        raise archive.error(f"it contains {counted(len(graphs), 'program')}, none of them called `model`")
    entry = "models/model.json" if "models/model.json" in graphs else graphs[0]
    name = entry.removeprefix("models/").removesuffix(".json")
    try:
        program = checked_program(archive.json(entry))
    except RelayError as error:
        raise archive.error(error.message) from error
    weights = _tensors(archive, f"data/weights/{name}_weights_config.json", "data/weights/", name)
    constants = _tensors(archive, f"data/constants/{name}_constants_config.json", "data/constants/", name)
    return _deserialized(archive, program, weights, constants)


def _deserialized(archive: Archive, program: Any, weights: Any, constants: Any) -> Any:
    """Turn checked JSON into PyTorch's object."""
    from torch._export.serde import schema, serialize

    try:
        described = serialize._dict_to_dataclass(schema.ExportedProgram, program)
        return serialize.ExportedProgramDeserializer().deserialize(described, weights, constants, None)
    except Exception as error:  # PyTorch reports a file that is inconsistent by errors of every kind
        reason = str(error).strip().splitlines()
        raise archive.error(
            f"PyTorch rejects its graph ({reason[-1][:200] if reason else type(error).__name__})"
        ) from error


def _tensors(archive: Archive, config_name: str, folder: str, name: str) -> dict[str, Any]:
    """Return the tensors that a configuration of the archive lists; tensors that share memory still do."""
    if f"{folder}{name}.pt" in archive:
        raise archive.error("it was written by PyTorch 2.8 or older, as pickles, which are not loaded")
    config = archive.json(config_name)
    listed = config.get("config") if isinstance(config, dict) else None
    if not isinstance(listed, dict):
        raise archive.error(f"its entry `{config_name}` lists no tensors")
    storages: dict[tuple[str, Any], Any] = {}
    return {str(key): _tensor(archive, folder, str(key), entry, storages) for key, entry in listed.items()}


def _tensor(archive: Archive, folder: str, key: str, entry: Any, storages: dict[Any, Any]) -> Any:
    import torch

    if not isinstance(entry, dict) or not isinstance(entry.get("path_name"), str):
        raise archive.error(f"the description of `{key:.80}` is malformed")
    if entry.get("use_pickle") or not isinstance(entry.get("tensor_meta"), dict):
        raise archive.error(
            f"`{key:.80}` is stored as a pickle or a custom object, which is not loaded because it could "
            "execute code; weights that torchao has quantized are stored as plain tensors after "
            "program = program.run_decompositions({})"
        )
    meta = cast(Mapping[str, Any], entry["tensor_meta"])
    dtype = _dtype(archive, key, meta)
    sizes, strides = _ints(archive, key, meta, "sizes"), _ints(archive, key, meta, "strides")
    (offset,) = _ints(archive, key, {"offset": [meta.get("storage_offset")]}, "offset")
    if len(sizes) != len(strides):
        raise archive.error(f"`{key:.80}` has {len(sizes)} sizes, but {len(strides)} strides")
    file = folder + entry["path_name"]
    storage = storages.get((file, dtype))
    if storage is None:
        data = archive.read(file)
        if len(data) % dtype.itemsize:
            raise archive.error(f"`{key:.80}` has {len(data)} bytes, not a multiple of {dtype.itemsize}")
        storage = torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)
        storages[file, dtype] = storage
    empty = math.prod(sizes) == 0
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    if not empty and last >= storage.numel():
        raise archive.error(f"`{key:.80}` of shape {sizes} needs more data than `{file}` has")
    value = torch.empty(sizes, dtype=dtype) if empty else torch.as_strided(storage, sizes, strides, offset)
    return torch.nn.Parameter(value, requires_grad=False) if entry.get("is_param") else value


def _dtype(archive: Archive, key: str, meta: Mapping[str, Any]) -> Any:
    from torch._export.serde import serialize

    code = meta.get("dtype")
    dtype = serialize._SERIALIZE_TO_TORCH_DTYPE.get(code) if isinstance(code, int) else None
    if dtype is None or dtype.is_complex:
        raise archive.error(f"`{key:.80}` has an element type that Relay does not have")
    return dtype


def _ints(archive: Archive, key: str, meta: Mapping[str, Any], field: str) -> list[int]:
    """Return a list of sizes, which must be natural numbers below 2^48."""
    values = meta.get(field)
    result = []
    for value in values if isinstance(values, list) else [None]:
        number = value.get("as_int") if isinstance(value, dict) else None
        if type(number) is not int or not 0 <= number < 1 << 48:
            raise archive.error(f"the {field} of `{key:.80}` are not natural numbers below 2^48")
        result.append(number)
    return result
