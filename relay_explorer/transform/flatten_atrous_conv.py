"""FlattenAtrousConv: fold the moves of blocks around a convolution into its dilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..ir.attrs import Attrs
from ..ir.declaration import Trait
from ..ir.expr import Call, Constant, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order
from ..ops.layouts.layout import Layout
from .fold_scale_axis.axes import operator_of
from .infrastructure import Contract, PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.typed_rewrite import rewrite_calls

_TO_BATCH = "nn.space_to_batch_nd"
_ZERO_POINT = 2  # the operand of `qnn.conv2d` that stands for the number 0, with which it pads


@dataclass(frozen=True)
class FlattenAtrousConv(TypedPass):
    """Replace a convolution between `nn.space_to_batch_nd` and `nn.batch_to_space_nd` of the same blocks by
    one dilated convolution, in which an "atrous" convolution of TensorFlow is written thus.

    The windows of the inner convolution, whose strides must be 1, read every `b`-th element, where `b` is the
    size of a block. The dilation is therefore multiplied by `b`, and the padding of both operators is added
    up, without what is cropped. The sequence stays where this would be negative, where the padding is not 0,
    or where the inner convolution has other readers.
    """

    name = "FlattenAtrousConv"
    opt_level = 0
    # Sums may be accumulated in another order.
    contract = Contract(error=1e-5)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        nodes = post_order(function)
        if not any(operator_of(node) == _TO_BATCH for node in nodes):
            return function
        uses = Counter(part for node in nodes for part in children(node))
        return rewritten(function, rewrite_calls(function, {"nn.batch_to_space_nd": _flattener(uses)}))


def _flattener(uses: Counter[Expr]) -> Callable[[Call, Call], Expr | None]:
    def flattened(old: Call, new: Call) -> Expr | None:
        """Fold blocks of space that are moved to the batch for a convolution into its dilation."""
        layer, inner = new.args[0], old.args[0]
        if not (isinstance(layer, Call) and isinstance(layer.op, Op) and uses[inner] == 1):
            return None
        if not (layer.op.has(Trait.CONVOLUTION) or layer.op.name == "qnn.conv2d"):
            return None
        blocks = layer.args[0]
        if (
            not isinstance(blocks, Call)
            or operator_of(blocks) != _TO_BATCH
            or not _pads_with_zero(blocks, layer)
        ):
            return None
        attrs = _dilated(new, layer, blocks)
        if attrs is None:
            return None
        return Call(layer.op, [blocks.args[0], *layer.args[1:]], attrs, layer.type_args, layer.span)

    return flattened


def _pads_with_zero(blocks: Call, layer: Call) -> bool:
    """Whether the padding of `space_to_batch_nd` is that of the convolution: 0, or its zero point."""
    assert blocks.attrs is not None
    if not any(map(any, blocks.attrs["paddings"])):
        return True
    zero: float = 0
    if operator_of(layer) == "qnn.conv2d":
        zero_point = layer.args[_ZERO_POINT]
        if not isinstance(zero_point, Constant):
            return False
        zero = zero_point.data.item()
    return bool(blocks.attrs["pad_value"] == zero)


def _dilated(outer: Call, layer: Call, blocks: Call) -> Attrs | None:
    """Return the attributes of the dilated convolution; None where there is none."""
    attrs, before, after = layer.attrs, blocks.attrs, outer.attrs
    assert attrs is not None
    assert before is not None
    assert after is not None
    sizes, layout = before["block_shape"], Layout(attrs["data_layout"])
    count = len(sizes)
    spatial = [index for index, letter in enumerate(layout) if letter in "DHW"]
    if spatial != list(range(1, count + 1)) or list(sizes) != list(after["block_shape"]):
        return None
    if any(stride != 1 for stride in attrs["strides"]):
        return None
    own = _both_sides(attrs["padding"], count)
    padding = [
        before["paddings"][axis][side] + own[side * count + axis] * sizes[axis] - after["crops"][axis][side]
        for side in (0, 1)
        for axis in range(count)
    ]
    if min(padding) < 0:
        return None
    dilation = [step * size for step, size in zip(_full(attrs["dilation"], count), sizes, strict=True)]
    result: Attrs = attrs.replace(padding=padding, dilation=dilation)
    return result


def _full(sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    return sizes * count if len(sizes) == 1 else sizes


def _both_sides(padding: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Expand padding to its full form: before each axis, then after each axis."""
    padding = _full(padding, count)
    return padding * 2 if len(padding) == count else padding
