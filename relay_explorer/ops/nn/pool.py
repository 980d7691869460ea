"""Pooling: the maximum or mean of each window that slides over the spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, Ints, attr, required
from ...ir.declaration import Gradient, GradientRule, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Relation, Reporter, size_of
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import IMAGE, SIGNAL, VOLUME
from ..gradient_tools import composed, extents
from ..layouts.images import pool as pool_layout
from ..operator import Example, operator
from ..relation import tensor
from ..te.lowered import Lowered
from ..te.pool import Pool, lowest, share
from ..te.reduce import greatest
from ..te.tensors import Tensor, Value, cast, dtype_of, number, reduce_axes, stage, sum_over, sum_type
from .layout import layout_map
from .pool_shape import pooled
from .pool_values import maximum, mean
from .sliding import sides
from .window import Sizes, both_sides, per_axis, total_padding, window_places

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"]

P = ParamSpec("P")
R = TypeVar("R")


POOL_SIZE = "The window's size on each axis."

STRIDES = "The step of the window on each axis."

DILATION = "The distance between adjacent window elements on each axis."

PADDING = "The padding: one amount per axis, or those before each axis and then those after."

LAYOUT = "The order of the data's axes."

OUT_LAYOUT = "The order of the output's axes; only the data's is possible."

CEIL_MODE = "Whether a last window that reaches beyond the data counts."

COUNT_INCLUDE_PAD = "Whether padding counts as elements of the mean."


class MaxPool1DAttrs(Attrs, key="relay.attrs.MaxPool1DAttrs"):
    pool_size: Ints = required(POOL_SIZE, normal=partial(per_axis, axes=1))
    strides: Ints = attr((1,), STRIDES, normal=partial(per_axis, axes=1))
    dilation: Ints = attr((1,), DILATION, normal=partial(per_axis, axes=1))
    padding: Ints = attr((0,), PADDING, normal=partial(both_sides, axes=1))
    layout: str = attr("NCW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class MaxPool2DAttrs(Attrs, key="relay.attrs.MaxPool2DAttrs"):
    pool_size: Ints = required(POOL_SIZE, normal=partial(per_axis, axes=2))
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    dilation: Ints = attr((1, 1), DILATION, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class MaxPool3DAttrs(Attrs, key="relay.attrs.MaxPool3DAttrs"):
    pool_size: Ints = required(POOL_SIZE, normal=partial(per_axis, axes=3))
    strides: Ints = attr((1, 1, 1), STRIDES, normal=partial(per_axis, axes=3))
    dilation: Ints = attr((1, 1, 1), DILATION, normal=partial(per_axis, axes=3))
    padding: Ints = attr((0, 0, 0), PADDING, normal=partial(both_sides, axes=3))
    layout: str = attr("NCDHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class AvgPool1DAttrs(MaxPool1DAttrs, key="relay.attrs.AvgPool1DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


class AvgPool2DAttrs(MaxPool2DAttrs, key="relay.attrs.AvgPool2DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


class AvgPool3DAttrs(MaxPool3DAttrs, key="relay.attrs.AvgPool3DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


def _relation(name: str, axes: str) -> Relation:
    """Build the relation: input in any layout; output the same with (dᵢ + paddingᵢ - dilationᵢ·(kᵢ - 1) - 1)
    // strideᵢ + 1 on the spatial axes (rounded up in ceil_mode).
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        reporter.assign(out, TensorType.of(pooled(data.shape, attrs, axes), data.dtype))
        return True

    return Relation(name, rule, "{out} = one element per window of {0}")


def pool_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count one operation for each output element and element of its window."""
    window = 1
    for size in attrs.pool_size:
        window *= size
    return window * size_of(output)


_LENIENT = (
    "It accepted windows larger than the padded data, and strides, dilations or paddings that are not "
    "positive."
)

_COUNTS = ("one axis", "two axes", "three axes")
_NAMES = {"max": "maximum", "avg": "mean"}


# -- gradients

_FORMULAS = {
    "max": "dy is added to the dx of the largest element of its window",
    "avg": "dy is distributed evenly over the dx of its window",
}


def _pool2d_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate a pool over two axes: its gradient is an operator."""
    assert isinstance(call.op, Op)
    return [Call(Op.get(f"{call.op.name}_grad"), [grad, call.args[0]], call.attrs)]


def _plane(
    kind: str,
    attrs: Anything,
    x: Expr,
    size: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
) -> Expr:
    """Build the pool of images (batch, channels, rows, columns) with this window, and otherwise the
    attributes of another pool.
    """
    more = {"count_include_pad": attrs.count_include_pad} if kind == "avg" else {}
    make: Anything = relay.nn.avg_pool2d if kind == "avg" else relay.nn.max_pool2d
    result: Expr = make(x, size, strides, dilation, padding, ceil_mode=attrs.ceil_mode, **more)
    return result


def _pool1d_gradient(kind: str) -> GradientRule:
    """Build the gradient rule of a pool over one axis, which treats a row as an image of one row."""

    def build(attrs: Anything, x: Expr) -> Expr:
        image = relay.expand_dims(laid_out(x, attrs.layout, "NCW"), 2)
        ((before, after),) = sides(attrs.padding, 1)
        pooled_image = _plane(
            kind, attrs, image, (1, *attrs.pool_size), (1, *attrs.strides), (1, *attrs.dilation),
            (0, before, 0, after),
        )  # fmt: skip
        return laid_out(relay.squeeze(pooled_image, [2]), "NCW", attrs.out_layout or attrs.layout)

    return composed(build)


def _pool3d_gradient(kind: str) -> GradientRule:
    """Build the gradient rule of a pool over three axes: pool within layers, and then across them."""

    def build(attrs: Anything, x: Expr) -> Expr:
        n, c, d, h, w = shape_in(x, attrs.layout, "NCDHW")
        (front, back), (top, bottom), (left, right) = sides(attrs.padding, 3)
        layers = relay.reshape(laid_out(x, attrs.layout, "NCDHW"), (n, c * d, h, w))
        within = _plane(
            kind, attrs, layers, attrs.pool_size[1:], attrs.strides[1:], attrs.dilation[1:],
            (top, left, bottom, right),
        )  # fmt: skip
        depth, rows, columns = _position_counts(attrs, (d, h, w))
        across = _plane(
            kind, attrs, relay.reshape(within, (n, c, d, rows * columns)), (attrs.pool_size[0], 1),
            (attrs.strides[0], 1), (attrs.dilation[0], 1), (front, 0, back, 0),
        )  # fmt: skip
        result = relay.reshape(across, (n, c, depth, rows, columns))
        return laid_out(result, "NCDHW", attrs.out_layout or attrs.layout)

    return composed(build)


def _position_counts(attrs: Anything, dims: tuple[int, ...]) -> list[int]:
    """Return the number of positions of the window on each axis."""
    pads = total_padding(attrs.strides, attrs.dilation, attrs.padding, len(dims))
    counts = window_places(dims, attrs.pool_size, attrs.strides, attrs.dilation, pads, attrs.ceil_mode)
    return [dim for dim in counts if isinstance(dim, int)]


def laid_out(value: Expr, now: str, then: str) -> Expr:
    return value if now == then else relay.layout_transform(value, now, then)


def shape_in(value: Expr, now: str, then: str) -> list[int]:
    """Return the shape of a value in another layout."""
    shape = layout_map(now, then).forward(extents(value, "the gradient of a pool"), 0, "it")
    return [dim for dim in shape if isinstance(dim, int)]


# -- lowerings


def _maximum_te(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    pool = Pool(call, x)
    data = pool.surrounded(lowest(dtype_of(x)))
    within = reduce_axes([size for size, _, _ in pool.windows])
    return [stage(pool.shape(), lambda *i: greatest(data(*pool.seen(i, within)), within), call.name)]


def _mean_te(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    pool, dtype = Pool(call, x), dtype_of(x)
    data = pool.surrounded(number(0, dtype))
    within = reduce_axes([size for size, _, _ in pool.windows])

    def window_sum(*i: Value) -> Value:
        return sum_over(cast(data(*pool.seen(i, within)), sum_type(dtype)), within)

    sums = stage(pool.shape(), window_sum, f"{call.name}_sum")
    return [stage(pool.shape(), lambda *i: share(sums(*i), pool.elements(i), dtype), call.name)]


# -- the operators


def _pool(
    kind: str, axes: str, attrs: type[Attrs], gradient: Gradient, example: Example
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a pool, of `kind` "max" or "avg", over the spatial `axes`."""
    n = len(axes)
    window = ",".join("uvw"[:n])
    at = r",\, ".join(f"s {x} + d {u} - p" for x, u in zip("ijk"[:n], "uvw"[:n], strict=True))
    picked = rf"\max_{{{window}}}" if kind == "max" else rf"\frac{{1}}{{n}} \sum_{{{window}}}"
    return operator(
        f"nn.{kind}_pool{n}d",
        description=f"Computes the {_NAMES[kind]} of each window over {_COUNTS[n - 1]}.",
        formula=rf"y_{{b,c,{','.join('ijk'[:n])}}} = {picked}\, x_{{b,c,{at}}}",
        family="pooling",
        level=2,
        relation=_relation(f"{kind.capitalize()}Pool{n}D", axes),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=pool_flops,
        reference=maximum(axes) if kind == "max" else mean(axes),
        gradient=gradient,
        lowering=_maximum_te if kind == "max" else _mean_te,
        layout=pool_layout,
        precision=Precision.FOLLOW,
        traits={Trait.POOL, Trait.SELECTION} if kind == "max" else {Trait.POOL},
        example=example,
        attrs=attrs,
        lenient_in_tvm=_LENIENT,
    )


@_pool(
    "max",
    "W",
    MaxPool1DAttrs,
    Gradient(_FORMULAS["max"], _pool1d_gradient("max")),
    lambda build: build(SIGNAL),
)
def max_pool1d(
    data: Operand,
    pool_size: Sizes = (1,),
    strides: Sizes = (1,),
    dilation: Sizes = (1,),
    padding: Sizes = (0,),
    layout: str = "NCW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """Take the maximum of each window of `data` (N, C, W): (N, C, W')."""


@_pool(
    "max",
    "HW",
    MaxPool2DAttrs,
    Gradient(_FORMULAS["max"], _pool2d_gradient),
    lambda build: build(IMAGE, (2, 2), (2, 2), ceil_mode=True),
)
def max_pool2d(
    data: Operand,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    dilation: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """Take the maximum of each window of `data` (N, C, H, W): (N, C, H', W')."""


@_pool(
    "max",
    "DHW",
    MaxPool3DAttrs,
    Gradient(_FORMULAS["max"], _pool3d_gradient("max")),
    lambda build: build(VOLUME),
)
def max_pool3d(
    data: Operand,
    pool_size: Sizes = (1, 1, 1),
    strides: Sizes = (1, 1, 1),
    dilation: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    layout: str = "NCDHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """Take the maximum of each window of `data` (N, C, D, H, W): (N, C, D', H', W')."""


@_pool(
    "avg",
    "W",
    AvgPool1DAttrs,
    Gradient(_FORMULAS["avg"], _pool1d_gradient("avg")),
    lambda build: build(SIGNAL),
)
def avg_pool1d(
    data: Operand,
    pool_size: Sizes = (1,),
    strides: Sizes = (1,),
    dilation: Sizes = (1,),
    padding: Sizes = (0,),
    layout: str = "NCW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """Take the mean of each window of `data` (N, C, W): (N, C, W')."""


@_pool(
    "avg",
    "HW",
    AvgPool2DAttrs,
    Gradient(_FORMULAS["avg"], _pool2d_gradient),
    lambda build: build(IMAGE, (2, 2), (2, 2), ceil_mode=True),
)
def avg_pool2d(
    data: Operand,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    dilation: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """Take the mean of each window of `data` (N, C, H, W): (N, C, H', W')."""


@_pool(
    "avg",
    "DHW",
    AvgPool3DAttrs,
    Gradient(_FORMULAS["avg"], _pool3d_gradient("avg")),
    lambda build: build(VOLUME),
)
def avg_pool3d(
    data: Operand,
    pool_size: Sizes = (1, 1, 1),
    strides: Sizes = (1, 1, 1),
    dilation: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    layout: str = "NCDHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """Take the mean of each window of `data` (N, C, D, H, W): (N, C, D', H', W')."""
