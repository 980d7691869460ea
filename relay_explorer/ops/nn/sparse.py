"""Products and sums with matrices that are mostly zero, as three arrays: the values that are not, their
columns, and where in these each row begins (CSR; with blocks for values, BSR).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import Dim, TensorType, TupleType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import UNKNOWN, forward, integers, same_dim, same_dtypes, tensor, times

__all__ = ["sparse_add", "sparse_dense", "sparse_transpose"]


class SparseDenseAttrs(Attrs, key="relay.attrs.SparseDenseAttrs"):
    sparse_lhs: bool = attr(False, "Whether the left factor is the sparse one, rather than the right.")


class SparseTransposeAttrs(Attrs, key="relay.attrs.SparseTransposeAttrs"):
    pass


def _rows(data: TensorType, indices: Type, indptr: Type, first: int) -> Dim:
    """How many rows the sparse matrix has whose arrays are the arguments from number `first` on."""
    i, p = integers(indices, first + 1, "sparse_indices"), integers(indptr, first + 2, "sparse_indptr")
    if len(i.shape) != 1 or not same_dim(i.shape[0], data.shape[0]):
        raise RelationError(
            f"there are {data.shape[0]} values, but sparse_indices has the shape {show_shape(i.shape)}",
            "give the column of each value",
            culprits=(first, first + 1),
        )
    if len(p.shape) != 1 or p.shape[0] == 0:
        raise RelationError(
            f"sparse_indptr must be a vector with one number more than there are rows, not {p}",
            culprits=(first + 2,),
        )
    return p.shape[0] - 1 if isinstance(p.shape[0], int) else UNKNOWN


def _dense(attrs: SparseDenseAttrs, data: Type, values: Type, indices: Type, indptr: Type) -> Type:
    x, v = tensor(data, 0, "dense_data"), tensor(values, 1, "sparse_data")
    same_dtypes(x, v)
    if len(x.shape) != 2 or len(v.shape) not in (1, 3):
        raise RelationError(
            "a matrix is multiplied with a sparse one, whose values are a vector, or blocks with 3 axes, "
            f"not {x} with {v}",
            culprits=(0, 1),
        )
    rows = _rows(v, indices, indptr, 1)
    if len(v.shape) == 3:
        if 0 in v.shape[1:]:
            raise RelationError(
                f"the blocks are empty: their shape is {show_shape(v.shape[1:])}", culprits=(1,)
            )
        rows = times(rows, v.shape[1])
        if isinstance(x.shape[1], int) and isinstance(v.shape[2], int) and x.shape[1] % v.shape[2]:
            raise RelationError(
                f"blocks of {v.shape[2]} columns do not divide the {x.shape[1]} of the dense matrix",
                culprits=(0, 1),
            )
    return TensorType.of((rows, x.shape[0]) if attrs.sparse_lhs else (x.shape[0], rows), x.dtype)


def _unpacked(values: Array, indices: Array, indptr: Array, columns: int) -> Array:
    """The matrix with `columns` columns in full; a ValueError where its arrays contradict each other."""
    blocks = values.reshape(len(values), *(values.shape[1:] or (1, 1)))
    high, wide = blocks.shape[1:]
    counts = np.diff(indptr.astype("int64"))
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(values) or (counts < 0).any():
        raise ValueError(f"sparse_indptr must rise from 0 to {len(values)}, the number of values")
    across = columns // wide
    if len(indices) and not (indices.min() >= 0 and indices.max() < across):
        raise ValueError(f"sparse_indices must lie from 0 to {across - 1}, the columns that there are")
    matrix = np.zeros((len(counts), across, high, wide), values.dtype)
    np.add.at(matrix, (np.repeat(np.arange(len(counts)), counts), indices), blocks)
    return matrix.transpose(0, 2, 1, 3).reshape(len(counts) * high, across * wide)


def _multiplied(attrs: SparseDenseAttrs, x: Array, values: Array, indices: Array, indptr: Array) -> Array:
    sparse = _unpacked(values, indices, indptr, x.shape[1])
    return (sparse @ x.T if attrs.sparse_lhs else x @ sparse.T).astype(x.dtype)


def _dense_flops(attrs: SparseDenseAttrs, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each value that is there and each row of the dense matrix."""
    x = inputs[0]
    rows = x.shape[0] if isinstance(x, TensorType) and x.shape else 1
    return 2 * size_of(inputs[1]) * (rows if isinstance(rows, int) else 1)


def _sparse_add(attrs: None, data: Type, values: Type, indices: Type, indptr: Type) -> Type:
    x, v = tensor(data, 0, "dense_data"), tensor(values, 1, "sparse_data")
    same_dtypes(x, v)
    if len(x.shape) != 2 or len(v.shape) != 1:
        raise RelationError(
            f"a sparse matrix, whose values are a vector, is added to a matrix, not {v} to {x}",
            culprits=(0, 1),
        )
    rows = _rows(v, indices, indptr, 1)
    if not same_dim(rows, x.shape[0]):
        raise RelationError(
            f"the sparse matrix has {rows} rows, but the dense one {x.shape[0]}", culprits=(0, 3)
        )
    return x


def _sparse_transpose(attrs: Attrs, values: Type, indices: Type, indptr: Type) -> Type:
    v = tensor(values, 0, "sparse_data")
    if len(v.shape) != 1:
        raise RelationError(f"sparse_data must be a vector of values, not {v}", culprits=(0,))
    _rows(v, indices, indptr, 0)
    return TupleType([v, tensor(indices, 1), tensor(indptr, 2)])


def _turned(attrs: Attrs, values: Array, indices: Array, indptr: Array) -> tuple[Array, Array, Array]:
    size = len(indptr) - 1
    _unpacked(values, indices, indptr, size)  # refuses arrays that contradict each other
    rows = np.repeat(np.arange(size), np.diff(indptr.astype("int64")))
    order = np.argsort(indices, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=size))])
    return values[order], rows[order].astype(indices.dtype), starts.astype(indptr.dtype)


_SPARSE_DENSE = declare(
    "nn.sparse_dense",
    "The product of a matrix and the transpose of another, one of them sparse.",
    formula=r"Y = X W^\top",
    relation=forward(
        "SparseDense", "{out} = rows of {0} × rows of the sparse matrix, or the reverse", _dense
    ),
    inputs=("dense_data", "sparse_data", "sparse_indices", "sparse_indptr"),
    attrs=SparseDenseAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    family="matmul",
    level=1,
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
    compute=_multiplied,
    lowering="sparse.sparse_dense",
)
_SPARSE_ADD = declare(
    "nn.sparse_add",
    "The sum of a matrix and a sparse one.",
    formula=r"Y = X + S",
    relation=forward("SparseAdd", "{out} = {0}", _sparse_add),
    inputs=("dense_data", "sparse_data", "sparse_indices", "sparse_indptr"),
    pattern=OpPattern.OPAQUE,
    flops=lambda attrs, inputs, output: size_of(inputs[1]),
    family="arithmetic",
    level=1,
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
    compute=lambda attrs, x, values, indices, indptr: x + _unpacked(values, indices, indptr, x.shape[1]),
    lowering="sparse.sparse_add",
)
_SPARSE_TRANSPOSE = declare(
    "nn.sparse_transpose",
    "The transpose of a sparse square matrix, as its three arrays.",
    formula=r"Y = S^\top",
    relation=forward("SparseTranspose", "{out} = ({0}, {1}, {2})", _sparse_transpose),
    inputs=("sparse_data", "sparse_indices", "sparse_indptr"),
    attrs=SparseTransposeAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=no_flops,
    family="shape",
    level=1,
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
    compute=_turned,
    lowering="sparse.sparse_transpose",
)


def _parts(sparse: Anything) -> list[Expr]:
    """The three arrays of a sparse matrix: an object with `data`, `indices`, `indptr`, or they."""
    names = ("data", "indices", "indptr")
    parts = [getattr(sparse, n) for n in names] if hasattr(sparse, "indptr") else list(sparse)
    if len(parts) != 3:
        raise ValueError(f"a sparse matrix is its data, indices and indptr, not {len(parts)} arrays")
    return [expr(part) for part in parts]


def sparse_dense(dense_mat: Expr, sparse_mat: Anything, sparse_lhs: bool = False) -> Call:
    """`dense_mat` (M, K) times the transpose of `sparse_mat` (N, K): (M, N); with `sparse_lhs` (N, M).

    `sparse_mat` is SciPy's CSR or BSR matrix, or anything with `data`, `indices` and `indptr`.
    """
    attrs = SparseDenseAttrs(sparse_lhs=sparse_lhs)
    return Call(_SPARSE_DENSE, [expr(dense_mat), *_parts(sparse_mat)], attrs)


def sparse_add(dense_mat: Expr, sparse_mat: Anything) -> Call:
    """`dense_mat` plus `sparse_mat`, SciPy's CSR matrix or anything with `data`, `indices` and `indptr`."""
    return Call(_SPARSE_ADD, [expr(dense_mat), *_parts(sparse_mat)])


def sparse_transpose(x: Anything) -> TupleWrapper:
    """The `data`, `indices` and `indptr` of the transpose of `x`, a square CSR matrix."""
    return TupleWrapper(Call(_SPARSE_TRANSPOSE, _parts(x), SparseTransposeAttrs()), 3)
