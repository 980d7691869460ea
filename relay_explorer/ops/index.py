"""Operators that take elements by their indices, or put elements at indices."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, attr
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Op, OpPattern, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import TensorType, Type
from .arguments import expr, tuple_expr
from .declare import declare
from .numeric import Array, along, np, numbers, quotient
from .relation import (
    UNKNOWN,
    broadcast_shapes,
    forward,
    integers,
    normal_axis,
    same_dim,
    same_dtypes,
    tensor,
    tensor_fields,
)

__all__ = [
    "adv_index", "argwhere", "gather", "gather_nd", "scatter_elements", "scatter_nd", "take",
    "unravel_index",
]  # fmt: skip


def _indexes(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    inputs: tuple[str, ...],
    attrs: type[Attrs] | None = None,
    *,
    pattern: OpPattern = OpPattern.INJECTIVE,
    level: int = 3,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=no_flops, compute=compute, family="index", level=level, lenient_in_tvm=lenient_in_tvm,
        gradient=gradient, lowering="host" if name == "argwhere" else f"index.{name}",
    )  # fmt: skip


class TakeAttrs(Attrs, key="relay.attrs.TakeAttrs"):
    batch_dims: int = attr(0, "How many leading axes data and indices share.")
    axis: int | None = attr(None, "The axis that is indexed; None is the flattened tensor.")
    mode: str = attr(
        "clip", 'What an index out of range means: "clip", "wrap", or "fast" (it must not occur).'
    )


def _take(attrs: TakeAttrs, data: Type, indices: Type) -> Type:
    x, i = tensor(data, 0, "data"), integers(indices, 1, "indices")
    if attrs.mode not in ("clip", "wrap", "fast"):
        raise RelationError(f'mode is "{attrs.mode:.20}", but it is "clip", "wrap" or "fast"')
    if attrs.axis is None:
        return TensorType.of(i.shape, x.dtype)
    axis = normal_axis(attrs.axis, len(x.shape), "take")
    batch = attrs.batch_dims + (len(i.shape) if attrs.batch_dims < 0 else 0)
    if not 0 <= batch <= min(axis, len(i.shape)):
        raise RelationError(
            f"batch_dims is {attrs.batch_dims}, but it is at most the axis, {axis}, and the rank of "
            f"indices, {len(i.shape)}"
        )
    for lead in range(batch):
        if not same_dim(x.shape[lead], i.shape[lead]):
            raise RelationError(
                f"batch axis {lead} is {x.shape[lead]} in the data and {i.shape[lead]} in the indices",
                culprits=(0, 1),
            )
    return TensorType.of(x.shape[:axis] + i.shape[batch:] + x.shape[axis + 1 :], x.dtype)


class GatherAttrs(Attrs, key="relay.attrs.GatherAttrs"):
    axis: int | None = attr(None, "The axis that is indexed.")


def _gather(attrs: GatherAttrs, data: Type, indices: Type) -> Type:
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


class GatherNDAttrs(Attrs, key="relay.attrs.GatherNDAttrs"):
    batch_dims: int = attr(0, "How many leading axes data and indices share.")
    index_rank: int | None = attr(
        None, "The extent of the indices' first axis, where the program alone knows it."
    )


def _tuple_length(i: TensorType, operator: str, operand: int = 1) -> int:
    """How many coordinates each index has: the extent of the first axis of `i`."""
    length = i.shape[0] if i.shape else None
    if not isinstance(length, int):
        raise RelationError(
            f"the first axis of indices holds the coordinates, so its extent must be known; indices are {i}",
            f"{operator} takes indices of shape (coordinates, …)",
            culprits=(operand,),
        )
    return length


def _gather_nd(attrs: GatherNDAttrs, data: Type, indices: Type) -> Type:
    x, i = tensor(data, 0, "data"), integers(indices, 1, "indices")
    length, batch = _tuple_length(i, "gather_nd"), attrs.batch_dims
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


class ScatterElementsAttrs(Attrs, key="relay.attrs.ScatterElementsAttrs"):
    axis: int = attr(0, "The axis that is indexed.")
    reduction: str = attr(
        "update", 'What happens at an index: "update", "add", "mul", "mean", "min" or "max".'
    )


def _scatter_elements(attrs: ScatterElementsAttrs, data: Type, indices: Type, updates: Type) -> Type:
    x, i, u = tensor(data, 0, "data"), integers(indices, 1, "indices"), tensor(updates, 2, "updates")
    normal_axis(attrs.axis, len(x.shape), "scatter_elements")
    if attrs.reduction not in ("update", "add", "mul", "mean", "min", "max"):
        raise RelationError(
            f'reduction is "{attrs.reduction:.20}", but it is "update", "add", "mul", "mean", "min" or "max"'
        )
    same_dtypes(x, u, (0, 2))
    agree = len(x.shape) == len(i.shape) == len(u.shape)
    if not agree or [axis for axis, dim in enumerate(i.shape) if not same_dim(dim, u.shape[axis])]:
        raise RelationError(
            f"data {show_shape(x.shape)}, indices {show_shape(i.shape)} and updates {show_shape(u.shape)} "
            "must have one rank, and indices and updates one shape",
            culprits=(0, 1, 2),
        )
    return x


class ScatterNDAttrs(Attrs, key="relay.attrs.ScatterNDAttrs"):
    mode: str = attr("update", 'What happens at an index: "update", "add", "mul", "min" or "max".')


def _scatter_nd(attrs: ScatterNDAttrs, data: Type, indices: Type, updates: Type) -> Type:
    x, i, u = tensor(data, 0, "data"), integers(indices, 1, "indices"), tensor(updates, 2, "updates")
    length = _tuple_length(i, "scatter_nd")
    if attrs.mode not in ("update", "add", "mul", "min", "max"):
        raise RelationError(f'mode is "{attrs.mode:.20}", but it is "update", "add", "mul", "min" or "max"')
    same_dtypes(x, u, (0, 2))
    if length > len(x.shape):
        raise RelationError(
            f"indices {show_shape(i.shape)} give {length} coordinates, but the data {show_shape(x.shape)} "
            f"has {len(x.shape)} axes",
            culprits=(0, 1),
        )
    expected = i.shape[1:] + x.shape[length:]
    if len(expected) != len(u.shape) or [
        a for a, dim in enumerate(expected) if not same_dim(dim, u.shape[a])
    ]:
        raise RelationError(
            f"updates {show_shape(u.shape)} must have the shape {show_shape(expected)}: "
            "the indices' axes after the first, then the data's axes that are not indexed",
            culprits=(0, 1, 2),
        )
    return x


def _adv_index(attrs: None, inputs: Type) -> Type:
    data, *indices = tensor_fields(inputs, "adv_index")
    if not indices:
        raise RelationError("adv_index needs at least one tensor of indices after the data", culprits=(0,))
    if len(indices) > len(data.shape):
        raise RelationError(
            f"there are {len(indices)} tensors of indices, but the data {show_shape(data.shape)} "
            f"has {len(data.shape)} axes",
            culprits=(0,),
        )
    shape = integers(indices[0], 0, "indices").shape
    for more in indices[1:]:
        shape = broadcast_shapes(shape, integers(more, 0, "indices").shape, (0,))
    return TensorType.of(shape + data.shape[len(indices) :], data.dtype)


def _unravel_index(attrs: None, indices: Type, shape: Type) -> Type:
    i, extents = integers(indices, 0, "indices"), integers(shape, 1, "shape")
    if len(extents.shape) != 1 or len(i.shape) > 1:
        raise RelationError(
            f"unravel_index takes a vector or one index and a vector of extents, not {i} and {extents}",
            culprits=(0, 1),
        )
    return TensorType.of(extents.shape + i.shape, i.dtype)


def _argwhere(attrs: None, condition: Type) -> Type:
    return TensorType.of((UNKNOWN, len(tensor(condition, 0, "condition").shape)), "int32")


def _taken(attrs: TakeAttrs, x: Array, indices: Array) -> Array:
    mode = "raise" if attrs.mode == "fast" else attrs.mode
    batch = attrs.batch_dims + (indices.ndim if attrs.batch_dims < 0 else 0)
    if attrs.axis is None or batch == 0:
        return np.take(x, indices, attrs.axis, mode=mode)
    axis = attrs.axis % x.ndim
    y = np.empty(x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :], x.dtype)
    for at in np.ndindex(indices.shape[:batch]):
        y[at] = np.take(x[at], indices[at], axis - batch, mode=mode)
    return y


def _gathered(attrs: GatherNDAttrs, x: Array, indices: Array) -> Array:
    shape = indices.shape[1:]
    lead = [along(np.arange(shape[axis]), axis, len(shape)) for axis in range(attrs.batch_dims)]
    found = x[(*lead, *indices)]
    return np.broadcast_to(found, shape + x.shape[len(indices) + attrs.batch_dims :])


def _combined(x: Array, index: tuple[Array, ...], updates: Array, how: str) -> Array:
    """`x` with `updates` put at `index`, or combined with what is there, one after the other."""
    y = x.copy()
    if how == "update":
        y[index] = updates
    elif how == "mean":  # of what is there and the update, so later ones weigh more
        for at in np.ndindex(updates.shape):
            place = tuple([axis[at] for axis in index])
            y[place] = quotient(np.asarray(y[place] + updates[at]), np.asarray(2, x.dtype))
    else:
        ufunc = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[how]
        ufunc.at(y, index, updates)
    return y


def _scattered(attrs: ScatterElementsAttrs, x: Array, indices: Array, updates: Array) -> Array:
    index = list(np.indices(indices.shape))
    index[attrs.axis] = indices
    return _combined(x, tuple(index), updates, attrs.reduction)


def _scattered_nd(attrs: ScatterNDAttrs, x: Array, indices: Array, updates: Array) -> Array:
    return _combined(x, tuple(indices), updates, attrs.mode)


def _unravelled(attrs: None, indices: Array, shape: Array) -> Array:
    return np.array(np.unravel_index(indices, numbers(shape))).astype(indices.dtype)


_TAKE = _indexes(
    "take", "The slices at given indices along an axis.", r"y_{a\, i\, b} = x_{a\, \mathit{indices}_i\, b}",
    forward("Take", "{out} = {0} with `axis` replaced by {1}", _take), ("data", "indices"), TakeAttrs,
    lenient_in_tvm="It did not compare the batch axes of data and indices.", compute=_taken,
    gradient="shape.moved",
)  # fmt: skip
_GATHER = _indexes(
    "gather",
    "For each place the element at an index of its own along an axis.",
    r"y_{a\, i\, b} = x_{a\, \mathit{indices}_{a i b}\, b}",
    forward("Gather", "{out} = {1}, equal to {0} but on `axis`", _gather),
    ("data", "indices"),
    GatherAttrs,
    compute=lambda attrs, x, indices: np.take_along_axis(x, indices, attrs.axis),
    gradient="indexing.gather",
)
_GATHER_ND = _indexes(
    "gather_nd", "The slices at given tuples of indices.",
    r"y_{i} = x_{\mathit{indices}_{0 i}\, \mathit{indices}_{1 i} \dots}",
    forward("GatherND", "{out} = {1} without its first axis, then what of {0} is not indexed", _gather_nd),
    ("data", "indices"), GatherNDAttrs, compute=_gathered, gradient="indexing.gather_nd",
)  # fmt: skip
_SCATTER_ELEMENTS = _indexes(
    "scatter_elements",
    "The tensor with elements changed at an index for each along an axis.",
    r"y_{a\, \mathit{indices}_{a i b}\, b} = u_{a\, i\, b}, \quad y_j = x_j \text{ elsewhere}",
    forward("ScatterElements", "{out} = {0}, if {1} and {2} agree", _scatter_elements),
    ("data", "indices", "updates"),
    ScatterElementsAttrs,
    pattern=OpPattern.OPAQUE,
    lenient_in_tvm="It compared neither the shapes nor the element types of its arguments.",
    compute=_scattered,
    gradient="indexing.scatter_elements",
)
_SCATTER_ND = _indexes(
    "scatter_nd",
    "The tensor with slices changed at given tuples of indices.",
    r"y_{\mathit{indices}_{0 i}\, \mathit{indices}_{1 i} \dots} = u_i, \quad y_j = x_j \text{ elsewhere}",
    forward("ScatterND", "{out} = {0}, if {2} has the shape that {1} takes of it", _scatter_nd),
    ("data", "indices", "updates"),
    ScatterNDAttrs,
    pattern=OpPattern.OPAQUE,
    lenient_in_tvm=("It did not compare element types, and compared shapes without acting on it."),
    compute=_scattered_nd,
    gradient="indexing.scatter_nd",
)
_ADV_INDEX = _indexes(
    "adv_index",
    "NumPy's indexing by several tensors of indices, one an axis, broadcast to one shape.",
    r"y_i = x_{\mathit{indices}^{(0)}_i\, \mathit{indices}^{(1)}_i \dots}",
    forward("AdvIndex", "{out} = the broadcast indices, then what of the data is not indexed", _adv_index),
    ("inputs",),
    compute=lambda attrs, inputs: inputs[0][inputs[1:]],
    gradient="shape.moved_field",
)
_UNRAVEL_INDEX = _indexes(
    "unravel_index",
    "The coordinates of places that are counted in row-major order.",
    r"\sum_k y_k \prod_{l > k} n_l = x",
    forward("UnRavelIndex", "{out} = {1}, then {0}", _unravel_index),
    ("indices", "shape"),
    lenient_in_tvm="It took indices of any rank, and looked at their first axis only.",
    compute=_unravelled,
    gradient="elementwise.none",
)
_ARGWHERE = _indexes(
    "argwhere",
    "The coordinates of all elements that are not zero.",
    r"\{\, i : x_i \ne 0 \,\}",
    forward("ArgWhere", "{out} = one row for each that holds, as many as {0} has axes wide", _argwhere),
    ("condition",),
    pattern=OpPattern.OPAQUE,
    level=10,
    compute=lambda attrs, condition: np.argwhere(condition).astype("int32"),
    gradient="elementwise.none",
)


def take(data: Expr, indices: Expr, axis: int | None = None, batch_dims: int = 0, mode: str = "clip") -> Expr:
    """The slices of `data` at `indices` along `axis`; elements of the flattened data where None."""
    return Call(_TAKE, [expr(data), expr(indices)], TakeAttrs(batch_dims=batch_dims, axis=axis, mode=mode))


def gather(data: Expr, axis: int, indices: Expr) -> Expr:
    """For each place of `indices`, which has the shape of `data` but on `axis`, the element at that index."""
    return Call(_GATHER, [expr(data), expr(indices)], GatherAttrs(axis=axis))


def gather_nd(data: Expr, indices: Expr, batch_dims: int = 0, index_rank: int | None = None) -> Expr:
    """The slices of `data` at `indices`, whose first axis holds the coordinates."""
    return Call(
        _GATHER_ND, [expr(data), expr(indices)], GatherNDAttrs(batch_dims=batch_dims, index_rank=index_rank)
    )


def scatter_elements(
    data: Expr, indices: Expr, updates: Expr, axis: int = 0, reduction: str = "update"
) -> Expr:
    """`data` with each element of `updates` put at its index along `axis`, or combined with what is there."""
    attrs = ScatterElementsAttrs(axis=axis, reduction=reduction)
    return Call(_SCATTER_ELEMENTS, [expr(data), expr(indices), expr(updates)], attrs)


def scatter_nd(data: Expr, indices: Expr, updates: Expr, mode: str = "update") -> Expr:
    """`data` with the slices of `updates` put at `indices`, whose first axis holds the coordinates."""
    return Call(_SCATTER_ND, [expr(data), expr(indices), expr(updates)], ScatterNDAttrs(mode=mode))


def adv_index(inputs: Expr | Sequence[Expr] | TupleWrapper) -> Expr:
    """`inputs[0][inputs[1], inputs[2], …]`, as in NumPy."""
    return Call(_ADV_INDEX, [tuple_expr(inputs, "adv_index")])


def unravel_index(indices: Expr, shape: Expr) -> Expr:
    """The coordinates, in a tensor of extents `shape`, of places counted in row-major order."""
    return Call(_UNRAVEL_INDEX, [expr(indices), expr(shape)])


def argwhere(condition: Expr) -> Expr:
    """One row of coordinates for each element of `condition` that is not zero; their number is `?`."""
    return Call(_ARGWHERE, [expr(condition)])
