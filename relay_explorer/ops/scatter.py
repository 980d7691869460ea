"""Operators that write elements at indices.

No kernel writes outside of a tensor: a negative index counts from the end, as in NumPy, and an update whose
index is out of range is ignored (the interpreter raises an error).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import attr
from ..ir.declaration import Gradient, Precision
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import Operand
from .calls import relay
from .examples import X, ints, t
from .gradient_tools import zeros_of
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np, quotient
from .operator import operator
from .relation import forward, integers, normal_axis, same_dim, same_dtypes, tensor
from .te.binary import whole_quotient
from .te.imperative import Buffers, each, int32, int64, loops, when
from .te.library import tirx
from .te.lowered import Lowered
from .te.places import counted
from .te.tensors import (
    Shape,
    Tensor,
    Value,
    dims,
    dtype_of,
    every,
    greater_of,
    lesser_of,
    number,
    product,
    unravel,
)

__all__ = ["scatter_elements", "scatter_nd"]


def index_length(i: TensorType, operator: str, operand: int = 1) -> int:
    """Return the number of coordinates of each index: the extent of the first axis of `i`."""
    length = i.shape[0] if i.shape else None
    if not isinstance(length, int):
        raise RelationError(
            f"the first axis of indices holds the coordinates, so its extent must be static; indices are {i}",
            f"{operator} takes indices of shape (coordinates, …)",
            culprits=(operand,),
        )
    return length


def _combined(x: Array, index: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """Write `updates` at `index` of a copy of `x`, or combine them with its elements, one after another."""
    y = x.copy()
    if reduction == "update":
        y[index] = updates
    elif reduction == "mean":  # of the element and the update, so later updates have more weight
        for at in np.ndindex(updates.shape):
            position = tuple([axis[at] for axis in index])
            y[position] = quotient(np.asarray(y[position] + updates[at]), np.asarray(2, x.dtype))
    else:
        ufunc = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction]
        ufunc.at(y, index, updates)
    return y


def _unknown(call: Call, name: str, value: str) -> RelayError:
    return RelayError(
        f'the gradient of `{call.op}` is defined for {name}="update" and "add", not for "{value:.20}"',
        call.span,
    )


def _lies(index: Value, dim: Anything) -> Value:
    return every([index >= 0, index < int64(dim)])


def _combine(there: Value, update: Value, reduction: str) -> Value:
    """Combine an element with its update."""
    boolean = dtype_of(there) == "bool"
    if reduction == "update":
        return update
    if reduction == "add":
        return tirx.any(there, update) if boolean else there + update
    if reduction == "mul":
        return tirx.all(there, update) if boolean else there * update
    if reduction == "mean":
        total, two = there + update, number(2, dtype_of(there))
        return total / two if "float" in dtype_of(there) else whole_quotient(total, two)
    return greater_of(there, update) if reduction == "max" else lesser_of(there, update)


def _scattered_te(lowered: Lowered, count: Shape, at: Anything, reduction: str) -> list[Tensor]:
    """Write the updates one after another; update `index` goes to the coordinates `at(indices, index)`."""
    x, indices, updates = lowered.inputs
    shape = dims(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, where, new), (result,) = ins, outs
        with each(product(shape)) as n:
            position = tuple(unravel(n, shape))
            result[position] = data[position]
        with each(product(count)) as n:
            index = unravel(n, count)
            target = at(where, index)
            with when(every([_lies(i, dim) for i, dim in zip(target, shape, strict=True)])):
                result[tuple(target)] = _combine(result[tuple(target)], new[tuple(index)], reduction)

    return loops([(shape, dtype_of(x))], [x, indices, updates], body, lowered.name)


def _scatter_elements(attrs: Anything, data: Type, indices: Type, updates: Type) -> Type:
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


def _scattered(attrs: Anything, x: Array, indices: Array, updates: Array) -> Array:
    index = list(np.indices(indices.shape))
    index[attrs.axis] = indices
    return _combined(x, tuple(index), updates, attrs.reduction)


def _scatter_elements_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate by the data and the updates, assuming that no index occurs twice.

    Of several updates of one element the last one wins, and which one that is is known only at run time.
    """
    _, indices, updates = call.args
    assert call.attrs is not None
    axis, reduction = call.attrs["axis"], call.attrs["reduction"]
    if reduction not in ("update", "add"):
        raise _unknown(call, "reduction", reduction)
    by_data = (
        grad
        if reduction == "add"
        else relay.scatter_elements(grad, indices, zeros_of(updates), axis, "update")
    )
    return [by_data, None, relay.gather(grad, axis, indices)]


def _scatter_elements_te(lowered: Lowered) -> list[Tensor]:
    """Write the updates in order, so that the last of several with equal indices wins, as in NumPy."""
    x = lowered.inputs[0]
    axis = lowered.attrs.axis % len(x.shape)

    def at(where: Anything, index: Sequence[Value]) -> list[Value]:
        chosen = counted(where[tuple(index)], x.shape[axis])
        return [*[int64(i) for i in index[:axis]], chosen, *[int64(i) for i in index[axis + 1 :]]]

    return _scattered_te(lowered, dims(lowered.inputs[1]), at, lowered.attrs.reduction)


@operator(
    "scatter_elements",
    description="Writes each update at its index along an axis, or combines it with the element there.",
    formula=r"y_{a\, \mathit{indices}_{a i b}\, b} = u_{a\, i\, b}, \quad y_j = x_j \text{ elsewhere}",
    family="index",
    level=3,
    relation=forward(
        "ScatterElements", "{out} = {0}, if {1} and {2} have one shape of its rank", _scatter_elements
    ),
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    reference=_scattered,
    gradient=Gradient(
        "d updates = dy at the indices; dx = dy, but 0 where an update replaced it",
        _scatter_elements_gradient,
    ),
    lowering=_scatter_elements_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ints(1, 6), t(1, 6, name="u"), reduction="add"),
    lenient_in_tvm="It compared neither the shapes nor the element types of its arguments.",
)
def scatter_elements(
    data: Operand,
    indices: Operand,
    updates: Operand,
    axis: Annotated[int, attr(0, "The axis that is indexed.")] = 0,
    reduction: Annotated[
        str,
        attr("update", 'What happens at an index: "update", "add", "mul", "mean", "min" or "max".'),
    ] = "update",
) -> Call:
    """Write each element of `updates` at its index along `axis` of `data`, or combine the two elements."""


def _scatter_nd(attrs: Anything, data: Type, indices: Type, updates: Type) -> Type:
    x, i, u = tensor(data, 0, "data"), integers(indices, 1, "indices"), tensor(updates, 2, "updates")
    length = index_length(i, "scatter_nd")
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


def _scattered_nd(attrs: Anything, x: Array, indices: Array, updates: Array) -> Array:
    return _combined(x, tuple(indices), updates, attrs.mode)


def _scatter_nd_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    _, indices, updates = call.args
    assert call.attrs is not None
    mode = call.attrs["mode"]
    if mode not in ("update", "add"):
        raise _unknown(call, "mode", mode)
    by_data = grad if mode == "add" else relay.scatter_nd(grad, indices, zeros_of(updates), "update")
    return [by_data, None, relay.gather_nd(grad, indices)]


def _scatter_nd_te(lowered: Lowered) -> list[Tensor]:
    x, indices, updates = lowered.inputs
    length, outer = int(indices.shape[0]), len(indices.shape) - 1

    def at(where: Anything, index: Sequence[Value]) -> list[Value]:
        chosen = [counted(where[(int32(n), *index[:outer])], x.shape[n]) for n in range(length)]
        return [*chosen, *[int64(i) for i in index[outer:]]]

    return _scattered_te(lowered, dims(updates), at, lowered.attrs.mode)


@operator(
    "scatter_nd",
    description="Writes slices at given tuples of indices, or combines them with the slices there.",
    formula=(
        r"y_{\mathit{indices}_{0 i}\, \mathit{indices}_{1 i} \dots} = u_i, \quad "
        r"y_j = x_j \text{ elsewhere}"
    ),
    family="index",
    level=3,
    relation=forward("ScatterND", "{out} = {0}, if {2} has the shape of its slices at {1}", _scatter_nd),
    attrs_key="relay.attrs.ScatterNDAttrs",
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    reference=_scattered_nd,
    gradient=Gradient(
        "d updates = dy at the indices; dx = dy, but 0 where an update replaced it", _scatter_nd_gradient
    ),
    lowering=_scatter_nd_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ints(2, 3), t(3, name="u"), "max"),
    lenient_in_tvm="It did not compare element types, and ignored the result of comparing shapes.",
)
def scatter_nd(
    data: Operand,
    indices: Operand,
    updates: Operand,
    mode: Annotated[
        str, attr("update", 'What happens at an index: "update", "add", "mul", "min" or "max".')
    ] = "update",
) -> Call:
    """Write the slices of `updates` into `data` at `indices`, whose first axis holds the coordinates."""
