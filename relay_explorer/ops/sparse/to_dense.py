"""`sparse_to_dense`: a dense tensor of a default value, except for elements given by coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, required
from ...ir.declaration import NotApplicable, Precision, Trait
from ...ir.expr import Call, Expr, const
from ...ir.op import RelationError, no_flops
from ...ir.show import show_shape
from ...ir.types import Dim, TensorType, Type
from ..arguments import Operand, computed, int_const, static_ints
from ..examples import ints, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np, numbers
from ..operator import call, operator
from ..relation import UNKNOWN, forward, integers, same_dim, scalar, tensor, vector_length
from ..te.imperative import Buffers, each, int64, loops, when
from ..te.library import te
from ..te.lowered import HOST, Lowered
from ..te.tensors import Tensor, Value, cast, dims, every, product, unravel

__all__ = ["sparse_to_dense"]


class SparseToDenseAttrs(Attrs, key="relay.attrs.SparseToDenseAttrs"):
    output_shape: Ints | None = required("The shape of the result.")


def _coordinates(indices: TensorType, operand: int = 0) -> tuple[Dim, Dim]:
    """Return the number of elements in `sparse_indices` and the number of coordinates of each. A scalar
    addresses one element of a vector, and a vector addresses several.
    """
    if len(indices.shape) > 2:
        raise RelationError(
            f"sparse_indices has {len(indices.shape)} axes, but it is a row of coordinates for each element",
            "relay.reshape merges axes",
            culprits=(operand,),
        )
    rows, columns = (*indices.shape, 1, 1)[:2]
    return rows, columns


def _check(indices: Type, values: Type, default: Type, operands: tuple[int, int, int]) -> Dim:
    """Check that the arguments of sparse_to_dense agree; return the number of coordinates."""
    i, v = (
        integers(indices, operands[0], "sparse_indices"),
        tensor(values, operands[1], "sparse_values"),
    )
    scalar(default, operands[2], "default_value")
    rows, columns = _coordinates(i, operands[0])
    if len(v.shape) > 1 or (v.shape and not same_dim(v.shape[0], rows)):
        raise RelationError(
            f"there are {rows} elements, but sparse_values has the shape {show_shape(v.shape)}",
            "give one value for each row of sparse_indices, or a single one for all",
            culprits=operands[:2],
        )
    return columns


def _sparse_to_dense(attrs: SparseToDenseAttrs, indices: Type, values: Type, default_value: Type) -> Type:
    columns = _check(indices, values, default_value, (0, 1, 2))
    shape = attrs.output_shape
    if not shape or min(shape) < 0:
        extents = shape if shape is None else list(shape)
        raise RelationError(f"output_shape={extents} must be the extents of the result, at least one")
    if not same_dim(columns, len(shape)):
        raise RelationError(
            f"each element has {columns} coordinates, but the result {show_shape(shape)} has {len(shape)} "
            "axes",
            culprits=(0,),
        )
    return TensorType.of(tuple(shape), tensor(values, 1).dtype)


def _dyn_sparse_to_dense(
    attrs: SparseToDenseAttrs, indices: Type, output_shape: Type, values: Type, default_value: Type
) -> Type:
    columns, rank = (
        _check(indices, values, default_value, (0, 2, 3)),
        vector_length(output_shape, 1, "output_shape"),
    )
    if not same_dim(columns, rank) or rank == 0:
        raise RelationError(
            f"each element has {columns} coordinates, but output_shape has {rank} extents", culprits=(0, 1)
        )
    return TensorType.of((UNKNOWN,) * rank, tensor(values, 2).dtype)


def _densified(shape: tuple[int, ...], indices: Array, values: Array, default: Array) -> Array:
    """Fill a tensor with `default`, and write `values` at `indices`; raise a ValueError where an index is
    out of bounds.
    """
    rows = indices.reshape(-1, len(shape)) if indices.ndim < 2 else indices
    outside = (rows < 0) | (rows >= np.array(shape, "int64"))
    if outside.any():
        row = rows[outside.any(1)][0].tolist()
        raise ValueError(f"the element at {row} is outside a tensor of shape {list(shape)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"output_shape={list(shape)} has a negative extent")
    y = np.full(shape, default).astype(values.dtype)
    y[tuple(rows.T)] = values
    return y


def _sparse_to_dense_te(call: Lowered) -> list[Tensor]:
    """Write the elements in order; the last of several with one index wins."""
    indices, values, default = call.inputs
    shape, dtype = call.out_shape, call.out.dtype
    rank = len(shape)
    rows = dims(indices)[0] if len(indices.shape) else 1

    def body(ins: Buffers, outs: Buffers) -> None:
        (where, new, other), (result,) = ins, outs
        with each(product(shape)) as n:
            result[tuple(unravel(n, shape))] = cast(other[()], dtype)
        with each(rows) as row:
            at = [_coordinate(where, indices, row, axis).astype("int64") for axis in range(rank)]
            inside = [te.all(i >= 0, i < int64(dim)) for i, dim in zip(at, shape, strict=True)]
            with when(every(inside)):
                result[tuple(at)] = new[row] if len(values.shape) else new[()]

    return loops([(shape, dtype)], [indices, values, default], body, call.name)


def _coordinate(where: Anything, indices: Tensor, row: Value, axis: int) -> Value:
    """Return a coordinate of an element. Indices of rank 0 or 1 address elements of a vector."""
    return where[(row, axis)[: len(indices.shape)]]


_FORMULA = r"y_{\mathit{indices}_{n 0}\, \mathit{indices}_{n 1} \dots} = v_n, \quad y_j = d \text{ elsewhere}"
_LENIENT = "It did not compare the coordinates with the result's axes, nor with the values."
_NO_GRADIENT = NotApplicable("there is no gradient rule for sparse tensors")


@operator(
    "sparse_to_dense",
    description="Converts elements given by their coordinates to a dense tensor; a default fills the rest.",
    formula=_FORMULA,
    family="index",
    level=3,
    relation=forward(
        "SparseToDense", "{out} has `output_shape` and the element type of {1}", _sparse_to_dense
    ),
    flops=no_flops,
    reference=lambda attrs, *values: _densified(attrs.output_shape, *values),
    gradient=_NO_GRADIENT,
    lowering=_sparse_to_dense_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SIZED_BY_VALUES},
    example=lambda build: build(ints(3, 2), (4, 5), t(3, name="v"), 1.5),
    attrs=SparseToDenseAttrs,
    inputs=("sparse_indices", "sparse_values", "default_value"),
    lenient_in_tvm=_LENIENT,
)
def sparse_to_dense(
    sparse_indices: Operand,
    output_shape: Sequence[int] | Expr,
    sparse_values: Operand,
    default_value: Operand = 0,
) -> Call:
    """Fill `output_shape` with `default_value`, and write `sparse_values` at the rows of `sparse_indices`."""
    default = default_value if isinstance(default_value, Expr) else const(default_value)
    if computed(output_shape):
        operands = [sparse_indices, int_const(output_shape), sparse_values, default]
        return call("dyn.sparse_to_dense", operands, output_shape=None)
    shape = static_ints(output_shape, "output_shape")
    return call("sparse_to_dense", [sparse_indices, sparse_values, default], output_shape=shape)


@operator(
    "dyn.sparse_to_dense",
    description="Works like sparse_to_dense, with a shape that the program computes.",
    formula=_FORMULA,
    family="index",
    level=3,
    relation=forward(
        "DynamicSparseToDense", "{out} has as many axes as {1} has elements", _dyn_sparse_to_dense
    ),
    flops=no_flops,
    reference=lambda attrs, indices, shape, *rest: _densified(numbers(shape), indices, *rest),
    gradient=_NO_GRADIENT,
    lowering=HOST,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SIZED_BY_VALUES},
    example=lambda build: build(ints(3, 2), ints(2, name="s"), t(3, name="v"), 0),
    attrs=SparseToDenseAttrs,
    inputs=("sparse_indices", "output_shape", "sparse_values", "default_value"),
    lenient_in_tvm=_LENIENT,
)
def _dyn_sparse_to_dense_call(
    sparse_indices: Operand, output_shape: Operand, sparse_values: Operand, default_value: Operand
) -> Call:
    """Convert to a dense tensor of a computed shape; `sparse_to_dense` builds these calls."""
    operands = [sparse_indices, output_shape, sparse_values, default_value]
    return call("dyn.sparse_to_dense", operands, output_shape=None)
