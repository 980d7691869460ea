"""Converters of operators that change a tensor's shape or join tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.axes import normal_axis
from ..base.context import Results
from .operation import Operation, converter


def reshaped(op: Operation, x: Expr, sizes: Sequence[int] | Expr) -> Expr:
    """Reshape to sizes of which one may be -1; 0 is an extent of zero, not Relay's "the same"."""
    if isinstance(sizes, Expr):
        return relay.reshape(x, relay.cast(sizes, "int64"), allowzero=True)
    if any(size < -1 for size in sizes) or list(sizes).count(-1) > 1:
        raise RelayError(
            f"the shape {list(sizes)} is invalid: one extent can be -1, and no other may be negative"
        )
    return relay.reshape(x, tuple(sizes), allowzero=0 in sizes)


@converter("RESHAPE", mode="stored")
def _reshape(op: Operation) -> Expr:
    if not op.has(1):
        return reshaped(op, op[0], op.attr("new_shape", ()))
    values = op.values(1)
    if values is None:
        known = op.context.known(op.stored(1))
        if known is not None:
            sizes = [size if isinstance(size, int) else -1 for size in known]
            if sizes.count(-1) <= 1:
                return reshaped(op, op[0], sizes)
        return reshaped(op, op[0], op.stored(1))
    return reshaped(op, op[0], op.ints(1, "the new shape"))


@converter("SQUEEZE", mode="stored")
def _squeeze(op: Operation) -> Expr:
    rank = op.rank(0)
    axes = sorted({normal_axis(axis, rank) for axis in op.attr("squeeze_dims", ())})
    if not axes:
        axes = [axis for axis, extent in enumerate(op.shape(0)) if isinstance(extent, int) and extent == 1]
        if not axes:
            return op[0]
    return relay.squeeze(op[0], axes)


@converter("EXPAND_DIMS", mode="stored")
def _expand_dims(op: Operation) -> Expr:
    (axis,) = op.ints(1, "the axis")
    return relay.expand_dims(op[0], normal_axis(axis, op.rank(0) + 1))


@converter("TRANSPOSE", mode="stored")
def _transpose(op: Operation) -> Expr:
    return relay.transpose(op[0], op.ints(1, "the permutation"))


@converter("CONCATENATION", mode="stored")
def _concatenation(op: Operation) -> Expr:
    if op.attr("fused_activation_function"):
        op.mode = "real"
    axis = normal_axis(int(op.attr("axis")), op.rank(0))
    return op.activated(relay.concatenate(op.all(), axis))


@converter("PACK", mode="stored")
def _pack(op: Operation) -> Expr:
    return relay.stack(op.all(), normal_axis(int(op.attr("axis")), op.rank(0) + 1))


@converter("UNPACK", mode="stored")
def _unpack(op: Operation) -> Results:
    axis = normal_axis(int(op.attr("axis")), op.rank(0))
    count = len(op.operator.outputs)
    if count == 1:
        return relay.squeeze(op[0], [axis])
    return [relay.squeeze(part, [axis]) for part in relay.split(op[0], count, axis)]


@converter("SPLIT", mode="stored")
def _split(op: Operation) -> Results:
    (axis,) = op.ints(0, "the axis")
    count = len(op.operator.outputs)
    return _parts(op, 1, count, normal_axis(axis, op.rank(1)))


@converter("SPLIT_V", mode="stored")
def _split_v(op: Operation) -> Results:
    sizes = list(op.ints(1, "the sizes of the parts"))
    (axis,) = op.ints(2, "the axis")
    axis = normal_axis(axis, op.rank(0))
    if sizes.count(-1) == 1:
        (extent,) = op.extents(0, (axis,))
        sizes[sizes.index(-1)] = extent - sum(size for size in sizes if size != -1)
    if any(size < 0 for size in sizes) or len(sizes) != len(op.operator.outputs):
        raise RelayError(
            f"SPLIT_V requires a size that is not negative for each of its {len(op.operator.outputs)} "
            f"outputs, not {sizes}"
        )
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes) - 1)]
    return _parts(op, 0, tuple(ends), axis) if ends else op[0]


def _parts(op: Operation, operand: int, where: int | tuple[int, ...], axis: int) -> Results:
    if where == 1:
        return op[operand]
    return list(relay.split(op[operand], where, axis))


@converter("TILE", mode="stored")
def _tile(op: Operation) -> Expr:
    return relay.tile(op[0], op.sizes(1, "the repetitions"))


@converter("PAD", "PADV2", mode="stored")
def _pad(op: Operation) -> Expr:
    quantization = op.result().quantization
    value: Expr
    if op.has(2):
        value = op[2]
        if op.rank(2):
            value = relay.reshape(value, ())
    elif op.mode == "stored" and quantization is not None:
        value = const(quantization.zero_point[0], op.dtype(0))
    else:
        value = const(0, op.context.dtype(op[0]))
    return relay.nn.pad(op[0], _pairs(op, 1, op.rank(0)), value)


def _pairs(op: Operation, index: int, rank: int) -> list[tuple[int, int]]:
    flat = op.ints(index, "the padding")
    if len(flat) != 2 * rank:
        raise RelayError(f"the padding must have {2 * rank} elements for {rank} axes, not {len(flat)}")
    return list(zip(flat[::2], flat[1::2]))


@converter("MIRROR_PAD", mode="stored")
def _mirror_pad(op: Operation) -> Expr:
    mode = "SYMMETRIC" if int(op.attr("mode")) == 1 else "REFLECT"
    return relay.nn.mirror_pad(op[0], _pairs(op, 1, op.rank(0)), mode)


@converter("SPACE_TO_BATCH_ND", mode="stored")
def _space_to_batch(op: Operation) -> Expr:
    block = op.ints(1, "the block")
    zero = op.result().quantization
    value = zero.zero_point[0] if op.mode == "stored" and zero is not None else 0
    return relay.nn.space_to_batch_nd(op[0], block, _pairs(op, 2, len(block)), value)


@converter("BATCH_TO_SPACE_ND", mode="stored")
def _batch_to_space(op: Operation) -> Expr:
    block = op.ints(1, "the block")
    return relay.nn.batch_to_space_nd(op[0], block, _pairs(op, 2, len(block)))


@converter("DEPTH_TO_SPACE", mode="stored")
def _depth_to_space(op: Operation) -> Expr:
    return relay.nn.depth_to_space(op[0], int(op.attr("block_size")), layout="NHWC")


@converter("SPACE_TO_DEPTH", mode="stored")
def _space_to_depth(op: Operation) -> Expr:
    return relay.nn.space_to_depth(op[0], int(op.attr("block_size")), layout="NHWC")


@converter("REVERSE_V2", mode="stored")
def _reverse(op: Operation) -> Expr:
    x = op[0]
    for axis in op.ints(1, "the axes"):
        x = relay.reverse(x, normal_axis(axis, op.rank(0)))
    return x


@converter("REVERSE_SEQUENCE", mode="stored")
def _reverse_sequence(op: Operation) -> Expr:
    return relay.reverse_sequence(op[0], op.stored(1), int(op.attr("seq_dim")), int(op.attr("batch_dim")))


@converter("BROADCAST_TO", mode="stored")
def _broadcast_to(op: Operation) -> Expr:
    return relay.broadcast_to(op[0], op.sizes(1, "the shape"))


@converter("BROADCAST_ARGS", mode="own")
def _broadcast_args(op: Operation) -> Expr:
    """Return the shape to which two shapes broadcast: 1 gives way to the other extent."""
    parts, ranks = [op[0], op[1]], [op.extents(0, (0,))[0], op.extents(1, (0,))[0]]
    for place, rank in enumerate(ranks):
        if rank < max(ranks):
            ones = relay.ones((max(ranks) - rank,), op.dtype(place))
            parts[place] = relay.concatenate([ones, parts[place]], 0)
    one = const(1, op.dtype(0))
    return relay.where(relay.equal(parts[0], one), parts[1], parts[0])
