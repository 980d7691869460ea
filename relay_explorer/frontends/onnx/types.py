"""Translate ONNX's types into Relay's: dynamic axes with a name become named sizes, those without `?`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from typing import Any as Anything

from ...ir.types import Any, Dim, TensorType, Type
from ..base.errors import ModelFileError

if TYPE_CHECKING:
    from .graph import Importer

# The numbers of TensorProto.DataType that Relay has, with their NumPy names; onnx itself need not be loaded.
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
_OTHERS = {
    0: "undefined", 8: "string", 14: "complex64", 15: "complex128", 17: "float8e4m3fn", 18: "float8e4m3fnuz",
    19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0",
    25: "uint2", 26: "int2",
}  # fmt: skip
MOST_ELEMENTS = 1 << 40  # of a tensor; more is an error of the file


def dtype_of(number: int) -> str:
    """Return the name of an ONNX element type; raise a ModelFileError for one that Relay does not have."""
    name = DTYPES.get(number)
    if name is None:
        what = _OTHERS.get(number, f"number {number}")
        raise ModelFileError(f"tensors of the element type {what} cannot be imported: Relay does not have it")
    return name


def relay_type(proto: Anything, importer: Importer) -> Type:
    """Return the Relay type of a `TypeProto`."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return tensor_type(proto.tensor_type, importer)
    if kind == "sequence_type":
        from .sequences import sequence_type

        return sequence_type(importer.context, relay_type(proto.sequence_type.elem_type, importer))
    if kind == "optional_type":
        from .sequences import optional_type

        return optional_type(importer.context, relay_type(proto.optional_type.elem_type, importer))
    raise ModelFileError(
        f"values of the kind {kind or 'undefined'} cannot be imported: Relay does not have them"
    )


def tensor_type(proto: Anything, importer: Importer) -> TensorType:
    """Return the Relay type of a `TypeProto.Tensor`."""
    dtype = dtype_of(proto.elem_type)
    if not proto.HasField("shape"):
        raise ModelFileError(
            "the model does not say how many axes the tensor has",
            help=['give its shape: from_onnx(model, shape={"name": (1, 3, "height", "width")})'],
        )
    return TensorType(checked_shape([dimension(dim, importer) for dim in proto.shape.dim]), dtype)


def dimension(proto: Anything, importer: Importer) -> Dim:
    """Return a dimension: an int, a named size, or `?`."""
    kind = proto.WhichOneof("value")
    if kind == "dim_value":
        return int(proto.dim_value)
    if kind == "dim_param" and proto.dim_param:
        return importer.size(plain(proto.dim_param))
    return Any()


def checked_shape(shape: list[Dim]) -> list[Dim]:
    """Return `shape`; raise a ModelFileError where a dimension is negative or the tensor absurdly large."""
    count = 1
    for dim in shape:
        if not isinstance(dim, int):
            continue
        if dim < 0:
            raise ModelFileError(
                f"{_listed(shape)} has a negative dimension",
                help=['give the shape: from_onnx(model, shape={"name": (1, 3, 224, 224)})'],
            )
        count *= dim
        if count > MOST_ELEMENTS:
            raise ModelFileError(
                f"a tensor of the shape {_listed(shape)} cannot be imported: it is too large"
            )
    return shape


def plain(value: Anything) -> str:
    """Return a string of a message. protobuf gives bytes where they are not UTF-8, which ONNX requires."""
    if not isinstance(value, str):
        raise ModelFileError(f"the name {bytes(value[:40])!r} is not UTF-8 text: the file is damaged")
    return value


def identifier(name: str) -> str:
    """Return a name for a size that is an identifier of Relay's text form, close to `name`."""
    plain = re.sub(r"\W", "_", name[:60], flags=re.ASCII)
    return plain if plain and not plain[0].isdigit() else f"n_{plain}"


def _listed(shape: list[Dim]) -> str:
    return f"({', '.join(str(dim) for dim in shape[:16])}{', …' if len(shape) > 16 else ''})"
