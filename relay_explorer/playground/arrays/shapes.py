"""Arrays made of nothing, of parts of others, and of others in another order."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from .core import Array, Shape, asarray, broadcast, counted, expanded, function, functions, offsets, strides
from .dtypes import FLOAT64, INT64, Number, dtype, promoted
from .errors import NotHereError


def _shape(shape: Any) -> Shape:
    if isinstance(shape, (tuple, list, range, Array)) and not (isinstance(shape, Array) and not shape.shape):
        return tuple(int(n) for n in shape)
    return (int(shape),)


def _like(name: str, value: Number) -> None:
    def made(shape: Any, dtype: object = float, **keywords: Any) -> Array:
        return full(shape, value, dtype)

    def like(a: Any, dtype: object = None, **keywords: Any) -> Array:
        x = asarray(a)
        return full(x.shape, value, dtype or x.dtype)

    made.__name__, like.__name__ = name, f"{name}_like"
    function(made)
    function(like)


@function
def full(shape: Any, value: Any, dtype: object = None, **keywords: Any) -> Array:
    from .dtypes import dtype as named

    filling = asarray(value)
    own = filling.dtype if dtype is None else named(dtype)
    extents = _shape(shape)
    counted(extents)
    return Array(extents, own, own.rounded(expanded(filling, extents)))


@function
def full_like(a: Any, value: Any, dtype: object = None, **keywords: Any) -> Array:
    x = asarray(a)
    return full(x.shape, value, dtype or x.dtype)


_like("zeros", 0)
_like("empty", 0)
_like("ones", 1)


@function
def array(value: Any, dtype: object = None, **keywords: Any) -> Array:
    return asarray(value, dtype).copy()


@function
def ascontiguousarray(value: Any, dtype: object = None) -> Array:
    x = asarray(value, dtype)
    return x if x.shape else x.reshape(1)


@function
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: object = None) -> Array:
    if stop is None:
        start, stop = 0, start
    start, stop, step = (one.item() if isinstance(one, Array) else one for one in (start, stop, step))
    if step == 0:
        raise ZeroDivisionError("the step is zero")
    count = max(0, math.ceil((stop - start) / step))
    counted((count,))
    values = [start + i * step for i in range(count)]
    own = asarray([start, stop, step]).dtype
    return Array((count,), own, own.rounded(values)).astype(dtype or own)


@function
def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: object = None) -> Array:
    gaps = num - 1 if endpoint else num
    values = [start + (stop - start) * i / gaps if gaps else float(start) for i in range(num)]
    return Array((num,), FLOAT64, values).astype(dtype or FLOAT64)


@function
def eye(n: int, m: int | None = None, k: int = 0, dtype: object = float) -> Array:
    columns = n if m is None else m
    return asarray([[int(j - i == k) for j in range(columns)] for i in range(n)], dtype)


@function
def frombuffer(data: Any, dtype: object = float, **keywords: Any) -> Array:
    from .dtypes import dtype as named

    own = named(dtype)
    raw = bytes(data)
    count = len(raw) // own.itemsize
    counted((count,))
    return Array((count,), own, list(struct.unpack(f"<{count}{own.code}", raw[: count * own.itemsize])))


@function
def fromiter(values: Any, dtype: object = float, count: int = -1) -> Array:
    return asarray([one.item() if isinstance(one, Array) else one for one in values], dtype)


# -- another order of the axes


@function
def transpose(a: Any, *axes: Any) -> Array:
    x = asarray(a)
    order = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
    order = [int(i) % x.ndim for i in order] if order else list(range(x.ndim))[::-1]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes {tuple(order)} do not match an array of dimension {x.ndim}")
    steps = strides(x.shape)
    shape = tuple(x.shape[i] for i in order)
    places = offsets([[k * steps[i] for k in range(x.shape[i])] for i in order])
    return Array(shape, x.dtype, [x.values[p] for p in places])


@function
def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    x = asarray(a)
    sources = [i % x.ndim for i in _shape(source)]
    targets = [i % x.ndim for i in _shape(destination)]
    order = [i for i in range(x.ndim) if i not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return transpose(x, order) if x.ndim else x


@function
def swapaxes(a: Any, first: int, second: int) -> Array:
    x = asarray(a)
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return transpose(x, order)


@function
def reshape(a: Any, shape: Any, **keywords: Any) -> Array:
    return asarray(a).reshape(_shape(shape))


@function
def ravel(a: Any) -> Array:
    return asarray(a).ravel()


@function
def squeeze(a: Any, axis: Any = None) -> Array:
    x = asarray(a)
    axes = (
        [i for i, n in enumerate(x.shape) if n == 1] if axis is None else [i % x.ndim for i in _shape(axis)]
    )
    if any(x.shape[i] != 1 for i in axes):
        raise ValueError("cannot squeeze an axis whose size is not one")
    return x.reshape(tuple(n for i, n in enumerate(x.shape) if i not in axes))


@function
def expand_dims(a: Any, axis: Any) -> Array:
    x = asarray(a)
    axes = _shape(axis)
    ndim = x.ndim + len(axes)
    new = {i % ndim for i in axes}
    rest = iter(x.shape)
    return x.reshape(tuple(1 if i in new else next(rest) for i in range(ndim)))


@function
def broadcast_to(a: Any, shape: Any, **keywords: Any) -> Array:
    x, extents = asarray(a), _shape(shape)
    counted(extents)
    return Array(extents, x.dtype, list(expanded(x, extents)))


@function
def broadcast_arrays(*arrays: Any) -> list[Array]:
    every = [asarray(a) for a in arrays]
    shape = broadcast(*[a.shape for a in every])
    return [broadcast_to(a, shape) for a in every]


@function
def broadcast_shapes(*shapes: Any) -> Shape:
    return broadcast(*[_shape(shape) for shape in shapes])


# -- parts


@function
def concatenate(arrays: Sequence[Any], axis: int | None = 0, **keywords: Any) -> Array:
    every = [asarray(a) for a in arrays]
    if axis is None:
        every, axis = [a.ravel() for a in every], 0
    own = every[0].dtype
    for a in every[1:]:
        own = promoted(own, a.dtype)
    moved = [moveaxis(a, axis, 0) for a in every]
    if len({a.shape[1:] for a in moved}) != 1:
        raise ValueError("arrays that are concatenated must agree in their other axes")
    values = [v for a in moved for v in own.rounded(a.values)]
    whole = Array((sum(a.shape[0] for a in moved), *moved[0].shape[1:]), own, values)
    return moveaxis(whole, 0, axis)


@function
def stack(arrays: Sequence[Any], axis: int = 0, **keywords: Any) -> Array:
    every = [asarray(a) for a in arrays]
    return concatenate([expand_dims(a, axis) for a in every], axis)


@function
def split(a: Any, parts: Any, axis: int = 0) -> list[Array]:
    x = moveaxis(asarray(a), axis, 0)
    length = x.shape[0]
    if isinstance(parts, int):
        if length % parts:
            raise ValueError("array split does not result in an equal division")
        edges = list(range(length // parts, length, length // parts))
    else:
        edges = [int(e) for e in parts]
    starts, ends = [0, *edges], [*edges, length]
    return [moveaxis(x[s:e], 0, axis) for s, e in zip(starts, ends)]


@function
def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise", **keywords: Any) -> Array:
    x, index = asarray(a), asarray(indices)
    if axis is None:
        x, axis = x.ravel(), 0
    extent = x.shape[axis]
    if mode == "clip":
        index = functions["clip"](index, 0, extent - 1)
    elif mode == "wrap":
        index = index % extent
    key = (*[slice(None)] * (axis % x.ndim), index)
    return x[key]


@function
def take_along_axis(a: Any, indices: Any, axis: int) -> Array:
    x, index = asarray(a), asarray(indices)
    key = list(functions["ogrid_of"](index.shape))
    key[axis] = index
    return x[tuple(key)]


@function
def ogrid_of(shape: Shape) -> list[Array]:
    """Return the indices along each axis, ready to be broadcast against each other."""
    return [
        Array(tuple(n if i == a else 1 for i in range(len(shape))), INT64, list(range(n)))
        for a, n in enumerate(shape)
    ]


@function
def nonzero(a: Any) -> tuple[Array, ...]:
    x = asarray(a)
    indices = [p for p, value in enumerate(x.values) if value]
    return tuple(
        Array((len(indices),), INT64, [p // step % n for p in indices])
        for n, step in zip(x.shape, strides(x.shape))
    )


@function
def flatnonzero(a: Any) -> Array:
    return nonzero(asarray(a).ravel())[0]


@function
def argwhere(a: Any) -> Array:
    x = asarray(a)
    places = nonzero(x)
    return stack(places, 1) if places else zeros_of(int(bool(x.item())))


def zeros_of(rows: int) -> Array:
    """Return an array of rows without columns."""
    return Array((rows, 0), INT64, [])


@function
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    x = asarray(a)
    if axis is None:
        x, axis = x.ravel(), 0
    times = expanded(asarray(repeats), (x.shape[axis],))
    return take(x, asarray([i for i, n in enumerate(times) for _ in range(n)], INT64), axis)


@function
def tile(a: Any, reps: Any) -> Array:
    x = asarray(a)
    times = _shape(reps)
    ndim = max(x.ndim, len(times))
    x = x.reshape((1,) * (ndim - x.ndim) + x.shape)
    times = (1,) * (ndim - len(times)) + times
    for axis, count in enumerate(times):
        if count != 1:
            x = take(x, asarray(list(range(x.shape[axis])) * count, INT64), axis)
    return x


@function
def flip(a: Any, axis: Any = None) -> Array:
    x = asarray(a)
    axes = range(x.ndim) if axis is None else [i % x.ndim for i in _shape(axis)]
    return x[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim))]


@function
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    x = asarray(a)
    if axis is None:
        return roll(x.ravel(), shift, 0).reshape(x.shape)
    for one, by in zip(_shape(axis), _shape(shift)):
        n = x.shape[one]
        x = take(x, asarray([(i - by) % n for i in range(n)], INT64), one)
    return x


@function
def pad(a: Any, widths: Any, mode: str = "constant", constant_values: Any = 0, **keywords: Any) -> Array:
    x = asarray(a)
    pairs = [tuple(int(n) for n in pair) for pair in broadcast_to(asarray(widths), (x.ndim, 2)).tolist()]
    if mode != "constant":
        for axis, (before, after) in enumerate(pairs):
            n = x.shape[axis]
            wanted = range(-before, n + after)
            if mode == "edge":
                places = [min(max(i, 0), n - 1) for i in wanted]
            elif mode == "reflect":
                period = 2 * (n - 1) or 1
                places = [min(i % period, period - i % period) for i in wanted]
            elif mode == "symmetric":
                places = [min(i % (2 * n), 2 * n - 1 - i % (2 * n)) for i in wanted]
            else:
                raise NotHereError(f"`numpy.pad` in the mode {mode!r}")
            x = take(x, asarray(places, INT64), axis)
        return x
    shape = tuple(n + before + after for n, (before, after) in zip(x.shape, pairs))
    result = full(shape, asarray(constant_values).item(), x.dtype)
    result[tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, pairs))] = x
    return result


@function
def triu(a: Any, k: int = 0) -> Array:
    x = asarray(a)
    rows, columns = ogrid_of(x.shape[-2:])
    result: Array = functions["where"](columns - rows >= k, x, full((), 0, x.dtype))
    return result


@function
def tril(a: Any, k: int = 0) -> Array:
    x = asarray(a)
    rows, columns = ogrid_of(x.shape[-2:])
    result: Array = functions["where"](columns - rows <= k, x, full((), 0, x.dtype))
    return result


@function
def diff(a: Any, axis: int = -1) -> Array:
    x = moveaxis(asarray(a), axis, 0)
    return moveaxis(x[1:] - x[:-1], 0, axis)


@function
def sliding_window_view(a: Any, window: Any, axis: Any = None, **keywords: Any) -> Array:
    x, sizes = asarray(a), _shape(window)
    axes = list(range(x.ndim)) if axis is None else [i % x.ndim for i in _shape(axis)]
    steps = strides(x.shape)
    lead = list(x.shape)
    for i, size in zip(axes, sizes):
        lead[i] -= size - 1
        if lead[i] < 0:
            raise ValueError("window shape cannot be larger than input array shape")
    shape = (*lead, *sizes)
    counted(shape)
    ranges = [(n, s) for n, s in zip(lead, steps)] + [(n, steps[i]) for n, i in zip(sizes, axes)]
    return Array(
        shape, x.dtype, [x.values[p] for p in offsets([[k * s for k in range(n)] for n, s in ranges])]
    )


@function
def resize(a: Any, shape: Any) -> Array:
    x, extents = asarray(a), _shape(shape)
    count = counted(extents)
    return Array(extents, x.dtype, [x.values[i % x.size] for i in range(count)])


@function
def unique(a: Any, **keywords: Any) -> Array:
    if any(keywords.values()):
        raise NotHereError("the options of `numpy.unique`")
    x = asarray(a)
    values = sorted(set(x.values))
    return Array((len(values),), x.dtype, values)


@function
def shape_(a: Any) -> Shape:
    return asarray(a).shape


@function
def ndim_(a: Any) -> int:
    return asarray(a).ndim


@function
def copy_(a: Any) -> Array:
    return asarray(a).copy()


@function
def result_type(*types: Any) -> Any:
    own = dtype(types[0])
    for one in types[1:]:
        own = promoted(own, dtype(one))
    return own


@function
def may_share_memory(a: Any, b: Any) -> bool:
    return isinstance(a, Array) and isinstance(b, Array) and a.values is b.values
