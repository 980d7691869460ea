"""Pads the channels of convolutions with constant weights to whole vectors. The extra channels are zeros,
which are sliced off where anything but another such layer reads the result.
"""

from __future__ import annotations

from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import rewritten
from ...transform.tools.typed_rewrite import Rule, call, rewrite_calls
from .blocks import MIN_BLOCK, block_of, is_known, is_static
from .layouts import in_vectors, types_of
from .padding import Padding, Widening

MAX_GROWTH = 4 / 3  # the largest factor of channels at which whole vectors are still faster


@dataclass(frozen=True)
class PadChannels(Padding):
    """Pad the channels of `nn.conv2d` to whole vectors. Biases, activations, pools and depthwise layers are
    computed on all channels, and the next convolution reads all of them, with zero weights for the extra
    ones.
    """

    name = "PadChannels"

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        rules = _Rules(self.target)
        named: dict[str, Rule] = {
            "nn.conv2d": rules.conv2d,
            "nn.contrib_conv2d_NCHWc": rules.integers,
            "nn.contrib_depthwise_conv2d_NCHWc": rules.integers,
        }
        # The operators that may come between two layers. They must not turn a channel of zeros into
        # infinities or NaNs, because the next layer's zero weights would not cancel those.
        named.update(dict.fromkeys(Op.names_with(Trait.POLYNOMIAL), rules.broadcast))
        named.update(dict.fromkeys(Op.names_with(Trait.ACTIVATION), rules.same))
        named.update(dict.fromkeys(Op.names_with(Trait.CAST), rules.same))
        named.update(dict.fromkeys(Op.names_with(Trait.POOL), rules.pool))
        return rewritten(function, rewrite_calls(function, named))


def padded_channels(channels: int, width: int, lanes: int) -> int:
    """Return the number of channels to pad a convolution to; `channels` if it is not padded. A few channels
    in partly filled vectors cost less than copying them; so do images that are wide enough to vectorize over
    columns instead.
    """
    block = block_of(channels, lanes)
    padded = -(-channels // lanes) * lanes
    if (
        block == lanes
        or channels < lanes
        or padded > MAX_GROWTH * channels
        or (block == 1 and width >= lanes)
    ):
        return channels
    return padded


def whole_blocks(channels: int, lanes: int) -> int:
    """Round the number of channels up to whole blocks: of all lanes, or of fewer if that adds too many."""
    block = lanes
    while block > MIN_BLOCK and (
        -(-channels // block) * block > MAX_GROWTH * channels or channels <= block // 2
    ):
        block //= 2
    return -(-channels // block) * block


class _Rules(Widening):
    """The rewrite rules for one target: one for each class of operators."""

    def conv2d(self, old: Call, new: Call) -> Expr | None:
        """Pad the channels of a convolution that do not fill vectors, and slice off the surplus after it."""
        attrs = new.attrs
        assert attrs is not None
        layouts = (attrs["data_layout"], attrs["kernel_layout"], attrs["out_layout"] or "NCHW")
        if layouts != ("NCHW", "OIHW", "NCHW") or not in_vectors(types_of(old)) or not is_known(new.args[1]):
            return None
        channels, each = tensor_type(old.args[1]).concrete_shape[:2]
        data_channels = tensor_type(old.args[0]).concrete_shape[1]
        data, inputs = self.wide.get(new.args[0], (new.args[0], data_channels))
        groups = attrs["groups"]
        if groups == data_channels == channels > 1:  # one filter for each channel
            outputs, groups, inputs = inputs, inputs, 1
        elif groups == 1:
            width = tensor_type(old).concrete_shape[3]
            outputs = padded_channels(channels, width, self.target.lanes(tensor_type(old).dtype))
        else:
            return _each_group(new, channels // groups, each, self.target.lanes(tensor_type(old).dtype), old)
        if (outputs, inputs) == (channels, each):
            return None
        widths = ((0, outputs - channels), (0, inputs - each), (0, 0), (0, 0))
        weight = call("nn.pad", new.args[1], const(0.0, tensor_type(old.args[1]).dtype), pad_width=widths)
        values = {**dict(attrs.items()), "channels": outputs, "groups": groups}
        return self.cut(call("nn.conv2d", data, weight, **values), 1, channels, outputs)

    def integers(self, old: Call, new: Call) -> Expr | None:
        """Pad the channels of data and result of a convolution of small integers to whole blocks. There is no
        fast kernel for other numbers of channels.
        """
        attrs = new.attrs
        assert attrs is not None
        layouts = (attrs["data_layout"], attrs["kernel_layout"], attrs["out_layout"] or "NCHW")
        lanes = self.target.lanes(tensor_type(old).dtype)
        if layouts != ("NCHW", "OIHW", "NCHW"):
            return self._in_other_layout(old, new, lanes)
        channels, each = tensor_type(old.args[1]).concrete_shape[:2]
        data_channels = tensor_type(old.args[0]).concrete_shape[1]
        data, inputs = self.wide.get(new.args[0], (new.args[0], data_channels))
        groups = attrs["groups"]
        if groups == data_channels == channels > 1:
            outputs, groups, inputs, missing = inputs, inputs, 1, 0
        elif groups == 1:
            outputs, missing = whole_blocks(channels, lanes), -inputs % MIN_BLOCK
            inputs += missing
        else:
            return None
        if (outputs, inputs) == (channels, each):
            return None
        if missing:
            sides = ((0, 0), (0, missing), (0, 0), (0, 0))
            data = call("nn.pad", data, const(0, tensor_type(old.args[0]).dtype), pad_width=sides)
        widths = ((0, outputs - channels), (0, inputs - each), (0, 0), (0, 0))
        weight = call("nn.pad", new.args[1], const(0, tensor_type(old.args[1]).dtype), pad_width=widths)
        values = {**dict(attrs.items()), "channels": outputs, "groups": groups}
        assert isinstance(new.op, Op)
        return self.cut(call(new.op.name, data, weight, **values), 1, channels, outputs)

    def _in_other_layout(self, old: Call, new: Call, lanes: int) -> Expr | None:
        """Pad the channels of a convolution of small integers in a layout such as NHWC. The surplus channels
        are sliced off right after it.
        """
        attrs = new.attrs
        assert attrs is not None
        layout, kernel = attrs["data_layout"], attrs["kernel_layout"]
        plain = sorted(layout) == sorted("NCHW") and sorted(kernel) == sorted("OIHW")
        if not plain or attrs["out_layout"] not in ("", layout) or attrs["groups"] != 1:
            return None
        data, weight = tensor_type(old.args[0]), tensor_type(old.args[1])
        channels, each = (weight.concrete_shape[kernel.index(letter)] for letter in "OI")
        more = {"C": (0, -each % MIN_BLOCK), "I": (0, -each % MIN_BLOCK)}
        more["O"] = (0, whole_blocks(channels, lanes) - channels)
        if not any(after for _, after in more.values()):
            return None
        args: list[Expr] = []
        for arg, type_, letters in zip(new.args, (data, weight), (layout, kernel), strict=True):
            widths = tuple([more.get(letter, (0, 0)) for letter in letters])
            padded = any(after for _, after in widths)
            args.append(call("nn.pad", arg, const(0, type_.dtype), pad_width=widths) if padded else arg)
        values = {**dict(attrs.items()), "channels": channels + more["O"][1]}
        assert isinstance(new.op, Op)
        result = call(new.op.name, *args, **values)
        if not more["O"][1]:
            return result
        axes = [layout.index("C")]
        return call("strided_slice", result, begin=[0], end=[channels], strides=[1], axes=axes)

    def same(self, old: Call, new: Call) -> Expr | None:
        """Compute an operation that treats each channel independently before the surplus channels are sliced
        off.
        """
        return self.alike(old, new, 1)

    def pool(self, old: Call, new: Call) -> Expr | None:
        """Compute a pool, which also treats each channel independently, before the slice."""
        assert new.attrs is not None
        return self.same(old, new) if new.attrs["layout"] == "NCHW" else None

    def broadcast(self, old: Call, new: Call) -> Expr | None:
        """Combine two values before the surplus channels are sliced off. One of them may be a constant."""
        padded = [self.wide.get(arg) for arg in new.args]
        widths = {each[1] for each in padded if each is not None}
        if len(widths) != 1 or not all(map(is_static, types_of(old))):
            return None
        shape = tensor_type(old).concrete_shape
        if any(each and tensor_type(was).shape[1] != shape[1] for each, was in zip(padded, old.args)):
            return None
        args = []
        for each, arg, was in zip(padded, new.args, old.args):
            part = _padded(arg, was, shape[1], *widths) if each is None else each[0]
            if part is None:
                return None
            args.append(part)
        return self.cut(Call(new.op, args, new.attrs), 1, shape[1], *widths)


def _each_group(new: Call, outputs: int, inputs: int, lanes: int, old: Call) -> Expr | None:
    """Pad the input and output channels of each group of a grouped convolution to whole blocks. This copies
    the data of each group, which costs little unless the groups are small.
    """
    wide = [n if block_of(n, lanes) > 1 else _filled(n, lanes) for n in (outputs, inputs)]
    if wide == [outputs, inputs] or min(outputs, inputs) < lanes or any(n % MIN_BLOCK for n in wide):
        return None
    assert new.attrs is not None
    groups, dtype = new.attrs["groups"], tensor_type(old).dtype
    batch, _, *space = tensor_type(old.args[0]).concrete_shape
    kernel = tensor_type(old.args[1]).concrete_shape[2:]
    more = [(0, now - before) for now, before in zip(wide, (outputs, inputs), strict=True)]
    data, weight = new.args[0], new.args[1]
    if wide[1] != inputs:
        data = call("reshape", data, newshape=(batch, groups, inputs, *space))
        data = call("nn.pad", data, const(0.0, dtype), pad_width=((0, 0), (0, 0), more[1], (0, 0), (0, 0)))
        data = call("reshape", data, newshape=(batch, groups * wide[1], *space))
    weight = call("reshape", weight, newshape=(groups, outputs, inputs, *kernel))
    weight = call("nn.pad", weight, const(0.0, dtype), pad_width=((0, 0), *more, (0, 0), (0, 0)))
    weight = call("reshape", weight, newshape=(groups * wide[0], wide[1], *kernel))
    result: Expr = call(
        "nn.conv2d", data, weight, **{**dict(new.attrs.items()), "channels": groups * wide[0]}
    )
    if wide[0] == outputs:
        return result
    shape = tensor_type(old).concrete_shape
    result = call("reshape", result, newshape=(batch, groups, wide[0], *shape[2:]))
    result = call("strided_slice", result, begin=[0], end=[outputs], strides=[1], axes=[2])
    return call("reshape", result, newshape=shape)


def _filled(channels: int, lanes: int) -> int:
    """Round the number of channels up to whole blocks, of the widest size that does not add too many."""
    block = lanes
    while block >= MIN_BLOCK:
        padded = -(-channels // block) * block
        if padded <= MAX_GROWTH * channels:
            return padded
        block //= 2
    return channels


def _padded(arg: Expr, was: Expr, channels: int, padded: int) -> Expr | None:
    """Pad a constant that is combined with padded values; return None for anything but a constant tensor. A
    constant without a channel axis, or with one of size 1, broadcasts and is returned unchanged.
    """
    type_ = was.checked_type
    if not isinstance(arg, Constant) or not isinstance(type_, TensorType):
        return None
    shape = type_.concrete_shape
    if len(shape) < 3 or shape[-3] == 1:
        return arg
    widths = [(0, 0)] * len(shape)
    widths[-3] = (0, padded - channels)
    return call("nn.pad", arg, const(0.0, type_.dtype), pad_width=tuple(widths))
