"""Winograd's convolution in two steps: the weight is transformed, once; then tiles of the data are
transformed, multiplied by it number by number, summed over the channels, and transformed back.

A 3 × 3 convolution takes 36 products for 4 × 4 results then, instead of 144. No program begins with these
operators; see `relay_explorer.lower.passes.layouts` for where they win.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, DType, Ints, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, element_type, np
from ..relation import same_dim, tensor
from .conv import CHANNELS, DATA_LAYOUT, DILATION, GROUPS, OUT_DTYPE, OUT_LAYOUT, PADDING, STRIDES
from .layout import layout_map
from .sliding import padded, sides, windows
from .window import Sizes, both_sides, per_axis, total_padding, window_places
from .winograd_matrices import MOST, matrices

__all__ = ["contrib_conv2d_winograd_weight_transform", "contrib_conv2d_winograd_without_weight_transform"]

TILE = "How many results each tile has on an axis."


class WeightTransformAttrs(Attrs, key="relay.attrs.ConvWinogradWeightTransformAttrs"):
    tile_size: int = required(TILE)


class WinogradAttrs(Attrs, key="relay.attrs.Conv2DWinogradAttrs"):
    tile_size: int = required(TILE)
    strides: Ints = attr((1, 1), STRIDES)
    padding: Ints = attr((0, 0), PADDING)
    dilation: Ints = attr((1, 1), DILATION)
    groups: int = attr(1, GROUPS)
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, "The kernel's size before it was transformed.")
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr(
        "HWOI", "The order of the weight's axes: H, W places in a tile, O output, I input channels."
    )
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _has_fractions(type_: TensorType, operand: int) -> None:
    """The transformations divide: a RelationError for integers."""
    if not type_.dtype.startswith(("float", "bfloat")):
        raise RelationError(
            f"the transformations have fractions, which {type_.dtype} has not",
            'use nn.conv2d, or relay.cast(…, "float32")',
            culprits=(operand,),
        )


def _size(attrs: Anything, kernel: int) -> int:
    """The sides of a tile of data; a RelationError where there is no such transformation."""
    tile: int = attrs.tile_size
    if tile < 1 or kernel < 1 or not 2 <= tile + kernel - 1 <= MOST:
        raise RelationError(
            f"tile_size={tile} with a kernel of {kernel} needs {tile + kernel - 1} points",
            f"there are transformations for 2 to {MOST}, such as tile_size=4 with a kernel of 3",
        )
    return tile + kernel - 1


def _weight_transform(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Input (O, I, r, r); output (t + r - 1, t + r - 1, O, I) for tiles of t."""
    weight, out = types
    if isinstance(weight, IncompleteType):
        return False
    weight = tensor(weight, 0, "weight")
    _has_fractions(weight, 0)
    if len(weight.shape) != 4 or not same_dim(weight.shape[2], weight.shape[3]):
        raise RelationError(
            f"the weight {show_shape(weight.shape)} is not (channels, input channels, size, size)",
            culprits=(0,),
        )
    if not isinstance(weight.shape[2], int):
        return False
    side = _size(attrs, weight.shape[2])
    reporter.assign(out, TensorType.of((side, side, *weight.shape[:2]), weight.dtype))
    return True


def _winograd(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs (N, C, H, W) and (t + r - 1, t + r - 1, O, C), in any layout; output as of `nn.conv2d`."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    data, weight = tensor(data, 0, "data"), tensor(weight, 1, "weight")
    _has_fractions(data, 0)
    kernel = attrs.kernel_size
    if kernel is None or len(set(kernel)) != 1 or len(kernel) != 2:
        raise RelationError("the kernel must be a square, and `kernel_size` must say how large it is")
    if set(attrs.strides) != {1} or set(attrs.dilation) != {1} or attrs.groups != 1:
        raise RelationError("tiles overlap as they must only with strides, dilation and groups of 1")
    data_map = layout_map(attrs.data_layout, "NCHW")
    shape = data_map.forward(data.shape, 0, "the data")
    have = layout_map(attrs.kernel_layout, "HWOI").forward(weight.shape, 1, "the weight")
    side = _size(attrs, kernel[0])
    if not all(map(same_dim, (have[0], have[1], have[3]), (side, side, shape[1]))):
        raise RelationError(
            f"the weight {show_shape(weight.shape)} is not one for tiles of {side} × {side} and "
            f"{shape[1]} channels",
            "nn.contrib_conv2d_winograd_weight_transform makes it, with the same tile_size",
            culprits=(0, 1),
        )
    if attrs.channels is not None and not same_dim(have[2], attrs.channels):
        raise RelationError(
            f"channels={attrs.channels}, but the weight makes {have[2]} channels", culprits=(1,)
        )
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, 2)
    places = window_places(shape[2:], kernel, attrs.strides, attrs.dilation, padding)
    result = layout_map(attrs.out_layout or attrs.data_layout, "NCHW").backward((shape[0], have[2], *places))
    reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
    return True


def _array(rows: Sequence[Sequence[object]], dtype: Anything) -> Array:
    return np.array([[float(value) for value in row] for row in rows], dtype)  # type: ignore[arg-type]


def _transformed(attrs: Anything, weight: Array) -> Array:
    g = _array(matrices(attrs.tile_size, weight.shape[2]).filter, "float64")
    return np.einsum("ea,oiab,fb->efoi", g, weight, g, optimize=True).astype(weight.dtype)


def _value(attrs: Anything, x: Array, weight: Array) -> Array:
    """The tiles of the data, transformed, times the weight, transformed back."""
    dtype = element_type(attrs.out_dtype or x.dtype)
    tile, kernel = attrs.tile_size, attrs.kernel_size[0]
    b, _, a = (_array(rows, dtype) for rows in matrices(tile, kernel))
    data = padded(layout_map(attrs.data_layout, "NCHW").unpack(x), sides(attrs.padding, 2), 0)
    rows, columns = (size - kernel + 1 for size in data.shape[2:])
    data = padded(data, [(0, -rows % tile), (0, -columns % tile)], 0)
    side = tile + kernel - 1
    tiles = windows(data.astype(dtype, copy=False), (side, side), (tile, tile), (1, 1))
    seen = np.einsum("ea,ncijab,fb->efcnij", b, tiles, b, optimize=True)
    u = layout_map(attrs.kernel_layout, "HWOI").unpack(weight).astype(dtype, copy=False)
    flat = seen.reshape(*seen.shape[:3], -1)
    products = np.matmul(u, flat).reshape(side, side, u.shape[2], *seen.shape[3:])
    made = np.einsum("pe,efonij,qf->noipjq", a, products, a, optimize=True)
    n, o, i, _, j, _ = made.shape
    whole = made.reshape(n, o, i * tile, j * tile)[:, :, :rows, :columns]
    return layout_map(attrs.out_layout or attrs.data_layout, "NCHW").pack(np.ascontiguousarray(whole))


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """A multiply and an add for each place of a tile and input channel; transformations are not counted."""
    side, tile = attrs.tile_size + attrs.kernel_size[0] - 1, attrs.tile_size
    channels = size_of(inputs[1]) // side**2
    made = layout_map(attrs.out_layout or attrs.data_layout, "NCHW")
    if not isinstance(output, TensorType):
        return 0
    sizes = [d if isinstance(d, int) else 1 for d in made.forward(output.shape, 0, "the result")]
    products: int = side**2 * sizes[0] * -(-sizes[2] // tile) * -(-sizes[3] // tile) * channels
    return 2 * products


_WEIGHT_TRANSFORM = declare(
    "nn.contrib_conv2d_winograd_weight_transform",
    "Transforms a convolution's weight for Winograd's algorithm.",
    formula=r"u_{e,f,o,c} = \sum_{a,b} G_{e,a}\, w_{o,c,a,b}\, G_{f,b}",
    relation=Relation("Conv2DWinogradWeightTransform", _weight_transform, "{out} = {0}, transformed"),
    inputs=("weight",),
    attrs=WeightTransformAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    compute=_transformed,
    family="convolution",
    level=5,
    lowering="winograd.weight_transform",
)

_WINOGRAD = declare(
    "nn.contrib_conv2d_winograd_without_weight_transform",
    "A convolution by Winograd's algorithm, with a weight that is transformed already.",
    formula=(
        r"y_{n,o} = A^{\mathsf T} \Bigl[ \sum_c u_{o,c} \odot (B^{\mathsf T} x_{n,c} B) \Bigr] A "
        r"\quad \text{for each tile}"
    ),
    relation=Relation("Conv2DWinograd", _winograd, "{out} = {0} ∗ {1}, {1} transformed"),
    inputs=("data", "weight"),
    attrs=WinogradAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    compute=_value,
    family="convolution",
    level=10,
    lowering="winograd.convolution",
)


def contrib_conv2d_winograd_weight_transform(weight: Expr, tile_size: int) -> Call:
    """`weight` (O, I, r, r), transformed for tiles of `tile_size`: (t + r - 1, t + r - 1, O, I)."""
    return Call(_WEIGHT_TRANSFORM, [expr(weight)], WeightTransformAttrs(tile_size=tile_size))


def contrib_conv2d_winograd_without_weight_transform(
    data: Expr,
    weight: Expr,
    tile_size: int,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "HWOI",
    out_layout: str = "",
    out_dtype: str = "",
) -> Call:
    """What `nn.conv2d` gives, of a `weight` (t + r - 1, t + r - 1, O, C) that is transformed already."""
    attrs = WinogradAttrs(
        tile_size=tile_size,
        strides=per_axis(strides, 2),
        padding=both_sides(padding, 2),
        dilation=per_axis(dilation, 2),
        groups=groups,
        channels=channels,
        kernel_size=None if kernel_size is None else per_axis(kernel_size, 2),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
        out_dtype=out_dtype,
    )
    return Call(_WINOGRAD, [expr(data), expr(weight)], attrs)
