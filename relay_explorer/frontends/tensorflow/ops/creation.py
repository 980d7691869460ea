"""Converters of operators that create tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ir.types import Dim
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import MOST_ELEMENTS, Importer, bounded
from ..registry import converts


def refined(tf: Importer, expr: Expr, known: Sequence[Dim] | None) -> Expr:
    """Return a tensor whose shape the program computes, with the extents that are `known` in its type."""
    shape = tf.context.shape(expr)
    if known is None or len(known) != len(shape):
        return expr
    better = [a if isinstance(a, int) else b for a, b in zip(known, shape)]
    if all(a == b for a, b in zip(better, shape)) or 0 in better:
        return expr
    return relay.reshape(expr, [extent if isinstance(extent, int) else 0 for extent in better])  # 0 copies


@converts("Fill")
def _fill(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    dims, value = inputs
    dtype = tf.context.dtype(value)
    known = tf.value(dims)
    if known is not None:
        return relay.full(value, [int(extent) for extent in known], dtype)
    return refined(tf, relay.full(value, dims, dtype), tf.context.known(dims))


@converts("ZerosLike")
def _zeros_like(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.zeros_like(inputs[0])


@converts("OnesLike")
def _ones_like(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.ones_like(inputs[0])


@converts("Range")
def _range(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    import numpy as np

    dtype = tf.context.dtype(inputs[0])
    known = [tf.value(operand) for operand in inputs]
    start, stop, step = (
        operand if value is None else const(value.item(), dtype) for operand, value in zip(inputs, known)
    )
    if all(value is not None for value in known):
        first, last, by = (value.item() for value in known)
        if by == 0:
            raise RelayError("the step of a range must not be 0")
        if (last - first) / by <= 0:
            return const(np.zeros((0,)), dtype)  # `arange` has no empty result
    return relay.arange(start, stop, step, dtype)


@converts("LinSpace")
def _linspace(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    import numpy as np

    count = bounded(tf.integer(inputs[2], "the number of values"), "the number of values", MOST_ELEMENTS)
    dtype = tf.context.dtype(inputs[0])
    steps = const(np.arange(count), dtype)
    step = relay.divide(relay.subtract(inputs[1], inputs[0]), const(max(count - 1, 1), dtype))
    return relay.add(inputs[0], relay.multiply(steps, step))


@converts("OneHot")
def _one_hot(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    indices, depth, on, off = inputs
    axis = int(node.attrs.get("axis", -1))
    count = tf.integer(depth, "the depth")
    return relay.one_hot(indices, on, off, count, axis, tf.context.dtype(on))


@converts("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "Diag")
def _diagonal(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert a matrix with given diagonal elements and zeros elsewhere."""
    diagonal = inputs[0]
    if len(inputs) > 1:
        main = [tf.ints(operand, "the diagonal and the size") for operand in inputs[1:4]]
        if main != [[0], [-1], [-1]] or float(tf.need(inputs[4], "the padding").item()) != 0:
            raise RelayError(
                f"{node.op} is supported only for the main diagonal of square matrices with zeros "
                "elsewhere: k=0, num_rows=-1, num_cols=-1 and padding_value=0"
            )
    shape = tf.context.static_shape(diagonal)
    extent = shape[-1]
    if node.op == "Diag":
        rows = 1
        for size in shape:
            rows *= size
        square = relay.matrix_set_diag(
            relay.zeros((rows, rows), tf.context.dtype(diagonal)), relay.reshape(diagonal, [rows])
        )
        return relay.reshape(square, [*shape, *shape])
    return relay.matrix_set_diag(relay.zeros((*shape, extent), tf.context.dtype(diagonal)), diagonal)


@converts("MatrixBandPart")
def _band(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Keep the diagonals from `lower` below the main one to `upper` above it; -1 keeps all."""
    import numpy as np

    data = inputs[0]
    lower, upper = tf.integer(inputs[1], "the lower bound"), tf.integer(inputs[2], "the upper bound")
    rows, columns = tf.context.static_shape(data)[-2:]
    bounded(rows * columns, "the elements of the matrix", MOST_ELEMENTS)
    distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    mask = np.ones((rows, columns), bool)
    if lower >= 0:
        mask &= distance >= -lower
    if upper >= 0:
        mask &= distance <= upper
    return relay.where(const(mask, "bool"), data, relay.zeros_like(data))


@converts("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diagonal(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    bounds = tf.ints(inputs[2], "the diagonals") if len(inputs) > 2 else [0]
    align = str(node.attrs.get("align", "RIGHT_LEFT" if node.op.endswith("V3") else "LEFT_LEFT"))
    where = bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])
    return relay.matrix_set_diag(inputs[0], inputs[1], where, align)
