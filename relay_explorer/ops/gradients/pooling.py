"""The gradients of pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import GradientRule
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.typed import tensor_type
from ..calls import relay
from ..gradient_tools import composed, extents
from ..index import take
from ..nn import pool
from ..nn.layout import layout_map
from ..nn.sliding import sides
from ..nn.window import total_padding, window_places
from ..reshape import layout_transform, reshape
from ..transform import expand_dims, squeeze, transpose


def pool2d(call: Call, grad: Expr) -> list[Expr]:
    """In two dimensions there are operators for it."""
    assert isinstance(call.op, Op)
    return [Call(Op.get(f"{call.op.name}_grad"), [grad, call.args[0]], call.attrs)]


def avg_pool2d_grad(call: Call, grad: Expr) -> list[Expr | None]:
    """A mean's derivative shares out evenly: the derivative of that is the mean."""
    return [Call(Op.get("nn.avg_pool2d"), [grad], call.attrs), None]


def _plane(
    kind: str,
    attrs: Anything,
    x: Expr,
    size: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
) -> Expr:
    """The pool of images (batch, channels, rows, columns), otherwise with the attributes of another pool."""
    more = {"count_include_pad": attrs.count_include_pad} if kind == "avg" else {}
    make: Anything = pool.avg_pool2d if kind == "avg" else pool.max_pool2d
    made: Expr = make(x, size, strides, dilation, padding, ceil_mode=attrs.ceil_mode, **more)
    return made


def _pool1d(kind: str) -> GradientRule:
    """A row is an image of one row."""

    def build(attrs: Anything, x: Expr) -> Expr:
        image = expand_dims(_laid_out(x, attrs.layout, "NCW"), 2)
        ((before, after),) = sides(attrs.padding, 1)
        made = _plane(
            kind, attrs, image, (1, *attrs.pool_size), (1, *attrs.strides), (1, *attrs.dilation),
            (0, before, 0, after),
        )  # fmt: skip
        return _laid_out(squeeze(made, [2]), "NCW", attrs.out_layout or attrs.layout)

    return composed(build)


def _pool3d(kind: str) -> GradientRule:
    """A window's mean, or maximum, is that of its layers: first within layers, then across them."""

    def build(attrs: Anything, x: Expr) -> Expr:
        n, c, d, h, w = _shape_in(x, attrs.layout, "NCDHW")
        (front, back), (top, bottom), (left, right) = sides(attrs.padding, 3)
        layers = reshape(_laid_out(x, attrs.layout, "NCDHW"), (n, c * d, h, w))
        within = _plane(
            kind, attrs, layers, attrs.pool_size[1:], attrs.strides[1:], attrs.dilation[1:],
            (top, left, bottom, right),
        )  # fmt: skip
        depth, rows, columns = _places(attrs, (d, h, w))
        across = _plane(
            kind, attrs, reshape(within, (n, c, d, rows * columns)), (attrs.pool_size[0], 1),
            (attrs.strides[0], 1), (attrs.dilation[0], 1), (front, 0, back, 0),
        )  # fmt: skip
        made = reshape(across, (n, c, depth, rows, columns))
        return _laid_out(made, "NCDHW", attrs.out_layout or attrs.layout)

    return composed(build)


def _places(attrs: Anything, dims: tuple[int, ...]) -> list[int]:
    """How many places the window takes on each axis."""
    pads = total_padding(attrs.strides, attrs.dilation, attrs.padding, len(dims))
    found = window_places(dims, attrs.pool_size, attrs.strides, attrs.dilation, pads, attrs.ceil_mode)
    return [dim for dim in found if isinstance(dim, int)]


def _laid_out(value: Expr, now: str, then: str) -> Expr:
    return value if now == then else layout_transform(value, now, then)


def _shape_in(value: Expr, now: str, then: str) -> list[int]:
    """The shape that a value has in another layout."""
    shape = layout_map(now, then).forward(extents(value, "the gradient of a pool"), 0, "it")
    return [dim for dim in shape if isinstance(dim, int)]


avg_pool1d, max_pool1d = _pool1d("avg"), _pool1d("max")
avg_pool3d, max_pool3d = _pool3d("avg"), _pool3d("max")


# -- adaptive and global pools: along each axis of space by itself


def _adaptive(kind: str) -> GradientRule:
    def build(attrs: Anything, x: Expr) -> Expr:
        axes = "".join(letter for letter in "DHW" if letter in attrs.layout)
        value, dtype = _laid_out(x, attrs.layout, "NC" + axes), tensor_type(x).dtype
        shape = _shape_in(x, attrs.layout, "NC" + axes)
        asked = (*attrs["output_size"],) if hasattr(attrs, "output_size") else (1,) * len(axes)
        asked = asked * len(axes) if len(asked) == 1 else asked or tuple(shape[2:])
        for axis, (extent, count) in enumerate(zip(shape[2:], asked, strict=True), 2):
            windows = [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
            if kind == "max":
                value = _maxima(value, axis, windows)
            else:
                value = _means(value, axis, len(shape), windows, extent, dtype)
        return _laid_out(value, "NC" + axes, attrs.out_layout or attrs.layout)

    return composed(build)


def _maxima(value: Expr, axis: int, windows: list[range]) -> Expr:
    """A window that is shorter than others names its last element again."""
    longest = max(map(len, windows))
    places = [min(w.start + k, w.stop - 1) for w in windows for k in range(longest)]
    indices = Constant(NDArray.from_list([*places], (len(windows), longest), "int32"))
    return relay.max(take(value, indices, axis), [axis + 1])


def _means(value: Expr, axis: int, rank: int, windows: list[range], extent: int, dtype: str) -> Expr:
    """A product with the matrix that holds each window's shares."""
    shares = [1 / len(window) if k in window else 0.0 for window in windows for k in range(extent)]
    matrix = Constant(NDArray.from_list([*shares], (len(windows), extent), dtype))
    order = [*[a for a in range(rank) if a != axis], axis]
    product = relay.nn.dense(transpose(value, order), matrix)
    return transpose(product, sorted(range(rank), key=order.__getitem__))


adaptive_mean, adaptive_maximum = _adaptive("avg"), _adaptive("max")
