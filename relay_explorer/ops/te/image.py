"""Resizing and sampling of images in kernels: positions, neighbours and weights.

Positions and weights are float64, as in the reference implementations. In float32, rounding may move a
position past an element, so that another neighbour is read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product as choices
from typing import Any

from ..interpolate import TOLERANCE
from ..nn.layout import layout_map
from .library import te
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    View,
    cast,
    clamp,
    is_float,
    known,
    laid_out,
    number,
    select,
    some,
)

REAL = "float64"
Weighted = tuple[Value, Any]  # the index of an element on an axis, and its weight


def real(value: Any) -> Value:
    return number(value, REAL) if isinstance(value, (int, float)) else value.astype(REAL)


def resized(
    view: View,
    size: Sequence[Any],
    how: Any,
    read: Callable[..., Value],
    span: Callable[[int], Any],
    dtype: str,
) -> Callable[..., Value]:
    """Return the interpolated value as a function of the index (n, c, space …) of the result.

    `how` are the attributes of a resizing; `read` returns an element of the data; `span(axis)` is the part of
    the axis that `tf_crop_and_resize` selects, from its first position to its last.
    """
    extents = view.shape[2:]
    cropping = how.coordinate_transformation_mode == "tf_crop_and_resize"

    def value(n: Value, c: Value, *i: Value) -> Value:
        outside, axes = [], []
        for axis, (at, extent, count) in enumerate(zip(i, extents, size, strict=True)):
            if getattr(how, "single_precision", False):
                position = _single_position(at, extent, count, span(axis))
            else:
                position = _position(how.coordinate_transformation_mode, at, extent, count, span(axis))
            axes.append(_neighbours(how, position, extent))
            if cropping:
                outside += [position < real(0), position > real(extent - 1)]
        total: Any = None
        for corner in choices(*axes):
            weight: Any = None
            for _, share in corner:
                weight = share if weight is None or share is None else weight * share
            element = read(n, c, *[at for at, _ in corner]).astype(REAL)
            term = element if weight is None else element * weight
            total = term if total is None else total + term
        if outside:
            total = select(some(outside), real(how.extrapolation_value), total)
        return cast(total, dtype)

    return value


def _position(mode: str, at: Value, extent: Any, count: Any, span: Any) -> Value:
    """Return the position, on an axis of `extent` elements, of element `at` of the `count` elements
    of the result.
    """
    i, scale = at.astype(REAL), real(extent) / real(count)
    half = real(0.5)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and known(count) != 1):
        return (i + half) * scale - half
    if mode == "pytorch_half_pixel":
        return i
    if mode == "align_corners":
        return i * (real(extent - 1) / te.max(real(count - 1), real(1)))
    if mode == "asymmetric":
        return i * scale
    if mode == "tf_half_pixel_for_nn":
        return (i + half) * scale
    first, last = (real(part) * real(extent - 1) for part in span)
    if known(count) == 1:
        return i + (first + last) * half
    return first + i * ((last - first) / real(count - 1))


def _single_position(at: Value, extent: Any, count: Any, span: Any) -> Value:
    """Return the position that TensorFlow computes in float32 (`Resizing.single_precision`).

    Each operation is in float64 and rounded, because LLVM would fuse a product and a sum in float32, which
    rounds once where TensorFlow rounds twice.
    """

    def rounded(value: Value) -> Value:
        return value.astype("float32").astype(REAL)

    low, high = (rounded(real(part)) for part in span)
    last = real(extent - 1)
    if known(count) == 1:
        return rounded(real(0.5) * rounded(low + high) * last)
    step = rounded(rounded(rounded(high - low) * last) / real(count - 1))
    return rounded(rounded(low * last) + rounded(at.astype(REAL) * step))


def _neighbours(how: Any, place: Value, extent: Any) -> list[Weighted]:
    """Return the elements of an axis that contribute at a position, each with its weight; None stands for
    1.
    """
    if how.method == "nearest_neighbor":
        return [(clamp(_nearest(how, place).astype("int32"), 0, extent - 1), None)]
    low = te.floor(place)
    fraction, first = place - low, low.astype("int32")
    if how.method == "linear":
        shares, first_of = [real(1) - fraction, fraction], first
    else:
        shares, first_of = cubic(fraction, how.cubic_alpha), first - 1
    neighbours = [(first_of + n, share) for n, share in enumerate(shares)]
    if how.method == "cubic" and how.cubic_exclude:
        neighbours = [(at, select(some([at < 0, at >= extent]), real(0), share)) for at, share in neighbours]
        total = neighbours[0][1] + neighbours[1][1] + neighbours[2][1] + neighbours[3][1]
        neighbours = [(at, share / total) for at, share in neighbours]
    return [(clamp(at, 0, extent - 1), share) for at, share in neighbours]


def _nearest(how: Any, place: Value) -> Value:
    method = how.rounding_method or (
        "round" if how.coordinate_transformation_mode == "align_corners" else "floor"
    )
    return {
        "round": lambda: te.round(place),
        "round_prefer_floor": lambda: te.ceil(place - real(0.5)),
        "round_prefer_ceil": lambda: te.floor(place + real(0.5)),
        "floor": lambda: te.floor(place + real(TOLERANCE)),
        "ceil": lambda: te.ceil(place - real(TOLERANCE)),
    }[method]()


def cubic(part: Value, alpha: float) -> list[Value]:
    """Return the weights of the four elements around a position that lies `part` after the second (Keys,
    1981).
    """
    a, one = real(alpha), real(1)

    def near(d: Value) -> Value:
        return ((a + real(2)) * d - (a + real(3))) * d * d + one

    def far(d: Value) -> Value:
        return a * (((d - real(5)) * d + real(8)) * d - real(4))

    return [far(one + part), near(part), near(one - part), far(real(2) - part)]


def resized_tensor(
    call: Lowered, how: Any, size: Sequence[Any], span: Callable[[int], Any], axes: str
) -> Tensor:
    """Resize the data of a call to `size`."""
    layout = layout_map(call.attrs.layout, axes)
    view, dtype = View(call.inputs[0], layout), call.out.dtype
    if _is_separable(call, view, how, size):
        return _by_axis(view, how, size, dtype, call.name)
    value = resized(view, size, how, view, span, dtype)
    return laid_out((*view.shape[:2], *size), layout, value, call.name)


def _is_separable(call: Lowered, view: View, how: Any, size: Sequence[Any]) -> bool:
    """Return whether the axes can be resized one after another, so that with two axes an element takes two
    sums of two elements, not one of four. Integers would be rounded differently, and elements outside of the
    data are not sums.
    """
    static = all(known(dim) is not None for dim in (*view.shape[2:], *size))
    plain = how.method != "nearest_neighbor" and how.coordinate_transformation_mode != "tf_crop_and_resize"
    return static and plain and len(size) > 1 and is_float(call.out.dtype) and call.target.kind != "cuda"


def _by_axis(view: View, how: Any, size: Sequence[int], dtype: str, name: str) -> Tensor:
    """Resize axis by axis: first those that shrink, last those that grow, and between them the innermost
    axis, whose neighbours must be gathered.
    """
    within, shape = view.layout.axes[-1][0].upper(), list(view.shape)
    axes = range(2, len(shape))
    order = sorted(
        axes, key=lambda a: 1 if view.layout.canonical[a] == within else 2 * (size[a - 2] >= shape[a])
    )
    mode = how.coordinate_transformation_mode
    for axis in order:
        extent, count = shape[axis], size[axis - 2]
        shape[axis] = count

        def value(*i: Value, view: View = view, axis: int = axis, sizes: Any = (extent, count)) -> Value:
            position = _position(mode, i[axis], sizes[0], sizes[1], None)
            terms = [
                view(*i[:axis], at, *i[axis + 1 :]).astype(REAL) * share
                for at, share in _neighbours(how, position, sizes[0])
            ]
            return cast(reduce(operator.add, terms), REAL if axis != order[-1] else dtype)

        last = axis == order[-1]
        resized_axis = laid_out(
            shape, view.layout, value, name if last else f"{name}_axis{axis}", materialize=not last
        )
        view = View(resized_axis, view.layout)
    return view.x
