"""Shared by the rules that choose layouts: the sizes of blocks, and calls of convolutions in blocks."""

from __future__ import annotations

from ...ir.attrs import Attrs
from ...ir.expr import Call, Constant, Expr, Var
from ...ir.op import Op
from ...ir.types import TensorType, Type
from ...ir.walk import post_order
from ...ops.nn.layout import layout_map

MIN_BLOCK = 4  # elements: smaller blocks would leave most of a vector idle


def block_of(channels: int, lanes: int) -> int:
    """Return the largest block, at most a vector, that divides the channels; 1 if it would be too small."""
    block = lanes
    while block >= MIN_BLOCK and channels % block:
        block //= 2
    return block if block >= MIN_BLOCK else 1


def is_blocked(attrs: Attrs) -> bool:
    """Whether a convolution already has a blocked layout."""
    names = (attrs["data_layout"], attrs["kernel_layout"], attrs["out_layout"])
    return any(letter.islower() for name in names for letter in name)


def is_known(expr: Expr) -> bool:
    """Whether a value depends only on constants."""
    return isinstance(expr, Constant) or not any(isinstance(part, Var) for part in post_order(expr))


def is_static(type_: Type) -> bool:
    """Whether a type is that of a nonempty tensor of static shape."""
    return isinstance(type_, TensorType) and type_.is_static and 0 not in type_.shape


def packed(
    name: str, attrs: Attrs, inputs: list[Expr], data: int, kernel_layout: str, block: int, weight: TensorType
) -> Call:
    """Build the convolution `name` with blocks of `data` data channels and of `block` output channels."""
    op = Op.get(name)
    assert op.attrs_class is not None
    shape = layout_map(attrs["kernel_layout"], "OIHW").forward(weight.shape, 1, "the weight")
    values = dict(attrs.items())
    values.update(
        channels=shape[0] if attrs["channels"] is None else attrs["channels"],
        kernel_size=shape[2:],
        data_layout="NCHW" if data == 1 else f"NCHW{data}c",
        kernel_layout=kernel_layout,
        out_layout=f"NCHW{block}c",
    )
    return Call(op, inputs, op.attrs_class(**values))
