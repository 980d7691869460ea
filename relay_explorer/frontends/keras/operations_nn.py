"""Converters of `keras.ops` in functional models: shapes, products, reductions and normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.products import matmul
from .call import Call, Results, Value, layer
from .operations import argument, first_argument, operand, result_dtype

_END = 2**31 - 1

_REDUCTIONS: dict[str, Callable[..., Expr]] = {
    "Sum": relay.sum, "Mean": relay.mean, "Max": relay.max, "Min": relay.min, "Amax": relay.max,
    "Amin": relay.min, "Prod": relay.prod, "All": relay.all, "Any": relay.any, "Var": relay.variance,
    "Std": relay.std, "Logsumexp": relay.logsumexp,
}  # fmt: skip


def _axes(axis: Any) -> list[int] | None:
    if axis is None:
        return None
    return [int(a) for a in axis] if isinstance(axis, (list, tuple)) else [int(axis)]


@layer(*[f"ops.{name}" for name in _REDUCTIONS])
def _reduction(call: Call) -> Results:
    name = call.kind[4:]
    x = operand(call, first_argument(call))
    dtype = "bool" if name in ("All", "Any") else result_dtype(call)
    if call.context.dtype(x) != dtype:
        x = relay.cast(x, dtype)
    if argument(call, "initial") is not None:
        raise RelayError(f"keras.ops.{name.lower()} with an initial value cannot be imported")
    return _REDUCTIONS[name](
        x, _axes(argument(call, "axis")), keepdims=bool(argument(call, "keepdims", False))
    )


@layer("ops.Argmax", "ops.Argmin")
def _position(call: Call) -> Results:
    find = relay.argmax if call.kind == "ops.Argmax" else relay.argmin
    x = operand(call, first_argument(call))
    axis, keeps = argument(call, "axis"), bool(argument(call, "keepdims", False))
    if axis is None:
        x, axis = relay.reshape(x, (-1,)), 0
    return relay.cast(find(x, int(axis), keepdims=keeps), result_dtype(call))


@layer("ops.Cumsum", "ops.Cumprod")
def _running(call: Call) -> Results:
    dtype = result_dtype(call)
    axis = argument(call, "axis")
    build = relay.cumsum if call.kind == "ops.Cumsum" else relay.cumprod
    return build(operand(call, first_argument(call), dtype), None if axis is None else int(axis))


@layer("ops.Matmul")
def _matmul(call: Call) -> Results:
    a, b = list(call.arguments.values())[:2]
    dtype = result_dtype(call)
    return matmul(call.context, operand(call, a, dtype), operand(call, b, dtype))


@layer("ops.Einsum")
def _einsum(call: Call) -> Results:
    dtype = result_dtype(call)
    argument_value = call.arguments.get("operands", ())
    return relay.einsum(
        [operand(call, value, dtype) for value in argument_value], str(argument(call, "subscripts"))
    )


@layer("ops.Dot")
def _dot(call: Call) -> Results:
    a, b = (operand(call, value, result_dtype(call)) for value in list(call.arguments.values())[:2])
    if call.context.rank(b) > 2:
        raise RelayError("keras.ops.dot with a second operand of more than two axes cannot be imported")
    return matmul(call.context, a, b)


@layer("ops.Reshape")
def _reshape(call: Call) -> Results:
    x = operand(call, first_argument(call))
    argument_value = argument(call, "newshape")
    sizes = [argument_value] if isinstance(argument_value, int) else list(argument_value)
    wanted: list[int] = []
    for size in sizes:
        if size is not None and not isinstance(size, int):
            raise RelayError("keras.ops.reshape to a shape that the model computes cannot be imported")
        wanted.append(-1 if size is None else size)
    batch = call.step.outputs[0].shape[0] if len(call.step.outputs[0].shape) else 1
    extent = call.context.shape(x)[0] if call.context.rank(x) else 1
    if batch is None and wanted.count(-1) > 1 and isinstance(extent, int):
        wanted[0] = extent
    return relay.reshape(x, tuple(wanted))


@layer("ops.Transpose")
def _transpose(call: Call) -> Results:
    axes = argument(call, "axes")
    return relay.transpose(
        operand(call, first_argument(call)), None if axes is None else [int(a) for a in axes]
    )


@layer("ops.Swapaxes")
def _swapaxes(call: Call) -> Results:
    x = operand(call, first_argument(call))
    rank = call.context.rank(x)
    order = list(range(rank))
    a, b = int(argument(call, "axis1")) % rank, int(argument(call, "axis2")) % rank
    order[a], order[b] = b, a
    return relay.transpose(x, order)


@layer("ops.Moveaxis")
def _moveaxis(call: Call) -> Results:
    x = operand(call, first_argument(call))
    rank = call.context.rank(x)
    source = [axis % rank for axis in _axes(argument(call, "source")) or []]
    target = [axis % rank for axis in _axes(argument(call, "destination")) or []]
    order = [axis for axis in range(rank) if axis not in source]
    for place, axis in sorted(zip(target, source)):
        order.insert(place, axis)
    return relay.transpose(x, order)


@layer("ops.ExpandDims")
def _expand_dims(call: Call) -> Results:
    x = operand(call, first_argument(call))
    for axis in _axes(argument(call, "axis")) or []:
        x = relay.expand_dims(x, axis)
        call.context.type(x)
    return x


@layer("ops.Squeeze")
def _squeeze(call: Call) -> Results:
    return relay.squeeze(operand(call, first_argument(call)), _axes(argument(call, "axis")))


@layer("ops.Flip")
def _flip(call: Call) -> Results:
    x = operand(call, first_argument(call))
    axes = _axes(argument(call, "axis"))
    for axis in range(call.context.rank(x)) if axes is None else axes:
        x = relay.reverse(x, axis)
    return x


@layer("ops.Concatenate", "ops.Stack")
def _joined(call: Call) -> Results:
    dtype = result_dtype(call)
    parts = [operand(call, part, dtype) for part in first_argument(call)]
    build = relay.concatenate if call.kind == "ops.Concatenate" else relay.stack
    return build(parts, int(argument(call, "axis", 0)))


@layer("ops.Split")
def _split(call: Call) -> Results:
    x = operand(call, first_argument(call))
    where = argument(call, "indices_or_sections")
    if len(call.step.outputs) == 1:
        return x
    sections = int(where) if isinstance(where, int) else [int(index) for index in where]
    return list(relay.split(x, sections, int(argument(call, "axis", 0))))


@layer("ops.Repeat")
def _repeat(call: Call) -> Results:
    repeats, axis = argument(call, "repeats"), argument(call, "axis")
    x = operand(call, first_argument(call))
    if not isinstance(repeats, int):
        raise RelayError("keras.ops.repeat with repeats that are not an integer cannot be imported")
    return relay.repeat(
        relay.reshape(x, (-1,)) if axis is None else x, repeats, 0 if axis is None else int(axis)
    )


@layer("ops.Tile")
def _tile(call: Call) -> Results:
    repeats = argument(call, "repeats")
    return relay.tile(
        operand(call, first_argument(call)), [repeats] if isinstance(repeats, int) else list(repeats)
    )


@layer("ops.BroadcastTo")
def _broadcast_to(call: Call) -> Results:
    shape = [1 if size is None else int(size) for size in argument(call, "shape")]
    return relay.broadcast_to(operand(call, first_argument(call)), shape)


@layer("ops.Pad")
def _pad(call: Call) -> Results:
    x = operand(call, first_argument(call))
    widths = _widths(argument(call, "pad_width"), call.context.rank(x))
    mode = str(argument(call, "mode", "constant"))
    if mode in ("reflect", "symmetric"):
        return relay.nn.mirror_pad(x, widths, mode.upper())
    if mode != "constant":
        raise RelayError(f"keras.ops.pad with the mode {mode!r} cannot be imported")
    value = call.arguments.get("constant_values")
    return relay.nn.pad(x, widths, 0.0 if value is None else operand(call, value, call.context.dtype(x)))


def _widths(argument_value: Any, rank: int) -> list[tuple[int, int]]:
    if isinstance(argument_value, int):
        return [(argument_value, argument_value)] * rank
    if len(argument_value) == 2 and all(isinstance(size, int) for size in argument_value):
        return [(int(argument_value[0]), int(argument_value[1]))] * rank
    pairs = [(int(before), int(after)) for before, after in argument_value]
    return pairs * rank if len(pairs) == 1 else pairs


@layer("ops.Take")
def _take(call: Call) -> Results:
    x, indices = operand(call, argument(call, "x")), operand(call, argument(call, "indices"))
    axis = argument(call, "axis")
    if axis is None:
        x, axis = relay.reshape(x, (-1,)), 0
    if not isinstance(argument(call, "indices"), Value):
        extent = call.context.shape(x)[int(axis)]
        values = call.context.constant(indices)
        if isinstance(extent, int) and values is not None:  # Relay clamps, Keras counts from the end
            from ...ir.expr import const

            indices = const(values % extent if extent else values)
    return relay.take(x, indices, int(axis))


@layer("ops.GetItem")
def _get_item(call: Call) -> Results:
    """Index a tensor as NumPy does, by numbers, slices, None and the ellipsis."""
    x, key = operand(call, argument(call, "x")), argument(call, "key")
    keys = list(key) if isinstance(key, tuple) else [key]
    rank = call.context.rank(x)
    counted = [part for part in keys if part is not None and part is not Ellipsis]
    if Ellipsis not in keys:
        keys.append(Ellipsis)
    place = keys.index(Ellipsis)
    keys[place : place + 1] = [slice(None)] * (rank - len(counted))
    begins, ends, steps, axes, dropped, added = _bounds(call, x, keys)
    if axes:
        x = relay.strided_slice(x, begins, ends, steps, axes)
    if dropped:
        x = relay.squeeze(x, dropped)
    for position in added:
        x = relay.expand_dims(x, position)
    return x


def _bounds(call: Call, x: Expr, keys: Sequence[Any]) -> tuple[list[int], ...]:
    """Return the bounds of the slices, their steps and axes, the axes that go, and those that come."""
    begins: list[int] = []
    ends: list[int] = []
    steps: list[int] = []
    axes: list[int] = []
    dropped: list[int] = []
    added: list[int] = []
    axis = position = 0
    for key in keys:
        if key is None:
            added.append(position)
            position += 1
            continue
        if isinstance(key, int):
            begins.append(key)
            ends.append(key + 1 if key != -1 else _END)
            steps.append(1)
            axes.append(axis)
            dropped.append(axis)
        elif isinstance(key, slice):
            step = 1 if key.step is None else int(key.step)
            if key != slice(None):
                begins.append((0 if step > 0 else _END) if key.start is None else int(key.start))
                ends.append((_END if step > 0 else -_END) if key.stop is None else int(key.stop))
                steps.append(step)
                axes.append(axis)
            position += 1
        else:
            raise RelayError(f"indexing by {type(key).__name__} cannot be imported")
        axis += 1
    return begins, ends, steps, axes, dropped, added


@layer("ops.Softmax", "ops.LogSoftmax")
def _softmax(call: Call) -> Results:
    build = relay.nn.softmax if call.kind == "ops.Softmax" else relay.nn.log_softmax
    axis = argument(call, "axis", -1)
    x = operand(call, first_argument(call), result_dtype(call))
    if axis is None or isinstance(axis, (list, tuple)):
        raise RelayError("a softmax over several axes cannot be imported", help=["use the layer Softmax"])
    return build(x, int(axis))


@layer("ops.Normalize")
def _normalize(call: Call) -> Results:
    from ...ir.expr import const

    dtype = result_dtype(call)
    if argument(call, "order", 2) != 2:
        raise RelayError("keras.ops.normalize can be imported only with order=2")
    x = operand(call, first_argument(call), dtype)
    axes = _axes(argument(call, "axis", -1))
    norm = relay.sqrt(relay.sum(relay.multiply(x, x), axes, keepdims=True))
    return relay.divide(x, relay.maximum(norm, const(float(argument(call, "epsilon") or 1e-7), dtype)))


@layer("ops.OneHot")
def _one_hot(call: Call) -> Results:
    from ...ir.expr import const

    dtype = result_dtype(call)
    indices = relay.cast(operand(call, first_argument(call)), "int32")
    return relay.one_hot(
        indices, const(1, dtype), const(0, dtype), int(argument(call, "num_classes")),
        int(argument(call, "axis", -1)), dtype,
    )  # fmt: skip


@layer("ops.TopK")
def _top_k(call: Call) -> Results:
    pair = relay.topk(operand(call, first_argument(call)), int(argument(call, "k")))
    assert not isinstance(pair, Expr)
    return list(pair)


@layer("ops.Ravel")
def _ravel(call: Call) -> Results:
    return relay.reshape(operand(call, first_argument(call)), (-1,))
