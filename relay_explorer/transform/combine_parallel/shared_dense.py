"""CombineSharedDense: combine dense layers that share their weight."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated

from ...analysis.pieces import piece_of
from ...ir.annotate import set_origin
from ...ir.expr import Call, Expr, TupleGetItem
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...ir.walk import children
from ..infrastructure import AtLeast
from ..tools.typed_rewrite import call as operator
from .groups import CombineParallel, Group, concatenated

MAX_ROWS_TOGETHER = 512  # rows; a larger group would only need more memory at once
MAX_CALLS_BETWEEN = 1000  # expressions per layer between the first and the last; a group spread farther stays


@dataclass(frozen=True)
class CombineSharedDense(CombineParallel):
    """Combine `nn.dense` layers with the same weight into one for the rows of all, together with the
    operators that follow each if they are the same for all. In an unrolled recurrent network, the products of
    all time steps with the input weight become one matrix product, which reads the weight once.

    Layers that depend on each other stay apart: of those, layers at the same depth are combined. Only layers
    of at most `most_rows` rows are combined, since larger ones reuse a weight enough by themselves.

    J. Appleyard, T. Kočiský, P. Blunsom, "Optimizing Performance of Recurrent Neural Networks on GPUs", arXiv
    1604.01946.
    """

    name = "CombineSharedDense"
    operator = "nn.dense"
    opt_level = 3
    shared = 1
    rule = "Independent layers with the same weight are combined into one layer on all their rows."

    min_num_branches: Annotated[int, AtLeast(1)] = 4
    most_rows: Annotated[int, AtLeast(1)] = 16

    def key(self, call: Call) -> Hashable | None:
        data, weight, result = tensor_type(call.args[0]), tensor_type(call.args[1]), tensor_type(call)
        if not (data.is_static and weight.is_static and result.is_static):
            return None
        shape = data.concrete_shape
        rows = 1
        for extent in shape[:-1]:
            rows *= extent
        if len(shape) < 2 or not 0 < rows <= self.most_rows:
            return None
        assert call.attrs is not None
        return shape[1:], data.dtype, weight.dtype, call.attrs["out_dtype"]

    def sets(self, calls: list[Call], order: Sequence[Expr]) -> list[list[Call]]:
        """Group the calls by the length of the longest chain of calls that each depends on."""
        if len(order) > MAX_CALLS_BETWEEN * len(calls):
            return []
        members = set(calls)
        before: dict[Expr, int] = {}
        by_depth: dict[int, list[Call]] = {}
        for node in order:
            most = max([before.get(part, 0) for part in children(node)], default=0)
            if isinstance(node, Call) and node in members:
                by_depth.setdefault(most, []).append(node)
                most += 1
            if most:
                before[node] = most
        return [part for some in by_depth.values() for part in _cut(_in_order(some))]

    def group(self, calls: Sequence[Call]) -> Group:
        attrs, weight = calls[0].attrs, calls[0].args[1]
        assert attrs is not None
        data = joined([call.args[0] for call in calls])
        result = operator("nn.dense", data, weight, units=attrs["units"], out_dtype=attrs["out_dtype"])
        return _Rows(calls, result)


class _Rows(Group):
    """Branches whose results are concatenated along the first axis."""

    def followed(self, users: Sequence[Call], place: int) -> Call | None:
        first = users[0]
        shape = tensor_type(self.outputs[0]).shape
        others = [arg for number, arg in enumerate(first.args) if number != place]
        if first.attrs is not None and "axis" in first.attrs and first.attrs["axis"] % len(shape) == 0:
            return None
        if any(user.args[k] is not arg for user in users for k, arg in enumerate(first.args) if k != place):
            return None
        for other in others:
            other_shape = tensor_type(other).shape
            if len(other_shape) > len(shape) or (len(other_shape) == len(shape) and other_shape[0] != 1):
                return None
        if any(tensor_type(u).shape != tensor_type(o).shape for u, o in zip(users, self.outputs)):
            return None
        args = [self.value if number == place else arg for number, arg in enumerate(first.args)]
        assert isinstance(first.op, Op)
        return Call(first.op, args, first.attrs)

    def parts(self) -> list[Expr]:
        if len({tensor_type(output).concrete_shape[0] for output in self.outputs}) == 1:
            split = operator("split", self.value, indices_or_sections=len(self.outputs), axis=0)
            set_origin(split, self.outputs)
            return [TupleGetItem(split, number) for number in range(len(self.outputs))]
        result: list[Expr] = []
        begin = 0
        for output in self.outputs:
            end = begin + tensor_type(output).concrete_shape[0]
            result.append(
                operator("strided_slice", self.value, begin=[begin], end=[end], strides=[1], axes=[0])
            )
            begin = end
        return result


def _cut(calls: list[Call]) -> list[list[Call]]:
    """Split the calls into groups of at most MAX_ROWS_TOGETHER rows."""
    groups: list[list[Call]] = []
    room = 0
    for call in calls:
        rows = tensor_type(call.args[0]).concrete_shape[0]
        if rows > room:
            groups.append([])
            room = MAX_ROWS_TOGETHER
        groups[-1].append(call)
        room -= rows
    return groups


def _in_order(calls: list[Call]) -> list[Call]:
    """Sort the calls so that those whose data are parts of one tensor follow the order of the parts."""
    sources: dict[Expr, int] = {}
    keys = []
    for number, call in enumerate(calls):
        source, first = piece_of(call.args[0])
        keys.append((sources.setdefault(source, len(sources)), first, number))
    return [calls[number] for *_, number in sorted(keys)]


def joined(tensors: Sequence[Expr]) -> Expr:
    """Concatenate the tensors along the first axis. If they are adjacent parts of one tensor, slice that
    tensor instead, which moves no data.
    """
    shape = tensor_type(tensors[0]).concrete_shape
    row = 1
    for extent in shape[1:]:
        row *= extent
    source, begin = piece_of(tensors[0])
    end = begin
    for tensor in tensors:
        piece = piece_of(tensor)
        if piece.source is not source or piece.first != end:
            return concatenated(tensors, 0)
        end += tensor_type(tensor).concrete_shape[0] * row
    of = tensor_type(source).concrete_shape
    size = 1
    for extent in of:
        size *= extent
    if begin % row or size % row:
        return concatenated(tensors, 0)
    rows = (size // row, *shape[1:])
    whole = source if of == rows else operator("reshape", source, newshape=list(rows))
    if (begin, end) == (0, size):
        return whole
    return operator("strided_slice", whole, begin=[begin // row], end=[end // row], strides=[1], axes=[0])
