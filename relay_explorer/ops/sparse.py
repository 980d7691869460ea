"""Tensors that are mostly one number, given by the coordinates of their other elements; sums by segment.

The coordinates are the rows of a matrix: (number of elements, rank of the tensor).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, Ints, required
from ..ir.expr import Call, Expr, Tuple, const
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import computed, expr, int_const, static_ints
from .create import zeros
from .declare import declare
from .join import concatenate
from .numeric import Array, np, numbers
from .reduce.folding import max as greatest
from .relation import (
    UNKNOWN,
    forward,
    integers,
    meet_dims,
    same_dim,
    same_dtypes,
    scalar,
    tensor,
    vector_length,
)
from .reshape import reshape, shape_of
from .scatter import scatter_nd
from .slice import slice_like, strided_slice
from .transform import cast_like, expand_dims

__all__ = ["segment_sum", "sparse_fill_empty_rows", "sparse_reshape", "sparse_to_dense"]


class SparseToDenseAttrs(Attrs, key="relay.attrs.SparseToDenseAttrs"):
    output_shape: Ints | None = required("The shape of the result.")


def _coordinates(indices: TensorType, operand: int = 0) -> tuple[Dim, Dim]:
    """How many elements `sparse_indices` names, and how many coordinates each has; a single number is one
    element of a vector, and a vector is elements of one.
    """
    if len(indices.shape) > 2:
        raise RelationError(
            f"sparse_indices has {len(indices.shape)} axes, but it is a row of coordinates for each element",
            "relay.reshape joins axes",
            culprits=(operand,),
        )
    rows, columns = (*indices.shape, 1, 1)[:2]
    return rows, columns


def _check(indices: Type, values: Type, default: Type, operands: tuple[int, int, int]) -> Dim:
    """How many coordinates each element has, if the arguments of sparse_to_dense fit each other."""
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
        given = shape if shape is None else list(shape)
        raise RelationError(f"output_shape={given} must be the extents of the result, at least one")
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
            f"each element has {columns} coordinates, but output_shape has {rank} numbers", culprits=(0, 1)
        )
    return TensorType.of((UNKNOWN,) * rank, tensor(values, 2).dtype)


def _densified(shape: tuple[int, ...], indices: Array, values: Array, default: Array) -> Array:
    """A tensor of `default` with `values` at `indices`; a ValueError where one lies outside."""
    rows = indices.reshape(-1, len(shape)) if indices.ndim < 2 else indices
    outside = (rows < 0) | (rows >= np.array(shape, "int64"))
    if outside.any():
        row = rows[outside.any(1)][0].tolist()
        raise ValueError(f"the element at {row} lies outside a tensor of shape {list(shape)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"output_shape={list(shape)} has a negative extent")
    y = np.full(shape, default).astype(values.dtype)
    y[tuple(rows.T)] = values
    return y


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
    """How far two neighbours along each axis lie apart, in row-major order."""
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
        raise ValueError(f"{list(old)} has {total} elements, but new_shape={new} has another number")
    if tuple(new) == old:  # the coordinates stay, also such as lie outside
        return indices, np.array(new, new_shape.dtype)
    flat = indices.astype("int64") @ _strides(old)
    rows = np.empty((len(flat), len(new)), "int64")
    for axis, stride in enumerate(_strides(new)):
        rows[:, axis], flat = np.divmod(flat, stride) if stride else (0, flat)
    return rows.astype(indices.dtype), np.array(new, new_shape.dtype)


def _fill_empty_rows(attrs: None, indices: Type, values: Type, dense_shape: Type, default: Type) -> Type:
    i, v = integers(indices, 0, "sparse_indices"), tensor(values, 1, "sparse_values")
    shape, fill = integers(dense_shape, 2, "dense_shape"), tensor(default, 3, "default_value")
    same_dtypes(v, fill, (1, 3))
    if len(fill.shape) > 1 or not all(same_dim(extent, 1) for extent in fill.shape):
        raise RelationError(f"default_value must be one number, not {fill}", culprits=(3,))
    if len(i.shape) != 2 or len(v.shape) != 1 or len(shape.shape) != 1:
        raise RelationError(
            f"sparse_indices is a matrix with a row for each of sparse_values, and dense_shape a vector, not "
            f"{i}, {v} and {shape}",
            culprits=(0, 1, 2),
        )
    if not same_dim(i.shape[0], v.shape[0]) or not same_dim(i.shape[1], shape.shape[0]):
        raise RelationError(
            f"sparse_indices {show_shape(i.shape)} must have a row for each of the {v.shape[0]} values and a "
            f"column for each of the {shape.shape[0]} axes",
            culprits=(0, 1, 2),
        )
    columns = meet_dims(i.shape[1], shape.shape[0])
    return TupleType(
        [
            TensorType.of((UNKNOWN, columns), i.dtype),
            TensorType.of((UNKNOWN,), v.dtype),
            TensorType.of((UNKNOWN,), "bool"),
        ]
    )


def _with_all_rows(
    attrs: None, indices: Array, values: Array, dense_shape: Array, default: Array
) -> tuple[Array, Array, Array]:
    rows = numbers(dense_shape)[0] if len(dense_shape) else 0
    if len(indices) and not (indices[:, 0].min() >= 0 and indices[:, 0].max() < rows):
        raise ValueError(f"an element lies outside the {rows} rows")
    empty = np.ones(rows, bool)
    empty[indices[:, 0]] = False
    added = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
    added[:, 0] = np.flatnonzero(empty)
    every = np.concatenate([indices, added])
    order = np.argsort(every[:, 0], kind="stable")
    filled = np.concatenate([values, np.full(len(added), default.reshape(()), values.dtype)])
    return every[order], filled[order], empty


_FORMULA = r"y_{\mathit{indices}_{n 0}\, \mathit{indices}_{n 1} \dots} = v_n, \quad y_j = d \text{ elsewhere}"
_LAXER = "It did not compare the coordinates with the result's axes, nor with the values."
_SPARSE_TO_DENSE = declare(
    "sparse_to_dense",
    "A tensor of one number, but for elements that are given with their coordinates.",
    formula=_FORMULA,
    relation=forward("SparseToDense", "{out} = `output_shape` of the elements of {1}", _sparse_to_dense),
    inputs=("sparse_indices", "sparse_values", "default_value"),
    attrs=SparseToDenseAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="index",
    level=3,
    lenient_in_tvm=_LAXER,
    compute=lambda attrs, *values: _densified(attrs.output_shape, *values),
    lowering="sparse.sparse_to_dense",
)
_DYN_SPARSE_TO_DENSE = declare(
    "dyn.sparse_to_dense",
    "Like sparse_to_dense, in a shape that the program computes.",
    formula=_FORMULA,
    relation=forward(
        "DynamicSparseToDense", "{out} has as many axes as {1} has elements", _dyn_sparse_to_dense
    ),
    inputs=("sparse_indices", "output_shape", "sparse_values", "default_value"),
    attrs=SparseToDenseAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="index",
    level=3,
    lenient_in_tvm=_LAXER,
    compute=lambda attrs, indices, shape, *rest: _densified(numbers(shape), indices, *rest),
    lowering="host",
)
_SPARSE_RESHAPE = declare(
    "sparse_reshape",
    "The coordinates that given elements of a tensor have once it is reshaped, and its new shape.",
    formula=r"\sum_k y_{n k} \prod_{l > k} m_l = \sum_k x_{n k} \prod_{l > k} n_l",
    relation=forward("SparseReshape", "{out} = ({0} with a column for each of {2}, {2})", _sparse_reshape),
    inputs=("sparse_indices", "prev_shape", "new_shape"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="index",
    level=3,
    lenient_in_tvm="It did not compare the coordinates with the old shape.",
    compute=_moved,
    lowering="sparse.sparse_reshape",
)
_SPARSE_FILL_EMPTY_ROWS = declare(
    "sparse_fill_empty_rows",
    "The elements of a sparse tensor with a default one in each row that has none.",
    formula=r"\{(i, v)\} \cup \{((r, 0, \dots), d) : \text{no element in row } r\}",
    relation=forward(
        "SparseFillEmptyRows", "{out} = (coordinates, values, which rows were empty), of ? rows",
        _fill_empty_rows,
    ),
    inputs=("sparse_indices", "sparse_values", "dense_shape", "default_value"),
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="index",
    level=3,
    lenient_in_tvm="It compared none of its arguments with the others.",
    compute=_with_all_rows,
    lowering="host",
)  # fmt: skip


def sparse_to_dense(
    sparse_indices: Expr,
    output_shape: Sequence[int] | Expr,
    sparse_values: Expr,
    default_value: Expr | float = 0,
) -> Expr:
    """`default_value` in `output_shape`, with `sparse_values` at the rows of `sparse_indices`."""
    default = default_value if isinstance(default_value, Expr) else const(default_value)
    arguments = [expr(sparse_indices), expr(sparse_values), default]
    if computed(output_shape):
        shape = int_const(output_shape)
        attrs = SparseToDenseAttrs(output_shape=None)
        return Call(_DYN_SPARSE_TO_DENSE, [arguments[0], shape, *arguments[1:]], attrs)
    attrs = SparseToDenseAttrs(output_shape=static_ints(output_shape, "output_shape"))
    return Call(_SPARSE_TO_DENSE, arguments, attrs)


def sparse_reshape(
    sparse_indices: Expr, prev_shape: Expr | Sequence[int], new_shape: Expr | Sequence[int]
) -> TupleWrapper:
    """The coordinates and the shape after a tensor of `prev_shape` is reshaped to `new_shape`."""
    shapes = [int_const(prev_shape), int_const(new_shape)]
    return TupleWrapper(Call(_SPARSE_RESHAPE, [expr(sparse_indices), *shapes]), 2)


def sparse_fill_empty_rows(
    sparse_indices: Expr, sparse_values: Expr, dense_shape: Expr | Sequence[int], default_value: Expr
) -> TupleWrapper:
    """Coordinates and values in the order of rows, none of them empty, and which rows were."""
    arguments = [expr(sparse_indices), expr(sparse_values), int_const(dense_shape), expr(default_value)]
    return TupleWrapper(Call(_SPARSE_FILL_EMPTY_ROWS, arguments), 3)


def segment_sum(data: Expr, segment_ids: Expr, num_segments: int | Expr | None = None) -> Expr:
    """For each segment the sum of the slices `data[n]` with that `segment_ids[n]`; as many segments as the
    greatest id needs unless `num_segments` says. Slices without an id are left out.
    """
    rows, ids = expr(data), expr(segment_ids)
    if num_segments is None or (isinstance(num_segments, int) and num_segments == 0):
        count: Expr = reshape(greatest(ids, 0), (1,)) + cast_like(const([1]), ids)
    elif isinstance(num_segments, int):
        count = const([num_segments], "int64")
    else:
        count = reshape(num_segments, (1,))
    inner = strided_slice(shape_of(rows, "int64"), [1], [-1], slice_mode="size")
    shape = concatenate(Tuple([cast_like(count, inner), inner]), 0)
    start = cast_like(zeros(shape, "float64"), rows)
    return scatter_nd(start, expand_dims(ids, 0), slice_like(rows, ids, axes=[0]), "add")
