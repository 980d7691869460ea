"""Import tensors of 2 and 4 bits, which Relay keeps in bytes.

Models have them as weights and zero points: DequantizeLinear makes real numbers of them, and QuantizeLinear
may have them as its result. The importer keeps for each such value how many bits it has. Operators that move
elements pass that on, and any other operator refuses such operands, because its arithmetic in bytes would
differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from typing import Any as Anything

from ...ir.expr import Expr
from ...ir.ndarray import NDArray
from ..base.errors import ModelFileError
from ..base.source import Node

if TYPE_CHECKING:
    from .graph import Importer


class FewBits(NamedTuple):
    """An element type of few bits, the type of the bytes that its elements are kept in, and its range."""

    name: str
    dtype: str
    bits: int
    low: int
    high: int


TYPES = {
    21: FewBits("uint4", "uint8", 4, 0, 15),
    22: FewBits("int4", "int8", 4, -8, 7),
    25: FewBits("uint2", "uint8", 2, 0, 3),
    26: FewBits("int2", "int8", 2, -2, 1),
}
"""The element types of few bits, by their numbers in TensorProto.DataType."""

_MOVING = frozenset(
    ["Identity", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather"]
)
_QUANTIZING = "QuantizeLinear"
_READING = frozenset([_QUANTIZING, "DequantizeLinear", "GatherBlockQuantized"])


def unpacked(packed: bytes | memoryview, type_: FewBits, shape: tuple[int, ...], where: str) -> NDArray:
    """Return the elements of a tensor, of which the first is in the lowest bits of the first byte.

    Raise a ModelFileError if there are not as many bytes as the shape requires; `where` names the tensor.
    """
    import math

    import numpy as np

    from ...ops.nn.nbits import unpack

    count = math.prod(shape)
    expected = -(-count * type_.bits // 8)
    if len(packed) != expected:
        raise ModelFileError(
            f"{where} of the shape {shape} and the type {type_.name} needs {expected} bytes, but the file "
            f"has {len(packed)}: it is truncated, or its weights are missing"
        )
    values = unpack(np.frombuffer(packed, "uint8"), type_.bits, count)
    if type_.low < 0:
        values = np.where(values > type_.high, values.astype("int8") - (1 << type_.bits), values)
    return NDArray.sharing(values.astype(type_.dtype).reshape(shape))


def of_result(importer: Importer, node: Node, inputs: Sequence[Anything]) -> FewBits | None:
    """Return the type of a node's result if it has few bits; raise a ModelFileError where an operator cannot
    be computed with such operands.
    """
    for value in node.attrs.values():
        if isinstance(value, NDArray) and (type_ := importer.reader.tensors.few_bits(value)) is not None:
            return type_  # a Constant
    if node.op.rpartition(".")[2] == _QUANTIZING and node.attrs.get("output_dtype", 0) in TYPES:
        return TYPES[node.attrs["output_dtype"]]
    types = [importer.few_bits.get(operand) if isinstance(operand, Expr) else None for operand in inputs]
    present = next((type_ for type_ in types if type_ is not None), None)
    if present is None:
        return None
    operator = node.op.rpartition(".")[2]
    if operator in _MOVING and types[0] is not None:
        return types[0]
    if operator in _READING:
        return types[2] if operator == _QUANTIZING and len(types) > 2 else None
    raise ModelFileError(
        f"{node.op} of {present.name} cannot be imported: Relay keeps such tensors in bytes",
        help=["apply DequantizeLinear to them first"],
    )
