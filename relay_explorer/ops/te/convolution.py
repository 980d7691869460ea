"""Convolutions over one, two and three axes, in any layout and with groups.

TOPI has a function for each number of axes, layout and kind of groups, and none for some of them; here one
says all. What surrounds the data is a stage of its own: computed in the innermost loop it would cost a
comparison for every product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..nn.conv_rules import conv_layouts
from ..nn.layout import LayoutMap, layout_map
from ..nn.sliding import sides
from ..nn.transposed_layout import transposed_layouts
from .library import te
from .lowered import Lowered
from .tensors import (
    Shape,
    Tensor,
    Value,
    View,
    cast,
    dtype_of,
    every,
    guarded,
    known,
    laid_out,
    narrowed,
    number,
    quotient,
    reduce_axes,
    remainder,
    select,
    stage,
    sum_over,
    sum_type,
)

Pairs = Sequence[tuple[int, int]]


def surrounded(view: View, pairs: Pairs, value: Value, name: str) -> View:
    """A view of the data with as much of `value` before and after its axes of space as `pairs` says."""
    if not any(before or after for before, after in pairs):
        return view
    lead = len(view.shape) - len(pairs)
    inner = view.shape[lead:]
    shape = [*view.shape[:lead], *[d + a + b for d, (a, b) in zip(inner, pairs, strict=True)]]

    def element(*i: Value) -> Value:
        inside, place = [], []
        for at, dim, (before, after) in zip(i[lead:], inner, pairs, strict=True):
            inside += [at >= before] * bool(before) + [at < dim + before] * bool(after)
            place.append(at - before if before else at)
        return guarded(every(inside), view(*i[:lead], *place), value)

    return View(laid_out(shape, view.layout, element, name), view.layout)


def places(dim: Any, size: Any, stride: int, step: int, pair: tuple[int, int]) -> Any:
    """How many places a window takes along an axis."""
    room = dim + (sum(pair) - 1) - step * (size - 1)
    return quotient(room, stride) + 1


def _depthwise(weight: View, channels: Any, groups: int) -> Callable[..., Value]:
    """Reads a weight (input channels, outputs of each, kernel …) as (outputs, 1, kernel …)."""
    lead, each = known(weight.shape[0]), known(weight.shape[1])
    whole = weight.shape[0] is channels or (lead is not None and lead == known(channels))
    if groups == 1 or each == 1 or whole:
        return weight
    if lead is None or each is None:  # 1 where a run tells that the weight has the outputs first after all
        each = te.floordiv(channels, te.max(weight.shape[0], 1))
    return lambda o, c, *u: weight(quotient(o, each), c + remainder(o, each), *u)


def _product(a: Value, b: Value, dtype: str) -> Value:
    return cast(a, dtype) * cast(b, dtype)


def convolution(call: Lowered) -> list[Tensor]:
    """Windows times weights, of the channels of each output's group."""
    attrs, axes = call.attrs, _space(call)
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NC" + axes, "OI" + axes)
    data, weight = View(call.inputs[0], data_layout), View(call.inputs[1], kernel_layout)
    pairs = sides(attrs.padding, len(axes))
    padded = surrounded(data, pairs, number(0, data.dtype), f"{call.name}_pad")
    return [_convolved(call, padded, weight, out_layout)]


def _space(call: Lowered) -> str:
    """The axes of space, as layouts name them: "HW"."""
    return "".join([letter for letter in "DHW" if letter in call.attrs.data_layout])


def _convolved(call: Lowered, data: View, weight: View, out_layout: LayoutMap) -> Tensor:
    """The sum of products over all windows of `data`, which is padded already."""
    attrs, dtype = call.attrs, call.out.dtype
    channels = weight.shape[0] if attrs.channels is None else attrs.channels
    inputs = quotient(data.shape[1], attrs.groups)
    outputs = quotient(channels, attrs.groups)
    read = _depthwise(weight, channels, attrs.groups)
    spread = list(zip(attrs.strides, attrs.dilation, strict=True))
    sizes = [
        places(dim, size, s, d, (0, 0)) for dim, size, (s, d) in zip(data.shape[2:], weight.shape[2:], spread)
    ]
    c, *u = reduce_axes([inputs, *weight.shape[2:]])

    def term(n: Value, o: Value, *i: Value) -> Value:
        channel = (
            c
            if attrs.groups == 1
            else quotient(o, outputs) * inputs + c
            if known(inputs) != 1
            else (quotient(o, outputs))
        )
        at = [_scaled(p, s) + _scaled(k, d) for p, k, (s, d) in zip(i, u, spread, strict=True)]
        return _product(data(n, channel, *at), read(o, c, *u), sum_type(dtype))

    return added_up(
        (data.shape[0], channels, *sizes),
        out_layout,
        lambda *i: sum_over(term(*i), [c, *u]),
        dtype,
        call.name,
    )


def _scaled(index: Value, factor: int) -> Value:
    return index if factor == 1 else index * factor


def added_up(shape: Shape, layout: LayoutMap, body: Callable[..., Value], dtype: str, name: str) -> Tensor:
    """A tensor of sums in `layout`."""
    return narrowed(laid_out(shape, layout, body, name), dtype, name)


def transposed(call: Lowered) -> list[Tensor]:
    """Each element spread over a window of the output: a convolution, with the kernel turned around, of the
    data with its elements moved apart and zeros in between; with strides, phase by phase (see `phases`).
    """
    from . import phases  # it imports this module

    attrs, axes = call.attrs, _space(call)
    data_layout, kernel_layout, out_layout = transposed_layouts(attrs, axes)
    data, weight = View(call.inputs[0], data_layout), View(call.inputs[1], kernel_layout)
    dtype, groups = call.out.dtype, attrs.groups
    if phases.has_phases(call, data, weight):
        return [phases.phased(call, data, weight, out_layout)]
    each = weight.shape[1]
    sizes, apart = _apart(call, data, weight)
    inputs = quotient(data.shape[1], groups)
    c, *u = reduce_axes([inputs, *weight.shape[2:]])

    def term(n: Value, o: Value, *i: Value) -> Value:
        channel = c if groups == 1 else quotient(o, each) * inputs + c
        at = [p + _scaled(k, d) for p, k, d in zip(i, u, attrs.dilation, strict=True)]
        turned = [size - 1 - k for size, k in zip(weight.shape[2:], u, strict=True)]
        output = o if groups == 1 else remainder(o, each)
        return _product(apart(n, channel, *at), weight(channel, output, *turned), sum_type(dtype))

    shape = (data.shape[0], each * groups, *sizes)
    return [added_up(shape, out_layout, lambda *i: sum_over(term(*i), [c, *u]), dtype, call.name)]


def _apart(call: Lowered, data: View, weight: View) -> tuple[list[Any], View]:
    """The output's extents, and the data moved apart with all the zeros that the windows see."""
    attrs = call.attrs
    pairs = sides(attrs.padding, len(attrs.strides))
    sizes, extents, starts = [], [], []
    for axis, (dim, size) in enumerate(zip(data.shape[2:], weight.shape[2:], strict=True)):
        reach = attrs.dilation[axis] * (size - 1)
        whole = attrs.strides[axis] * (dim - 1) + reach + 1 + attrs.output_padding[axis]
        sizes.append(whole - sum(pairs[axis]))
        extents.append(sizes[-1] + reach)
        starts.append(reach - pairs[axis][0])

    def element(n: Value, c: Value, *i: Value) -> Value:
        inside, place = [], []
        for at, dim, stride, start in zip(i, data.shape[2:], attrs.strides, starts, strict=True):
            offset = at - start
            inside += [offset >= 0, offset <= stride * (dim - 1)]
            inside += [remainder(offset, stride) == 0] * (stride != 1)
            place.append(quotient(offset, stride))
        return guarded(every(inside), data(n, c, *place), number(0, data.dtype))

    shape = (*data.shape[:2], *extents)
    return sizes, View(laid_out(shape, data.layout, element, f"{call.name}_apart"), data.layout)


def weight_gradient(call: Lowered) -> list[Tensor]:
    """`nn.conv2d_backward_weight`: each gradient times each element of its window, over batch and places."""
    attrs, dtype = call.attrs, call.out.dtype
    grad = View(call.inputs[0], layout_map(attrs.data_layout, "NCHW"))
    data = View(call.inputs[1], layout_map(attrs.kernel_layout, "NCHW"))
    padded = surrounded(data, sides(attrs.padding, 2), number(0, data.dtype), f"{call.name}_pad")
    inputs = quotient(data.shape[1], attrs.groups)
    outputs = quotient(grad.shape[1], attrs.groups)
    n, i, j = reduce_axes([grad.shape[0], *grad.shape[2:]])
    (down, across), (rows, columns) = attrs.strides, attrs.dilation

    def term(o: Value, c: Value, u: Value, v: Value) -> Value:
        channel = c if attrs.groups == 1 else quotient(o, outputs) * inputs + c
        seen = padded(n, channel, i * down + u * rows, j * across + v * columns)
        return _product(grad(n, o, i, j), seen, sum_type(dtype))

    shape = (grad.shape[1], inputs, *attrs.kernel_size)
    layout = layout_map(attrs.out_layout, "OIHW")
    return [added_up(shape, layout, lambda *at: sum_over(term(*at), [n, i, j]), dtype, call.name)]


def deformable(call: Lowered) -> list[Tensor]:
    """A convolution over samples between the data's elements, which are a stage of their own."""
    attrs, dtype = call.attrs, call.out.dtype
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NCHW", "OIHW")
    data, offset = (View(x, data_layout) for x in call.inputs[:2])
    weight = View(call.inputs[2], kernel_layout)
    high, wide = weight.shape[2:]
    shared = quotient(data.shape[1], attrs.deformable_groups)
    pairs, real = sides(attrs.padding, 2), "float64" if data.dtype == "float64" else "float32"

    def sample(n: Value, c: Value, i: Value, j: Value, u: Value, v: Value) -> Value:
        first = ((quotient(c, shared) * high + u) * wide + v) * 2
        row = i * attrs.strides[0] - pairs[0][0] + u * attrs.dilation[0]
        column = j * attrs.strides[1] - pairs[1][0] + v * attrs.dilation[1]
        y, x = (cast(offset(n, first + axis, i, j), real) for axis in range(2))
        place = row.astype(real) + y, column.astype(real) + x
        return between(lambda a, b: data(n, c, a, b), place, data.shape[2:]).astype(dtype)

    sizes = offset.shape[2:]
    samples = stage((*data.shape[:2], *sizes, high, wide), sample, f"{call.name}_samples")
    channels = weight.shape[0] if attrs.channels is None else attrs.channels
    inputs, outputs = quotient(data.shape[1], attrs.groups), quotient(channels, attrs.groups)
    read = _depthwise(weight, channels, attrs.groups)
    c, u, v = reduce_axes([inputs, high, wide])

    def term(n: Value, o: Value, i: Value, j: Value) -> Value:
        channel = c if attrs.groups == 1 else quotient(o, outputs) * inputs + c
        return _product(samples(n, channel, i, j, u, v), read(o, c, u, v), sum_type(dtype))

    shape = (data.shape[0], channels, *sizes)
    return [added_up(shape, out_layout, lambda *at: sum_over(term(*at), [c, u, v]), dtype, call.name)]


def between(image: Callable[[Value, Value], Value], place: tuple[Value, Value], extents: Shape) -> Value:
    """The image at a place between its elements, in the place's type; 0 outside."""
    real = dtype_of(place[0])
    zero, one = number(0, real), number(1, real)
    outside, near, far, share = [], [], [], []
    for at, extent in zip(place, extents, strict=True):
        out = te.any(
            at < zero, at >= (number(extent, real) if isinstance(extent, int) else extent.astype(real))
        )
        inside = select(out, zero, at)
        low = te.floor(inside)
        outside.append(out)
        near.append(low.astype("int32"))
        far.append(te.min(near[-1] + 1, extent - 1))
        share.append(inside - low)

    def mixed(i: Value, across: Value) -> Value:
        left, right = cast(image(i, near[1]), real), cast(image(i, far[1]), real)
        return left * (one - across) + right * across

    upper, lower = mixed(near[0], share[1]), mixed(far[0], share[1])
    return guarded(te.any(*outside), zero, upper * (one - share[0]) + lower * share[0])
