"""Operators that resize the spatial axes, or trade them for channels or batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, Pairs, attr, required
from ...ir.expr import Call, Constant, Expr
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, flops_per_output, no_flops
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import tensor
from .layout import UNKNOWN, divided, layout_map, many, plus, times

LAYOUT = "The order of the data's axes."


class UpSamplingAttrs(Attrs, key="relay.attrs.UpSamplingAttrs"):
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCHW", LAYOUT)
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor", "bilinear" or "bicubic".'
    )
    align_corners: bool = attr(False, "Whether the corners of data and output have the same centres.")


class UpSampling3DAttrs(Attrs, key="relay.attrs.UpSampling3DAttrs"):
    scale_d: float = required("The factor of the depth.")
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCDHW", LAYOUT)
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor" or "trilinear".'
    )
    coordinate_transformation_mode: str = attr(
        "half_pixel", 'Where elements lie: "half_pixel", "align_corners" or "asymmetric".'
    )


class SubPixelAttrs(Attrs, key="relay.attrs.SubPixelAttrs"):
    block_size: int = attr(1, "The side of the square blocks.")
    layout: str = attr("NCHW", LAYOUT)
    mode: str = attr(
        "DCR", 'How a channel\'s number is read: "DCR" block place first, "CRD" output channel first.'
    )


class SpaceToBatchNDAttrs(Attrs, key="relay.attrs.SpaceToBatchNDAttrs"):
    block_shape: Ints = attr((1, 1), "The blocks' size on each spatial axis.")
    paddings: Pairs = required("How many elements go before and after the data on each spatial axis.")
    pad_value: float = attr(0.0, "What goes there.")


class BatchToSpaceNDAttrs(Attrs, key="relay.attrs.BatchToSpaceNDAttrs"):
    block_shape: Ints = attr((1, 1), "The blocks' size on each spatial axis.")
    crops: Pairs = required("How many elements are cut off before and after on each spatial axis.")


def _scaled(name: str, axes: str, factors: tuple[str, ...], methods: tuple[str, ...]) -> Relation:
    """Input of any layout; output the same with round(dᵢ · scaleᵢ) on the spatial axes."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        if attrs.method not in methods:
            raise RelationError(
                f'method="{attrs.method[:40]}" is not known', f"the methods are {', '.join(methods)}"
            )
        layout = layout_map(attrs.layout, "NC" + axes)
        shape = layout.forward(data.shape, 0, "the data")
        sizes = [_times(dim, attrs[factor], factor) for dim, factor in zip(shape[2:], factors, strict=True)]
        reporter.assign(out, TensorType.of(layout.backward((*shape[:2], *sizes)), data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} with scaled axes")


def _times(dim: Dim, factor: float, name: str) -> Dim:
    if not 0 < factor < 1e9:
        raise RelationError(f"{name}={factor} must be positive", "a factor of 1 keeps the size")
    if factor == 1:
        return dim
    return round(dim * factor) if isinstance(dim, int) else UNKNOWN


def _upsampling_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """None to copy the nearest element; else a multiply and an add for each neighbour that is mixed."""
    neighbours = {"nearest_neighbor": 0, "bilinear": 4, "bicubic": 16, "trilinear": 8}.get(attrs.method, 0)
    return 2 * neighbours * flops_per_output(attrs, inputs, output)


def _upsampling(name: str, description: str, attrs: type[Attrs], relation: Relation) -> Op:
    return declare(
        name,
        description,
        formula=r"y_{\ldots,i} = \mathrm{interpolate}(x_{\ldots}, i / s)",
        relation=relation,
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=_upsampling_flops,
        family="image",
        level=2,
        laxer_in_reference="It accepted any method, and factors that are not positive.",
    )


_UPSAMPLING = _upsampling(
    "nn.upsampling",
    "Enlarges images by interpolation.",
    UpSamplingAttrs,
    _scaled("UpSampling", "HW", ("scale_h", "scale_w"), ("nearest_neighbor", "bilinear", "bicubic")),
)
_UPSAMPLING3D = _upsampling(
    "nn.upsampling3d",
    "Enlarges volumes by interpolation.",
    UpSampling3DAttrs,
    _scaled("UpSampling3D", "DHW", ("scale_d", "scale_h", "scale_w"), ("nearest_neighbor", "trilinear")),
)


def _number(scale: object) -> Anything:
    """A factor given as a constant is that constant's number."""
    return scale.data.values()[0] if isinstance(scale, Constant) else scale


def upsampling(
    data: Expr,
    scale_h: object = 1,
    scale_w: object = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Call:
    """`data` (N, C, H, W): (N, C, round(H * scale_h), round(W * scale_w))."""
    attrs = UpSamplingAttrs(
        scale_h=_number(scale_h),
        scale_w=_number(scale_w),
        layout=layout,
        method=method,
        align_corners=align_corners,
    )
    return Call(_UPSAMPLING, [expr(data)], attrs)


def upsampling3d(
    data: Expr,
    scale_d: object = 1,
    scale_h: object = 1,
    scale_w: object = 1,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
) -> Call:
    """`data` (N, C, D, H, W): (N, C, round(D * scale_d), round(H * scale_h), round(W * scale_w))."""
    attrs = UpSampling3DAttrs(
        scale_d=_number(scale_d),
        scale_h=_number(scale_h),
        scale_w=_number(scale_w),
        layout=layout,
        method=method,
        coordinate_transformation_mode=coordinate_transformation_mode,
    )
    return Call(_UPSAMPLING3D, [expr(data)], attrs)


def _sub_pixel(types: Sequence[Type], attrs: Anything, reporter: Reporter, to_space: bool) -> bool:
    """Between (N, C * b², H, W) and (N, C, H * b, W * b), in any layout."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    block = attrs.block_size
    if block < 1:
        raise RelationError(f"block_size={block} must be positive")
    if attrs.mode not in ("DCR", "CRD"):
        raise RelationError(f'mode="{attrs.mode[:40]}" is not known', 'the modes are "DCR" and "CRD"')
    layout = layout_map(attrs.layout, "NCHW")
    batch, channels, height, width = layout.forward(data.shape, 0, "the data")
    if to_space:
        channels = divided(
            channels,
            block * block,
            "the number of channels",
            f"each block of {block} × {block} takes {block * block} channels",
        )
        height, width = times(height, block), times(width, block)
    else:
        help = f"the image must divide into blocks of {block} × {block}; relay.nn.pad can make it so"
        channels = times(channels, block * block)
        height, width = divided(height, block, "the height", help), divided(width, block, "the width", help)
    reporter.assign(out, TensorType.of(layout.backward((batch, channels, height, width)), data.dtype))
    return True


def _depth_to_space(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _sub_pixel(types, attrs, reporter, to_space=True)


def _space_to_depth(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _sub_pixel(types, attrs, reporter, to_space=False)


_LAXER_BLOCKS = "It rounded down where the blocks do not divide an axis."
_DEPTH_TO_SPACE = declare(
    "nn.depth_to_space",
    "Moves channels into square blocks of the image.",
    formula=r"y_{n,c,\,b i + u,\,b j + v} = x_{n,\,(b u + v) C + c,\,i,\,j}",
    relation=Relation("DepthToSpace", _depth_to_space, "{out} = {0} with C / b², H b, W b"),
    attrs=SubPixelAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    laxer_in_reference=_LAXER_BLOCKS,
)
_SPACE_TO_DEPTH = declare(
    "nn.space_to_depth",
    "Moves square blocks of the image into channels.",
    formula=r"y_{n,\,(b u + v) C + c,\,i,\,j} = x_{n,c,\,b i + u,\,b j + v}",
    relation=Relation("SpaceToDepth", _space_to_depth, "{out} = {0} with C b², H / b, W / b"),
    attrs=SubPixelAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    laxer_in_reference=_LAXER_BLOCKS,
)


def depth_to_space(data: Expr, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> Call:
    """`data` (N, C, H, W): (N, C / b², H * b, W * b)."""
    return Call(_DEPTH_TO_SPACE, [expr(data)], SubPixelAttrs(block_size=block_size, layout=layout, mode=mode))


def space_to_depth(data: Expr, block_size: int, layout: str = "NCHW") -> Call:
    """`data` (N, C, H, W): (N, C * b², H / b, W / b)."""
    return Call(_SPACE_TO_DEPTH, [expr(data)], SubPixelAttrs(block_size=block_size, layout=layout))


def _check_blocks(shape: Shape, block_shape: Ints, pairs: Pairs, name: str) -> None:
    """A RelationError where there is not one block size and one pair for each spatial axis, or one is
    negative.
    """
    if len(pairs) != len(block_shape):
        raise RelationError(
            f"block_shape has {many(len(block_shape), 'size', 'sizes')}, but {name} "
            f"{many(len(pairs), 'pair', 'pairs')}",
            "give both for each spatial axis",
        )
    if len(shape) <= len(block_shape):
        raise RelationError(
            f"block_shape has {many(len(block_shape), 'size', 'sizes')}, but the data "
            f"{show_shape(shape)} has "
            f"{many(max(0, len(shape) - 1), 'axis', 'axes')} after the batch",
            culprits=(0,),
        )
    if any(size < 1 for size in block_shape):
        raise RelationError(f"block_shape={list(block_shape)} must be positive")
    if any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise RelationError(
            f"{name}={[list(p) for p in pairs]} must hold pairs (before, after) that are not negative"
        )


def _space_to_batch(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Input (N, d, …, rest); output (N * ∏ b, (d + padding) / b, …, rest)."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape, blocks = data.shape, attrs.block_shape
    _check_blocks(shape, blocks, attrs.paddings, "paddings")
    new: list[Dim] = [times(shape[0], prod(blocks))]
    for axis, (block, pair) in enumerate(zip(blocks, attrs.paddings, strict=True), 1):
        new.append(
            divided(
                plus(shape[axis], sum(pair)),
                block,
                f"axis {axis} with its padding",
                "choose paddings so that the blocks divide it",
            )
        )
    reporter.assign(out, TensorType.of((*new, *shape[len(new) :]), data.dtype))
    return True


def _batch_to_space(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Input (N, d, …, rest); output (N / ∏ b, d * b - crop, …, rest)."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape, blocks = data.shape, attrs.block_shape
    _check_blocks(shape, blocks, attrs.crops, "crops")
    new: list[Dim] = [divided(shape[0], prod(blocks), "the batch", f"each block takes {prod(blocks)} images")]
    for axis, (block, pair) in enumerate(zip(blocks, attrs.crops, strict=True), 1):
        size = plus(times(shape[axis], block), -sum(pair))
        if isinstance(size, int) and size < 0:
            raise RelationError(
                f"crops of axis {axis} cut off {sum(pair)} elements, but there are only {size + sum(pair)}",
                culprits=(0,),
            )
        new.append(size)
    reporter.assign(out, TensorType.of((*new, *shape[len(new) :]), data.dtype))
    return True


_SPACE_TO_BATCH = declare(
    "nn.space_to_batch_nd",
    "Pads the spatial axes and moves the places within blocks into the batch.",
    formula=r"y_{\,u N + n,\, i,\, \ldots} = x_{n,\, b i + u - p,\, \ldots}",
    relation=Relation(
        "SpaceToBatchND",
        _space_to_batch,
        "{out} = {0} with N ∏ b, and (d + padding) / b on each spatial axis",
    ),
    attrs=SpaceToBatchNDAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    laxer_in_reference=_LAXER_BLOCKS,
)
_BATCH_TO_SPACE = declare(
    "nn.batch_to_space_nd",
    "Moves images of the batch into blocks of the spatial axes, and crops these.",
    formula=r"y_{n,\, b i + u - c,\, \ldots} = x_{\,u N + n,\, i,\, \ldots}",
    relation=Relation(
        "BatchToSpaceND", _batch_to_space, "{out} = {0} with N / ∏ b, and d b - crop on each spatial axis"
    ),
    attrs=BatchToSpaceNDAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    laxer_in_reference=_LAXER_BLOCKS,
)


def space_to_batch_nd(
    data: Expr, block_shape: Sequence[int], paddings: Sequence[Sequence[int]], pad_value: float = 0
) -> Call:
    """`data` (N, d₁, …, rest): (N * ∏ bᵢ, (dᵢ + paddingᵢ) / bᵢ, …, rest)."""
    return Call(
        _SPACE_TO_BATCH,
        [expr(data)],
        SpaceToBatchNDAttrs(block_shape=block_shape, paddings=paddings, pad_value=pad_value),
    )


def batch_to_space_nd(data: Expr, block_shape: Sequence[int], crops: Sequence[Sequence[int]]) -> Call:
    """`data` (N, d₁, …, rest): (N / ∏ bᵢ, dᵢ * bᵢ - cropᵢ, …, rest)."""
    return Call(_BATCH_TO_SPACE, [expr(data)], BatchToSpaceNDAttrs(block_shape=block_shape, crops=crops))
