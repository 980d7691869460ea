"""Read Keras files without running anything that is in them.

A `.keras` file is a ZIP archive with the configuration as JSON and the weights in HDF5; a `.h5` file holds
both. Keras builds layers from the configuration, and classes and functions by name. Therefore the
configuration is read first: it may name only layers that this importer knows and Keras's own initializers
and functions. Then Keras loads the file in its safe mode. HDF5 files may refer to other files, and declare
data of any size; both are refused.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base.errors import ModelFileError
from ..base.require import require

_LARGEST = 1 << 33  # bytes of all members of an archive, or of all data in an HDF5 file
_EXPANSION = 200  # times that data may be larger than its compressed bytes
_SMALL = 1 << 20  # bytes of data that may be compressed as well as it likes
_MEMBERS = 10_000
_CONFIGURATION = 1 << 26  # bytes of JSON
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_GRAPHS = ("Functional", "Sequential", "Model", "InputLayer")
_PARTS = ("keras.initializers", "keras.regularizers", "keras.constraints", "keras.activations")
_PART_NAMES = (
    "DTypePolicy", "Policy", "__tuple__", "__keras_tensor__", "__tensor__", "__numpy__", "function", "list",
    "TensorShape", "__ellipsis__", "__slice__", "CategoricalCrossentropy",
)  # fmt: skip


def load(path: Path) -> Any:
    """Return the model in a `.keras` or `.h5` file; raise a ModelFileError if it is broken or holds code."""
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise ModelFileError(f"the model cannot be read: {error}") from error
    keras = require("keras", "keras")
    if start.startswith(b"PK"):
        _check_archive(path)
    elif start == _SIGNATURE:
        _check_hdf5(path.name, path, with_configuration=True)
    else:
        raise ModelFileError(
            f"{path.name} is neither a .keras archive nor an HDF5 file",
            help=["a SavedModel is imported by from_tensorflow, a .tflite file by from_tflite"],
        )
    try:
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # whatever Keras makes of a damaged file
        raise ModelFileError(
            f"Keras cannot load {path.name}: {_first_line(error)}",
            help=["load the model with the version of Keras that wrote it, and give from_keras the model"],
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check_archive(path: Path) -> None:
    """Check an archive: its sizes, the configuration, and the weights."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            total = sum(member.file_size for member in members.values())
            if total > _LARGEST or len(archive.infolist()) > _MEMBERS:
                raise ModelFileError(
                    f"{path.name} has {len(members):,} members of {total:,} bytes; at most {_MEMBERS:,} of "
                    f"{_LARGEST:,} are read"
                )
            for member in members.values():
                _check_expansion(
                    f"`{member.filename}` in {path.name}", member.compress_size, member.file_size
                )
            if "config.json" not in members:
                raise ModelFileError(
                    f"{path.name} is an archive without `config.json`, so it is not a Keras model"
                )
            if members["config.json"].file_size > _CONFIGURATION:
                raise _too_large(path.name, members["config.json"].file_size)
            _check_configuration(path.name, archive.read("config.json"))
            for name in members:
                if name.endswith((".h5", ".hdf5")):
                    _check_hdf5(path.name, io.BytesIO(archive.read(name)), with_configuration=False)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise ModelFileError(f"{path.name} is a damaged archive: {error}") from error


def _check_expansion(what: str, stored: int, size: int) -> None:
    if size > _SMALL and size > _EXPANSION * max(stored, 1):
        raise ModelFileError(
            f"{what} expands from {stored:,} to {size:,} bytes, as a zip bomb does; it is not read"
        )


def _check_hdf5(name: str, source: Any, with_configuration: bool) -> None:
    """Check an HDF5 file: the sizes of its data, that nothing refers to another file, the configuration."""
    h5py = require("h5py", "keras")
    try:
        with h5py.File(source, "r") as file:
            if with_configuration:
                text = file.attrs.get("model_config")
                if text is None:
                    raise ModelFileError(
                        f"{name} has weights, but no model",
                        help=["save it with model.save, not save_weights"],
                    )
                _check_configuration(name, text if isinstance(text, bytes) else str(text).encode())
            total = 0
            for path, data in _datasets(h5py, file, name):
                stored, size = int(data.id.get_storage_size()), int(data.size * data.dtype.itemsize)
                _check_expansion(f"`{path}` in {name}", stored, size)
                total += size
                if total > _LARGEST:
                    raise ModelFileError(f"the data of {name} have more than {_LARGEST:,} bytes")
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{name} holds a damaged HDF5 file: {_first_line(error)}") from error


def _datasets(h5py: Any, file: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the data of an HDF5 file, each group once."""
    pending, seen = [("", file)], set()
    while pending:
        path, group = pending.pop()
        if group.id.__hash__() in seen:
            continue
        seen.add(group.id.__hash__())
        for key in group:
            link, where = group.get(key, getlink=True), f"{path}/{key}"
            if not isinstance(link, h5py.HardLink):
                raise ModelFileError(f"`{where}` in {name} is a link to other data; it is not followed")
            item = group[key]
            if isinstance(item, h5py.Group):
                pending.append((where, item))
            elif isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise ModelFileError(
                        f"the data of `{where}` in {name} are in another file; it is not read"
                    )
                yield where, item
        if len(seen) > _MEMBERS:
            raise ModelFileError(f"{name} has more than {_MEMBERS} groups")


def _too_large(name: str, size: int) -> ModelFileError:
    return ModelFileError(
        f"the configuration of {name} has {size:,} bytes; at most {_CONFIGURATION:,} are read"
    )


def _check_configuration(name: str, text: bytes) -> None:
    """Raise a ModelFileError if a configuration names something that Keras would have to run."""
    from .call import CONVERTERS

    if len(text) > _CONFIGURATION:
        raise _too_large(name, len(text))
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the configuration of {name} is damaged: {_first_line(error)}") from error
    layers = {kind.removeprefix("ops.") for kind in CONVERTERS} | set(_GRAPHS) | set(_CELLS)
    if isinstance(config, dict):
        config.pop("compile_config", None)
    pending: list[Any] = [config]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        if not isinstance(part, dict):
            continue
        pending += part.values()
        kind, module = part.get("class_name"), part.get("module")
        if kind is None:
            continue
        known = kind in layers or kind in _PART_NAMES or _is_part(str(kind))
        if not known or (module is not None and not _is_keras(str(module))):
            raise ModelFileError(
                f"the configuration of {name} names {module + '.' if module else ''}{kind}, which is either "
                "Python code, which the importer does not run, or a layer that cannot be imported",
                help=[
                    "load the model yourself, and give from_keras the model with converters in convert_map"
                ],
            )


_CELLS = ("SimpleRNNCell", "LSTMCell", "GRUCell", "StackedRNNCells", "ConvLSTMCell", "ConvLSTM2DCell")


def _is_keras(module: str) -> bool:
    return module in ("keras", "builtins") or module.startswith(("keras.", "tf_keras."))


def _is_part(name: str) -> bool:
    """Whether a name is that of an initializer, a regularizer, a constraint or an activation of Keras."""
    return any(hasattr(require(module, "keras"), name) for module in _PARTS)
