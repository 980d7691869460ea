"""Deformable convolution: learned offsets move the positions that each window samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any as Anything

from ....ir.attrs import Attrs, DType, Ints, attr
from ....ir.declaration import NotApplicable, Precision
from ....ir.expr import Call
from ....ir.op import OpPattern, Relation, RelationError, Reporter
from ....ir.show import show_shape
from ....ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ...arguments import Operand
from ...examples import IMAGE, t
from ...numeric import Array, element_type, np
from ...operator import operator
from ...relation import same_dim, tensor, times
from ...te.library import te
from ...te.lowered import Lowered
from ...te.tensors import (
    Shape as Extents,
)
from ...te.tensors import (
    Tensor,
    Value,
    View,
    cast,
    dtype_of,
    guarded,
    number,
    quotient,
    reduce_axes,
    select,
    stage,
    sum_over,
    sum_type,
)
from ..sliding import sides
from ..window import Sizes, both_sides, per_axis, total_padding, window_places
from .attributes import (
    CHANNELS,
    DATA_LAYOUT,
    DILATION,
    GROUPS,
    KERNEL_LAYOUT,
    KERNEL_SIZE,
    OUT_DTYPE,
    OUT_LAYOUT,
    PADDING,
    STRIDES,
)
from .layouts import conv_layouts, follow_attributes
from .lowering import added_up, by_output, input_channel, product
from .reference import grouped_products
from .relations import conv_flops, conv_weight, per_group

__all__ = ["deformable_conv2d"]


class DeformableConv2DAttrs(Attrs, key="relay.attrs.DeformableConv2DAttrs"):
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    dilation: Ints = attr((1, 1), DILATION, normal=partial(per_axis, axes=2))
    deformable_groups: int = attr(
        1, "The number of groups into which the data's channels are divided; a group shares its offsets."
    )
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=2))
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("OIHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (N, C, H, W), (N, 2 * kh * kw * deformable_groups, H', W') and (O, C / groups,
    kh, kw); output (N, O, H', W').
    """
    data, offset, weight, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NCHW", "OIHW")
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    shape = data_layout.forward(data.shape, 0, "the data")
    per_group(shape[1], attrs.deformable_groups)
    if isinstance(weight, TensorType) and weight.dtype != data.dtype:
        raise RelationError(
            f"the weight is {weight.dtype}, but the data is {data.dtype}",
            f'convert one of them: relay.cast(…, "{data.dtype}")',
            culprits=(0, 2),
        )
    kernel = conv_weight(data, shape, weight, 2, kernel_layout, attrs, reporter)
    if kernel is None:
        return False
    channels = kernel[0] if attrs.channels is None else attrs.channels
    positions = window_places(shape[2:], kernel[2:], attrs.strides, attrs.dilation, padding)
    offsets = _offsets(shape[0], kernel, attrs.deformable_groups, positions)
    _check_offset(offset, data_layout.backward(offsets))
    reporter.assign(offset, TensorType.of(data_layout.backward(offsets), data.dtype))
    reporter.assign(
        out,
        TensorType.of(out_layout.backward((shape[0], channels, *positions)), attrs.out_dtype or data.dtype),
    )
    return True


def _offsets(batch: Dim, kernel: Shape, groups: int, positions: Shape) -> Shape:
    """Compute the offsets' shape: two, down and right, for each kernel element, group and position."""
    height, width = kernel[2:]
    return (batch, times(times(2 * groups, height), width), *positions)


def _check_offset(offset: Type, expected: Shape) -> None:
    """Raise a RelationError where the offsets do not have the shape that this call requires."""
    if isinstance(offset, IncompleteType):
        return
    have = tensor(offset, 1, "offset").shape
    if len(have) != len(expected) or not all(map(same_dim, have, expected)):
        raise RelationError(
            f"the offsets have shape {show_shape(have)}, but this call needs {show_shape(expected)}",
            "there are two offsets for each kernel element, deformable group and element of the output",
            culprits=(1,),
        )


# -- reference implementation and lowering


def _reference(attrs: Anything, x: Array, offset: Array, weight: Array) -> Array:
    """Multiply the weight by windows that are interpolated between the data's elements, at positions moved by
    `offset`.
    """
    data_layout, kernel_layout, out_layout = conv_layouts(attrs, "NCHW", "OIHW")
    dtype = element_type(attrs.out_dtype or x.dtype)
    data, kernel, moves = data_layout.unpack(x), kernel_layout.unpack(weight), data_layout.unpack(offset)
    size, positions = kernel.shape[2:], moves.shape[2:]
    moves = moves.reshape(len(data), attrs.deformable_groups, *size, 2, *positions)
    patches = np.empty((*data.shape[:2], *positions, *size), dtype)
    pairs = sides(attrs.padding, 2)
    rows, columns = (np.arange(positions[axis]) * attrs.strides[axis] - pairs[axis][0] for axis in range(2))
    shared = data.shape[1] // attrs.deformable_groups
    for n, g, u, v in np.ndindex(len(data), attrs.deformable_groups, *size):
        down, right = moves[n, g, u, v]
        i, j = rows[:, None] + u * attrs.dilation[0] + down, columns + v * attrs.dilation[1] + right
        channels = slice(g * shared, (g + 1) * shared)
        patches[n, channels, :, :, u, v] = _interpolated(data[n, channels], i, j)
    kernel = kernel.astype(dtype).reshape(attrs.channels or len(kernel), data.shape[1] // attrs.groups, *size)
    return out_layout.pack(grouped_products(patches, kernel, attrs.groups))


def _interpolated(images: Array, i: Array, j: Array) -> Array:
    """Interpolate `images` (channels, rows, columns) at row `i` and column `j`; 0 outside."""
    height, width = images.shape[1:]
    outside = (i < 0) | (j < 0) | (i >= height) | (j >= width)
    i, j = np.where(outside, 0, i), np.where(outside, 0, j)
    top, left = np.floor(i).astype("int64"), np.floor(j).astype("int64")
    low, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = i - top, j - left
    above = images[:, top, left] * (1 - across) + images[:, top, right] * across
    below = images[:, low, left] * (1 - across) + images[:, low, right] * across
    return np.where(outside, 0, above * (1 - down) + below * down)


def _deformable_te(call: Lowered) -> list[Tensor]:
    """Interpolate the samples between the data's elements in a separate stage, and convolve them."""
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
        return _interpolated_te(lambda a, b: data(n, c, a, b), place, data.shape[2:]).astype(dtype)

    sizes = offset.shape[2:]
    samples = stage((*data.shape[:2], *sizes, high, wide), sample, f"{call.name}_samples")
    channels = weight.shape[0] if attrs.channels is None else attrs.channels
    inputs, outputs = quotient(data.shape[1], attrs.groups), quotient(channels, attrs.groups)
    read = by_output(weight, channels, attrs.groups)
    c, u, v = reduce_axes([inputs, high, wide])

    def term(n: Value, o: Value, i: Value, j: Value) -> Value:
        channel = input_channel(o, c, attrs.groups, inputs, outputs)
        return product(samples(n, channel, i, j, u, v), read(o, c, u, v), sum_type(dtype))

    shape = (data.shape[0], channels, *sizes)
    return [added_up(shape, out_layout, lambda *at: sum_over(term(*at), [c, u, v]), dtype, call.name)]


def _interpolated_te(
    image: Callable[[Value, Value], Value], place: tuple[Value, Value], extents: Extents
) -> Value:
    """Interpolate the image at a fractional position, in the position's element type; return 0 outside."""
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


# -- the operator


@operator(
    "nn.deformable_conv2d",
    description="Convolves over two axes, with each window's sampling positions moved by learned offsets.",
    formula=(
        r"y_{n,o,i,j} = \sum_{c,u,v} x_{n,c,\,s i + d u - p + \Delta_{u,v,i,j},\,s j + d v - p + "
        r"\Delta'_{u,v,i,j}}\, w_{o,c,u,v}"
    ),
    family="convolution",
    level=5,
    relation=Relation("DeformableConv2D", _relation, "{out} = {0} ∗ {2}, its windows moved by {1}"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=conv_flops("NCHW", weight=2),
    reference=_reference,
    gradient=NotApplicable("there is no rule for windows that offsets move"),
    lowering=_deformable_te,
    layout=follow_attributes,
    precision=Precision.UNLISTED,
    kernel_layouts={"NCHW": "OIHW", "NHWC": "HWIO"},
    example=lambda build: build(
        IMAGE, t(1, 18, 6, 6, name="o"), t(8, 4, 3, 3, name="w"), channels=8, kernel_size=(3, 3)
    ),
    attrs=DeformableConv2DAttrs,
    lenient_in_tvm="It accepted windows larger than the data and groups that do not divide the channels.",
)
def deformable_conv2d(
    data: Operand,
    offset: Operand,
    weight: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    deformable_groups: int = 1,
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """Convolve `data` with windows that `offset` moves (arXiv 1703.06211).

    `offset` is (N, 2 * kh * kw * deformable_groups, H', W').
    """
