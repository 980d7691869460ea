"""Operators that rearrange or copy elements into a shape that the program computes."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Precision, Trait
from ...ir.expr import Call
from ...ir.op import RelationError
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..axes import ExpandDimsAttrs, SqueezeAttrs
from ..copies import TileAttrs
from ..create import InitOpAttrs
from ..examples import X, ints, t
from ..gradient_tools import MOVED, RESHAPED, SUMMED
from ..numeric import Array
from ..operator import call
from ..relation import integers, scalar, tensor, vector_length
from ..reshape import ReshapeAttrs
from .declaring import dynamic, static_value, unknown, with_operands

__all__ = []


def _reshape(attrs: ReshapeAttrs, data: Type, newshape: Type) -> Type:
    return TensorType.of(unknown(vector_length(newshape, 1, "newshape")), tensor(data, 0, "data").dtype)


@dynamic(
    "reshape",
    description="Works like reshape, with a shape that the program computes.",
    relation=("DynamicReshape", _reshape, "{out} has as many axes as {1} has elements"),
    inputs=("data", "newshape"),
    attrs=ReshapeAttrs,
    reference=with_operands("reshape", "newshape"),
    gradient=RESHAPED,
    precision=Precision.FOLLOW,
    traits=(Trait.RESHAPE,),
    example=lambda build: build(X, ints(2)),
)
def reshape(data: Operand, newshape: Operand, allowzero: bool = False) -> Call:
    """Reshape `data` to `newshape`, in which 0 to -4 have the meanings that they have in `relay.reshape`."""
    return call("dyn.reshape", [data, newshape], newshape=None, allowzero=allowzero)


def _broadcast_to(attrs: InitOpAttrs, data: Type, shape: Type) -> Type:
    x, rank = tensor(data, 0, "data"), vector_length(shape, 1, "shape")
    if rank < len(x.shape):
        raise RelationError(
            f"the data has {len(x.shape)} axes, more than the {rank} that it is broadcast to", culprits=(0, 1)
        )
    return TensorType.of(unknown(rank), x.dtype)


@dynamic(
    "broadcast_to",
    description="Works like broadcast_to, with a shape that the program computes.",
    relation=("DynamicBroadcastTo", _broadcast_to, "{out} has as many axes as {1} has elements"),
    inputs=("data", "shape"),
    attrs=InitOpAttrs,
    reference=with_operands("broadcast_to", "shape"),
    gradient=SUMMED,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ints(2)),
)
def broadcast_to(data: Operand, shape: Operand) -> Call:
    """Broadcast `data` to `shape`."""
    return call("dyn.broadcast_to", [data, shape], shape=None)


def _tile(attrs: TileAttrs, data: Type, reps: Type) -> Type:
    x = tensor(data, 0, "data")
    return TensorType.of(unknown(max(len(x.shape), vector_length(reps, 1, "reps"))), x.dtype)


@dynamic(
    "tile",
    description="Works like tile, with repetition counts that the program computes.",
    relation=(
        "DynamicTile",
        _tile,
        "{out} has as many axes as {0}, or as {1} has elements, if those are more",
    ),
    inputs=("data", "reps"),
    attrs=TileAttrs,
    reference=with_operands("tile", "reps"),
    gradient=MOVED,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ints(2)),
)
def tile(data: Operand, reps: Operand) -> Call:
    """Repeat `data` along each axis by the counts in `reps`, which are aligned with the last axes."""
    return call("dyn.tile", [data, reps], reps=None)


class DynExpandDimsAttrs(Attrs, key="relay.attrs.DynExpandDimsAttrs"):
    num_newaxis: int = attr(1, "How many axes of extent 1 are inserted.")


def _expand_dims(attrs: DynExpandDimsAttrs, data: Type, axis: Type) -> Type:
    x = tensor(data, 0, "data")
    integers(scalar(axis, 1, "axis"), 1, "axis")
    if attrs.num_newaxis < 0:
        raise RelationError(f"num_newaxis is {attrs.num_newaxis}, but it cannot be negative")
    return TensorType.of(unknown(len(x.shape) + attrs.num_newaxis), x.dtype)


def _with_ones(attrs: DynExpandDimsAttrs, x: Array, axis: Array) -> Anything:
    static_attrs = ExpandDimsAttrs(axis=axis.item(), num_newaxis=attrs.num_newaxis)
    return static_value("expand_dims", static_attrs, x)


@dynamic(
    "expand_dims",
    description="Works like expand_dims, with an axis that the program computes.",
    relation=(
        "DynamicExpandDims",
        _expand_dims,
        "{out} has `num_newaxis` more axes than {0}, and every extent is ?",
    ),
    inputs=("data", "axis"),
    attrs=DynExpandDimsAttrs,
    reference=_with_ones,
    gradient=RESHAPED,
    example=lambda build: build(X, ints()),
)
def expand_dims(data: Operand, axis: Operand, num_newaxis: int = 1) -> Call:
    """Insert `num_newaxis` axes of extent 1 at the index `axis`."""
    return call("dyn.expand_dims", [data, axis], num_newaxis=num_newaxis)


def _squeeze(attrs: SqueezeAttrs, data: Type, axis: Type) -> Type:
    x, dropped = tensor(data, 0, "data"), vector_length(axis, 1, "axis")
    if dropped > len(x.shape):
        raise RelationError(f"{dropped} axes are dropped, but the tensor has {len(x.shape)}", culprits=(0, 1))
    return TensorType.of(unknown(len(x.shape) - dropped), x.dtype)


@dynamic(
    "squeeze",
    description="Works like squeeze, with axes that the program computes.",
    relation=("DynamicSqueeze", _squeeze, "{out} has the rank of {0} minus the length of {1}"),
    inputs=("data", "axis"),
    attrs=SqueezeAttrs,
    reference=with_operands("squeeze", "axis"),
    gradient=RESHAPED,
    example=lambda build: build(t(1, 6), ints(1)),
)
def squeeze(data: Operand, axis: Operand) -> Call:
    """Remove the axes that the vector `axis` names, whose extents must be 1."""
    return call("dyn.squeeze", [data, axis], axis=None)
