"""Operators that cut a box out of a tensor, or put one into it."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Op, OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Dim, TensorType, Type
from .arguments import computed, expr, int_const, static_ints
from .declare import declare
from .numeric import Array, numbers
from .relation import UNKNOWN, forward, integers, normal_axes, normal_axis, same_dtypes, tensor

__all__ = ["slice_like", "slice_plan", "strided_set", "strided_slice"]

_FAR = 2**63 - 1  # past the end of every axis


class StridedSliceAttrs(Attrs, key="relay.attrs.StridedSliceAttrs"):
    begin: Ints | None = required(
        "The first place that is taken, on each axis; counted from the end if negative."
    )
    end: Ints | None = required(
        "The place before which taking ends, or, in size mode, how many are taken (-1: all)."
    )
    strides: Ints | None = required("The distance of two places that are taken; negative goes backwards.")
    slice_mode: str = attr("end", '"end" or "size": what `end` means. In size mode all strides are 1.')
    axes: Ints | None = required(
        "The axes that begin, end and strides speak of; None is the first ones, in order."
    )


def _extent(dim: Dim, begin: int, end: int, stride: int, axis: int) -> Dim:
    """How many places a slice takes on an axis of extent `dim`."""
    if not isinstance(dim, int):
        return dim if begin == 0 and end == _FAR and stride == 1 else UNKNOWN
    least, most = (-1, dim - 1) if stride < 0 else (0, dim)
    first = min(max(begin + dim if begin < 0 else begin, least), most)
    last = min(max(end + dim if end < 0 else end, least), most)
    length = first - last if stride < 0 else last - first
    if length < 0:
        raise RelationError(
            f"the slice of axis {axis}, of extent {dim}, begins at {begin} and ends at {end}: it runs "
            "the wrong way",
            "exchange begin and end, or change the sign of the stride",
            culprits=(0,),
        )
    return -(-length // (stride if stride > 0 else -stride))


def slice_plan(attrs: StridedSliceAttrs, rank: int) -> list[tuple[int, int, int, int]]:
    """(axis, begin, end, stride) for each axis that is sliced."""
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
        begin += [0 if stride > 0 else _FAR for stride in strides[len(begin) :]]
        end += [_FAR if stride > 0 else 0 for stride in strides[len(end) :]]
    if 0 in strides:
        raise RelationError(f"strides={list(attrs.strides)} has a 0, which never moves on")
    if attrs.slice_mode == "size":
        end = [
            _FAR if size < 0 or size == _FAR else first + size for first, size in zip(begin, end, strict=True)
        ]
        strides = [1] * len(strides)
    return list(zip(axes, begin, end, strides, strict=True))


def _strided_slice(attrs: StridedSliceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    shape = list(x.shape)
    for axis, begin, end, stride in slice_plan(attrs, len(shape)):
        shape[axis] = _extent(shape[axis], begin, end, stride, axis)
    return TensorType.of(tuple(shape), x.dtype)


def _strided_set(attrs: None, data: Type, v: Type, begin: Type, end: Type, strides: Type) -> Type:
    x, value = tensor(data, 0, "data"), tensor(v, 1, "v")
    same_dtypes(x, value)
    if len(x.shape) != len(value.shape):
        raise RelationError(
            f"the value {show_shape(value.shape)} has another number of axes than the data "
            f"{show_shape(x.shape)}",
            "relay.expand_dims adds axes of 1",
            culprits=(0, 1),
        )
    for operand, (name, given) in enumerate((("begin", begin), ("end", end), ("strides", strides)), 2):
        vector = integers(given, operand, name)
        if len(vector.shape) != 1 or (isinstance(vector.shape[0], int) and vector.shape[0] > len(x.shape)):
            raise RelationError(
                f"{name} must be a vector of at most {len(x.shape)} integers, one an axis, not {vector}",
                culprits=(operand,),
            )
    return x


class SliceLikeAttrs(Attrs, key="relay.attrs.SliceLikeAttrs"):
    axes: Ints | None = required("The axes that are cut; None is all that the second tensor has.")


def _slice_like(attrs: SliceLikeAttrs, data: Type, shape_like: Type) -> Type:
    x, like = tensor(data, 0, "data"), tensor(shape_like, 1, "shape_like")
    if attrs.axes is None:
        axes = list(range(len(like.shape)))
        if len(like.shape) > len(x.shape):
            raise RelationError(
                f"shape_like {show_shape(like.shape)} has more axes than the data {show_shape(x.shape)}",
                "name the axes that are cut: relay.slice_like(data, shape_like, axes=(0,))",
                culprits=(0, 1),
            )
    elif not attrs.axes:
        raise RelationError("axes is empty", "leave it out to cut all axes that shape_like has")
    else:
        axes = normal_axes(attrs.axes, len(x.shape), "slice_like")
    shape = list(x.shape)
    for axis in axes:
        normal_axis(axis, len(like.shape), "shape_like")
        have, want = shape[axis], like.shape[axis]
        if isinstance(have, int) and isinstance(want, int) and want > have:
            raise RelationError(
                f"axis {axis} is {have}, which cannot be cut to the {want} of shape_like", culprits=(0, 1)
            )
        shape[axis] = want
    return TensorType.of(tuple(shape), x.dtype)


def _box(attrs: StridedSliceAttrs, rank: int) -> tuple[slice, ...]:
    """The slice of each axis, as Python understands it."""
    slices = [slice(None)] * rank
    for axis, begin, end, stride in slice_plan(attrs, rank):
        slices[axis] = slice(begin, end, stride)
    return tuple(slices)


def _set(attrs: None, x: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
    bounds = {"begin": numbers(begin), "end": numbers(end), "strides": numbers(strides)}
    y = x.copy()
    y[_box(StridedSliceAttrs(**bounds, axes=None), x.ndim)] = v
    return y


def _cut_like(attrs: SliceLikeAttrs, x: Array, shape_like: Array) -> Array:
    slices = [slice(None)] * x.ndim
    for axis in range(shape_like.ndim) if attrs.axes is None else normal_axes(attrs.axes, x.ndim):
        slices[axis] = slice(shape_like.shape[axis])
    return x[tuple(slices)]


_STRIDED_SLICE = declare(
    "strided_slice",
    "The elements at regular places between a begin and an end on each axis.",
    formula=r"y_i = x_{\mathit{begin} + i \cdot \mathit{stride}}",
    relation=forward("StridedSlice", "{out} = {0}, cut", _strided_slice),
    attrs=StridedSliceAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="index",
    level=4,
    compute=lambda attrs, x: x[_box(attrs, x.ndim)],
    gradient="shape.moved",
    lowering="slice.strided_slice",
)
_STRIDED_SET = declare(
    "strided_set",
    "The tensor with other values at regular places between a begin and an end on each axis.",
    formula=r"y_{\mathit{begin} + i \cdot \mathit{stride}} = v_i, \quad y_j = x_j \text{ elsewhere}",
    relation=forward("StridedSet", "{out} = {0}", _strided_set),
    inputs=("data", "v", "begin", "end", "strides"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="index",
    level=4,
    lenient_in_tvm=("It looked neither at the value's type nor at those of begin, end and strides."),
    compute=_set,
    gradient="indexing.strided_set",
    lowering="slice.strided_set",
)
_SLICE_LIKE = declare(
    "slice_like",
    "The tensor's first elements along each axis, as many as another tensor has.",
    formula=r"y_i = x_i, \quad 0 \le i < n_{\mathit{like}}",
    relation=forward("SliceLike", "{out} = {0}, cut to {1}", _slice_like),
    inputs=("data", "shape_like"),
    attrs=SliceLikeAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="index",
    level=10,
    lenient_in_tvm="It ignored axes that shape_like has beyond those of the data.",
    compute=_cut_like,
    gradient="shape.moved",
    lowering="slice.slice_like",
)

Bounds = int | Sequence[int] | Expr


def strided_slice(
    data: Expr,
    begin: Bounds,
    end: Bounds,
    strides: Bounds | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Expr:
    """The box of `data` from `begin` to before `end`, by `strides`; on the first axes, or on `axes`."""
    if computed(begin) or computed(end) or computed(strides):
        return _dynamic_slice(data, begin, end, [1] if strides is None else strides, axes, slice_mode)
    first = static_ints(begin, "begin")
    if strides is None or (isinstance(strides, (list, tuple)) and not strides):
        strides = [1] * (len(first) if axes is not None else 1)
    attrs = StridedSliceAttrs(
        begin=first,
        end=static_ints(end, "end"),
        strides=static_ints(strides, "strides"),
        slice_mode=slice_mode,
        axes=axes,
    )
    return Call(_STRIDED_SLICE, [expr(data)], attrs)


def _dynamic_slice(
    data: Expr, begin: Bounds, end: Bounds, strides: Bounds, axes: Sequence[int] | None, slice_mode: str
) -> Expr:
    """`strided_slice` where the program computes a bound."""
    if axes is not None:
        raise ValueError("`axes` can be given only where begin, end and strides are known")
    attrs = StridedSliceAttrs(begin=None, end=None, strides=None, slice_mode=slice_mode, axes=None)
    bounds = [int_const(bound) for bound in (begin, end, strides)]
    return Call(Op.get("dyn.strided_slice"), [expr(data), *bounds], attrs)


def strided_set(data: Expr, v: Expr, begin: Bounds, end: Bounds, strides: Bounds | None = None) -> Expr:
    """`data` with the box from `begin` to before `end`, by `strides`, replaced by `v`."""
    bounds = [int_const(b) for b in (begin, end, [1] if strides is None else strides)]
    return Call(_STRIDED_SET, [expr(data), expr(v), *bounds])


def slice_like(data: Expr, shape_like: Expr, axes: Sequence[int] | None = None) -> Expr:
    """`data` cut at its end to the extents that `shape_like` has, on all axes or on `axes`."""
    return Call(_SLICE_LIKE, [expr(data), expr(shape_like)], SliceLikeAttrs(axes=axes))
