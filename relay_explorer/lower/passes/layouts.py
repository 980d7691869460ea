"""Chooses the layouts that a processor prefers: channels in blocks as wide as its vectors, so that the
innermost loop of every layer is one vector, and weights packed in the order in which the loops read them.

A layer's block size depends only on its number of channels. Adjacent layers therefore agree, and tensors stay
blocked from one to the next; layouts are transformed only where a network begins and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any as Anything
from typing import TypeGuard

from ...ir.attrs import Attrs
from ...ir.expr import Call, Expr, Var
from ...ir.op import Op
from ...ir.types import TensorType, Type
from ...ops.nn.layout import layout_map
from ...transform.layouts.alter_op_layout import AlterOpLayout
from ...transform.tools.typed_rewrite import call
from ..targets.target import Target
from . import integer_layouts
from .blocks import block_of, is_blocked, is_known, packed

TILE_SIZE = 4  # outputs of a tile of Winograd's algorithm along each axis
MIN_TILES = 12  # from so many tiles on it wins: it reads four times as many weights, each once per tile
DTYPES = ("float32", "float64")


def blocked_layouts(target: Target) -> AlterOpLayout | None:
    """Return the pass that chooses layouts for `target`; None if the target prefers the program's own."""
    if target.kind not in ("cpu", "arm64"):
        return None
    rules = _Rules(target)
    return AlterOpLayout(
        {
            "nn.conv2d": rules.conv2d,
            "nn.dense": rules.dense,
            "nn.contrib_conv2d_NCHWc": partial(integer_layouts.convolution, target),
            "nn.contrib_depthwise_conv2d_NCHWc": partial(integer_layouts.depthwise, target),
        }
    )


class _Rules:
    """The rewrite rules for one target. Each rule takes a call's attributes, arguments, argument types and
    result type, and returns the new call, or None to keep the old one.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    def conv2d(
        self, attrs: Attrs, inputs: list[Expr], types: Sequence[Anything], out: Anything
    ) -> Call | None:
        """Rewrite a convolution to data (N, C / b, H, W, b) and weight (O / b, I / b, h, w, b, b): one vector
        of output channels for each input channel and position in the window.
        """
        data, weight = types[0], types[1]
        narrow = integer_layouts.sums_in_16_bits([data, weight, out])
        if not (narrow or in_vectors([data, weight, out])) or is_blocked(attrs):
            return None
        channels = layout_map(attrs["data_layout"], "NCHW").forward(data.shape, 0, "the data")[1]
        outputs, each = layout_map(attrs["kernel_layout"], "OIHW").forward(weight.shape, 1, "the weight")[:2]
        groups = attrs["groups"]
        assert isinstance(channels, int)
        assert isinstance(outputs, int)
        lanes = self.target.lanes(out.dtype)
        block = block_of(outputs // groups if groups < outputs else outputs, lanes)
        if block == 1:
            return None
        if groups == channels == outputs and groups > 1 and each == 1:
            name = "nn.contrib_depthwise_conv2d_NCHWc"
            return packed(name, attrs, inputs, block, f"OIHW1i{block}o", block, weight)
        if groups > 1 and (each == 1 or groups == channels):
            return None  # several outputs per channel; the layout HWOI has their number as I
        within = block_of(channels // groups, lanes)
        if groups > 1 and within == 1:
            return None
        if groups == 1 and channels < lanes and isinstance(inputs[0], Var):
            within = 1  # read the program's input in its own layout
        known = within > 1 and groups == 1 and is_known(inputs[1])
        if known and not narrow and _takes_tiles(attrs, weight, out):
            return _winograd(attrs, inputs, (within, block), weight)
        layout = f"OIHW{within}i{block}o" if within > 1 else f"OIHW{block}o"
        return packed("nn.contrib_conv2d_NCHWc", attrs, inputs, within, layout, block, weight)

    def dense(
        self, attrs: Attrs, inputs: list[Expr], types: Sequence[Anything], out: Anything
    ) -> Call | None:
        """Rewrite a matrix product to weight (N / b, K, b): one vector of outputs for each input feature.
        Only a constant weight is packed, because packing it happens once, when the program is compiled.
        """
        data, weight = types[0], types[1]
        if out.dtype == "int32":
            return integer_layouts.dense(self.target, attrs, inputs, types, out)
        narrow = integer_layouts.sums_in_16_bits([data, weight, out])
        if not (narrow or in_vectors([data, weight, out])) or not is_known(inputs[1]):
            return None
        block = block_of(weight.shape[0], self.target.lanes(out.dtype))
        if block == 1:
            return None
        op = Op.get("nn.contrib_dense_pack")
        assert op.attrs_class is not None
        packed_attrs = op.attrs_class(
            units=weight.shape[0], out_dtype=attrs["out_dtype"], weight_layout=f"NC{block}n"
        )
        return Call(op, inputs, packed_attrs)


def in_vectors(types: Sequence[Type | None]) -> TypeGuard[Sequence[TensorType]]:
    """Whether all are nonempty tensors of static shapes, with one element type that vectors support."""
    tensors = [t for t in types if isinstance(t, TensorType) and t.is_static and 0 not in t.shape]
    return len(tensors) == len(types) and {t.dtype for t in tensors} in [{dtype} for dtype in DTYPES]


def types_of(call: Call) -> list[Type]:
    """Return the types of a call's arguments and of its result."""
    return [part.checked_type for part in (*call.args, call)]


def _takes_tiles(attrs: Attrs, weight: TensorType, out: TensorType) -> bool:
    """Whether Winograd's algorithm is faster, and applies: to 3 × 3 kernels with stride and dilation 1."""
    size = layout_map(attrs["kernel_layout"], "OIHW").forward(weight.shape, 1, "the weight")[2:]
    layout = attrs["out_layout"] or attrs["data_layout"]
    batch, _, height, width = layout_map(layout, "NCHW").forward(out.shape, 0, "the result")
    assert isinstance(batch, int)
    assert isinstance(height, int)
    assert isinstance(width, int)
    tiles = batch * -(-height // TILE_SIZE) * -(-width // TILE_SIZE)
    return size == (3, 3) and set(attrs["strides"]) == set(attrs["dilation"]) == {1} and tiles >= MIN_TILES


def _winograd(attrs: Attrs, inputs: list[Expr], blocks: tuple[int, int], weight: TensorType) -> Call:
    """Build a convolution by Winograd's algorithm, with `blocks` of data and output channels."""
    plain = inputs[1]
    if attrs["kernel_layout"] != "OIHW":
        plain = call("layout_transform", plain, src_layout=attrs["kernel_layout"], dst_layout="OIHW")
    transformed = call("nn.contrib_conv2d_winograd_weight_transform", plain, tile_size=TILE_SIZE)
    layout = f"HWOI{blocks[1]}o"
    packed = call("layout_transform", transformed, src_layout="HWOI", dst_layout=layout)
    values = {name: value for name, value in attrs.items() if name not in ("channels", "kernel_size")}
    values.update(
        kernel_size=(3, 3), data_layout=f"NCHW{blocks[0]}c", kernel_layout=layout,
        out_layout=f"NCHW{blocks[1]}c", tile_size=TILE_SIZE,
    )  # fmt: skip
    return call("nn.contrib_conv2d_winograd_without_weight_transform", inputs[0], packed, **values)
