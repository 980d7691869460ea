"""`sparse_fill_empty_rows`: add a default element to each empty row of a sparse tensor."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Expr
from ...ir.op import RelationError, no_flops
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand, int_const
from ..examples import ints, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np, numbers
from ..operator import call, operator
from ..relation import UNKNOWN, forward, integers, meet_dims, same_dim, same_dtypes, tensor
from ..te.lowered import HOST

__all__ = ["sparse_fill_empty_rows"]


def _fill_empty_rows(attrs: None, indices: Type, values: Type, dense_shape: Type, default: Type) -> Type:
    i, v = integers(indices, 0, "sparse_indices"), tensor(values, 1, "sparse_values")
    shape, fill = integers(dense_shape, 2, "dense_shape"), tensor(default, 3, "default_value")
    same_dtypes(v, fill, (1, 3))
    if len(fill.shape) > 1 or not all(same_dim(extent, 1) for extent in fill.shape):
        raise RelationError(f"default_value must be a scalar, not {fill}", culprits=(3,))
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
        raise ValueError(f"an element is outside the {rows} rows")
    empty = np.ones(rows, bool)
    empty[indices[:, 0]] = False
    added = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
    added[:, 0] = np.flatnonzero(empty)
    every = np.concatenate([indices, added])
    order = np.argsort(every[:, 0], kind="stable")
    filled = np.concatenate([values, np.full(len(added), default.reshape(()), values.dtype)])
    return every[order], filled[order], empty


@operator(
    "sparse_fill_empty_rows",
    description="Adds an element of a default value to each empty row of a sparse tensor.",
    formula=r"\{(i, v)\} \cup \{((r, 0, \dots), d) : \text{no element in row } r\}",
    family="index",
    level=3,
    relation=forward(
        "SparseFillEmptyRows",
        "{out} = (coordinates, values, a mask of the empty rows), each with ? rows",
        _fill_empty_rows,
    ),
    flops=no_flops,
    reference=_with_all_rows,
    gradient=NotApplicable("there is no gradient rule for sparse tensors"),
    lowering=HOST,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(3, 2), t(3, name="v"), [4, 6], 1.0),
    lenient_in_tvm="It compared none of its arguments with the others.",
)
def sparse_fill_empty_rows(
    sparse_indices: Operand, sparse_values: Operand, dense_shape: Expr | Sequence[int], default_value: Operand
) -> TupleWrapper:
    """Return the coordinates and values in row order, without empty rows, and a mask of the rows that were
    empty.
    """
    operands = [sparse_indices, sparse_values, int_const(dense_shape), default_value]
    return TupleWrapper(call("sparse_fill_empty_rows", operands), 3)
