"""Converters of slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .operation import Operation, converter

_END = 2**31 - 1


@converter("SLICE", mode="stored")
def _slice(op: Operation) -> Expr:
    rank = op.rank(0)
    begins, sizes = _elements(op, 1, rank), _elements(op, 2, rank)
    ends: list[int | None] = []
    for start, count in zip(begins, sizes):
        if (start or 0) < 0 or (count or 0) < -1:
            raise RelayError(
                f"SLICE requires begins that are not negative and sizes of at least -1, not {begins} and "
                f"{sizes}"
            )
        if count == -1:
            ends.append(_END)
        else:
            ends.append(None if start is None or count is None else start + count)
    if all(value is not None for value in (*begins, *ends)):
        return relay.strided_slice(op[0], _ints(begins), _ints(ends))
    begin, size = relay.cast(op.stored(1), "int64"), relay.cast(op.stored(2), "int64")
    to_the_end = relay.equal(size, const(-1, "int64"))
    end = relay.where(to_the_end, relay.shape_of(op[0], dtype="int64"), relay.add(begin, size))
    return relay.strided_slice(op[0], begin, end, const([1] * rank, "int64"))


def _elements(op: Operation, index: int, count: int) -> list[int | None]:
    """Return the elements of an integer vector, None for those that only a run knows."""
    values = op.values(index)
    known = None if values is not None else op.context.known(op.stored(index))
    if values is not None:
        elements: list[int | None] = [int(value) for value in values.reshape(-1)]
    elif known is not None:
        elements = [element if isinstance(element, int) else None for element in known]
    else:
        elements = [None] * count
    if len(elements) != count:
        raise RelayError(f"the bounds of a slice must have {count} elements, not {len(elements)}")
    return elements


def _ints(values: Sequence[int | None]) -> list[int]:
    return [value for value in values if value is not None]


@dataclass(frozen=True)
class _Index:
    """One index of a slice: `place` is where its bounds are; `start` and `stop` are None if only a run knows
    them, and `opens` and `closes` say whether the slice begins and ends where the axis does.
    """

    place: int
    axis: int
    step: int
    start: int | None
    stop: int | None
    shrinks: bool
    opens: bool
    closes: bool

    @property
    def first(self) -> int | None:
        """The start as Relay's strided_slice needs it."""
        return (0 if self.step > 0 else _END) if self.opens else self.start

    @property
    def last(self) -> int | None:
        """The end as Relay's strided_slice needs it."""
        if self.shrinks:
            return None if self.start is None else _END if self.start == -1 else self.start + 1
        return (_END if self.step > 0 else -_END) if self.closes else self.stop


@converter("STRIDED_SLICE", mode="stored")
def _strided_slice(op: Operation) -> Expr:
    """Slice with the masks of Python's indexing: `x[a:b, ..., None, 3]`."""
    strides = op.ints(3, "the strides")
    rank, count = op.rank(0), len(strides)
    begins, ends = _elements(op, 1, count), _elements(op, 2, count)
    if 0 in strides:
        raise RelayError("the strides of a slice must not be 0")
    if op.attr("offset", False):
        raise RelayError("STRIDED_SLICE with the option `offset` cannot be imported")

    def has(mask: str, place: int) -> bool:
        return bool(int(op.attr(f"{mask}_mask")) >> place & 1)

    ellipses = [place for place in range(count) if has("ellipsis", place)]
    chosen = [place for place in range(count) if not has("new_axis", place) and place not in ellipses]
    if len(chosen) > rank or len(ellipses) > 1:
        raise RelayError(
            f"a slice of a tensor with {rank} axes has {len(chosen)} indices and {len(ellipses)} ellipses; "
            f"at most {rank} and 1 are allowed"
        )
    indices: list[_Index] = []
    result: list[int | None] = []  # the axes of the result; None is a new one
    axis = 0
    for place, step in enumerate(strides):
        if place in ellipses:
            result += range(axis, axis + rank - len(chosen))
            axis += rank - len(chosen)
        elif has("new_axis", place):
            result.append(None)
        else:
            shrinks = has("shrink_axis", place)
            index = _Index(
                place, axis, 1 if shrinks else step, begins[place], ends[place], shrinks,
                has("begin", place) and not shrinks, has("end", place),
            )  # fmt: skip
            _check_exists(op, index)
            indices.append(index)
            if not shrinks:
                result.append(axis)
            axis += 1
    result += range(axis, rank)
    x = op[0]
    if indices:
        x = _sliced(op, x, indices)
    shrunk = [index.axis for index in indices if index.shrinks]
    if shrunk:
        x = relay.squeeze(x, shrunk)
    for position, old in enumerate(result):
        if old is None:
            x = relay.expand_dims(x, position)
    return x


def _check_exists(op: Operation, index: _Index) -> None:
    extent = op.shape(0)[index.axis]
    start = index.start
    if index.shrinks and isinstance(extent, int) and start is not None and not -extent <= start < extent:
        raise RelayError(f"index {start} is out of range for axis {index.axis} of {extent} elements")


def _sliced(op: Operation, x: Expr, indices: list[_Index]) -> Expr:
    firsts, lasts = [index.first for index in indices], [index.last for index in indices]
    if all(value is not None for value in (*firsts, *lasts)):
        steps, axes = [index.step for index in indices], [index.axis for index in indices]
        return relay.strided_slice(x, _ints(firsts), _ints(lasts), steps, axes)
    if any(index.step < 0 for index in indices):
        raise DynamicShapeError("a slice whose bounds the model computes must have positive strides")
    by_axis = {index.axis: index for index in indices}
    shape = relay.shape_of(x, dtype="int64")
    begin_of, end_of = (relay.cast(op.stored(operand), "int64") for operand in (1, 2))
    begin: list[Expr] = []
    end: list[Expr] = []
    for axis in range(op.rank(0)):
        index = by_axis.get(axis)
        extent = relay.strided_slice(shape, [axis], [axis + 1])
        if index is None or index.opens:
            begin.append(const([0], "int64"))
        else:
            begin.append(relay.strided_slice(begin_of, [index.place], [index.place + 1]))
        if index is None or (index.closes and not index.shrinks):
            end.append(extent)
        elif index.shrinks:
            is_last = relay.equal(begin[-1], const([-1], "int64"))
            end.append(relay.where(is_last, extent, relay.add(begin[-1], const([1], "int64"))))
        else:
            end.append(relay.strided_slice(end_of, [index.place], [index.place + 1]))
    steps = [by_axis[axis].step if axis in by_axis else 1 for axis in range(op.rank(0))]
    bounds = relay.concatenate(begin, 0), relay.concatenate(end, 0)
    return relay.strided_slice(x, *bounds, const(steps, "int64"))


@converter("DYNAMIC_UPDATE_SLICE", mode="stored")
def _dynamic_update_slice(op: Operation) -> Expr:
    """Replace a part of a tensor; where the part would reach beyond the end, it is moved back."""
    extents, sizes = op.extents(0, range(op.rank(0))), op.extents(1, range(op.rank(1)))
    start = op.values(2)
    if start is None:
        raise DynamicShapeError("the start of DYNAMIC_UPDATE_SLICE must be known at compile time")
    first = [
        min(max(int(value), 0), extent - size)
        for value, extent, size in zip(start.reshape(-1), extents, sizes)
    ]
    ends = [begin + size for begin, size in zip(first, sizes)]
    return relay.strided_set(op[0], op[1], const(first, "int64"), const(ends, "int64"))
