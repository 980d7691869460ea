"""Operators that gather elements or slices of a tensor, each by an index of its own.

As in `index`, no kernel reads outside of a tensor.
"""

from __future__ import annotations

from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import attr
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.typed import tensor_type
from ..ir.types import TensorType, Type
from .arguments import Operand
from .calls import relay
from .examples import X, ints
from .gradient_tools import extents, moved, zeros_of
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, along, np
from .operator import operator
from .relation import forward, integers, normal_axis, same_dim, tensor
from .scatter import index_length
from .te.lowered import Lowered
from .te.places import inside
from .te.tensors import Tensor, Value, stage

__all__ = ["gather", "gather_nd"]


def _gather(attrs: Anything, data: Type, indices: Type) -> Type:
    x, i = tensor(data, 0, "data"), integers(indices, 1, "indices")
    if attrs.axis is None:
        raise RelationError("gather needs an axis", "give one: relay.gather(data, 0, indices)")
    if len(x.shape) != len(i.shape):
        raise RelationError(
            f"data {show_shape(x.shape)} and indices {show_shape(i.shape)} must have the same number of axes",
            "relay.take indexes with a tensor of another rank",
            culprits=(0, 1),
        )
    axis = normal_axis(attrs.axis, len(x.shape), "gather")
    for other, dim in enumerate(i.shape):
        if other == axis and dim == 0:
            raise RelationError(f"indices are empty on axis {axis}", "give at least one index", culprits=(1,))
        if other != axis and not same_dim(dim, x.shape[other]):
            raise RelationError(
                f"axis {other} is {x.shape[other]} in the data and {dim} in the indices; only axis "
                f"{axis} may differ",
                culprits=(0, 1),
            )
    return TensorType.of(i.shape, x.dtype)


def _gather_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    data, indices = call.args
    assert call.attrs is not None
    dims, index_shape = extents(data), tensor_type(indices).shape
    axis = call.attrs["axis"] % len(dims)
    if all(dim == dims[a] for a, dim in enumerate(index_shape) if a != axis):
        return [relay.scatter_elements(zeros_of(data), indices, grad, axis, "add"), None]
    return moved(call, grad)


def _gather_te(lowered: Lowered) -> list[Tensor]:
    x, indices = lowered.inputs
    axis = lowered.attrs.axis % len(x.shape)

    def value(*i: Value) -> Value:
        return x(*i[:axis], inside(indices(*i), x.shape[axis]), *i[axis + 1 :])

    return [stage(indices.shape, value, lowered.name)]


@operator(
    "gather",
    description="Gathers one element per index along an axis; the result has the shape of the indices.",
    formula=r"y_{a\, i\, b} = x_{a\, \mathit{indices}_{a i b}\, b}",
    family="index",
    level=3,
    relation=forward("Gather", "{out} has the shape of {1}, which is that of {0} except on `axis`", _gather),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, x, indices: np.take_along_axis(x, indices, attrs.axis),
    gradient=Gradient("each element of dy is added to dx at its index", _gather_gradient),
    lowering=_gather_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SELECTION},
    example=lambda build: build(X, 1, ints(2, 2)),
)
def gather(
    data: Operand,
    axis: Annotated[int, attr(None, "The axis that is indexed.", kind="int | None")],
    indices: Operand,
) -> Call:
    """Take, for each element of `indices`, the element of `data` at that index along `axis`.

    `indices` has the shape of `data` except on `axis`.
    """


def _gather_nd(attrs: Anything, data: Type, indices: Type) -> Type:
    x, i = tensor(data, 0, "data"), integers(indices, 1, "indices")
    length, batch = index_length(i, "gather_nd"), attrs.batch_dims
    if batch < 0 or length + batch > len(x.shape) or batch >= max(1, len(i.shape)):
        raise RelationError(
            f"indices {show_shape(i.shape)} give {length} coordinates after {batch} batch axes, "
            f"but the data {show_shape(x.shape)} has {len(x.shape)} axes",
            "the first axis of indices holds the coordinates; relay.transpose moves it there",
            culprits=(0, 1),
        )
    for axis in range(batch):
        if not same_dim(x.shape[axis], i.shape[axis + 1]):
            raise RelationError(
                f"batch axis {axis} is {x.shape[axis]} in the data and {i.shape[axis + 1]} in the indices",
                culprits=(0, 1),
            )
    return TensorType.of(i.shape[1:] + x.shape[length + batch :], x.dtype)


def _gathered(attrs: Anything, x: Array, indices: Array) -> Array:
    shape = indices.shape[1:]
    lead = [along(np.arange(shape[axis]), axis, len(shape)) for axis in range(attrs.batch_dims)]
    result = x[(*lead, *indices)]
    return np.broadcast_to(result, shape + x.shape[len(indices) + attrs.batch_dims :])


def _gather_nd_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    assert call.attrs is not None
    data, indices = call.args
    if call.attrs["batch_dims"]:
        return moved(call, grad)
    return [relay.scatter_nd(zeros_of(data), indices, grad, "add"), None]


def _gather_nd_te(lowered: Lowered) -> list[Tensor]:
    x, indices = lowered.inputs
    batch, length, outer = lowered.attrs.batch_dims, int(indices.shape[0]), len(indices.shape) - 1

    def value(*i: Value) -> Value:
        at = [inside(indices(n, *i[:outer]), x.shape[batch + n]) for n in range(length)]
        return x(*i[:batch], *at, *i[outer:])

    return [stage((*indices.shape[1:], *x.shape[length + batch :]), value, lowered.name)]


@operator(
    "gather_nd",
    description="Gathers slices by tuples of indices.",
    formula=r"y_{i} = x_{\mathit{indices}_{0 i}\, \mathit{indices}_{1 i} \dots}",
    family="index",
    level=3,
    relation=forward(
        "GatherND",
        "{out} has the axes of {1} after the first, then those of {0} that are not indexed",
        _gather_nd,
    ),
    attrs_key="relay.attrs.GatherNDAttrs",
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_gathered,
    gradient=Gradient("each slice of dy is added to dx at its indices", _gather_nd_gradient),
    lowering=_gather_nd_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, ints(2, 3)),
)
def gather_nd(
    data: Operand,
    indices: Operand,
    batch_dims: Annotated[int, attr(0, "How many leading axes data and indices share.")] = 0,
    index_rank: Annotated[
        int | None,
        attr(
            None,
            "The extent of the indices' first axis, where the program alone knows it.",
            kind="int | None",
        ),
    ] = None,
) -> Call:
    """Gather the slices of `data` at `indices`, whose first axis holds the coordinates."""
