"""Recognize the format of a file by its contents, and open the model in it.

    mod, params, format = open_model("model.onnx")

The name of a file does not matter: `model.bin` with an ONNX model in it is an ONNX model.
"""

from __future__ import annotations

import json
import os
import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any as Anything
from typing import BinaryIO, NamedTuple

from ..ir.errors import RelayError
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.size import SizeVar
from ..ir.types import Any, Dim
from .base.errors import ModelFileError

RELAY = "Relay text"
ONNX = "ONNX"
TORCHSCRIPT = "TorchScript"
EXPORTED = "PyTorch exported program"
KERAS = "Keras"
TFLITE = "TFLite"
TENSORFLOW = "TensorFlow"
MXNET = "MXNet"
EXECUTABLE = "compiled program"
MEASUREMENT = "measurement"

MODELS = (RELAY, ONNX, TORCHSCRIPT, EXPORTED, KERAS, TFLITE, TENSORFLOW, MXNET)

MAX_ENTRIES = 1_000_000  # of a zip archive
MAX_JSON_BYTES = 1 << 28
MAX_FIELDS = 1_000  # top-level fields of a protobuf message that are looked at

Shapes = Mapping[str, Sequence[int | str | Dim]]


class Opened(NamedTuple):
    """A model that was opened: the module, the values of its weights by name, and the file's format."""

    mod: IRModule
    params: dict[str, NDArray]
    format: str


def open_model(
    path: str | os.PathLike[str],
    shape: Shapes | None = None,
    dtype: str | Mapping[str, str] | None = None,
) -> Opened:
    """Import the model in a file or folder, whatever framework wrote it.

    `shape` gives the shapes of inputs by name; a dimension is an int, a text that names a size, or
    `relay.Any()`. `dtype` gives the element type of all inputs, or a mapping those of some by name.

    Raise a ModelFileError for a file that is no model, or a broken one, and the errors of the importers.
    """
    place = Path(path)
    kind = recognized(place)
    if kind == RELAY:
        from ..text import MAX_BYTES, parse

        with place.open("rb") as file:
            return Opened(parse(file.read(MAX_BYTES + 1), str(path)), {}, kind)
    if kind not in MODELS:
        raise ModelFileError(f"`{path}` is a {kind}, not a model")
    mod, params = _IMPORTERS[kind](place, dict(shape or {}), dtype)
    return Opened(mod, dict(params), kind)


# -- recognizing a format


def recognized(path: Path) -> str:
    """Return the format of a file, one of the constants above. Raise a ModelFileError that says what a file
    contains, if that is no program.
    """
    if path.is_dir():
        if (path / "saved_model.pb").is_file() or (path / "saved_model.pbtxt").is_file():
            return TENSORFLOW
        raise ModelFileError(
            f"`{path}` is a folder",
            help=[
                "give a file, or the folder of a TensorFlow SavedModel, in which there is a saved_model.pb"
            ],
        )
    with path.open("rb") as file:
        head = file.read(512)
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if head[4:8] == b"TFL3":
        return TFLITE
    for magic, (reason, remedy) in _REFUSED.items():
        if head.startswith(magic):
            raise ModelFileError(f"`{path}` is {reason}", help=[remedy])
    if head.startswith(b"PK\x03\x04"):
        return _archive(path)
    if len(head) > 9 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < os.path.getsize(path):
        raise ModelFileError(
            f"`{path}` has weights in the format safetensors, but no graph", help=[_WHOLE_MODEL]
        )
    if head.lstrip()[:1] == b"{":
        return _json(path)
    if _TVMSCRIPT.search(head):
        raise ModelFileError(
            f"`{path}` is a module in TVM's script, of Relax or TensorIR, which cannot be read yet",
            help=["open the model from which it was made, or a program in Relay's text format"],
        )
    # A message has control characters: the tags and lengths of its fields. Text that begins with an empty
    # line could otherwise pass for a message whose first field is a string.
    return RELAY if not _CONTROL.search(head) else _protobuf(path) or RELAY


_TVMSCRIPT = re.compile(rb"@(I\.ir_module|tvm\.script\.ir_module|ir_module)\b|from tvm\.script ")
_CONTROL = re.compile(rb"[^\t\n\r\x20-\x7e\x80-\xff]")


_MAGIC = {b"\x7fELF": EXECUTABLE, b"\x89HDF\r\n\x1a\n": KERAS}

_WHOLE_MODEL = (
    "export the whole model: torch.onnx.export(model, args, path), or torch.export.save(program, path)"
)

_PICKLE = "a Python pickle, such as torch.save writes: reading it could execute any code, so it is refused"
# By the first bytes of a file: what it is, and what to do instead.
_REFUSED = {
    b"\x80\x02": (_PICKLE, _WHOLE_MODEL),
    b"\x80\x03": (_PICKLE, _WHOLE_MODEL),
    b"\x80\x04": (_PICKLE, _WHOLE_MODEL),
    b"\x80\x05": (_PICKLE, _WHOLE_MODEL),
    b"\x93NUMPY": (
        "a NumPy array, not a model",
        "pass it as an input of a model: relay-explorer run MODEL --input NAME=FILE.npy",
    ),
    b"\x1f\x8b": (
        "compressed with gzip",
        "unpack it first: gzip -dc FILE > MODEL, or for a .tar.gz archive tar -xzf FILE",
    ),
    b"GGUF": ("weights in the format GGUF, without a graph that could be imported", _WHOLE_MODEL),
}


def _archive(path: Path) -> str:
    """Return the format of a zip archive, by the names of its entries."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        raise ModelFileError(f"`{path}` is a broken zip archive: {problem}") from None
    if len(infos) > MAX_ENTRIES:
        raise ModelFileError(f"`{path}` has {len(infos):,} entries, more than any model")
    names = [info.filename for info in infos]
    whole = set(names)
    inner = {name.partition("/")[2] for name in names}
    if "program.json" in whole:
        return EXECUTABLE
    if {"config.json", "metadata.json"} <= whole:
        return KERAS
    if inner & {"models/model.json", "serialized_exported_program.json"} or (
        "serialized_exported_program.json" in whole
    ):
        return EXPORTED
    if "constants.pkl" in inner and any(name.startswith("code/") for name in inner):
        return TORCHSCRIPT
    if "data.pkl" in inner:
        raise ModelFileError(
            f"`{path}` was written by torch.save: a state_dict or another pickled object. It has no graph, "
            "and unpickling it could execute any code",
            help=[_WHOLE_MODEL, "or torch.jit.trace(model, args).save(path)"],
        )
    if names and all(name.endswith(".npy") for name in names):
        raise ModelFileError(
            f"`{path}` has NumPy arrays, but no model",
            help=["pass them as inputs of a model, by name: relay-explorer run MODEL --input FILE.npz"],
        )
    shown = ", ".join(names[:4])
    raise ModelFileError(
        f"`{path}` is a zip archive, but no framework saves models in this form: it contains {shown}"
    )


def _json(path: Path) -> str:
    """Return the format of a file that begins like JSON."""
    from ..lower.profiling.measurement import FORMAT

    if os.path.getsize(path) > MAX_JSON_BYTES:
        raise ModelFileError(f"`{path}` is larger than any model in JSON: more than {MAX_JSON_BYTES:,} bytes")
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return RELAY  # a program, which may begin with a brace
    if isinstance(data, dict) and {"nodes", "heads"} <= data.keys():
        return MXNET
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return MEASUREMENT
    raise ModelFileError(f"`{path}` is JSON, but neither an MXNet symbol nor a saved measurement")


def _protobuf(path: Path) -> str | None:
    """Return the format of a protobuf message, by its first fields; None if the file is none."""
    fields = _fields(path)
    if fields is None:
        return None
    if fields & {(7, 2), (20, 2), (25, 2)} and not fields - _ONNX_FIELDS:
        return ONNX  # a graph, training information or functions
    if (1, 2) in fields and not fields - _GRAPH_FIELDS:
        return TENSORFLOW
    if {(1, 0), (2, 2)} == fields:
        raise ModelFileError(
            f"`{path}` is a part of a TensorFlow SavedModel",
            help=["give the SavedModel's folder instead: its other files contain the weights"],
        )
    return None


# (number, wire type) of the fields of onnx.ModelProto and tensorflow.GraphDef
_ONNX_FIELDS = {
    (1, 0),
    (2, 2),
    (3, 2),
    (4, 2),
    (5, 0),
    (6, 2),
    (7, 2),
    (8, 2),
    (14, 2),
    (20, 2),
    (25, 2),
    (26, 2),
}
_GRAPH_FIELDS = {(1, 2), (2, 2), (3, 0), (4, 2), (5, 2)}


def _fields(path: Path) -> set[tuple[int, int]] | None:
    """Return the numbers and wire types of a message's top-level fields, without reading their contents."""
    size = os.path.getsize(path)
    seen: set[tuple[int, int]] = set()
    with path.open("rb") as file:
        for _ in range(MAX_FIELDS):
            if file.tell() >= size:
                return seen or None
            tag = _varint(file)
            if tag is None or not 1 <= tag >> 3 <= 64:
                return None
            seen.add((tag >> 3, tag & 7))
            if tag & 7 == 0:
                if _varint(file) is None:
                    return None
            elif tag & 7 == 2:
                length = _varint(file)
                if length is None:
                    return None
                # The last field of a truncated file reaches beyond its end: the importer says so.
                file.seek(min(length, size), os.SEEK_CUR)
            else:
                return None
    return seen


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
    return None


# -- importing


def _onnx(path: Path, shape: dict[str, Anything], dtype: Anything) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_onnx

    # A named axis of the file and one of the same name here are the same size.
    shapes = {name: [Any() if dim == "?" else dim for dim in dims] for name, dims in shape.items()}
    return from_onnx(path, shape=shapes or None, dtype=dtype or "float32")


def _torchscript(
    path: Path, shape: dict[str, Anything], dtype: Anything
) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_pytorch
    from .pytorch.archive import load

    with warnings.catch_warnings():
        # PyTorch recommends torch.export to those who write such files; the file is there already.
        warnings.filterwarnings("ignore", r"`torch\.jit", DeprecationWarning)
        module = load(path).eval()
    # TorchScript numbers names: the argument `x` is `x.1`.
    names = [value.debugName().partition(".")[0] for value in list(module.graph.inputs())[1:]]
    if len(shape) != len(names):
        called = ", ".join(f"`{name}`" for name in names)
        options = " ".join(f"--shape {name}=1,3,224,224" for name in names)
        raise RelayError(
            f"a TorchScript program does not record the shapes of its inputs ({called})",
            help=[f"give them: {options}", "or export with torch.export.save, which keeps them"],
        )
    infos: list[tuple[str, Anything]] = []
    for name, dims in shape.items():
        own = dtype if isinstance(dtype, str) else (dtype or {}).get(name)
        extents = tuple([Any() if dim == "?" else dim for dim in dims])
        infos.append((name, extents if own is None else (extents, own)))
    return from_pytorch(module, infos)


def _exported(
    path: Path, shape: dict[str, Anything], dtype: Anything
) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_exported_program

    if shape or dtype:
        raise RelayError(
            "an exported program has the shapes and element types with which it was exported",
            help=[
                "leave out --shape and --dtype",
                "export it again, with dynamic_shapes for axes that change",
            ],
        )
    return from_exported_program(path)


def _keras(path: Path, shape: dict[str, Anything], dtype: Anything) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_keras

    _no_dtype(dtype, "a Keras model")
    return from_keras(path, _relay_shapes(shape), layout="NHWC")  # the model's own order of axes


def _tflite(
    path: Path, shape: dict[str, Anything], dtype: Anything
) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_tflite

    types = dict.fromkeys(shape, dtype) if isinstance(dtype, str) else dtype
    return from_tflite(path, _relay_shapes(shape), types)


def _tensorflow(
    path: Path, shape: dict[str, Anything], dtype: Anything
) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_tensorflow

    _no_dtype(dtype, "a TensorFlow graph")
    shapes = {name: [None if dim == "?" else dim for dim in dims] for name, dims in shape.items()}
    return from_tensorflow(path, shape=shapes or None)


def _mxnet(path: Path, shape: dict[str, Anything], dtype: Anything) -> tuple[IRModule, Mapping[str, NDArray]]:
    from . import from_mxnet

    prefix = path.name.removesuffix(".json").removesuffix("-symbol")
    params = sorted(
        [*path.parent.glob(f"{_literal(prefix)}-*.params"), *path.parent.glob(f"{_literal(prefix)}.params")]
    )
    if not params:
        raise ModelFileError(
            f"there are no weights beside `{path}`",
            help=[f"save them as `{prefix}-0000.params` in its folder"],
        )
    # Of several, the file of the last epoch.
    return from_mxnet(path, _relay_shapes(shape), dtype or "float32", arg_params=params[-1])


def _literal(name: str) -> str:
    from glob import escape

    return escape(name)


def _no_dtype(dtype: Anything, what: str) -> None:
    if dtype:
        raise RelayError(
            f"{what} declares the element types of its inputs itself", help=["leave out --dtype"]
        )


def _relay_shapes(shapes: Shapes) -> dict[str, tuple[Dim, ...]] | None:
    """Return shapes whose named sizes are those of the language: the same name is the same size."""
    sizes: dict[str, SizeVar] = {}
    return {name: _relay_shape(dims, sizes) for name, dims in shapes.items()} or None


def _relay_shape(dims: Sequence[int | str | Dim], sizes: dict[str, SizeVar] | None = None) -> tuple[Dim, ...]:
    named = {} if sizes is None else sizes
    return tuple(
        [
            Any() if dim == "?" else named.setdefault(dim, SizeVar(dim)) if isinstance(dim, str) else dim
            for dim in dims
        ]
    )


_IMPORTERS = {
    ONNX: _onnx,
    TORCHSCRIPT: _torchscript,
    EXPORTED: _exported,
    KERAS: _keras,
    TFLITE: _tflite,
    TENSORFLOW: _tensorflow,
    MXNET: _mxnet,
}
