"""Converters of operators that take parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ir.types import Any, Dim
from ....ops import namespaces as relay
from ...base.axes import normal_axis
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.source import Node
from ..importer import MOST_ELEMENTS, Importer, bounded
from ..registry import converts
from .creation import refined

_END = 2**31 - 1  # a slice to the end of an axis, whatever its extent
_NEW, _ALL = "new", "all"


@converts("Slice")
def _slice(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, begin, size = inputs
    rank = tf.context.rank(data)
    starts, sizes = _elements(tf, begin, rank), _elements(tf, size, rank)
    begins = [n for n in starts if isinstance(n, int)]
    counts = [n for n in sizes if isinstance(n, int)]
    if len(begins) == len(counts) == rank:
        ends = [_END if count == -1 else start + count for start, count in zip(begins, counts)]
        return relay.strided_slice(data, begins, ends, [1] * rank)
    if rank == 1 and not isinstance(sizes[0], int) and starts[0] == 0:
        return relay.strided_slice(data, begin, size, slice_mode="size")
    sliced = relay.strided_slice(data, begin, size, slice_mode="size")
    return refined(tf, sliced, [n if isinstance(n, int) and n >= 0 else Any() for n in sizes])


def _elements(tf: Importer, vector: Expr, count: int) -> tuple[Dim, ...]:
    """Return the elements of a vector as far as they are known."""
    value = tf.value(vector)
    if value is not None:
        return tuple([int(element) for element in value.reshape(-1)])
    return tf.context.known(vector) or (Any(),) * count


class _Axis:
    """One axis of the result of StridedSlice: a slice of an axis of the data, or one element of it."""

    def __init__(self, axis: int, position: int | None, step: int, *, whole: bool = False) -> None:
        self.axis = axis
        self.position = position  # in the vectors of bounds; None for a whole axis
        self.step = step
        self.whole = whole
        self.no_begin = self.no_end = self.single = False


@converts("StridedSlice")
def _strided_slice(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, begin, end, strides = inputs
    steps = tf.ints(strides, "the steps of a slice")
    axes, new_axes = _axes(node, tf.context.rank(data), steps)
    begins, ends = (_elements(tf, bounds, len(steps)) for bounds in (begin, end))
    low: list[int | None] = []
    high: list[int | None] = []
    for axis in axes:
        first = _bound(axis, begins, axis.no_begin, 0 if axis.step > 0 else _END)
        last = _bound(axis, ends, axis.no_end, _END if axis.step > 0 else -_END)
        if axis.single and first is not None:
            last = first + 1 if first != -1 else _END
        low.append(first)
        high.append(last)
    step_list = [axis.step for axis in axes]
    known_low, known_high = ([b for b in bounds if b is not None] for bounds in (low, high))
    if len(known_low) == len(known_high) == len(axes):
        whole = all((a, b, s) == (0, _END, 1) for a, b, s in zip(low, high, step_list))
        result = data if whole else relay.strided_slice(data, known_low, known_high, step_list)
        singles = [axis.axis for axis in axes if axis.single]
        result = relay.squeeze(result, singles) if singles else result
    else:
        result = _dynamic(tf, data, begin, end, axes, low, high)
    for position in new_axes:
        result = relay.expand_dims(result, position)
    return result


def _axes(node: Node, rank: int, steps: Sequence[int]) -> tuple[list[_Axis], list[int]]:
    """Return what happens to each axis of the data, and where new axes are put into the result."""
    masks = {
        name: int(node.attrs.get(f"{name}_mask", 0))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    count = len(steps)
    used = sum(not (masks["new_axis"] >> i & 1 or masks["ellipsis"] >> i & 1) for i in range(count))
    if used > rank:
        raise RelayError(f"a slice has {used} indices, but the tensor has {rank} axes")
    axes: list[_Axis] = []
    new: list[int] = []
    produced = 0

    def keep(number: int) -> None:
        nonlocal produced
        for _ in range(number):
            axes.append(_Axis(len(axes), None, 1, whole=True))
            produced += 1

    for i, step in enumerate(steps):
        if masks["ellipsis"] >> i & 1:
            keep(rank - used)
            used = rank  # only one ellipsis expands
        elif masks["new_axis"] >> i & 1:
            new.append(produced)
            produced += 1
        else:
            if step == 0:
                raise RelayError("the strides of a slice must not be 0")
            axis = _Axis(len(axes), i, step)
            axis.no_begin, axis.no_end = bool(masks["begin"] >> i & 1), bool(masks["end"] >> i & 1)
            axis.single = bool(masks["shrink_axis"] >> i & 1)
            produced += not axis.single
            axes.append(axis)
    keep(rank - len(axes))
    return axes, new


def _bound(axis: _Axis, bounds: Sequence[Dim], free: bool, default: int) -> int | None:
    """Return a bound of a slice; None where it is not known."""
    if axis.position is None or (free and not axis.single):
        return default
    bound = bounds[axis.position]
    return bound if isinstance(bound, int) else None


def _dynamic(
    tf: Importer,
    data: Expr,
    begin: Expr,
    end: Expr,
    axes: Sequence[_Axis],
    low: Sequence[int | None],
    high: Sequence[int | None],
) -> Expr:
    """Slice with bounds that the program computes: single elements by `take`, the others together."""
    result = data
    left: list[tuple[_Axis, int | None, int | None]] = []
    for axis, first, last in zip(axes, low, high):
        if axis.single:
            index = _at(begin, axis.position) if first is None else const([first], "int64")
            extent = relay.strided_slice(
                relay.shape_of(data, dtype="int64"), [axis.axis], [axis.axis + 1], [1]
            )
            index = relay.where(relay.less(index, const(0, "int64")), relay.add(index, extent), index)
            place = len(left)
            result = relay.squeeze(relay.take(result, index, axis=place), [place])
        else:
            left.append((axis, first, last))
    if all((first, last, axis.step) == (0, _END, 1) for axis, first, last in left):
        return result
    starts = [_at(begin, a.position) if f is None else const([f], "int64") for a, f, _ in left]
    stops = [_at(end, a.position) if e is None else const([e], "int64") for a, _, e in left]
    steps = const([axis.step for axis, _, _ in left], "int64")
    shape = tf.context.shape(result)
    sliced = relay.strided_slice(result, relay.concatenate(starts, 0), relay.concatenate(stops, 0), steps)
    dims = [
        extent if (first, last, axis.step) == (0, _END, 1) else Any()
        for extent, (axis, first, last) in zip(shape, left)
    ]
    return refined(tf, sliced, dims)


def _at(vector: Expr, position: int | None) -> Expr:
    assert position is not None, "a whole axis has known bounds"
    return relay.cast(relay.strided_slice(vector, [position], [position + 1], [1]), "int64")


@converts("Gather", "GatherV2", "ResourceGather")
def _gather(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axis = 0
    batch = int(node.attrs.get("batch_dims", 0))
    indices = inputs[1]
    if node.op == "GatherV2":
        axis = tf.axis(inputs[2], tf.context.rank(inputs[0]))
    if batch < 0:
        batch += tf.context.rank(indices)
    return relay.take(inputs[0], indices, axis=axis, batch_dims=batch)


@converts("GatherNd", "ResourceGatherNd")
def _gather_nd(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, indices = inputs
    if int(node.attrs.get("batch_dims", 0)):
        raise RelayError("GatherNd with batch_dims is not supported")
    rank = tf.context.rank(indices)
    depth = tf.context.shape(indices)[-1]
    if not isinstance(depth, int):
        raise DynamicShapeError("the extent of the last axis of the indices must be known at compile time")
    if rank > 1:
        indices = relay.transpose(indices, [rank - 1, *range(rank - 1)])
    return relay.gather_nd(data, indices, index_rank=depth)


@converts("ScatterNd")
def _scatter_nd(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    indices, updates, shape = inputs
    extents = tf.ints(shape, "the shape of the result")
    zeros = relay.zeros(extents, tf.context.dtype(updates))
    return relay.scatter_nd(zeros, _coordinates(tf, indices), updates, mode="add")


@converts("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterMin", "TensorScatterMax")
def _tensor_scatter(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, indices, updates = inputs
    mode = node.op.removeprefix("TensorScatter").lower()
    return relay.scatter_nd(data, _coordinates(tf, indices), updates, mode=mode)


def _coordinates(tf: Importer, indices: Expr) -> Expr:
    """Return indices with the coordinates along the first axis instead of the last."""
    rank = tf.context.rank(indices)
    return relay.transpose(indices, [rank - 1, *range(rank - 1)]) if rank > 1 else indices


@converts("Where")
def _where(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.cast(relay.argwhere(inputs[0]), "int64")


@converts("InvertPermutation")
def _invert_permutation(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.invert_permutation(inputs[0])


@converts("UnravelIndex")
def _unravel_index(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.unravel_index(*inputs)


@converts("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "DiagPart")
def _diagonal_part(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Take the elements of a matrix whose row and column agree, through its flat rows."""
    shape = tf.context.static_shape(inputs[0])
    if len(inputs) > 1 and tf.ints(inputs[1], "the diagonal") != [0]:
        raise RelayError(f"{node.op} is supported only for the main diagonal, k=0")
    if node.op == "DiagPart" and len(shape) != 2:
        raise RelayError("DiagPart of tensors with more than 2 axes is not supported")
    rows, columns = shape[-2:]
    bounded(min(rows, columns), "the elements of the diagonal", MOST_ELEMENTS)
    flat = relay.reshape(inputs[0], [*shape[:-2], rows * columns])
    indices = [index * (columns + 1) for index in range(min(rows, columns))]
    return relay.take(flat, const(indices, "int32"), axis=normal_axis(-1, len(shape) - 1))
