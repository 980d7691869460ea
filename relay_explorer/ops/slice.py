"""Operators that take a slice of a tensor, with bounds on each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.declaration import Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Dim, TensorType, Type
from .arguments import Operand, computed, int_const, static_ints
from .examples import X, t
from .gradient_tools import MOVED
from .layouts.layout import (
    Answer,
    InferCorrectLayoutOutput,
    Question,
    alike,
    moved,
    shape_of_operand,
    unchanged,
)
from .numeric import Array
from .operator import call, operator
from .relation import UNKNOWN, forward, normal_axes, normal_axis, tensor
from .te.library import te, tirx
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, dims, known, number, stage

__all__ = ["slice_like", "strided_slice"]

Bounds = int | Sequence[int] | Expr

_NO_BOUND = 2**63 - 1  # past the end of every axis


class StridedSliceAttrs(Attrs, key="relay.attrs.StridedSliceAttrs"):
    begin: Ints | None = required(
        "The first index of the slice on each axis; counted from the end if negative."
    )
    end: Ints | None = required(
        "The index before which the slice ends, or, in size mode, its length (-1: all)."
    )
    strides: Ints | None = required(
        "The distance of two elements of the slice; a negative one runs backwards."
    )
    slice_mode: str = attr("end", '"end" or "size": what `end` means. In size mode all strides are 1.')
    axes: Ints | None = required(
        "The axes that begin, end and strides refer to; None is the first ones, in order."
    )


def _extent(dim: Dim, begin: int, end: int, stride: int, axis: int) -> Dim:
    """Return the number of elements that a slice takes on an axis of extent `dim`."""
    if not isinstance(dim, int):
        return dim if begin == 0 and end == _NO_BOUND and stride == 1 else UNKNOWN
    least, most = (-1, dim - 1) if stride < 0 else (0, dim)
    first = min(max(begin + dim if begin < 0 else begin, least), most)
    last = min(max(end + dim if end < 0 else end, least), most)
    length = first - last if stride < 0 else last - first
    if length < 0:
        raise RelationError(
            f"the slice of axis {axis}, of extent {dim}, begins at {begin} and ends at {end}: it runs "
            "against its stride",
            "exchange begin and end, or change the sign of the stride",
            culprits=(0,),
        )
    return -(-length // (stride if stride > 0 else -stride))


def slice_plan(attrs: StridedSliceAttrs, rank: int) -> list[tuple[int, int, int, int]]:
    """Return (axis, begin, end, stride) for each axis that is sliced."""
    if attrs.begin is None or attrs.end is None or attrs.strides is None:
        raise RelationError("begin, end and strides must be given")
    begin, end, strides = list(attrs.begin), list(attrs.end), list(attrs.strides)
    if attrs.slice_mode not in ("end", "size"):
        raise RelationError(f'slice_mode is "{attrs.slice_mode:.20}", but it is "end" or "size"')
    if attrs.axes is not None:
        if not len(attrs.axes) == len(begin) == len(end) == len(strides):
            raise RelationError(
                f"axes names {len(attrs.axes)} axes, but there are {len(begin)} begins, {len(end)} ends "
                f"and {len(strides)} strides",
                "give as many of each",
            )
        axes = normal_axes(attrs.axes, rank, "strided_slice")
    else:
        longest = max(len(begin), len(end), len(strides))
        if longest > rank:
            raise RelationError(f"the slice names {longest} axes, but the tensor has {rank}", culprits=(0,))
        axes = list(range(rank))
        strides += [1] * (rank - len(strides))
        begin += [0 if stride > 0 else _NO_BOUND for stride in strides[len(begin) :]]
        end += [_NO_BOUND if stride > 0 else 0 for stride in strides[len(end) :]]
    if 0 in strides:
        raise RelationError(f"strides={list(attrs.strides)} has a 0, but a stride must not be 0")
    if attrs.slice_mode == "size":
        end = [
            _NO_BOUND if size < 0 or size == _NO_BOUND else first + size
            for first, size in zip(begin, end, strict=True)
        ]
        strides = [1] * len(strides)
    return list(zip(axes, begin, end, strides, strict=True))


def _strided_slice(attrs: StridedSliceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    shape = list(x.shape)
    for axis, begin, end, stride in slice_plan(attrs, len(shape)):
        shape[axis] = _extent(shape[axis], begin, end, stride, axis)
    return TensorType.of(tuple(shape), x.dtype)


def slice_box(attrs: StridedSliceAttrs, rank: int) -> tuple[slice, ...]:
    """Return the Python slice of each axis."""
    slices = [slice(None)] * rank
    for axis, begin, end, stride in slice_plan(attrs, rank):
        slices[axis] = slice(begin, end, stride)
    return tuple(slices)


def _strided_slice_te(lowered: Lowered) -> list[Tensor]:
    """Lower a slice whose bounds are clamped to the axis as in Python."""
    x = lowered.inputs[0]
    starts: list[Anything] = [0] * len(x.shape)
    steps = [1] * len(x.shape)
    shape = list(dims(x))
    for axis, begin, end, stride in slice_plan(lowered.attrs, len(x.shape)):
        starts[axis], shape[axis] = _taken_range(shape[axis], begin, end, stride)
        steps[axis] = stride

    def value(*i: Value) -> Value:
        return x(
            *[start + at * step if step != 1 else at + start for at, start, step in zip(i, starts, steps)]
        )

    return [stage(shape, value, lowered.name)]


def _taken_range(dim: Anything, begin: int, end: int, stride: int) -> tuple[Anything, Anything]:
    """Return the first index that a slice takes on an axis, and the number of elements."""
    low, high = (0, dim) if stride > 0 else (-1, dim - 1)
    first, last = (_clipped(bound, dim, low, high) for bound in (begin, end))
    length = last - first if stride > 0 else first - last
    step = abs(stride)
    if isinstance(length, int):
        return first, max(0, -(-length // step))
    return first, tirx.max(te.floordiv(length + (step - 1), step), 0)


def _clipped(bound: int, dim: Anything, low: Anything, high: Anything) -> Anything:
    """Clamp a bound, counted from the end where it is negative, to the range from `low` to `high`."""
    if isinstance(dim, int):
        return min(max(bound + dim if bound < 0 else bound, low), high)
    if bound == 0 and known(low) == 0:
        return 0
    if bound >= 2**62:
        return high
    return tirx.max(tirx.min(bound + dim if bound < 0 else number(bound, "int64"), high), low)


def _strided_slice_layout(question: Question) -> Answer:
    """Move the begin, end and stride of each axis with it; if it is split into blocks, they count blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or question.new is None or attrs["begin"] is None or attrs["end"] is None:
        return unchanged(question)
    new = question.new[0]
    if new == old:
        return unchanged(question)
    whole = attrs["slice_mode"] == "end"
    shape, named = shape_of_operand(question), attrs["axes"]
    begin, end = list(attrs["begin"]), list(attrs["end"])
    strides = list(attrs["strides"] or ())
    strides += [strides[0] if len(strides) == 1 else 1] * (len(begin) - len(strides))
    if len(shape) != len(old) or any(letter.islower() for letter in old):
        return unchanged(question)
    sliced = range(len(old)) if named is None else [axis % len(old) for axis in named]
    cuts: dict[str, tuple[int, int, int]] = {}
    for n, axis in enumerate(sliced):
        size = shape[axis]
        if n < min(len(begin), len(end)):
            cut = (begin[n], end[n], strides[n])
        elif isinstance(size, int):
            first = begin[n] if n < len(begin) else 0
            last = end[n] if n < len(end) else (size if whole else -1)
            cut = (first, last, strides[n] if n < len(strides) else 1)
        else:
            return unchanged(question)
        blocks = _in_blocks(cut, new.factor_of(old[axis]), size) if new.splits(old[axis]) else cut
        if blocks is None or (new.splits(old[axis]) and not whole):
            return unchanged(question)
        cuts[old[axis]] = blocks
    if named is None:
        letters = new.letters
        cuts.update({letter: (0, size, 1) for letter, size in new.axes if letter.islower()})
    else:
        letters = [old[axis] for axis in sliced]
    values = [cuts[letter] for letter in letters]
    changed: dict[str, Anything] = {
        "begin": [b for b, _, _ in values],
        "end": [e for _, e, _ in values],
        "strides": [s for _, _, s in values],
    }
    if named is not None:
        changed["axes"] = [new.index_of(letter) for letter in letters]
    return alike(new, attrs.replace(**changed))


def _in_blocks(cut: tuple[int, int, int], factor: int, size: object) -> tuple[int, int, int] | None:
    """Convert a slice of elements to one of blocks; None where it does not begin and end at a block's
    boundary.
    """
    begin, end, stride = cut
    if not isinstance(size, int) or begin < 0 or end < 0 or stride != 1:
        return None
    end = min(end, size)
    return None if begin % factor or end % factor else (begin // factor, end // factor, 1)


@operator(
    "strided_slice",
    description="Takes a slice that has a begin, an end and a stride on each axis.",
    formula=r"y_i = x_{\mathit{begin} + i \cdot \mathit{stride}}",
    family="index",
    level=4,
    relation=forward("StridedSlice", "{out} = {0}, sliced by `begin`, `end` and `strides`", _strided_slice),
    inputs=("data",),
    attrs=StridedSliceAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, x: x[slice_box(attrs, x.ndim)],
    gradient=MOVED,
    lowering=_strided_slice_te,
    layout=_strided_slice_layout,
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
    example=lambda build: [
        build(X, [0, 1], [2, 5], [1, 2]),
        build(X, [1], [2], axes=[1], slice_mode="size"),
    ],
)
def strided_slice(
    data: Operand,
    begin: Bounds,
    end: Bounds,
    strides: Bounds | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Call:
    """Take the slice from `begin` up to `end` by `strides` on the first axes, or on `axes`."""
    if computed(begin) or computed(end) or computed(strides):
        return _dynamic_slice(data, begin, end, [1] if strides is None else strides, axes, slice_mode)
    first = static_ints(begin, "begin")
    if strides is None or (isinstance(strides, (list, tuple)) and not strides):
        strides = [1] * (len(first) if axes is not None else 1)
    return call(
        "strided_slice",
        [data],
        begin=first,
        end=static_ints(end, "end"),
        strides=static_ints(strides, "strides"),
        slice_mode=slice_mode,
        axes=axes,
    )


def _dynamic_slice(
    data: Operand, begin: Bounds, end: Bounds, strides: Bounds, axes: Sequence[int] | None, slice_mode: str
) -> Call:
    """Build `strided_slice` where the program computes a bound."""
    if axes is not None:
        raise ValueError("`axes` can be given only where begin, end and strides are static")
    bounds = [int_const(bound) for bound in (begin, end, strides)]
    return call(
        "dyn.strided_slice",
        [data, *bounds],
        begin=None,
        end=None,
        strides=None,
        slice_mode=slice_mode,
        axes=None,
    )


def _slice_like(attrs: Anything, data: Type, shape_like: Type) -> Type:
    x, like = tensor(data, 0, "data"), tensor(shape_like, 1, "shape_like")
    if attrs.axes is None:
        axes = list(range(len(like.shape)))
        if len(like.shape) > len(x.shape):
            raise RelationError(
                f"shape_like {show_shape(like.shape)} has more axes than the data {show_shape(x.shape)}",
                "name the axes to slice: relay.slice_like(data, shape_like, axes=(0,))",
                culprits=(0, 1),
            )
    elif not attrs.axes:
        raise RelationError("axes is empty", "leave it out to slice all axes that shape_like has")
    else:
        axes = normal_axes(attrs.axes, len(x.shape), "slice_like")
    shape = list(x.shape)
    for axis in axes:
        normal_axis(axis, len(like.shape), "shape_like")
        have, want = shape[axis], like.shape[axis]
        if isinstance(have, int) and isinstance(want, int) and want > have:
            raise RelationError(
                f"axis {axis} is {have}, which cannot be sliced to the {want} of shape_like", culprits=(0, 1)
            )
        shape[axis] = want
    return TensorType.of(tuple(shape), x.dtype)


def _cut_like(attrs: Anything, x: Array, shape_like: Array) -> Array:
    slices = [slice(None)] * x.ndim
    for axis in range(shape_like.ndim) if attrs.axes is None else normal_axes(attrs.axes, x.ndim):
        slices[axis] = slice(shape_like.shape[axis])
    return x[tuple(slices)]


def _slice_like_te(lowered: Lowered) -> list[Tensor]:
    x, like = lowered.inputs
    shape = list(x.shape)
    axes = (
        range(len(like.shape)) if lowered.attrs.axes is None else normal_axes(lowered.attrs.axes, len(shape))
    )
    for axis in axes:
        shape[axis] = like.shape[axis]
    return [stage(shape, lambda *i: x(*i), lowered.name)]


def _slice_like_layout(question: Question) -> Answer:
    """Infer the layouts of two tensors, which must have the same known layout."""
    first, second = question.old
    attrs = question.attrs
    assert attrs is not None
    if first is None or second is None or first != second:
        return None
    layout = first
    if question.new is not None and question.new[0] == question.new[1] and attrs["axes"]:
        axes = [moved(axis, first, question.new[0]) for axis in attrs["axes"]]
        if None not in axes:
            layout, attrs = question.new[0], attrs.replace(axes=axes)
    return InferCorrectLayoutOutput([layout, layout], [layout], attrs)


@operator(
    "slice_like",
    description="Slices a tensor to the extents of another, from the start of each axis.",
    formula=r"y_i = x_i, \quad 0 \le i < n_{\mathit{like}}",
    family="index",
    relation=forward("SliceLike", "{out} = {0}, sliced to the extents of {1}", _slice_like),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_cut_like,
    gradient=MOVED,
    lowering=_slice_like_te,
    layout=_slice_like_layout,
    precision=Precision.UNLISTED,
    traits={Trait.TYPE_OF_SECOND},
    example=lambda build: build(X, t(1, 3, name="y"), axes=(0, 1)),
    lenient_in_tvm="It ignored axes that shape_like has beyond those of the data.",
)
def slice_like(
    data: Operand,
    shape_like: Operand,
    axes: Annotated[
        Sequence[int] | None,
        required("The axes that are sliced; None is all that the second tensor has.", kind="Ints | None"),
    ] = None,
) -> Call:
    """Cut off the end of `data` so that it has the extents of `shape_like`, on all axes or on `axes`."""
