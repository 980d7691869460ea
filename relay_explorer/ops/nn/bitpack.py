"""Pack the bits of adjacent elements into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import Operand
from ..examples import ints
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, element_type, np
from ..operator import operator
from ..relation import integers, normal_axis
from ..te.library import tirx
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    dims,
    number,
    quotient,
    reduce_axes,
    stage,
    sum_over,
)
from .layout import divided

__all__ = ["bitpack"]


def width_of(dtype: str) -> int:
    """Return the number of bits of an unsigned type; raise a RelationError for another type."""
    if dtype not in ("uint8", "uint16", "uint32", "uint64"):
        raise RelationError(
            f'bits are packed into an unsigned type, not "{dtype[:40]}"', "uint8, uint16, uint32 or uint64"
        )
    return int(dtype[4:])


def check_bits(**counts: int) -> None:
    """Raise a RelationError where an attribute is not a valid number of bits."""
    for name, bits in counts.items():
        if not 1 <= bits <= 32:
            raise RelationError(f"{name}={bits}, but there are from 1 to 32 bits")


def _bitpack_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: integers as input; the output has the packed axis divided by the type's number of
    bits, and a new axis of bits.
    """
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    x = integers(data, 0, "data")
    rank, width = len(x.shape), width_of(attrs.pack_type)
    check_bits(bits=attrs.bits)
    axis = normal_axis(attrs.pack_axis, rank, "bitpack")
    shape: list[Dim] = list(x.shape)
    shape[axis] = divided(
        shape[axis], width, f"axis {axis} of the data", f"{attrs.pack_type} holds {width} elements"
    )
    shape.insert(normal_axis(attrs.bit_axis, rank + 1, "bitpack"), attrs.bits)
    reporter.assign(out, TensorType.of(tuple(shape), attrs.pack_type))
    return True


def _bitpack_reference(attrs: Anything, x: Array) -> Array:
    """Pack each bit plane: the first of the elements that share a word is its highest bit."""
    width, axis = width_of(attrs.pack_type), attrs.pack_axis % x.ndim
    dtype = element_type(attrs.pack_type)
    groups = x.reshape(*x.shape[:axis], x.shape[axis] // width, width, *x.shape[axis + 1 :])
    places = np.arange(width - 1, -1, -1).astype(dtype)  # the first element is the highest bit
    places = places.reshape(-1, *(1,) * (x.ndim - axis - 1))
    planes = [
        (((groups >> bit) & 1).astype(dtype) << places).sum(axis + 1, dtype=dtype)
        for bit in range(attrs.bits)
    ]
    return np.stack(planes, attrs.bit_axis)


def _bitpack_te(call: Lowered) -> list[Tensor]:
    """Pack each bit plane: the first of the elements that share a word is its highest bit."""
    x, attrs = call.inputs[0], call.attrs
    width, shape = int(attrs.pack_type[4:]), list(dims(x))
    axis = attrs.pack_axis % len(shape)
    shape[axis] = quotient(shape[axis], width)
    plane = attrs.bit_axis % (len(shape) + 1)
    shape.insert(plane, attrs.bits)
    (k,) = reduce_axes([width])

    def value(*i: Value) -> Value:
        at = [*i[:plane], *i[plane + 1 :]]
        element = x(*at[:axis], at[axis] * width + k, *at[axis + 1 :]).astype("int64")
        bit = tirx.bitwise_and(element >> i[plane].astype("int64"), number(1, "int64"))
        place = number(width - 1, attrs.pack_type) - k.astype(attrs.pack_type)
        return sum_over(bit.astype(attrs.pack_type) << place, [k])

    return [stage(shape, value, call.name)]


@operator(
    "nn.bitpack",
    description="Packs the lowest bits of adjacent elements into integers, separately for each bit position.",
    formula=(
        r"y_{\ldots,b,\ldots,i} = \sum_{k=0}^{w-1} 2^{w-1-k}"
        r"\left(\lfloor x_{\ldots,w i+k} / 2^{b} \rfloor \bmod 2\right)"
    ),
    level=2,
    relation=Relation("BitPack", _bitpack_relation, "{out} = {0} packed, with a new axis of bits"),
    pattern=OpPattern.INJECTIVE,
    reference=_bitpack_reference,
    gradient=NotApplicable("it computes with integers, which are not differentiable"),
    lowering=_bitpack_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(2, 32), bits=2, bit_axis=0),
    attrs_key="relay.attrs.BitPackAttrs",
    lenient_in_tvm="It accepted axes that the type's bits do not divide, and any type.",
)
def bitpack(
    data: Operand,
    bits: Annotated[int, attr(1, "How many of the lowest bits of each element are packed.")] = 1,
    pack_axis: Annotated[int, attr(1, "The axis along which elements share a packed one.")] = 1,
    bit_axis: Annotated[
        int, attr(-1, "The position of the new axis of bits in the output; the lowest bit is first.")
    ] = 2,
    pack_type: Annotated[
        str, attr("uint32", "The unsigned type that holds as many elements as it has bits.", kind="DType")
    ] = "uint32",
    name: Annotated[str, attr("BitPack", "A name for the kernel.")] = "BitPack",
) -> Call:
    """Pack the bits of `data`, integers, along `pack_axis`; `bit_axis` is the new axis of bits."""
