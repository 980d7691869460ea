"""Element types in types and attributes: which are floating-point, and how to change them."""

from __future__ import annotations

import re

from ...ir.attrs import Attrs
from ...ir.expr import Call
from ...ir.types import TensorType, TupleType, Type

FLOAT = re.compile(r"b?float\d+")
# The largest finite numbers, for attributes that must be representable in the type.
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
_KEYS = (
    "Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Conv2DWinograd",
    "Conv3DWinograd", "DeformableConv2D", "Dense", "BatchMatmul",
)  # fmt: skip
_ACCUMULATES = frozenset(f"relay.attrs.{key}Attrs" for key in _KEYS)


def tensors_in(type_: Type) -> list[TensorType]:
    """List the tensors in a type of tensors and tuples of them."""
    tensors: list[TensorType] = []
    pending = [type_]
    while pending:
        at = pending.pop()
        if isinstance(at, TensorType):
            tensors.append(at)
        elif isinstance(at, TupleType):
            pending.extend(at.fields)
    return tensors


def is_float(type_: TensorType) -> bool:
    """Whether the elements of a tensor are floating-point numbers."""
    return FLOAT.fullmatch(type_.dtype) is not None


def with_floats(type_: Type, dtype: str) -> Type:
    """Change the floating-point elements of a type to another element type."""
    if isinstance(type_, TensorType):
        return TensorType.of(type_.shape, dtype) if is_float(type_) else type_
    if isinstance(type_, TupleType):
        return TupleType([with_floats(field, dtype) for field in type_.fields])
    return type_


def accumulating_attrs(node: Call, dtype: str) -> Attrs | None:
    """Set the element type that a call accumulates in or creates.

    The attributes of a call that returns integers stay as they are.
    """
    attrs, type_ = node.attrs, node.checked_type
    if attrs is None or not isinstance(type_, TensorType) or not is_float(type_):
        return attrs
    name = "out_dtype" if attrs._key in _ACCUMULATES else "dtype"
    if attrs._key not in _ACCUMULATES and attrs._key != "relay.attrs.InitOpAttrs":
        return attrs
    changed: Attrs = attrs.replace(**{name: dtype})
    return changed
