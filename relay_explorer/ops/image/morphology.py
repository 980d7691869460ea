"""Morphological operators on images, for `relay.image`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import Ints, attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import RelationError, size_of
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..examples import IMAGE, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn.layout import layout_map
from ..nn.sliding import sides
from ..nn.window import both_sides, total_padding, window_places
from ..numeric import Array, element_type, np
from ..operator import call, operator
from ..relation import forward, same_dim, same_dtypes, tensor
from ..te.binary import plus
from ..te.lowered import Lowered
from ..te.reduce import greatest
from ..te.tensors import Tensor, Value, View, cast, laid_out, number, reduce_axes
from ..te.windows import positions, surrounded

__all__ = ["dilation2d"]


def _in_the_plane(values: Ints, name: str) -> Ints:
    """Return the values for rows and columns: the first two where there are four, as in TensorFlow."""
    if len(values) not in (2, 4):
        raise RelationError(f"{name}={list(values)} must be 2 numbers, for rows and columns")
    return values[:2]


def _dilated(attrs: Anything, data: Type, weight: Type) -> Type:
    x, w = tensor(data, 0, "data"), tensor(weight, 1, "weight")
    same_dtypes(x, w)
    layout = layout_map(attrs.data_layout, "NCHW")
    batch, channels, *image = layout.forward(x.shape, 0, "data")
    inner, *window = layout_map(attrs.kernel_layout, "IHW").forward(w.shape, 1, "weight")
    if not same_dim(channels, inner):
        raise RelationError(
            f"the data has {channels} channels, but the window {inner}",
            "each channel has a window of its own",
            culprits=(0, 1),
        )
    strides = _in_the_plane(attrs.strides, "strides")
    steps = _in_the_plane(attrs.dilations, "dilations")
    padding = total_padding(strides, steps, attrs.padding, 2)
    counts = window_places(tuple(image), tuple(window), strides, steps, padding)
    return TensorType.of(layout.backward((batch, channels, *counts)), attrs.out_dtype or x.dtype)


def _greatest(attrs: Anything, x: Array, weight: Array) -> Array:
    layout = layout_map(attrs.data_layout, "NCHW")
    dtype = element_type(attrs.out_dtype or x.dtype)
    top, left, bottom, right = both_sides(attrs.padding if len(attrs.padding) > 1 else attrs.padding[0], 2)
    image = np.pad(layout.unpack(x), ((0, 0), (0, 0), (top, bottom), (left, right))).astype(dtype)
    window = layout_map(attrs.kernel_layout, "IHW").unpack(weight).astype(dtype)
    (down, across), (rows, columns) = attrs.strides[:2], attrs.dilations[:2]
    height = (image.shape[2] - rows * (window.shape[1] - 1) - 1) // down + 1
    width = (image.shape[3] - columns * (window.shape[2] - 1) - 1) // across + 1
    y = None
    for i, j in np.ndindex(window.shape[1:]):
        values = image[:, :, i * rows :: down, j * columns :: across][:, :, :height, :width]
        higher = values + window[:, i, j][:, None, None]
        y = higher if y is None else np.maximum(y, higher)
    return layout.pack(y)


def _dilation_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count an addition and a comparison for each element of the window."""
    window = inputs[1]
    sizes = [d for d in window.shape if isinstance(d, int)] if isinstance(window, TensorType) else []
    channels = sizes[attrs.kernel_layout.find("I")] if len(sizes) == 3 else 1
    return 2 * size_of(output) * (size_of(window) // max(1, channels))


def _dilation2d_te(call: Lowered) -> list[Tensor]:
    """Compute the greatest sum of the image and the window at each position. Padding counts as 0."""
    attrs, dtype = call.attrs, call.out.dtype
    layout = layout_map(attrs.data_layout, "NCHW")
    image, window = View(call.inputs[0], layout), View(call.inputs[1], layout_map(attrs.kernel_layout, "IHW"))
    pairs = sides(attrs.padding, 2)
    padded = surrounded(image, pairs, number(0, image.dtype), f"{call.name}_pad")
    (down, across), (rows, columns) = attrs.strides[:2], attrs.dilations[:2]
    k = reduce_axes(window.shape[1:])

    def value(n: Value, c: Value, i: Value, j: Value) -> Value:
        pixel = padded(n, c, i * down + k[0] * rows, j * across + k[1] * columns)
        return greatest(plus(cast(pixel, dtype), cast(window(c, *k), dtype)), k)

    high = positions(padded.shape[2], window.shape[1], down, rows, (0, 0))
    wide = positions(padded.shape[3], window.shape[2], across, columns, (0, 0))
    return [laid_out((*image.shape[:2], high, wide), layout, value, call.name)]


@operator(
    "image.dilation2d",
    description=("Computes the grey-scale dilation of each channel: the maximum of image plus window."),
    formula=r"y_{b c\, i j} = \max_{k l}\, x_{b c,\, s i + d k,\, s j + d l} + w_{c k l}",
    family="image",
    level=5,
    relation=forward(
        "Dilation2D", "{out} = one element for each position of the window {1} in {0}", _dilated
    ),
    flops=_dilation_flops,
    reference=_greatest,
    gradient=NotApplicable("there is no gradient rule for dilation"),
    lowering=_dilation2d_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(4, 3, 3, name="w"), (1, 2), 1),
    attrs_key="relay.attrs.Dilation2DAttrs",
    lenient_in_tvm="It compared neither the channels nor the element types of data and window.",
)
def dilation2d(
    data: Operand,
    weight: Operand,
    strides: Annotated[
        Sequence[int], attr((1, 1), "The step of the window, in rows and columns.", kind="Ints")
    ] = (1, 1),
    padding: Annotated[
        int | Sequence[int],
        attr((0, 0), "The padding with zeros: one amount, 2, or top, left and so on.", kind="Ints"),
    ] = (0, 0),
    dilations: Annotated[
        Sequence[int],
        attr((1, 1), "The distance of the window's elements, in rows and columns.", kind="Ints"),
    ] = (1, 1),
    data_layout: Annotated[str, attr("NCHW", "The layout of data and result.")] = "NCHW",
    kernel_layout: Annotated[str, attr("IHW", "The layout of the window: channels, rows, columns.")] = "IHW",
    out_dtype: Annotated[
        object, attr(None, "The element type of the result; None is the data's.", kind="DType | None")
    ] = "",
) -> Call:
    """Compute the grey-scale dilation of `data`, (N, C, H, W), by the window `weight`, (C, rows, columns).

    Padding counts as 0, as in the reference.
    """
    return call(
        "image.dilation2d",
        [data, weight],
        strides=strides,
        padding=(padding,) if isinstance(padding, int) else padding,
        dilations=dilations,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_dtype=out_dtype or None,
    )
