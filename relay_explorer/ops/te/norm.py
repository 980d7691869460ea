"""Normalizations, and dropout, as in inference.

Sums are kept in float32, in float64 for float64 and integers; Relay's meaning in NumPy adds all up in
float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .library import te, tirx
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    number,
    product,
    quotient,
    real_type,
    reduce_axes,
    stage,
    sum_over,
)


def _affine(attrs: Any, y: Value, gamma: Value, beta: Value, dtype: str) -> Value:
    """`y` scaled and shifted, as far as the attributes say."""
    real = dtype_of(y)
    if attrs.scale:
        y = y * cast(gamma, real)
    if attrs.center:
        y = y + cast(beta, real)
    return cast(y, dtype)


def batch_norm(call: Lowered) -> list[Tensor]:
    """The moving mean and variance are used, and given back as they are."""
    x, gamma, beta, mean, variance = call.inputs
    attrs, dtype = call.attrs, dtype_of(x)
    axis, real = attrs.axis % len(x.shape), real_type(dtype)

    def value(*i: Value) -> Value:
        c = i[axis]
        spread = te.sqrt(cast(variance(c), real) + number(attrs.epsilon, real))
        return _affine(attrs, (cast(x(*i), real) - cast(mean(c), real)) / spread, gamma(c), beta(c), dtype)

    return [stage(x.shape, value, call.name), mean, variance]


def _normalized(
    call: Lowered,
    shape: Sequence[Any],
    folded: Sequence[Any],
    read: Callable[..., Value],
    row: Callable[[Sequence[Value]], list[Value]],
    axis: int,
) -> list[Tensor]:
    """`x` less its mean, by its standard deviation, scaled and shifted along `axis`.

    `shape` is that of the means, `folded` the extents that they are over, `read(*mean's index, *folded)` the
    element there, and `row` the index of the mean for an index of the data.
    """
    x, gamma, beta = call.inputs
    dtype = dtype_of(x)
    real = real_type(dtype)
    count = product(folded)
    many = number(max(count, 1), real) if isinstance(count, int) else cast(tirx.max(count, 1), real)
    k, m = reduce_axes(folded), reduce_axes(folded, "m")
    total = stage(shape, lambda *i: sum_over(cast(read(*i, *k), real), k), f"{call.name}_sum")

    def square(*i: Value) -> Value:
        apart = cast(read(*i, *m), real) - total(*i) / many
        return sum_over(apart * apart, m)

    squares = stage(shape, square, f"{call.name}_squares")

    def value(*i: Value) -> Value:
        at, c = row(i), i[axis]
        spread = te.sqrt(squares(*at) / many + number(call.attrs.epsilon, real))
        apart = (cast(x(*i), real) - total(*at) / many) / spread
        return _affine(call.attrs, apart, gamma(c), beta(c), dtype)

    return [stage(x.shape, value, call.name)]


def _over(call: Lowered, folded: Sequence[int]) -> list[Tensor]:
    """Normalized over whole axes."""
    x = call.inputs[0]
    sizes, rank = dims(x), len(x.shape)
    kept = [axis for axis in range(rank) if axis not in folded]

    def read(*i: Value) -> Value:
        at = dict(zip([*kept, *folded], i, strict=True))
        return x(*[at[axis] for axis in range(rank)])

    axis = call.attrs.axis % rank
    extents = [sizes[a] for a in folded]
    return _normalized(call, [sizes[a] for a in kept], extents, read, lambda i: [i[a] for a in kept], axis)


def layer_norm(call: Lowered) -> list[Tensor]:
    return _over(call, [call.attrs.axis % len(call.inputs[0].shape)])


def instance_norm(call: Lowered) -> list[Tensor]:
    rank = len(call.inputs[0].shape)
    return _over(call, [axis for axis in range(1, rank) if axis != call.attrs.axis % rank])


def group_norm(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rank, sizes = len(x.shape), dims(x)
    axis = attrs.axis % rank
    batch, *space = [a for a in range(rank) if a != axis]
    each = quotient(sizes[axis], attrs.num_groups)

    def read(n: Value, g: Value, c: Value, *i: Value) -> Value:
        at = {batch: n, axis: g * each + c, **dict(zip(space, i, strict=True))}
        return x(*[at[a] for a in range(rank)])

    shape, folded = [sizes[batch], attrs.num_groups], [each, *[sizes[a] for a in space]]
    return _normalized(call, shape, folded, read, lambda i: [i[batch], i[axis] // each], axis)


def lrn(call: Lowered) -> list[Tensor]:
    """Neighbours beyond the first and the last channel count as 0."""
    x, attrs = call.inputs[0], call.attrs
    dtype = dtype_of(x)
    real, axis, channels = real_type(dtype), attrs.axis % len(x.shape), dims(x)[attrs.axis]
    (k,) = reduce_axes([attrs.size])

    def square(*i: Value) -> Value:
        at = i[axis] + k - attrs.size // 2
        here = cast(x(*i[:axis], at, *i[axis + 1 :]), real)
        return sum_over(guarded(every([at >= 0, at < channels]), here * here, number(0, real)), [k])

    squares = stage(x.shape, square, f"{call.name}_squares")

    def value(*i: Value) -> Value:
        scaled = number(attrs.bias, real) + number(attrs.alpha / attrs.size, real) * squares(*i)
        return cast(cast(x(*i), real) / te.power(scaled, number(attrs.beta, real)), dtype)

    return [stage(x.shape, value, call.name)]


def l2_normalize(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rank, dtype = len(x.shape), dtype_of(x)
    real, sizes = real_type(dtype), dims(x)
    named = range(rank) if attrs.axis is None else {axis % rank for axis in attrs.axis}
    folded = [axis for axis in range(rank) if axis in named]
    kept = [axis for axis in range(rank) if axis not in named]
    axes = dict(zip(folded, reduce_axes([sizes[axis] for axis in folded]), strict=True))

    def square(*i: Value) -> Value:
        at = {**axes, **dict(zip(kept, i, strict=True))}
        here = cast(x(*[at[axis] for axis in range(rank)]), real)
        return sum_over(here * here, list(axes.values()))

    squares = stage([sizes[axis] for axis in kept], square, f"{call.name}_squares")

    def value(*i: Value) -> Value:
        norm = te.sqrt(te.max(squares(*[i[axis] for axis in kept]), number(attrs.eps, real)))
        return cast(cast(x(*i), real) / norm, dtype)

    return [stage(x.shape, value, call.name)]


def dropout(call: Lowered) -> list[Tensor]:
    """Nothing is dropped when a program is run rather than trained; the mask is all ones."""
    x = call.inputs[0]
    return [x, stage(x.shape, lambda *i: number(1, dtype_of(x)), call.name)]
