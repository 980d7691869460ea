"""Pooling and its gradients, in any layout. TOPI's maximum loses NaN, and its gradients do not support
dilation. The padded data is a separate stage, which exists only where there is padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..nn.pool_shape import spatial_places
from ..nn.sliding import sides
from .binary import whole_quotient
from .library import te, tirx
from .lowered import Lowered
from .pad import padded
from .tensors import (
    Extent,
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    is_float,
    number,
    product,
    quotient,
    reduce_axes,
    remainder,
    sum_over,
)

SPACE = ("W", "HW", "DHW")


class Pool:
    """The windows of one call over `x`: the positions of its spatial axes, and the elements in each
    window.
    """

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
        """Return the padding after an axis, including the distance that the last window reaches beyond it in
        ceil_mode. Where the extent is dynamic, return the upper bound of that.
        """
        size, stride, step = window
        if not self.attrs.ceil_mode:
            return pair[1]
        if not isinstance(dim, int):
            return pair[1] + stride - 1
        return pair[1] + max(0, (count - 1) * stride + step * (size - 1) + 1 - dim - sum(pair))

    def surrounded(self, value: Value) -> Tensor:
        """Pad the data with `value` as far as windows reach."""
        return padded(self.x, self.around, value, f"{self.call.name}_pad")

    def shape(self) -> list[Any]:
        """Return the shape of the pool."""
        shape = list(dims(self.x))
        for axis, count in zip(self.axes, self.counts, strict=True):
            shape[axis] = count
        return shape

    def seen(self, i: Sequence[Value], within: Sequence[Value]) -> list[Value]:
        """Return the index, into the padded data, of the element `within` the window at `i`."""
        at = list(i)
        for axis, u, (_, stride, step) in zip(self.axes, within, self.windows, strict=True):
            start = at[axis] if stride == 1 else at[axis] * stride
            at[axis] = start + (u if step == 1 else u * step)
        return at

    def elements(self, i: Sequence[Value]) -> Extent:
        """Return the number of elements by which the mean of the window at `i` divides. Those beyond the
        padding do not count.
        """
        counts = [
            self._inside(i[axis], dim, pair, window)
            for axis, dim, pair, window in zip(self.axes, self.sizes, self.pairs, self.windows, strict=True)
        ]
        total = product(counts)
        return max(total, 1) if isinstance(total, int) else tirx.max(total, 1)

    def _inside(self, at: Value, dim: Any, pair: tuple[int, int], window: tuple[int, int, int]) -> Any:
        """Return the number of elements of a window that count, along one axis."""
        (before, after), (size, stride, step) = pair, window
        whole = not self.attrs.ceil_mode and (self.attrs.count_include_pad or not (before or after))
        if whole:
            return size
        low, high = (-before, dim + after) if self.attrs.count_include_pad else (0, dim)
        start = at * stride - before
        first = tirx.max(te.floordiv(low - start + (step - 1), step), 0)
        last = tirx.min(te.floordiv(high - start + (step - 1), step), size)
        return tirx.max(last - first, 0)

    def under(self, q: Sequence[Value], visit: Callable[[list[Any], Sequence[Value]], Value]) -> Value:
        """Sum `visit(window, within)` over all windows that contain the element at `q` of the data."""
        within = reduce_axes([size for size, _, _ in self.windows], "u")
        inside: list[Value | bool] = []
        window: list[Any] = list(q)
        for axis, u, (_, stride, step), count, (before, _) in zip(
            self.axes, within, self.windows, self.counts, self.pairs, strict=True
        ):
            offset = q[axis] + before - (u if step == 1 else u * step)
            window[axis] = quotient(offset, stride)
            inside += [offset >= 0, window[axis] < count]
            inside += [remainder(offset, stride) == 0] * (stride != 1)
        term = visit(window, within)
        return sum_over(guarded(every(inside), term, number(0, dtype_of(term))), within)


def lowest(dtype: str) -> Value:
    """Return the lowest finite number, with which the data of max pooling is padded."""
    return number(False, "bool") if dtype == "bool" else tirx.min_value(dtype)


def share(total: Value, count: Extent, dtype: str) -> Value:
    """Divide a total by a count; truncate the quotient of integers."""
    kind = dtype_of(total)
    counted = number(count, kind) if isinstance(count, int) else cast(count, kind)
    return cast(total / counted if is_float(kind) else whole_quotient(total, counted), dtype)
