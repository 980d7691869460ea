"""Converters of sparse tensors: coordinates, values and a shape."""

from __future__ import annotations

from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts
from .linear import product


def dense(tf: Importer, indices: Expr, values: Expr, shape: Expr, default: Expr | float = 0) -> Expr:
    """Return a sparse tensor as a dense one."""
    known = tf.value(shape)
    extents = [int(extent) for extent in known] if known is not None else shape
    return relay.sparse_to_dense(indices, extents, values, default)


@converts("SparseToDense")
def _sparse_to_dense(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    indices, shape, values, default = inputs
    return dense(tf, indices, values, shape, default)


@converts("SparseTensorDenseMatMul")
def _matmul(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Multiply by the dense matrix, because Relay's sparse product needs the matrix in another format."""
    indices, values, shape, other = inputs
    matrix = dense(tf, indices, values, shape)
    first, second = bool(node.attrs.get("adjoint_a", False)), bool(node.attrs.get("adjoint_b", False))
    return product(tf, matrix, other, first, second)


@converts("SparseTensorDenseAdd")
def _add(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    indices, values, shape, other = inputs
    return relay.add(dense(tf, indices, values, shape), other)


@converts("SparseFillEmptyRows")
def _fill_empty_rows(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert to the rows with the default value added, and for each given row its new place."""
    indices, values, shape, default = inputs
    filled = relay.sparse_fill_empty_rows(indices, values, shape, default)
    order = relay.argsort(_row_numbers(indices), axis=0, dtype="int64")
    before = relay.argsort(order, axis=0, dtype="int64")
    rows = relay.cast(_row_numbers(indices), "int64")
    empty = relay.cast(filled[2], "int64")
    added = relay.cumsum(empty, axis=0)
    return [filled[0], filled[1], filled[2], relay.add(before, relay.take(added, rows, axis=0))]


def _row_numbers(indices: Expr) -> Expr:
    return relay.squeeze(relay.take(indices, const([0], "int32"), axis=1), [1])


@converts("SparseReshape")
def _reshape(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.sparse_reshape(*inputs)
