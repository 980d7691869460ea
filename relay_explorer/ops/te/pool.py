"""Pools and their gradients, in any layout.

TOPI's maximum loses NaN, and its gradients know no dilation. What surrounds the data is a stage of its own,
and only where there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..nn.pool_adaptive import asked_sizes
from ..nn.pool_shape import spatial_places
from ..nn.sliding import sides
from .binary import whole_quotient
from .library import te, tirx
from .lowered import Lowered, Lowering
from .pad import padded
from .reduce import greatest, place_of
from .tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    is_float,
    known,
    least,
    narrowed,
    number,
    plain,
    product,
    quotient,
    reduce_axes,
    remainder,
    stage,
    sum_over,
    sum_type,
)

SPACE = ("W", "HW", "DHW")


class Pool:
    """The windows of one call over `x`: where its axes of space lie, and what the windows see of each."""

    def __init__(self, call: Lowered, x: Tensor) -> None:
        attrs = call.attrs
        self.call, self.x, self.attrs = call, x, attrs
        self.axes = spatial_places(attrs, SPACE[len(attrs.pool_size) - 1], len(x.shape))
        self.sizes = [dims(x)[axis] for axis in self.axes]
        self.pairs = sides(attrs.padding, len(self.axes))
        self.windows = list(zip(attrs.pool_size, attrs.strides, attrs.dilation, strict=True))
        self.counts = [
            self._places(dim, pair, window)
            for dim, pair, window in zip(self.sizes, self.pairs, self.windows, strict=True)
        ]
        self.around = {
            axis: (pair[0], self._after(dim, pair, window, count))
            for axis, dim, pair, window, count in zip(
                self.axes, self.sizes, self.pairs, self.windows, self.counts, strict=True
            )
        }

    def _places(self, dim: Any, pair: tuple[int, int], window: tuple[int, int, int]) -> Any:
        size, stride, step = window
        room = dim + (sum(pair) - step * (size - 1) - 1)
        return quotient(room + (stride - 1 if self.attrs.ceil_mode else 0), stride) + 1

    def _after(self, dim: Any, pair: tuple[int, int], window: tuple[int, int, int], count: Any) -> Any:
        """The padding after an axis, with what the last window sticks out in ceil_mode. Where the extent is
        not known it is as much as it can be.
        """
        size, stride, step = window
        if not self.attrs.ceil_mode:
            return pair[1]
        if not isinstance(dim, int):
            return pair[1] + stride - 1
        return pair[1] + max(0, (count - 1) * stride + step * (size - 1) + 1 - dim - sum(pair))

    def surrounded(self, value: Value) -> Tensor:
        """The data with `value` around it, as far as windows reach."""
        return padded(self.x, self.around, value, f"{self.call.name}_pad")

    def shape(self) -> list[Any]:
        """The shape of the pool."""
        found = list(dims(self.x))
        for axis, count in zip(self.axes, self.counts, strict=True):
            found[axis] = count
        return found

    def seen(self, i: Sequence[Value], within: Sequence[Value]) -> list[Value]:
        """The index, into the surrounded data, of the element `within` the window at `i`."""
        at = list(i)
        for axis, u, (_, stride, step) in zip(self.axes, within, self.windows, strict=True):
            place = at[axis] if stride == 1 else at[axis] * stride
            at[axis] = place + (u if step == 1 else u * step)
        return at

    def elements(self, i: Sequence[Value]) -> Value:
        """How many elements the mean of the window at `i` is over: never those beyond the padding."""
        counts = [
            self._inside(i[axis], dim, pair, window)
            for axis, dim, pair, window in zip(self.axes, self.sizes, self.pairs, self.windows, strict=True)
        ]
        total = product(counts)
        return max(total, 1) if isinstance(total, int) else tirx.max(total, 1)

    def _inside(self, at: Value, dim: Any, pair: tuple[int, int], window: tuple[int, int, int]) -> Any:
        """How many places of a window lie inside, along one axis."""
        (before, after), (size, stride, step) = pair, window
        whole = not self.attrs.ceil_mode and (self.attrs.count_include_pad or not (before or after))
        if whole:
            return size
        low, high = (-before, dim + after) if self.attrs.count_include_pad else (0, dim)
        start = at * stride - before
        first = tirx.max(te.floordiv(low - start + (step - 1), step), 0)
        last = tirx.min(te.floordiv(high - start + (step - 1), step), size)
        return tirx.max(last - first, 0)

    def under(self, q: Sequence[Value], visit: Callable[[list[Value], Sequence[Value]], Value]) -> Value:
        """The sum over all windows that the element at `q` of the data lies in: of `visit(window,
        within)`.
        """
        within = reduce_axes([size for size, _, _ in self.windows], "u")
        inside, window = [], list(q)
        for axis, u, (_, stride, step), count, (before, _) in zip(
            self.axes, within, self.windows, self.counts, self.pairs, strict=True
        ):
            offset = q[axis] + before - (u if step == 1 else u * step)
            window[axis] = quotient(offset, stride)
            inside += [offset >= 0, window[axis] < count]
            inside += [remainder(offset, stride) == 0] * (stride != 1)
        found = visit(window, within)
        return sum_over(guarded(every(inside), found, number(0, dtype_of(found))), within)


def lowest(dtype: str) -> Value:
    """The lowest finite number, which a maximum's padding is."""
    return number(False, "bool") if dtype == "bool" else tirx.min_value(dtype)


def maximum(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    pool = Pool(call, x)
    data = pool.surrounded(lowest(dtype_of(x)))
    within = reduce_axes([size for size, _, _ in pool.windows])
    return [stage(pool.shape(), lambda *i: greatest(data(*pool.seen(i, within)), within), call.name)]


def mean(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    pool, dtype = Pool(call, x), dtype_of(x)
    data = pool.surrounded(number(0, dtype))
    within = reduce_axes([size for size, _, _ in pool.windows])

    def window_sum(*i: Value) -> Value:
        return sum_over(cast(data(*pool.seen(i, within)), sum_type(dtype)), within)

    sums = stage(pool.shape(), window_sum, f"{call.name}_sum")
    return [stage(pool.shape(), lambda *i: share(sums(*i), pool.elements(i), dtype), call.name)]


def share(total: Value, count: Value, dtype: str) -> Value:
    """A total divided by a count; of integers the whole part."""
    kind = dtype_of(total)
    counted = number(count, kind) if isinstance(count, int) else cast(count, kind)
    return cast(total / counted if is_float(kind) else whole_quotient(total, counted), dtype)


def maximum_grad(call: Lowered) -> list[Tensor]:
    """Where each window's greatest element lies, the first of equal ones, is a stage of its own."""
    grad, x = call.inputs
    pool, dtype = Pool(call, x), dtype_of(x)
    data = pool.surrounded(least(dtype))
    sizes = [size for size, _, _ in pool.windows]
    within = reduce_axes(sizes)

    def place(u: Sequence[Value]) -> Value:
        return (u[0] * sizes[1] + u[1]).astype("int32")

    best = stage(
        pool.shape(), lambda *i: greatest(plain(data(*pool.seen(i, within))), within), f"{call.name}_best"
    )
    again = reduce_axes(sizes, "m")

    def first(*i: Value) -> Value:
        here = plain(data(*pool.seen(i, again)))
        return place_of(here, best(*i), place(again), again, last=False)

    found = stage(pool.shape(), first, f"{call.name}_places")

    def visit(window: list[Value], u: Sequence[Value]) -> Value:
        value = cast(grad(*window), sum_type(dtype))
        return te.if_then_else(found(*window) == place(u), value, number(0, sum_type(dtype)))

    return [narrowed(stage(x.shape, lambda *q: pool.under(q, visit), call.name), dtype, call.name)]


def mean_grad(call: Lowered) -> list[Tensor]:
    grad, x = call.inputs
    pool, dtype = Pool(call, x), dtype_of(x)

    def visit(window: list[Value], u: Sequence[Value]) -> Value:
        return share(cast(grad(*window), sum_type(dtype)), pool.elements(window), sum_type(dtype))

    return [narrowed(stage(x.shape, lambda *q: pool.under(q, visit), call.name), dtype, call.name)]


# -- pools that are told the output's size


def _adaptive(kind: str) -> Lowering:
    """Windows that overlap by one element where the sizes do not divide; each has its own number of
    elements, so the longest is visited, and what is beyond the others' end left out.
    """

    def lower(call: Lowered) -> list[Tensor]:
        x, dtype = call.inputs[0], dtype_of(call.inputs[0])
        letters = "".join([letter for letter in "DHW" if letter in call.attrs.layout])
        axes = spatial_places(call.attrs, letters, len(x.shape))
        extents = [dims(x)[axis] for axis in axes]
        wanted = asked_sizes(call.attrs, len(axes)) or extents
        shape = list(dims(x))
        for axis, size in zip(axes, wanted, strict=True):
            shape[axis] = size
        spans = [_Span(*pair) for pair in zip(extents, wanted, strict=True)]
        within = reduce_axes([span.longest for span in spans])

        def seen(*i: Value) -> Value:
            at, inside = list(i), []
            for axis, u, span in zip(axes, within, spans, strict=True):
                at[axis] = span.start(i[axis]) + u
                inside += [] if span.even else [at[axis] < span.end(i[axis])]
            neutral = least(dtype) if kind == "max" else number(0, dtype)
            return guarded(every(inside), x(*at), neutral) if inside else x(*at)

        if kind == "max":
            return [stage(shape, lambda *i: greatest(seen(*i), within), call.name)]
        wide = sum_type(dtype)
        sums = stage(shape, lambda *i: sum_over(cast(seen(*i), wide), within), f"{call.name}_sum")

        def count(i: Sequence[Value]) -> Value:
            return product([span.count(i[axis]) for axis, span in zip(axes, spans, strict=True)])

        return [stage(shape, lambda *i: share(sums(*i), count(i), dtype), call.name)]

    return lower


class _Span:
    """How an axis of `extent` elements is divided into `windows`."""

    def __init__(self, extent: Any, windows: Any) -> None:
        self.extent, self.windows = extent, windows
        both = isinstance(extent, int) and isinstance(windows, int)
        self.even = known(windows) == 1 or extent is windows or (both and extent % windows == 0)
        if self.even:
            self.longest = extent if known(windows) == 1 else 1 if extent is windows else extent // windows
        else:
            self.longest = quotient(extent - 1, windows) + 2

    def start(self, i: Value) -> Value:
        if self.even:
            return i * self.longest
        return te.floordiv(i * self.extent, self.windows)

    def end(self, i: Value) -> Value:
        return te.floordiv((i + 1) * self.extent + self.windows - 1, self.windows)

    def count(self, i: Value) -> Any:
        return self.longest if self.even else self.end(i) - self.start(i)


adaptive_max = _adaptive("max")
adaptive_avg = _adaptive("avg")
