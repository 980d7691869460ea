"""`sparse_reshape`: the coordinates of a sparse tensor's elements after a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Expr
from ...ir.op import OpPattern, RelationError, no_flops
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand, int_const
from ..examples import ints
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np, numbers
from ..operator import call, operator
from ..relation import forward, integers, same_dim
from ..te.library import tirx
from ..te.lowered import Lowered
from ..te.reduce import products_from
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    known,
    number,
    reduce_axes,
    select,
    stage,
    sum_over,
)

__all__ = ["sparse_reshape"]


def _sparse_reshape(attrs: None, indices: Type, prev_shape: Type, new_shape: Type) -> Type:
    i = integers(indices, 0, "sparse_indices")
    old, new = integers(prev_shape, 1, "prev_shape"), integers(new_shape, 2, "new_shape")
    if len(i.shape) != 2 or len(old.shape) != 1 or len(new.shape) != 1:
        raise RelationError(
            f"sparse_indices is a matrix with a row for each element, and both shapes are vectors, not {i}, "
            f"{old} and {new}",
            culprits=(0, 1, 2),
        )
    if not same_dim(i.shape[1], old.shape[0]):
        raise RelationError(
            f"each element has {i.shape[1]} coordinates, but prev_shape has {old.shape[0]} axes",
            culprits=(0, 1),
        )
    return TupleType([TensorType.of((i.shape[0], new.shape[0]), i.dtype), new])


def _strides(shape: Sequence[int]) -> Array:
    """Return the row-major stride of each axis, in elements."""
    return np.cumprod([1, *shape[:0:-1]], dtype="int64")[::-1] if len(shape) else np.zeros(0, "int64")


def _moved(attrs: None, indices: Array, prev_shape: Array, new_shape: Array) -> tuple[Array, Array]:
    old, new = numbers(prev_shape), list(numbers(new_shape))
    total = int(np.prod(old, dtype="int64"))
    if new.count(-1) > 1:
        raise ValueError(f"new_shape={new} has more than one -1")
    if -1 in new:
        rest = int(np.prod([extent for extent in new if extent != -1], dtype="int64"))
        if not rest or total % rest:
            raise ValueError(f"{list(old)} has {total} elements, which new_shape={new} does not divide into")
        new[new.index(-1)] = total // rest
    if int(np.prod(new, dtype="int64")) != total:
        raise ValueError(f"{list(old)} has {total} elements, but new_shape={new} has a different number")
    if tuple(new) == old:  # the coordinates do not change, not even those out of bounds
        return indices, np.array(new, new_shape.dtype)
    flat = indices.astype("int64") @ _strides(old)
    rows = np.empty((len(flat), len(new)), "int64")
    for axis, stride in enumerate(_strides(new)):
        rows[:, axis], flat = np.divmod(flat, stride) if stride else (0, flat)
    return rows.astype(indices.dtype), np.array(new, new_shape.dtype)


def _sparse_reshape_te(call: Lowered) -> list[Tensor]:
    """Compute each element's new coordinates from its flat index; the shapes are known only at run time."""
    indices, before, after = call.inputs
    (old,), (new,) = dims(before), dims(after)
    rows, dtype = dims(indices)[0], dtype_of(indices)
    if known(old) is None or known(new) is None:
        return _reshaped_of_any_rank(call)

    def flat_index(row: Value) -> Value:
        total: Anything = number(0, "int64")
        for axis in range(old):
            total = total * before(axis).astype("int64") + indices(row, axis).astype("int64")
        return total

    total, specified = number(1, "int64"), number(1, "int64")
    for axis in range(old):
        total = total * before(axis).astype("int64")
    for axis in range(new):
        size = after(axis).astype("int64")
        specified = specified * select(size == -1, number(1, "int64"), size)
    rest = tirx.truncdiv(total, tirx.max(specified, 1))

    def extent(axis: Anything) -> Value:
        size = after(axis).astype("int64")
        return select(size == -1, rest, size)

    def coordinate(row: Value, column: Value) -> Value:
        remaining, result = flat_index(row), number(0, "int64")
        for axis in range(new - 1, -1, -1):
            size = tirx.max(extent(axis), 1)
            first = axis == 0
            result = select(column == axis, remaining if first else tirx.truncmod(remaining, size), result)
            remaining = tirx.truncdiv(remaining, size)
        if old != new:
            return result.astype(dtype)
        return select(unchanged(), indices(row, column), result.astype(dtype))

    def unchanged() -> Value:
        """Return whether both shapes are equal: then no coordinate changes, not even those out of bounds."""
        return every([extent(axis) == before(axis).astype("int64") for axis in range(new)])

    shape = stage((new,), lambda axis: cast(extent(axis), dtype_of(after)), f"{call.name}_shape")
    return [stage((rows, new), coordinate, call.name), shape]


def _reshaped_of_any_rank(call: Lowered) -> list[Tensor]:
    """Compute the new coordinates where the number of axes is dynamic."""
    indices, before, after = call.inputs
    (old,), (new,), one = dims(before), dims(after), number(1, "int64")

    def requested(axis: Value) -> Value:
        return after(axis).astype("int64")

    steps = products_from(lambda axis: before(axis).astype("int64"), old, f"{call.name}_before")
    specified = products_from(
        lambda axis: select(requested(axis) == -1, one, requested(axis)), new, f"{call.name}_given"
    )

    def extent(axis: Value) -> Value:
        rest = tirx.truncdiv(steps(0), tirx.max(specified(0), 1))
        return select(requested(axis) == -1, rest, requested(axis))

    new_steps = products_from(lambda axis: tirx.max(extent(axis), 1), new, f"{call.name}_after")
    (k,) = reduce_axes([old])
    flat = stage(
        dims(indices)[:1],
        lambda row: sum_over(indices(row, k).astype("int64") * steps(k + 1), [k]),
        f"{call.name}_places",
    )

    (m,) = reduce_axes([new])
    differs = guarded(m < old, extent(m) != before(m).astype("int64"), tirx.const(True, "bool"))
    changes = stage((1,), lambda _: sum_over(cast(differs, "int64"), [m]), f"{call.name}_changes")

    def coordinate(row: Value, column: Value) -> Value:
        blocks = tirx.truncdiv(flat(row), new_steps(column + 1))
        within = tirx.truncmod(blocks, tirx.max(extent(column), 1))
        moved = select(column == 0, blocks, within).astype(dtype_of(indices))
        unchanged = every([changes(0) == 0, old == new])
        return guarded(unchanged, indices(row, column), moved)

    shape = stage((new,), lambda axis: cast(extent(axis), dtype_of(after)), f"{call.name}_shape")
    return [stage((dims(indices)[0], new), coordinate, call.name), shape]


@operator(
    "sparse_reshape",
    description=(
        "Computes the coordinates of a sparse tensor's elements after a reshape, and its new shape."
    ),
    formula=r"\sum_k y_{n k} \prod_{l > k} m_l = \sum_k x_{n k} \prod_{l > k} n_l",
    family="index",
    level=3,
    relation=forward(
        "SparseReshape", "{out} = ({0} with a column for each element of {2}, {2})", _sparse_reshape
    ),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_moved,
    gradient=NotApplicable("there is no gradient rule for sparse tensors"),
    lowering=_sparse_reshape_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(3, 2), [4, 6], [3, -1]),
    lenient_in_tvm="It did not compare the coordinates with the old shape.",
)
def sparse_reshape(
    sparse_indices: Operand, prev_shape: Expr | Sequence[int], new_shape: Expr | Sequence[int]
) -> TupleWrapper:
    """Return the coordinates and the shape after reshaping a tensor of `prev_shape` to `new_shape`."""
    operands = [sparse_indices, int_const(prev_shape), int_const(new_shape)]
    return TupleWrapper(call("sparse_reshape", operands), 2)
