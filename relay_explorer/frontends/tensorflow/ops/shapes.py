"""Converters of operators that rearrange tensors and ask for shapes."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ir.types import Any
from ....ops import namespaces as relay
from ...base.axes import normal_axis
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.source import Node
from ..importer import Importer, bounded
from ..registry import converts

Extent = int | tuple[Expr, int]  # an extent, or that of a tensor's axis


def reshaped(tf: Importer, data: Expr, extents: Sequence[Extent]) -> Expr:
    """Return a tensor with the given extents, some of which are those of other tensors' axes."""
    dims: list[int | None] = []
    for extent in extents:
        if isinstance(extent, tuple):
            known = tf.context.shape(extent[0])[extent[1]]
            dims.append(known if isinstance(known, int) else None)
        else:
            dims.append(extent)
    unknown = dims.count(None)
    if unknown == 0 or (unknown == 1 and -1 not in dims):
        return relay.reshape(data, [-1 if extent is None else extent for extent in dims])
    parts: list[Expr] = []
    for extent, dim in zip(extents, dims):
        if dim is not None or isinstance(extent, int):
            parts.append(const([dim], "int64"))
        else:
            shape = relay.shape_of(extent[0], dtype="int64")
            axis = extent[1] % tf.context.rank(extent[0])
            parts.append(relay.strided_slice(shape, [axis], [axis + 1], [1]))
    return relay.reshape(data, relay.concatenate(parts, 0))


@converts("Reshape")
def _reshape(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, shape = inputs
    value = tf.value(shape)
    if value is not None:
        extents = [int(extent) for extent in value.reshape(-1)]
        return relay.reshape(data, extents, allowzero=0 in extents)
    known = tf.context.known(shape)
    if known is not None:
        dims = [extent if isinstance(extent, int) else -1 for extent in known]
        if dims.count(-1) <= 1 and 0 not in dims:
            return relay.reshape(data, dims)
    return relay.reshape(data, shape)


@converts("Shape")
def _shape(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.shape_of(inputs[0], dtype=str(node.attrs.get("out_type", "int32")))


@converts("ShapeN")
def _shapes(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    dtype = str(node.attrs.get("out_type", "int32"))
    return [relay.shape_of(operand, dtype=dtype) for operand in inputs]


@converts("Size")
def _size(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.ndarray_size(inputs[0], dtype=str(node.attrs.get("out_type", "int32")))


@converts("Rank")
def _rank(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return const(tf.context.rank(inputs[0]), "int32")


@converts("ExpandDims")
def _expand_dims(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axis = tf.integer(inputs[1], "the axis")
    rank = tf.context.rank(inputs[0]) + 1
    return relay.expand_dims(inputs[0], normal_axis(axis, rank))


@converts("Squeeze")
def _squeeze(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axes = [int(axis) for axis in node.attrs.get("squeeze_dims", node.attrs.get("axis", ()))]
    shape = tf.context.shape(inputs[0])
    if not axes:
        if any(isinstance(extent, Any) for extent in shape):
            raise DynamicShapeError(
                "Squeeze without squeeze_dims requires a static shape, because it removes the axes of "
                "extent 1"
            )
        axes = [axis for axis, extent in enumerate(shape) if extent == 1]
        if not axes:
            return inputs[0]
    return relay.squeeze(inputs[0], sorted({normal_axis(axis, len(shape)) for axis in axes}))


@converts("Transpose", "ConjugateTranspose")
def _transpose(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    order = tf.ints(inputs[1], "the order of the axes")
    return relay.transpose(inputs[0], order) if order else inputs[0]


@converts("Concat", "ConcatV2")
def _concatenate(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axis, parts = (inputs[0], inputs[1:]) if node.op == "Concat" else (inputs[-1], inputs[:-1])
    rank = max(tf.context.rank(part) for part in parts)
    return relay.concatenate(parts, tf.axis(axis, rank))


@converts("Pack")
def _pack(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axis = int(node.attrs.get("axis", 0))
    rank = tf.context.rank(inputs[0]) + 1
    return relay.stack(inputs, axis=normal_axis(axis, rank))


@converts("Unpack")
def _unpack(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    (data,) = inputs
    axis = normal_axis(int(node.attrs.get("axis", 0)), tf.context.rank(data))
    count = bounded(int(node.attrs["num"]), "the number of tensors")
    extent = tf.context.shape(data)[axis]
    if isinstance(extent, int) and extent != count:
        raise RelayError(f"an axis of extent {extent} cannot be unpacked into {count} tensors")
    if not isinstance(extent, int):
        return [relay.take(data, const(index, "int32"), axis=axis) for index in range(count)]
    if count == 0:
        return []
    return [relay.squeeze(part, [axis]) for part in relay.split(data, count, axis)]


@converts("Split", "SplitV")
def _split(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, axis = (inputs[1], inputs[0]) if node.op == "Split" else (inputs[0], inputs[2])
    place = tf.axis(axis, tf.context.rank(data))
    if node.op == "Split":
        count = bounded(int(node.attrs["num_split"]), "the number of parts")
        return list(relay.split(data, count, place)) if count > 1 else data
    sizes = tf.ints(inputs[1], "the sizes of the parts")
    if -1 in sizes:
        extent = tf.context.shape(data)[place]
        if not isinstance(extent, int):
            raise DynamicShapeError(
                f"SplitV with a size of -1 requires that the extent of axis {place} is known at compile time"
            )
        sizes[sizes.index(-1)] = extent - sum(size for size in sizes if size >= 0)
    if len(sizes) == 1:
        return data
    bounds = [sum(sizes[: index + 1]) for index in range(len(sizes) - 1)]
    return list(relay.split(data, bounds, place))


@converts("Tile")
def _tile(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    value = tf.value(inputs[1])
    return relay.tile(inputs[0], [int(n) for n in value] if value is not None else inputs[1])


@converts("ReverseV2")
def _reverse(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    result = inputs[0]
    for axis in tf.ints(inputs[1], "the axes"):
        result = relay.reverse(result, normal_axis(axis, tf.context.rank(result)))
    return result


@converts("ReverseSequence")
def _reverse_sequence(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.reverse_sequence(
        inputs[0], inputs[1], int(node.attrs["seq_dim"]), int(node.attrs.get("batch_dim", 0))
    )


@converts("BroadcastTo")
def _broadcast_to(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    value = tf.value(inputs[1])
    return relay.broadcast_to(inputs[0], [int(n) for n in value] if value is not None else inputs[1])


@converts("BroadcastArgs")
def _broadcast_args(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert the shape that two shapes broadcast to: the shorter one gets ones in front."""
    first, second = inputs
    dtype = tf.context.dtype(first)
    lengths = [tf.context.static_shape(shape)[0] for shape in inputs]
    missing = abs(lengths[0] - lengths[1])
    if missing:
        ones = relay.ones((missing,), dtype)
        if lengths[0] < lengths[1]:
            first = relay.concatenate([ones, first], 0)
        else:
            second = relay.concatenate([ones, second], 0)
    single = relay.equal(first, const(1, dtype))
    return relay.where(single, second, first)


@converts("Pad", "PadV2", "MirrorPad")
def _pad(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    widths = tf.value(inputs[1])
    value: Expr | float = 0.0
    if node.op == "PadV2":
        constant = tf.value(inputs[2])
        value = constant.item() if constant is not None else inputs[2]
    if widths is None:
        if node.op == "MirrorPad":
            raise DynamicShapeError("the paddings of MirrorPad must be known at compile time")
        if not isinstance(value, Expr):
            value = const(value, tf.context.dtype(inputs[0]))
        return relay.nn.pad(inputs[0], inputs[1], value)
    pairs = [[int(a), int(b)] for a, b in widths.reshape(-1, 2)]
    if not pairs:
        return inputs[0]
    if node.op == "MirrorPad":
        return relay.nn.mirror_pad(inputs[0], pairs, mode=str(node.attrs.get("mode", "REFLECT")))
    return relay.nn.pad(inputs[0], pairs, value)


@converts("SpaceToDepth", "DepthToSpace")
def _space_depth(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    build = relay.nn.space_to_depth if node.op == "SpaceToDepth" else relay.nn.depth_to_space
    layout = str(node.attrs.get("data_format", "NHWC"))
    if layout not in ("NHWC", "NCHW"):
        raise RelayError(f"the data format {layout} is not supported")
    return build(inputs[0], int(node.attrs["block_size"]), layout=layout)


@converts("SpaceToBatchND", "BatchToSpaceND", "SpaceToBatch", "BatchToSpace")
def _space_batch(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    if node.op.endswith("ND"):
        block = tf.ints(inputs[1], "the block's shape")
    else:
        block = [int(node.attrs["block_size"])] * 2
    pairs = [[int(a), int(b)] for a, b in tf.need(inputs[-1], "the padding").reshape(-1, 2)]
    if node.op.startswith("Space"):
        return relay.nn.space_to_batch_nd(inputs[0], block, pairs)
    return relay.nn.batch_to_space_nd(inputs[0], block, pairs)


@converts("Roll")
def _roll(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Rotate along axes: the end of each moves to its beginning."""
    result = inputs[0]
    rank = tf.context.rank(result)
    for shift, axis in zip(tf.ints(inputs[1], "the shift"), tf.ints(inputs[2], "the axis"), strict=True):
        place = normal_axis(axis, rank)
        extent = tf.context.shape(result)[place]
        if not isinstance(extent, int):
            raise DynamicShapeError(f"Roll requires that the extent of axis {place} is known at compile time")
        if extent and shift % extent:
            end, begin = relay.split(result, [extent - shift % extent], place)
            result = relay.concatenate([begin, end], place)
    return result
