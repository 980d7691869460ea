"""Converters of matrix products and of einsum."""

from __future__ import annotations

import math

from ....ir.errors import RelayError
from ....ir.expr import Expr
from ....ir.types import Dim
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.source import Node
from ..importer import Importer
from ..registry import converts
from .shapes import Extent, reshaped


@converts("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _matmul(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    names = ("transpose_a", "transpose_b") if node.op == "MatMul" else ("adj_x", "adj_y")
    first, second = (bool(node.attrs.get(name, False)) for name in names)
    a, b = inputs
    out = node.attrs.get("Tout")
    if out is not None and str(out) != tf.context.dtype(a):
        a, b = relay.cast(a, str(out)), relay.cast(b, str(out))
    return product(tf, a, b, first, second)


def product(tf: Importer, a: Expr, b: Expr, transpose_a: bool, transpose_b: bool) -> Expr:
    """Return the products of the matrices in the last two axes; the other axes broadcast."""
    ranks = tf.context.rank(a), tf.context.rank(b)
    if min(ranks) < 2:
        raise RelayError(f"a matrix product requires operands with at least 2 axes, not {min(ranks)}")
    if ranks == (2, 2):
        return _two(tf, a, b, transpose_a, transpose_b)
    if ranks[1] == 2 and not transpose_a:  # one matrix for all: the rows of all batches are one matrix
        rows = relay.reshape(a, [-1, _known(tf, a, -1)])
        columns: Extent = (b, 0 if transpose_b else 1)
        leading: list[Extent] = [(a, axis) for axis in range(ranks[0] - 1)]
        return reshaped(tf, _two(tf, rows, b, False, transpose_b), [*leading, columns])
    batch = _common(tf, a, b)
    if ranks == (3, 3):
        return _batched(tf, a, b, transpose_a, transpose_b)
    flat_a, flat_b = (_flat(tf, operand, batch) for operand in (a, b))
    result = _batched(tf, flat_a, flat_b, transpose_a, transpose_b)
    row: Extent = (a, ranks[0] - 1 if transpose_a else ranks[0] - 2)
    column: Extent = (b, ranks[1] - 2 if transpose_b else ranks[1] - 1)
    return reshaped(tf, result, [*batch, row, column])


def _known(tf: Importer, operand: Expr, axis: int) -> int:
    extent = tf.context.shape(operand)[axis]
    if not isinstance(extent, int):
        raise DynamicShapeError("the inner extent of a matrix product must be known at compile time")
    return extent


def _common(tf: Importer, a: Expr, b: Expr) -> list[Extent]:
    """Return the extents of the axes before the matrices, after broadcasting."""
    first, second = tf.context.shape(a)[:-2], tf.context.shape(b)[:-2]
    count = max(len(first), len(second))
    result: list[Extent] = []
    for axis in range(-count, 0):
        options: list[tuple[Dim, Expr, int]] = []
        for shape, operand in ((first, a), (second, b)):
            if -axis <= len(shape) and shape[axis] != 1:
                options.append((shape[axis], operand, axis + len(shape)))
        static = [extent for extent, _, _ in options if isinstance(extent, int)]
        if static:
            result.append(static[0])
        else:
            result.append((options[0][1], options[0][2]) if options else 1)
    return result


def _flat(tf: Importer, operand: Expr, batch: list[Extent]) -> Expr:
    """Return matrices with one axis before them, which counts all; missing and single ones are repeated."""
    shape = tf.context.shape(operand)
    rank = len(shape)
    own = shape[:-2]
    single = all(extent == 1 for extent in own)
    if not single and len(own) == len(batch):
        wanted = [extent if isinstance(extent, int) else None for extent in batch]
        if any(o == 1 and w != 1 for o, w in zip(own, wanted)):
            if any(w is None for w in wanted):
                raise DynamicShapeError("matrix products cannot be broadcast over axes of dynamic extent")
            matrix = [extent for extent in shape[-2:] if isinstance(extent, int)]
            if len(matrix) != 2:
                raise DynamicShapeError(
                    "a matrix product that broadcasts requires that the shapes of the matrices are known at "
                    "compile time"
                )
            operand = relay.broadcast_to(operand, [*(w for w in wanted if w is not None), *matrix])
    elif not single:
        raise RelayError("matrix products of operands with different numbers of axes are not supported")
    return reshaped(tf, operand, [1 if single else -1, (operand, rank - 2), (operand, rank - 1)])


def _two(tf: Importer, a: Expr, b: Expr, transpose_a: bool, transpose_b: bool) -> Expr:
    if not tf.options["use_dense"]:
        return relay.nn.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    a = relay.transpose(a, [1, 0]) if transpose_a else a
    b = b if transpose_b else relay.transpose(b, [1, 0])
    units = tf.context.shape(b)[0]
    return relay.nn.dense(a, b, units=units if isinstance(units, int) else None)


def _batched(tf: Importer, a: Expr, b: Expr, transpose_a: bool, transpose_b: bool) -> Expr:
    if not tf.options["use_nt_batch_matmul"]:
        return relay.nn.batch_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    a = relay.transpose(a, [0, 2, 1]) if transpose_a else a
    b = b if transpose_b else relay.transpose(b, [0, 2, 1])
    return relay.nn.batch_matmul(a, b)


@converts("Einsum")
def _einsum(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    equation = str(node.attrs["equation"]).replace(" ", "")
    if len(inputs) == 2:
        result = _as_product(tf, equation, inputs[0], inputs[1])
        if result is not None:
            return result
    return relay.einsum(inputs, equation)


def _as_product(tf: Importer, equation: str, a: Expr, b: Expr) -> Expr | None:
    """Return an einsum of two tensors as a product of matrices, or None where it is none."""
    left, _, out = equation.partition("->")
    first, _, second = left.partition(",")
    types = tf.context.tensor(a), tf.context.tensor(b)
    if "." in equation or not out or not all(type_.is_static for type_ in types):
        return None
    if any(len(set(labels)) != len(labels) for labels in (first, second, out)):
        return None
    if (len(first), len(second)) != (len(types[0].shape), len(types[1].shape)):
        return None
    extents = dict(zip(first + second, types[0].concrete_shape + types[1].concrete_shape))
    both, wanted = set(first) & set(second), set(out)
    if not set(first) ^ set(second) <= wanted:
        return None  # a label that only one operand has is summed alone
    batch = [label for label in out if label in both]
    inner = [label for label in first if label in both and label not in wanted]
    rows = [label for label in out if label in first and label not in both]
    columns = [label for label in out if label in second and label not in both]

    def arranged(operand: Expr, labels: str, *groups: list[str]) -> Expr:
        order = [label for group in groups for label in group]
        operand = relay.transpose(operand, [labels.index(label) for label in order])
        return relay.reshape(operand, [math.prod(extents[label] for label in group) for group in groups])

    result = _batched(tf, arranged(a, first, batch, rows, inner), arranged(b, second, batch, columns, inner),
                      False, True)  # fmt: skip
    order = [*batch, *rows, *columns]
    result = relay.reshape(result, [extents[label] for label in order])
    return relay.transpose(result, [order.index(label) for label in out])
