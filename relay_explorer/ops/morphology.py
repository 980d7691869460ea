"""Morphological operators on images, for `relay.image`."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, DType, Ints, attr
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, size_of
from ..ir.types import TensorType, Type
from .arguments import expr
from .declare import declare
from .numeric import Array, element_type, np
from .relation import forward, same_dim, same_dtypes, tensor

__all__ = ["dilation2d"]


class Dilation2DAttrs(Attrs, key="relay.attrs.Dilation2DAttrs"):
    strides: Ints = attr((1, 1), "How far the window moves at a time, in rows and columns.")
    padding: Ints = attr((0, 0), "How many zeros go around the image: one amount, 2, or top, left and so on.")
    dilations: Ints = attr((1, 1), "The distance of the window's elements, in rows and columns.")
    data_layout: str = attr("NCHW", "The layout of data and result.")
    kernel_layout: str = attr("IHW", "The layout of the window: channels, rows, columns.")
    out_dtype: DType | None = attr(None, "The element type of the result; None is the data's.")


def _in_the_plane(values: Ints, name: str) -> Ints:
    """The amounts of rows and columns; of four numbers, as TensorFlow writes them, the first two count."""
    if len(values) not in (2, 4):
        raise RelationError(f"{name}={list(values)} must be 2 numbers, for rows and columns")
    return values[:2]


def _dilated(attrs: Dilation2DAttrs, data: Type, weight: Type) -> Type:
    from .nn.layout import layout_map  # nn stands below this file
    from .nn.window import total_padding, window_places

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
    places = window_places(tuple(image), tuple(window), strides, steps, padding)
    return TensorType.of(layout.backward((batch, channels, *places)), attrs.out_dtype or x.dtype)


def _greatest(attrs: Dilation2DAttrs, x: Array, weight: Array) -> Array:
    from .nn.layout import layout_map  # nn stands below this file
    from .nn.window import both_sides

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
        seen = image[:, :, i * rows :: down, j * columns :: across][:, :, :height, :width]
        higher = seen + window[:, i, j][:, None, None]
        y = higher if y is None else np.maximum(y, higher)
    return layout.pack(y)


def _dilation_flops(attrs: Dilation2DAttrs, inputs: Sequence[Type], output: Type) -> int:
    """An add and a comparison for each element of the window."""
    window = inputs[1]
    sizes = [d for d in window.shape if isinstance(d, int)] if isinstance(window, TensorType) else []
    channels = sizes[attrs.kernel_layout.find("I")] if len(sizes) == 3 else 1
    return 2 * size_of(output) * (size_of(window) // max(1, channels))


_DILATION2D = declare(
    "image.dilation2d",
    "The greatest sum of the image and a window under it, channel by channel: grey-scale dilation.",
    formula=r"y_{b c\, i j} = \max_{k l}\, x_{b c,\, s i + d k,\, s j + d l} + w_{c k l}",
    relation=forward("Dilation2D", "{out} = the places of the window {1} in {0}", _dilated),
    inputs=("data", "weight"),
    attrs=Dilation2DAttrs,
    pattern=OpPattern.OPAQUE,
    flops=_dilation_flops,
    family="image",
    level=5,
    lenient_in_tvm="It compared neither the channels nor the element types of data and window.",
    compute=_greatest,
    lowering="image.dilation2d",
)


def dilation2d(
    data: Expr,
    weight: Expr,
    strides: Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0),
    dilations: Sequence[int] = (1, 1),
    data_layout: str = "NCHW",
    kernel_layout: str = "IHW",
    out_dtype: object = "",
) -> Expr:
    """The grey-scale dilation of `data`, (N, C, H, W), by the window `weight`, (C, rows, columns).

    Padding counts as 0, as in the reference.
    """
    attrs = Dilation2DAttrs(
        strides=strides,
        padding=(padding,) if isinstance(padding, int) else padding,
        dilations=dilations,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_dtype=out_dtype or None,
    )
    return Call(_DILATION2D, [expr(data), expr(weight)], attrs)
