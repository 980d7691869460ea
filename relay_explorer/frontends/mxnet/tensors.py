"""Operators that change a tensor's shape, or join and split tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ir.types import Dim
from ...ir.walk import free_vars
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError
from .registry import Operation, converts


def reshaped(shape: Sequence[Dim], codes: Sequence[int]) -> list[Dim]:
    """Return the shape that MXNet's `reshape` with these codes gives a tensor of `shape`; -1 is left in it.
    With `reverse`, shape and codes are read, and the result written, from right to left.

    A positive number is an extent; 0 keeps the input's, -1 is inferred, -2 keeps all the rest, -3 merges two
    axes, and -4 splits one into the two extents that follow.
    """
    result: list[Dim] = []
    rest = list(shape)
    pending = list(codes)
    while pending:
        code = pending.pop(0)
        if code == -2:
            result += rest
            rest = []
        elif code == -3:
            result.append(_times(_next(rest, codes), _next(rest, codes)))
        elif code == -4:
            whole = _next(rest, codes)
            if len(pending) < 2:
                raise RelayError(
                    f"the code -4 of reshape must be followed by two extents, but the shape is {tuple(codes)}"
                )
            first, second = pending.pop(0), pending.pop(0)
            if not isinstance(whole, int):
                raise DynamicShapeError("the code -4 of reshape requires an axis of static extent")
            if first == -1 and second == -1:
                raise RelayError("only one of the two extents after the code -4 of reshape can be -1")
            first = whole // second if first == -1 else first
            second = whole // first if second == -1 else second
            result += [first, second]
        elif code == 0:
            result.append(_next(rest, codes))
        else:
            result.append(code)
            if rest:
                rest.pop(0)
    return result


def _next(rest: list[Dim], codes: Sequence[int]) -> Dim:
    if not rest:
        raise RelayError(f"the shape {tuple(codes)} refers to an axis that the input does not have")
    return rest.pop(0)


def _times(a: Dim, b: Dim) -> Dim:
    return a * b if isinstance(a, int) and isinstance(b, int) else -1


def to_shape(x: Expr, shape: Sequence[Dim]) -> Expr:
    """Reshape to a shape in which at most one extent is not known."""
    extents = [extent if isinstance(extent, int) else -1 for extent in shape]
    if extents.count(-1) > 1:
        raise DynamicShapeError(f"the shape {tuple(shape)} has more than one axis of dynamic extent")
    return relay.reshape(x, tuple(extents))


@converts("Reshape", "reshape")
def reshape(op: Operation) -> Results:
    codes = op.attrs.ints("shape", ()) or op.attrs.ints("target_shape")
    shape = op.shape()
    if op.attrs.bool("reverse", False):
        result = reshaped(shape[::-1], codes[::-1])[::-1]
    else:
        result = reshaped(shape, codes)
    return to_shape(op[0], result)


@converts("_np_reshape", "_npi_reshape")
def numpy_reshape(op: Operation) -> Results:
    return relay.reshape(op[0], op.attrs.ints("newshape"), allowzero=True)


@converts("_npx_reshape")
def extended_reshape(op: Operation) -> Results:
    # -1 infers; -2 keeps an axis, -3 drops one of extent 1, -4 keeps the rest, -5 merges two, -6 splits one.
    codes = op.attrs.ints("newshape")
    shape = op.shape()
    if not op.attrs.bool("reverse", False):
        return to_shape(op[0], _extended(shape, codes))
    return to_shape(op[0], _extended(shape[::-1], codes[::-1])[::-1])


def _extended(shape: Sequence[Dim], codes: Sequence[int]) -> list[Dim]:
    """Return the shape that `npx.reshape` gives: as in `reshape`, but axes of extent 1 may be dropped."""
    meanings = {-2: 0, -4: -2, -5: -3, -6: -4}
    result: list[Dim] = []
    rest = list(shape)
    index = 0
    while index < len(codes):
        count = 3 if codes[index] == -6 else 1
        group = codes[index : index + count]
        index += count
        if group[0] == -3:
            if _next(rest, codes) != 1:
                raise RelayError(
                    "the code -3 of reshape requires an axis of extent 1 at its place, which the shape "
                    f"{tuple(shape)} does not have"
                )
            continue
        taken = {-4: len(rest), -5: 2}.get(group[0], 1)
        result += reshaped(rest[:taken], [meanings.get(group[0], group[0]), *group[1:]])
        rest = rest[taken:]
    return result


@converts("Flatten", "flatten", "_npx_batch_flatten")
def flatten(op: Operation) -> Results:
    return relay.nn.batch_flatten(op[0])


@converts("reshape_like", "_npx_reshape_like")
def reshape_like(op: Operation) -> Results:
    begin, end = op.attrs.int("lhs_begin", 0), op.attrs.optional_int("lhs_end")
    other_begin, other_end = op.attrs.int("rhs_begin", 0), op.attrs.optional_int("rhs_end")
    shape, other = op.shape(0), op.shape(1)
    begin, end, _ = slice(begin, end).indices(len(shape))
    return to_shape(op[0], [*shape[:begin], *other[slice(other_begin, other_end)], *shape[end:]])


@converts("transpose", "_np_transpose", "_npi_transpose")
def transpose(op: Operation) -> Results:
    return relay.transpose(op[0], op.attrs.ints("axes", ()) or None)


@converts("SwapAxis", "swapaxes", "_npi_swapaxes")
def swapaxes(op: Operation) -> Results:
    first, second = op.axis(op.attrs.int("dim1", 0)), op.axis(op.attrs.int("dim2", 0))
    order = list(range(op.rank()))
    order[first], order[second] = second, first
    return relay.transpose(op[0], order)


@converts("expand_dims", "_npi_expand_dims")
def expand_dims(op: Operation) -> Results:
    return relay.expand_dims(op[0], op.attrs.int("axis"))


@converts("squeeze", "_np_squeeze", "_npi_squeeze")
def squeeze(op: Operation) -> Results:
    axes = op.attrs.ints("axis", ())
    return relay.squeeze(op[0], list(axes) or None)


@converts("Concat", "concat", "_rnn_param_concat", "_npi_concatenate")
def concatenate(op: Operation) -> Results:
    default = 0 if op.node.op == "_npi_concatenate" else 1
    return relay.concatenate(op.inputs, op.attrs.int("dim", op.attrs.int("axis", default)))


@converts("stack", "_npi_stack")
def stack(op: Operation) -> Results:
    return relay.stack(op.inputs, op.attrs.int("axis", 0))


@converts("SliceChannel", "split")
def split(op: Operation) -> Results:
    return _split(op, op.attrs.int("num_outputs"), op.attrs.int("axis", 1))


@converts("_split_v2", "_npi_split", "_npi_hsplit")
def split_at(op: Operation) -> Results:
    sections = op.attrs.int("sections", 0)
    indices = op.attrs.ints("indices", ())
    where: int | tuple[int, ...] = sections or indices[1:]
    return _split(op, where, op.attrs.int("axis", 0))


def _split(op: Operation, where: int | tuple[int, ...], axis: int) -> list[Expr]:
    if where == 1 or where == ():
        parts = [op[0]]
    else:
        parts = list(relay.split(op[0], where, axis))
    if op.attrs.bool("squeeze_axis", False):
        parts = [relay.squeeze(part, [axis]) for part in parts]
    return parts


@converts("tile", "_npi_tile")
def tile(op: Operation) -> Results:
    return relay.tile(op[0], op.attrs.ints("reps"))


@converts("repeat", "_np_repeat", "_npi_repeats")
def repeat(op: Operation) -> Results:
    axis = op.attrs.optional_int("axis")
    x = op[0] if axis is not None else relay.reshape(op[0], (-1,))
    return relay.repeat(x, op.attrs.int("repeats"), axis or 0)


@converts("reverse", "flip", "_npi_flip")
def reverse(op: Operation) -> Results:
    result = op[0]
    for axis in op.attrs.ints("axis"):
        result = relay.reverse(result, op.axis(axis))
    return result


@converts("broadcast_to", "_np_broadcast_to", "_npi_broadcast_to")
def broadcast_to(op: Operation) -> Results:
    """Broadcast; an extent of 0 keeps the input's."""
    target = op.attrs.ints("shape")
    shape = op.shape()
    shape = (1,) * (len(target) - len(shape)) + tuple(shape)
    return _broadcast(op, op[0], [own if extent == 0 else extent for extent, own in zip(target, shape)])


def _broadcast(op: Operation, x: Expr, shape: Sequence[Dim]) -> Expr:
    extents = [extent for extent in shape if isinstance(extent, int)]
    if len(extents) != len(shape):
        if tuple(op.context.shape(x)) == tuple(shape):
            return x
        raise DynamicShapeError(
            f"broadcasting requires that the new shape is known at compile time, but it is {tuple(shape)}"
        )
    return relay.broadcast_to(x, extents)


@converts("broadcast_axis", "broadcast_axes")
def broadcast_axis(op: Operation) -> Results:
    axes, sizes = op.attrs.ints("axis", ()), op.attrs.ints("size", ())
    shape = list(op.shape())
    for axis, size in zip(axes, sizes, strict=True):
        shape[op.axis(axis)] = size
    return _broadcast(op, op[0], shape)


@converts("broadcast_like")
def broadcast_like(op: Operation) -> Results:
    axes, others = op.attrs.ints("lhs_axes", ()), op.attrs.ints("rhs_axes", ())
    if not axes and not others:
        return relay.broadcast_to_like(op[0], op[1])
    shape, other = list(op.shape(0)), op.shape(1)
    for axis, other_axis in zip(axes, others, strict=True):
        shape[op.axis(axis)] = other[other_axis]
    return _broadcast(op, op[0], shape)


def sliced(op: Operation, axis: int, begin: int | None, end: int | None, step: int = 1) -> Expr:
    """Slice one axis as Python does."""
    return _sliced(op, op[0], [(axis, slice(begin, end, step))])


def _sliced(op: Operation, x: Expr, slices: Sequence[tuple[int, slice]]) -> Expr:
    """Slice axes of `x` as Python does; others stay as they are."""
    begins: list[int] = []
    ends: list[int] = []
    steps: list[int] = []
    axes: list[int] = []
    for axis, part in slices:
        if part in (slice(None), slice(None, None, 1), slice(0, None, 1)):
            continue
        extent = op.context.shape(x)[axis]
        if isinstance(extent, int):
            begin, end, step = part.indices(extent)
            end = -extent - 1 if step < 0 and end < 0 else end
        else:
            step = 1 if part.step is None else part.step
            if step < 0:
                raise DynamicShapeError(f"a slice of axis {axis} with a negative step needs a static extent")
            begin, end = part.start or 0, (1 << 31) - 1 if part.stop is None else part.stop
        begins, ends, steps, axes = [*begins, begin], [*ends, end], [*steps, step], [*axes, axis]
    return relay.strided_slice(x, begins, ends, steps, axes=axes) if axes else x


@converts("slice", "_npx_slice", "crop", "_npi_slice")
def slice_(op: Operation) -> Results:
    begin, end = op.attrs.optional_ints("begin"), op.attrs.optional_ints("end")
    step = op.attrs.optional_ints("step") if op.attrs.has("step") else ()
    steps = [value or 1 for value in step] or [1] * len(begin)
    return _sliced(op, op[0], [(axis, slice(*part)) for axis, part in enumerate(zip(begin, end, steps))])


@converts("slice_axis")
def slice_axis(op: Operation) -> Results:
    axis = op.axis(op.attrs.int("axis"))
    return sliced(op, axis, op.attrs.int("begin"), op.attrs.optional_int("end"))


@converts("slice_like")
def slice_like(op: Operation) -> Results:
    return relay.slice_like(op[0], op[1], op.attrs.ints("axes", ()) or None)


@converts("Crop")
def crop(op: Operation) -> Results:
    """Cut a window out of images, of the size of a second input or of `h_w`."""
    height, width = op.extent(0, 2), op.extent(0, 3)
    if op.attrs.int("num_args", 1) == 2:
        rows, columns = op.extent(1, 2), op.extent(1, 3)
    else:
        rows, columns = op.attrs.ints("h_w")
    top, left = op.attrs.ints("offset", (0, 0))
    if (top, left) == (0, 0) and len(op) == 2 and not op.attrs.bool("center_crop", False):
        return relay.slice_like(op[0], op[1], (2, 3))
    if op.attrs.bool("center_crop", False):
        top, left = (height - rows) // 2, (width - columns) // 2
    return _sliced(op, op[0], [(2, slice(top, top + rows)), (3, slice(left, left + columns))])


@converts("Pad", "pad", "_npi_pad")
def pad(op: Operation) -> Results:
    mode = op.attrs.text("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise RelayError(f"Pad with mode={mode!r} is not supported")
    flat = op.attrs.ints("pad_width")
    if len(flat) != 2 * op.rank():
        raise RelayError(
            f"pad_width must have {2 * op.rank()} elements for {op.rank()} axes, not {len(flat)}"
        )
    widths = [flat[index : index + 2] for index in range(0, len(flat), 2)]
    value = op.attrs.float("constant_value", op.attrs.float("constant_values", 0.0))
    return relay.nn.pad(op[0], widths, value, mode)


@converts("depth_to_space")
def depth_to_space(op: Operation) -> Results:
    return relay.nn.depth_to_space(op[0], op.attrs.int("block_size"))


@converts("space_to_depth")
def space_to_depth(op: Operation) -> Results:
    return relay.nn.space_to_depth(op[0], op.attrs.int("block_size"))


@converts("shape_array")
def shape_array(op: Operation) -> Results:
    op.importer.kept.update(free_vars(op[0]))
    return relay.shape_of(op[0], dtype="int64")


@converts("size_array")
def size_array(op: Operation) -> Results:
    op.importer.kept.update(free_vars(op[0]))
    return relay.reshape(relay.ndarray_size(op[0], dtype="int64"), (1,))


@converts("where", "_npi_where")
def where(op: Operation) -> Results:
    """Choose by a condition; one with a single axis chooses whole rows."""
    condition = op[0]
    if op.dtype(0) != "bool":
        condition = relay.not_equal(condition, relay.zeros_like(condition))
    if op.rank(0) == 1 and op.rank(1) > 1 and op.node.op == "where":
        condition = relay.expand_dims(condition, 1, op.rank(1) - 1)
    return relay.where(condition, op[1], op[2])


@converts("_npi_where_lscalar", "_npi_where_rscalar")
def where_scalar(op: Operation) -> Results:
    condition = op[0]
    if op.dtype(0) != "bool":
        condition = relay.not_equal(condition, relay.zeros_like(condition))
    value = op.attrs.float("scalar")
    scalar = const(value if "float" in op.dtype(1) else int(value), op.dtype(1))
    left = op.node.op == "_npi_where_lscalar"
    return relay.where(condition, scalar, op[1]) if left else relay.where(condition, op[1], scalar)


@converts("_unravel_index", "unravel_index")
def unravel_index(op: Operation) -> Results:
    """Return the coordinates of indices into a flat tensor, for each axis of its shape."""
    flat = relay.reshape(op[0], (-1,))
    shape = const(list(op.attrs.ints("shape")), op.dtype())
    coordinates = relay.unravel_index(flat, shape)
    return to_shape(coordinates, (len(op.attrs.ints("shape")), *op.shape()))


@converts("diag")
def diag(op: Operation) -> Results:
    """Return the diagonal of a matrix."""
    import numpy

    if op.rank() != 2:
        raise RelayError(f"`diag` is supported for matrices, not for tensors with {op.rank()} axes")
    offset = op.attrs.int("k", 0)
    rows, columns = op.static_shape()
    index = numpy.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
    flat = (index - min(offset, 0)) * columns + index + max(offset, 0)
    return relay.take(relay.reshape(op[0], (-1,)), const(flat.astype("int32")), 0)
