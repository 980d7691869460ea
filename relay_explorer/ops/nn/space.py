"""Operators that move elements between spatial axes and channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Precision, Trait
from ...ir.expr import Call
from ...ir.op import OpPattern, Relation, RelationError, Reporter, no_flops
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import Operand
from ..examples import IMAGE
from ..gradient_tools import MOVED
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array
from ..operator import call, operator
from ..relation import tensor
from ..te.lowered import Lowered
from ..te.tensors import Extent, Tensor, Value, View, laid_out, quotient, remainder
from .layout import divided, layout_map, times

__all__ = ["depth_to_space", "space_to_depth"]

LAYOUT = "The order of the data's axes."


class SubPixelAttrs(Attrs, key="relay.attrs.SubPixelAttrs"):
    block_size: int = attr(1, "The side of the square blocks.")
    layout: str = attr("NCHW", LAYOUT)
    mode: str = attr(
        "DCR",
        'The order of the channels: "DCR" block first, "CRD" (or "CDR") output channel first.',
    )


def _sub_pixel(types: Sequence[Type], attrs: Anything, reporter: Reporter, to_space: bool) -> bool:
    """Relate (N, C * b², H, W) and (N, C, H * b, W * b), in any layout."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    block = attrs.block_size
    if block < 1:
        raise RelationError(f"block_size={block} must be positive")
    if attrs.mode not in ("DCR", "CRD", "CDR"):
        raise RelationError(f'mode="{attrs.mode[:40]}" is not a valid mode', 'the modes are "DCR" and "CRD"')
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


def _from_depth(attrs: SubPixelAttrs, x: Array) -> Array:
    layout, b = layout_map(attrs.layout, "NCHW"), attrs.block_size
    n, c, h, w = layout.unpack(x).shape
    shape, order = ((n, b, b, c // b**2, h, w), (0, 3, 4, 1, 5, 2))
    if attrs.mode != "DCR":
        shape, order = ((n, c // b**2, b, b, h, w), (0, 1, 4, 2, 5, 3))
    return layout.pack(layout.unpack(x).reshape(shape).transpose(order).reshape(n, c // b**2, h * b, w * b))


def _to_depth(attrs: SubPixelAttrs, x: Array) -> Array:
    layout, b = layout_map(attrs.layout, "NCHW"), attrs.block_size
    n, c, h, w = layout.unpack(x).shape
    order = (0, 3, 5, 1, 2, 4) if attrs.mode == "DCR" else (0, 1, 3, 5, 2, 4)
    cut = layout.unpack(x).reshape(n, c, h // b, b, w // b, b).transpose(order)
    return layout.pack(cut.reshape(n, c * b**2, h // b, w // b))


LENIENT_BLOCKS = "It rounded down where the blocks do not divide an axis."


def _depth_to_space_te(call: Lowered) -> list[Tensor]:
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape
    each = quotient(channels, b * b)

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        within = remainder(i, b) * b + remainder(j, b)
        channel = within * each + c if attrs.mode == "DCR" else c * (b * b) + within
        return x(n, channel, quotient(i, b), quotient(j, b))

    return [laid_out((batch, each, height * b, width * b), layout, element, call.name)]


def _space_to_depth_te(call: Lowered) -> list[Tensor]:
    """Order the channels as `mode` says; TOPI supports only the order that Relay calls DCR."""
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        within: Extent
        channel: Extent
        if attrs.mode == "DCR":
            within, channel = c // channels, c % channels
        else:
            within, channel = remainder(c, b * b), quotient(c, b * b)
        return x(n, channel, i * b + quotient(within, b), j * b + remainder(within, b))

    shape = (batch, channels * (b * b), quotient(height, b), quotient(width, b))
    return [laid_out(shape, layout, element, call.name)]


@operator(
    "nn.depth_to_space",
    description="Moves channels into square blocks of the image.",
    formula=r"y_{n,c,\,b i + u,\,b j + v} = x_{n,\,(b u + v) C + c,\,i,\,j}",
    family="shape",
    level=5,
    relation=Relation("DepthToSpace", _depth_to_space, "{out} = {0} with C / b², H b, W b"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_from_depth,
    gradient=MOVED,
    lowering=_depth_to_space_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
    example=lambda build: build(IMAGE, 2),
    attrs=SubPixelAttrs,
    lenient_in_tvm=LENIENT_BLOCKS,
)
def depth_to_space(data: Operand, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> Call:
    """Rearrange `data` (N, C, H, W) to (N, C / b², H * b, W * b)."""
    return call("nn.depth_to_space", [data], block_size=block_size, layout=layout, mode=mode)


@operator(
    "nn.space_to_depth",
    description="Moves square blocks of the image into channels.",
    formula=r"y_{n,\,(b u + v) C + c,\,i,\,j} = x_{n,c,\,b i + u,\,b j + v}",
    family="shape",
    level=5,
    relation=Relation("SpaceToDepth", _space_to_depth, "{out} = {0} with C b², H / b, W / b"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_to_depth,
    gradient=MOVED,
    lowering=_space_to_depth_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SELECTION},
    example=lambda build: build(IMAGE, 2),
    attrs=SubPixelAttrs,
    lenient_in_tvm=LENIENT_BLOCKS,
)
def space_to_depth(data: Operand, block_size: int, layout: str = "NCHW") -> Call:
    """Rearrange `data` (N, C, H, W) to (N, C * b², H / b, W / b)."""
    return call("nn.space_to_depth", [data], block_size=block_size, layout=layout)
