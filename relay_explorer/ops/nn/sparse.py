"""Products and sums with sparse matrices. Three arrays represent a matrix: the nonzero values, their columns,
and the position at which each row begins in these (CSR; with blocks as values, BSR).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import Dim, TensorType, TupleType, Type
from ..arguments import Operand, expr
from ..examples import X, ints, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import UNKNOWN, forward, integers, same_dim, same_dtypes, tensor, times
from ..te.binary import plus
from ..te.imperative import Buffers, each, int64, local, loops, repeat_while, together, when
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, cast, dims, dtype_of, every, narrowed, number, stage, sum_type

__all__ = ["sparse_add", "sparse_dense", "sparse_transpose"]


class SparseTransposeAttrs(Attrs, key="relay.attrs.SparseTransposeAttrs"):
    pass


# the arrays of a sparse matrix of elements, and of one of blocks, for examples
_NUMBERS = (t(3, name="data"), ints(3, name="indices"), ints(3, name="indptr"))
_BLOCKS = (t(3, 1, 2, name="data"), ints(3, name="indices"), ints(3, name="indptr"))


def _rows(data: TensorType, indices: Type, indptr: Type, first: int) -> Dim:
    """Return the number of rows of the sparse matrix whose arrays start at operand `first`."""
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


def _dense(attrs: Anything, data: Type, values: Type, indices: Type, indptr: Type) -> Type:
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
    """Expand a sparse matrix of `columns` columns into a dense one; raise a ValueError where its arrays
    contradict each other.
    """
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


def _multiplied(attrs: Anything, x: Array, values: Array, indices: Array, indptr: Array) -> Array:
    sparse = _unpacked(values, indices, indptr, x.shape[1])
    return (sparse @ x.T if attrs.sparse_lhs else x @ sparse.T).astype(x.dtype)


def _dense_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each stored value and each row of the dense matrix."""
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
    _unpacked(values, indices, indptr, size)  # raises where the arrays contradict each other
    rows = np.repeat(np.arange(size), np.diff(indptr.astype("int64")))
    order = np.argsort(indices, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=size))])
    return values[order], rows[order].astype(indices.dtype), starts.astype(indptr.dtype)


def _row_ends(starts: Anything, row: Value, most: Anything) -> tuple[Value, Value]:
    """Return the positions at which a row begins and ends in the values."""
    return (
        te.max(starts[row].astype("int64"), int64(0)),
        te.min(starts[row + 1].astype("int64"), int64(most)),
    )


def _walk(ends: tuple[Value, Value]) -> Anything:
    """Return a position that starts at a row's first value, and a loop that runs until it reaches the row's
    end.
    """
    position = local(1, "int64")
    position[0] = ends[0]
    return position, repeat_while(position[0] < ends[1])


def _sparse_dense_te(call: Lowered) -> list[Tensor]:
    """Multiply row by row of the sparse matrix, or block by block."""
    x, values, columns, starts = call.inputs
    dtype = dtype_of(x)
    high, wide = dims(values)[1:] or (1, 1)
    rows, batch, inner = (dims(starts)[0] - 1) * high, dims(x)[0], dims(x)[1]
    kind = sum_type(dtype)
    blocks = len(values.shape) == 3

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, value, column, start), (result,) = ins, outs
        with together(rows) as row, each(batch) as n:
            total = local(1, kind)
            total[0] = number(0, kind)
            place, loop = _walk(_row_ends(start, te.floordiv(row, high), dims(values)[0]))
            with loop:
                with each(wide) as w:
                    at = column[place[0]].astype("int64") * wide + w
                    with when(every([at >= 0, at < int64(inner)])):
                        weight = value[place[0], te.floormod(row, high), w] if blocks else value[place[0]]
                        total[0] = total[0] + cast(weight, kind) * cast(data[n, at], kind)
                place[0] = place[0] + 1
            result[row, n] = total[0]

    product_ = loops([((rows, batch), kind)], [x, values, columns, starts], body, f"{call.name}_sums")[0]
    if call.attrs.sparse_lhs:
        return [narrowed(product_, dtype, call.name)]
    return [stage((batch, rows), lambda n, row: cast(product_(row, n), dtype), call.name)]


def _sparse_add_te(call: Lowered) -> list[Tensor]:
    x, values, columns, starts = call.inputs
    rows, width = dims(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, value, column, start), (result,) = ins, outs
        with together(rows) as row:
            with each(width) as j:
                result[row, j] = data[row, j]
            place, loop = _walk(_row_ends(start, row, dims(values)[0]))
            with loop:
                at = column[place[0]].astype("int64")
                with when(every([at >= 0, at < int64(width)])):
                    result[row, at] = plus(result[row, at], value[place[0]])
                place[0] = place[0] + 1

    return loops([(dims(x), dtype_of(x))], [x, values, columns, starts], body, call.name)


def _sparse_transpose_te(call: Lowered) -> list[Tensor]:
    """Count the values of each column, compute the prefix sums, and write each value to its column's next
    position.
    """
    values, columns, starts = call.inputs
    count, size = dims(values)[0], dims(starts)[0] - 1

    def body(ins: Buffers, outs: Buffers) -> None:
        (value, column, start), (turned, rows, begin, following) = ins, outs
        one = number(1, dtype_of(starts))
        with each(size + 1) as i:
            begin[i] = number(0, dtype_of(starts))
        with each(count) as n, when(_valid(column[n], size)):
            begin[column[n] + 1] = begin[column[n] + 1] + one
        with each(size) as i:
            begin[i + 1] = begin[i + 1] + begin[i]
            following[i] = begin[i]
        with each(size) as row:
            place, loop = _walk(_row_ends(start, row, count))
            with loop:
                at = column[place[0]]
                with when(_valid(at, size)):
                    turned[following[at]] = value[place[0]]
                    rows[following[at]] = row.astype(dtype_of(columns))
                    following[at] = following[at] + one
                place[0] = place[0] + 1

    kinds = [((count,), dtype_of(values)), ((count,), dtype_of(columns)), ((size + 1,), dtype_of(starts))]
    results = [*kinds, ((size,), dtype_of(starts))]
    return loops(results, [values, columns, starts], body, call.name, slice(3), call.target)


def _valid(column: Value, size: Anything) -> Value:
    at = column.astype("int64")
    return every([at >= 0, at < int64(size)])


def _parts(sparse: Anything) -> list[Expr]:
    """Return the three arrays of a sparse matrix, given as an object with `data`, `indices` and `indptr` or
    as a sequence of the three.
    """
    names = ("data", "indices", "indptr")
    parts = [getattr(sparse, n) for n in names] if hasattr(sparse, "indptr") else list(sparse)
    if len(parts) != 3:
        raise ValueError(f"a sparse matrix is its data, indices and indptr, not {len(parts)} arrays")
    return [expr(part) for part in parts]


@operator(
    "nn.sparse_dense",
    description="Multiplies a matrix by the transpose of another, where one of the two is sparse.",
    formula=r"Y = X W^\top",
    family="matmul",
    level=1,
    relation=forward(
        "SparseDense", "{out} = rows of {0} × rows of the sparse matrix, or the reverse", _dense
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    reference=_multiplied,
    gradient=NotApplicable("there is no rule for sparse matrices"),
    lowering=_sparse_dense_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, _BLOCKS),
    inputs=("dense_data", "sparse_data", "sparse_indices", "sparse_indptr"),
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
)
def sparse_dense(
    dense_mat: Operand,
    sparse_mat: Anything,
    sparse_lhs: Annotated[
        bool, attr(False, "Whether the left factor is the sparse one, rather than the right.")
    ] = False,
) -> Call:
    """Multiply `dense_mat` (M, K) by the transpose of `sparse_mat` (N, K): (M, N); with `sparse_lhs` (N, M).

    `sparse_mat` is SciPy's CSR or BSR matrix, or any object with `data`, `indices` and `indptr`.
    """
    return call("nn.sparse_dense", [dense_mat, *_parts(sparse_mat)], sparse_lhs=sparse_lhs)


@operator(
    "nn.sparse_add",
    description="Adds a sparse matrix to a dense one.",
    formula=r"Y = X + S",
    family="arithmetic",
    level=1,
    relation=forward("SparseAdd", "{out} = {0}", _sparse_add),
    flops=lambda attrs, inputs, output: size_of(inputs[1]),
    reference=lambda attrs, x, values, indices, indptr: x + _unpacked(values, indices, indptr, x.shape[1]),
    gradient=NotApplicable("there is no rule for sparse matrices"),
    lowering=_sparse_add_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(2, 4), _NUMBERS),
    inputs=("dense_data", "sparse_data", "sparse_indices", "sparse_indptr"),
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
)
def sparse_add(dense_mat: Operand, sparse_mat: Anything) -> Call:
    """Add `sparse_mat`, SciPy's CSR matrix or any object with `data`, `indices` and `indptr`, to
    `dense_mat`.
    """
    return call("nn.sparse_add", [dense_mat, *_parts(sparse_mat)])


@operator(
    "nn.sparse_transpose",
    description="Transposes a square matrix in CSR format.",
    formula=r"Y = S^\top",
    family="shape",
    level=1,
    relation=forward("SparseTranspose", "{out} = ({0}, {1}, {2})", _sparse_transpose),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=no_flops,
    reference=_turned,
    gradient=NotApplicable("there is no rule for sparse matrices"),
    lowering=_sparse_transpose_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(_NUMBERS),
    attrs=SparseTransposeAttrs,
    inputs=("sparse_data", "sparse_indices", "sparse_indptr"),
    lenient_in_tvm="It did not compare the three arrays of the sparse matrix with each other.",
)
def sparse_transpose(x: Anything) -> TupleWrapper:
    """Return the `data`, `indices` and `indptr` of the transpose of `x`, a square CSR matrix."""
    return TupleWrapper(
        call("nn.sparse_transpose", _parts(x)),
        3,
    )
