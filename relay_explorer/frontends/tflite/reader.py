"""Read a TFLite file into plain Python objects, and check it: the `tflite` package trusts what it reads.

The file is a FlatBuffer, whose tables refer to one another by offsets. A hostile offset gives an IndexError
or a struct.error somewhere inside the package, and a hostile length a loop of four thousand million steps. So
all reading happens here, lengths are compared with the size of the file before anything is read, and every
failure becomes a ModelFileError.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..base.errors import ModelFileError
from ..base.require import require

if TYPE_CHECKING:
    from numpy import ndarray as Array

DTYPES = {
    0: "float32", 1: "float16", 2: "int32", 3: "uint8", 4: "int64", 5: "string", 6: "bool", 7: "int16",
    8: "complex64", 9: "int8", 10: "float64", 11: "complex128", 12: "uint64", 13: "resource", 14: "variant",
    15: "uint32", 16: "uint16", 17: "int4", 18: "bfloat16",
}  # fmt: skip
OUTSIDE_RELAY = ("string", "complex64", "complex128", "resource", "variant")
_BROKEN = (
    IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, MemoryError, AssertionError,
    struct.error,
)  # fmt: skip
_LARGEST_FILE = 1 << 33
_LARGEST_RANK = 32


@dataclass(frozen=True)
class Quantization:
    """Affine quantization: a real value is `scale · (stored - zero_point)`; per channel of `axis` where there
    are several scales.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int

    @property
    def per_channel(self) -> bool:
        """Whether channels have scales of their own."""
        return len(self.scale) > 1


@dataclass(frozen=True)
class Tensor:
    """A tensor of a subgraph. `shape` has -1 for a dimension that is known only at run time. `data` are the
    values of a constant.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    data: Array | None
    quantization: Quantization | None
    is_variable: bool


@dataclass(frozen=True)
class Operator:
    """An operator of a subgraph; -1 among `inputs` is an optional operand that is not given. `intermediates`
    are tensors that describe values inside a kernel.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attrs: dict[str, Any]
    version: int
    original: object
    intermediates: tuple[int, ...] = ()


@dataclass(frozen=True)
class Subgraph:
    """A graph: the model's own is the first, the others are bodies of loops and branches."""

    name: str
    tensors: list[Tensor]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: list[Operator]
    original: object = field(repr=False, default=None)


@dataclass(frozen=True)
class Model:
    """The checked contents of a file."""

    subgraphs: list[Subgraph]
    original: object = field(repr=False, default=None)


def read(model: object) -> Model:
    """Read a model: a path, bytes, or a `tflite.Model`. Raise a ModelFileError if it is broken."""
    schema = require("tflite", "tflite")
    contents = _contents(model)
    if len(contents) > _LARGEST_FILE:
        raise ModelFileError(f"the model has {len(contents):,} bytes; at most {_LARGEST_FILE:,} are read")
    if len(contents) < 8 or bytes(contents[4:8]) != b"TFL3":
        raise ModelFileError(
            "this is not a TFLite model: its bytes 4 to 8 are not `TFL3`",
            help=["give a .tflite file, its bytes, or tflite.Model.GetRootAsModel(bytes, 0)"],
        )
    try:
        return _Reader(schema, contents).model()
    except _BROKEN as error:
        raise ModelFileError(
            f"the TFLite file is damaged: reading it fails with {type(error).__name__}: {error}",
            help=["the file is truncated or has been changed; export or download it again"],
        ) from error


def _contents(model: object) -> bytes | bytearray:
    if isinstance(model, (str, Path)):
        path = Path(model)
        try:
            size = path.stat().st_size
            if size > _LARGEST_FILE:
                raise ModelFileError(f"{path} has {size:,} bytes; at most {_LARGEST_FILE:,} are read")
            return path.read_bytes()
        except OSError as error:
            raise ModelFileError(f"the model cannot be read: {error}") from error
    if isinstance(model, (bytes, bytearray)):
        return model
    if isinstance(model, memoryview):
        return bytes(model)
    table = getattr(model, "_tab", None)
    if table is not None and isinstance(table.Bytes, (bytes, bytearray)):
        return table.Bytes
    raise ModelFileError(
        f"a TFLite model is a path, bytes, or a tflite.Model, not {type(model).__name__}",
        help=["a Keras model is imported by from_keras; `tf.lite.TFLiteConverter` makes bytes"],
    )


class _Reader:
    """Reads one file. `left` is the number of elements that vectors may still have: each takes at least one
    byte of the file, so that a file with more of them refers to the same bytes again and again.
    """

    def __init__(self, schema: ModuleType, contents: bytes | bytearray) -> None:
        self.schema = schema
        self.contents = contents
        self.left = 4 * len(contents) + 1024
        self.op_names = _names(schema.BuiltinOperator)
        self.option_names = _names(schema.BuiltinOptions)
        self.option_names2 = _names(schema.BuiltinOptions2)

    def model(self) -> Model:
        root = self.schema.Model.GetRootAs(self.contents, 0)
        buffers = self.objects(root.BuffersLength(), root.Buffers)
        codes = [self.code(code) for code in self.objects(root.OperatorCodesLength(), root.OperatorCodes)]
        graphs = [
            self.subgraph(number, graph, buffers, codes)
            for number, graph in enumerate(self.objects(root.SubgraphsLength(), root.Subgraphs))
        ]
        if not graphs:
            raise ModelFileError("the TFLite file has no subgraph")
        return Model(graphs, root)

    def objects(self, count: int, get: Callable[[int], Any]) -> list[Any]:
        self.spend(count)
        return [get(index) for index in range(count)]

    def spend(self, count: int) -> None:
        self.left -= count
        if count < 0 or self.left < 0:
            raise ModelFileError("the TFLite file is damaged: its vectors have more elements than its bytes")

    def vector(self, table: Any, name: str) -> tuple[Any, ...]:
        """Return a vector of numbers; it is empty where the file has none."""
        if getattr(table, f"{name}IsNone")():
            return ()
        self.spend(getattr(table, f"{name}Length")())
        return tuple(getattr(table, f"{name}AsNumpy")().tolist())

    def code(self, code: Any) -> tuple[str, int]:
        builtin = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        name = self.op_names.get(builtin)
        if name is None:
            raise ModelFileError(
                f"the file uses operator code {builtin}, which the installed tflite package does not know",
                help=["upgrade the package: pip install --upgrade tflite"],
            )
        if name == "CUSTOM":
            name = _text(code.CustomCode()) or "CUSTOM"
        return name, int(code.Version())

    def subgraph(self, number: int, graph: Any, buffers: list[Any], codes: list[tuple[str, int]]) -> Subgraph:
        tensors = [
            self.tensor(index, tensor, buffers)
            for index, tensor in enumerate(self.objects(graph.TensorsLength(), graph.Tensors))
        ]
        operators = [
            self.operator(op, codes) for op in self.objects(graph.OperatorsLength(), graph.Operators)
        ]
        inputs, outputs = self.vector(graph, "Inputs"), self.vector(graph, "Outputs")
        name = _text(graph.Name()) or f"subgraph_{number}"
        self.check_indices(name, len(tensors), inputs, outputs, operators)
        return Subgraph(name, tensors, inputs, outputs, operators, graph)

    def check_indices(
        self, name: str, count: int, inputs: Sequence[int], outputs: Sequence[int], ops: list[Operator]
    ) -> None:
        for indices in (inputs, outputs, *[op.outputs for op in ops]):
            for index in indices:
                if not 0 <= index < count:
                    raise ModelFileError(
                        f"subgraph `{name}` refers to tensor {index}; it has {count} tensors"
                    )
        for op in ops:
            for index in (*op.inputs, *op.intermediates):
                if not -1 <= index < count:
                    raise ModelFileError(
                        f"{op.name} in `{name}` reads tensor {index}; the subgraph has {count} tensors"
                    )

    def tensor(self, index: int, tensor: Any, buffers: list[Any]) -> Tensor:
        name = _text(tensor.Name()) or f"tensor_{index}"
        dtype = DTYPES.get(tensor.Type())
        if dtype is None:
            raise ModelFileError(f"tensor `{name}` has the element type {tensor.Type()}, which is unknown")
        shape = tuple(map(int, self.vector(tensor, "Shape")))
        signature = tuple(map(int, self.vector(tensor, "ShapeSignature"))) or shape
        if len(signature) != len(shape):
            signature = shape
        if len(shape) > _LARGEST_RANK or any(extent < -1 for extent in signature):
            raise ModelFileError(
                f"tensor `{name}` must have at most {_LARGEST_RANK} axes, none of negative extent but -1 "
                f"for a dynamic one, but its shape is {list(shape[: _LARGEST_RANK + 1])}"
            )
        where = tensor.Buffer()
        if not 0 <= where < len(buffers):
            raise ModelFileError(
                f"tensor `{name}` refers to buffer {where}; the file has {len(buffers)} buffers"
            )
        raw = self.buffer(buffers[where], name) if where else None
        data = None
        if raw is not None and dtype not in OUTSIDE_RELAY:
            if tensor.Sparsity() is not None:
                from .sparse import dense

                raw = dense(raw, shape, dtype, tensor.Sparsity(), self.vector, self.objects, name)
            data = _values(raw, shape, dtype, name)
        return Tensor(
            index, name, shape if data is not None else signature, "int8" if dtype == "int4" else dtype, data,
            self.quantization(tensor.Quantization(), name, len(shape)), bool(tensor.IsVariable()),
        )  # fmt: skip

    def buffer(self, buffer: Any, name: str) -> Array | None:
        """Return the bytes of a buffer, which share the file's memory; None if it has none."""
        import numpy as np

        offset, size = int(buffer.Offset()), int(buffer.Size())
        if offset > 1:  # the values are after the FlatBuffer, which cannot be larger than 2 GB
            if offset + size > len(self.contents):
                raise ModelFileError(f"the values of tensor `{name}` are beyond the end of the file")
            return np.frombuffer(self.contents, np.uint8, size, offset)
        if buffer.DataIsNone() or not buffer.DataLength():
            return None
        data: Array = buffer.DataAsNumpy()
        if data.size != buffer.DataLength():
            raise ModelFileError(f"the values of tensor `{name}` are beyond the end of the file")
        return data

    def quantization(self, given: Any, name: str, rank: int) -> Quantization | None:
        if given is None or not given.ScaleLength():
            return None
        scale, zero = self.vector(given, "Scale"), self.vector(given, "ZeroPoint")
        zero = zero or (0,) * len(scale)
        axis = int(given.QuantizedDimension())
        if len(zero) == 1:
            zero *= len(scale)
        if len(zero) != len(scale) or not all(0 < value < float("inf") for value in scale):
            if not any(scale):
                return None  # what the converter writes for a tensor without quantization
            raise ModelFileError(
                f"tensor `{name}` must have positive scales and as many zero points, but has {len(scale)} "
                f"scales and {len(zero)} zero points"
            )
        if len(scale) > 1 and not 0 <= axis < rank:
            raise ModelFileError(f"tensor `{name}` is quantized along axis {axis}; it has {rank} axes")
        return Quantization(tuple(map(float, scale)), tuple(map(int, zero)), axis)

    def operator(self, op: Any, codes: list[tuple[str, int]]) -> Operator:
        code = op.OpcodeIndex()
        if not 0 <= code < len(codes):
            raise ModelFileError(
                f"an operator has the code number {code}; the file has {len(codes)} operator codes"
            )
        name, version = codes[code]
        attrs = self.options(op.BuiltinOptions(), self.option_names.get(op.BuiltinOptionsType(), "NONE"))
        if not attrs:
            kind = self.option_names2.get(op.BuiltinOptions2Type(), "NONE")
            attrs = self.options(op.BuiltinOptions2(), kind)
        if not op.CustomOptionsIsNone() and op.CustomOptionsLength():
            self.spend(op.CustomOptionsLength())
            attrs["custom_options"] = op.CustomOptionsAsNumpy().tobytes()
        return Operator(
            name, self.vector(op, "Inputs"), self.vector(op, "Outputs"), attrs, version, op,
            self.vector(op, "Intermediates"),
        )  # fmt: skip

    def options(self, table: Any, kind: str) -> dict[str, Any]:
        """Return an operator's options as a dict with names like `stride_w`.

        Each field of the schema has a method of its name; a vector has further ones.
        """
        if table is None or kind == "NONE":
            return {}
        options = getattr(self.schema, kind)()
        options.Init(table.Bytes, table.Pos)
        return {_snake(name): value for name, value in self.fields(options)}

    def fields(self, options: Any) -> Iterator[tuple[str, Any]]:
        names = [name for name in vars(type(options)) if name[0].isupper()]
        for name in names:
            if name == "Init" or name.startswith("GetRootAs") or name.endswith("BufferHasIdentifier"):
                continue
            if f"{name}IsNone" in names:
                if f"{name}AsNumpy" in names:
                    yield name, self.vector(options, name)
            elif not name.endswith(("IsNone", "Length", "AsNumpy")):
                value = getattr(options, name)()
                if isinstance(value, (bool, int, float)):
                    yield name, value
                elif isinstance(value, bytes):
                    yield name, _text(value)


def _names(enum: type) -> dict[int, str]:
    return {value: name for name, value in vars(enum).items() if isinstance(value, int)}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _values(raw: Array, shape: tuple[int, ...], dtype: str, name: str) -> Array:
    """Return the values of a constant as an array of its shape."""
    import numpy as np

    count = 1
    for extent in shape:
        count *= extent
    if dtype == "int4":  # two per byte, the lower half first
        if raw.size != (count + 1) // 2:
            raise _disagree(name, shape, dtype, raw.size)
        both = raw.view(np.int8)
        return np.stack([both << 4 >> 4, both >> 4], -1).reshape(-1)[:count].reshape(shape)
    kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
    if count < 0 or raw.size != count * kind.itemsize:
        raise _disagree(name, shape, dtype, raw.size)
    if not np.shares_memory(raw, raw.reshape(-1)) or not raw.flags.c_contiguous:
        raw = raw.copy()
    values = raw.view(kind)
    if dtype == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return values.reshape(shape)


def _disagree(name: str, shape: tuple[int, ...], dtype: str, size: int) -> ModelFileError:
    return ModelFileError(f"tensor `{name}` has {size} bytes, which are not {dtype} of shape {list(shape)}")
