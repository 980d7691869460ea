"""Read an ONNX model from a path, bytes or a `ModelProto`, and say what is wrong where it is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any as Anything

from ..base.errors import ModelFileError
from ..base.require import require
from .tensors import Tensors, mapped
from .types import plain
from .wire import MalformedError, cut

_FORMATS = (
    (b"PK\x03\x04", "a zip archive, such as PyTorch (.pt, .pt2) or Keras (.keras) write"),
    (b"\x89HDF", "an HDF5 file, such as Keras wrote (.h5)"),
    (b"\x80\x02", "a Python pickle, such as old PyTorch wrote (.pth)"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x1f\x8b", "compressed with gzip"),
)


class ModelFile:
    """A model that has been read: its message, the decoder of its tensors, and its name."""

    def __init__(self, proto: Anything, tensors: Tensors, name: str) -> None:
        self.proto = proto
        self.tensors = tensors
        self.name = name


def read(model: object) -> ModelFile:
    """Read a model; raise a ModelFileError if it is not an ONNX model.

    A file is mapped into memory, and its weights stay there. Bytes have no name; where they are those of a
    named file, `named` reads them.
    """
    if isinstance(model, ModelFile):
        return model
    onnx = require("onnx", "onnx")
    if isinstance(model, (str, os.PathLike)):
        path = Path(os.fspath(model))
        if path.is_dir():
            raise ModelFileError(f"{str(path)!r} is a folder, not an ONNX model")
        return _parsed(onnx, mapped(path), path.parent, path.name, repr(path.name))
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = memoryview(model)
        return _parsed(onnx, data if data.readonly else memoryview(bytes(data)), None, "model", "the bytes")
    if isinstance(model, onnx.ModelProto):
        return ModelFile(_checked(model, "the ModelProto"), Tensors(None), plain(model.graph.name) or "model")
    if hasattr(model, "model_proto"):  # torch.onnx.ONNXProgram
        return read(model.model_proto)
    raise TypeError(
        f"from_onnx needs the path of a model, its bytes, or an onnx.ModelProto, not {type(model).__name__}"
    )


def named(data: bytes, name: str) -> ModelFile:
    """Read the content of a file that is not on this machine's disk; its external data cannot be read."""
    return _parsed(require("onnx", "onnx"), memoryview(data), None, name, repr(name))


def _parsed(onnx: Anything, data: memoryview, folder: Path | None, name: str, what: str) -> ModelFile:
    if not len(data):
        raise ModelFileError(f"{what}: the file is empty, not an ONNX model")
    head = bytes(data[:16])
    for magic, kind in _FORMATS:
        if head.startswith(magic):
            raise ModelFileError(f"{what} cannot be read as an ONNX model: it is {kind}")
    if head[4:8] == b"TFL3":
        raise ModelFileError(f"{what} cannot be read as an ONNX model: it is a TFLite model")
    try:
        rest, raw = cut(data)
        proto = onnx.ModelProto.FromString(rest)
    except MalformedError as error:
        raise ModelFileError(f"{what} is not an ONNX model, or is truncated: {error}") from None
    except Exception as error:  # protobuf's DecodeError is of a type that depends on its implementation
        if type(error).__name__ != "DecodeError":
            raise
        raise ModelFileError(f"{what} is not an ONNX model: {error}") from None
    return ModelFile(_checked(proto, what), Tensors(folder, raw), name)


def _checked(proto: Anything, what: str) -> Anything:
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise ModelFileError(f"{what} has no graph: it is not an ONNX model, or is truncated")
    if not proto.graph.output:
        raise ModelFileError(f"{what}: the graph has no outputs")
    return proto
