"""Pooling: the maximum or mean of windows that slide over the spatial axes, and the gradients of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import same_dim, tensor
from .pool_shape import pooled
from .pool_values import maximum, maximum_grad, mean, mean_grad
from .window import Sizes, both_sides, per_axis

__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool2d_grad", "avg_pool3d", "max_pool1d", "max_pool2d",
    "max_pool2d_grad", "max_pool3d",
]  # fmt: skip

POOL_SIZE = "The window's size on each axis."
STRIDES = "How far the window moves on each axis."
DILATION = "The distance of neighbouring window elements on each axis."
PADDING = "How much surrounds the data: one number an axis, or those before each axis and then those after."
LAYOUT = "The order of the data's axes."
OUT_LAYOUT = "The order of the output's axes; only the data's is possible."
CEIL_MODE = "Whether a last window that sticks out of the data counts."
COUNT_INCLUDE_PAD = "Whether padding counts as elements of the mean."


class MaxPool1DAttrs(Attrs, key="relay.attrs.MaxPool1DAttrs"):
    pool_size: Ints = required(POOL_SIZE)
    strides: Ints = attr((1,), STRIDES)
    dilation: Ints = attr((1,), DILATION)
    padding: Ints = attr((0,), PADDING)
    layout: str = attr("NCW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class MaxPool2DAttrs(Attrs, key="relay.attrs.MaxPool2DAttrs"):
    pool_size: Ints = required(POOL_SIZE)
    strides: Ints = attr((1, 1), STRIDES)
    dilation: Ints = attr((1, 1), DILATION)
    padding: Ints = attr((0, 0), PADDING)
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class MaxPool3DAttrs(Attrs, key="relay.attrs.MaxPool3DAttrs"):
    pool_size: Ints = required(POOL_SIZE)
    strides: Ints = attr((1, 1, 1), STRIDES)
    dilation: Ints = attr((1, 1, 1), DILATION)
    padding: Ints = attr((0, 0, 0), PADDING)
    layout: str = attr("NCDHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    ceil_mode: bool = attr(False, CEIL_MODE)


class AvgPool1DAttrs(MaxPool1DAttrs, key="relay.attrs.AvgPool1DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


class AvgPool2DAttrs(MaxPool2DAttrs, key="relay.attrs.AvgPool2DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


class AvgPool3DAttrs(MaxPool3DAttrs, key="relay.attrs.AvgPool3DAttrs"):
    count_include_pad: bool = attr(False, COUNT_INCLUDE_PAD)


def _pool(name: str, axes: str) -> Relation:
    """Input of any layout; output the same with (dᵢ + paddingᵢ - dilationᵢ·(kᵢ - 1) - 1) // strideᵢ + 1 on
    the spatial axes (rounded up in ceil_mode).
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        reporter.assign(out, TensorType.of(pooled(data.shape, attrs, axes), data.dtype))
        return True

    return Relation(name, rule, "{out} = windows of {0}")


def _pool_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """An operation for each output element and element of its window."""
    window = 1
    for size in attrs.pool_size:
        window *= size
    return window * size_of(output)


_LAXER = (
    "It accepted windows larger than the padded data, and strides, dilations or paddings that are not "
    "positive."
)
_COUNTS = ("one axis", "two axes", "three axes")


def _declare(kind: str, axes: str, attrs: type[Attrs]) -> Op:
    n = len(axes)
    window = ",".join("uvw"[:n])
    at = r",\, ".join(f"s {x} + d {u} - p" for x, u in zip("ijk"[:n], "uvw"[:n], strict=True))
    picked = rf"\max_{{{window}}}" if kind == "max" else rf"\frac{{1}}{{n}} \sum_{{{window}}}"
    return declare(
        f"nn.{kind}_pool{n}d",
        f"The {'maximum' if kind == 'max' else 'mean'} of each window over {_COUNTS[n - 1]}.",
        formula=rf"y_{{b,c,{','.join('ijk'[:n])}}} = {picked}\, x_{{b,c,{at}}}",
        relation=_pool(f"{kind.capitalize()}Pool{n}D", axes),
        attrs=attrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=_pool_flops,
        compute=maximum(axes) if kind == "max" else mean(axes),
        family="pooling",
        level=2,
        lenient_in_tvm=_LAXER,
        gradient="pooling.pool2d" if n == 2 else f"pooling.{kind}_pool{n}d",
        lowering="pool.maximum" if kind == "max" else "pool.mean",
    )


_MAX_POOL1D = _declare("max", "W", MaxPool1DAttrs)
_MAX_POOL2D = _declare("max", "HW", MaxPool2DAttrs)
_MAX_POOL3D = _declare("max", "DHW", MaxPool3DAttrs)
_AVG_POOL1D = _declare("avg", "W", AvgPool1DAttrs)
_AVG_POOL2D = _declare("avg", "HW", AvgPool2DAttrs)
_AVG_POOL3D = _declare("avg", "DHW", AvgPool3DAttrs)


def _window(
    axes: int, pool_size: Sizes, strides: Sizes, dilation: Sizes, padding: Sizes
) -> dict[str, Anything]:
    return {
        "pool_size": per_axis(pool_size, axes),
        "strides": per_axis(strides, axes),
        "dilation": per_axis(dilation, axes),
        "padding": both_sides(padding, axes),
    }


def max_pool1d(
    data: Expr,
    pool_size: Sizes = (1,),
    strides: Sizes = (1,),
    dilation: Sizes = (1,),
    padding: Sizes = (0,),
    layout: str = "NCW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """`data` (N, C, W): (N, C, W')."""
    attrs = MaxPool1DAttrs(
        **_window(1, pool_size, strides, dilation, padding),
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
    )
    return Call(_MAX_POOL1D, [expr(data)], attrs)


def max_pool2d(
    data: Expr,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    dilation: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """`data` (N, C, H, W): (N, C, H', W')."""
    attrs = MaxPool2DAttrs(
        **_window(2, pool_size, strides, dilation, padding),
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
    )
    return Call(_MAX_POOL2D, [expr(data)], attrs)


def max_pool3d(
    data: Expr,
    pool_size: Sizes = (1, 1, 1),
    strides: Sizes = (1, 1, 1),
    dilation: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    layout: str = "NCDHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """`data` (N, C, D, H, W): (N, C, D', H', W')."""
    attrs = MaxPool3DAttrs(
        **_window(3, pool_size, strides, dilation, padding),
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
    )
    return Call(_MAX_POOL3D, [expr(data)], attrs)


def avg_pool1d(
    data: Expr,
    pool_size: Sizes = (1,),
    strides: Sizes = (1,),
    dilation: Sizes = (1,),
    padding: Sizes = (0,),
    layout: str = "NCW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """`data` (N, C, W): (N, C, W')."""
    window = _window(1, pool_size, strides, dilation, padding)
    attrs = AvgPool1DAttrs(
        **window,
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return Call(_AVG_POOL1D, [expr(data)], attrs)


def avg_pool2d(
    data: Expr,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    dilation: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """`data` (N, C, H, W): (N, C, H', W')."""
    window = _window(2, pool_size, strides, dilation, padding)
    attrs = AvgPool2DAttrs(
        **window,
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return Call(_AVG_POOL2D, [expr(data)], attrs)


def avg_pool3d(
    data: Expr,
    pool_size: Sizes = (1, 1, 1),
    strides: Sizes = (1, 1, 1),
    dilation: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    layout: str = "NCDHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """`data` (N, C, D, H, W): (N, C, D', H', W')."""
    window = _window(3, pool_size, strides, dilation, padding)
    attrs = AvgPool3DAttrs(
        **window,
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return Call(_AVG_POOL3D, [expr(data)], attrs)


def _pool_grad(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs the pool's output and data; output like the data."""
    grad, data, out = types
    if isinstance(grad, IncompleteType) or isinstance(data, IncompleteType):
        return False
    grad, data = tensor(grad, 0, "out_grad"), tensor(data, 1, "data")
    wanted = pooled(data.shape, attrs, "HW")
    if len(grad.shape) != len(wanted) or not all(map(same_dim, grad.shape, wanted)):
        raise RelationError(
            f"the gradient has shape {show_shape(grad.shape)}, but the pool of the data has "
            f"{show_shape(wanted)}",
            "give the pool's own pool_size, strides and padding",
            culprits=(0, 1),
        )
    reporter.assign(out, data)
    return True


def _grad_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """An operation for each element of the gradient and of its window."""
    return _pool_flops(attrs, inputs, inputs[0])


def _declare_grad(kind: str, attrs: type[Attrs], formula: str) -> Op:
    return declare(
        f"nn.{kind}_pool2d_grad",
        f"The gradient of {kind}_pool2d with respect to its data.",
        formula=formula,
        relation=Relation(f"{kind.capitalize()}Pool2DGrad", _pool_grad, "{out} = {1}, and {0} is its pool"),
        inputs=("out_grad", "data"),
        attrs=attrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=_grad_flops,
        compute=maximum_grad if kind == "max" else mean_grad,
        family="training",
        level=2,
        lenient_in_tvm="It did not compare the gradient's shape with the pool's output.",
        gradient="pooling.avg_pool2d_grad" if kind == "avg" else "",
        lowering="pool.maximum_grad" if kind == "max" else "pool.mean_grad",
    )


_MAX_POOL2D_GRAD = _declare_grad(
    "max",
    MaxPool2DAttrs,
    r"\frac{\partial L}{\partial x_{q}} = \sum_{i,j\,:\, \arg\max\ \text{of window}\ i,j\ \text{is}\ q} "
    r"\frac{\partial L}{\partial y_{i,j}}",
)
_AVG_POOL2D_GRAD = _declare_grad(
    "avg",
    AvgPool2DAttrs,
    r"\frac{\partial L}{\partial x_{q}} = \sum_{i,j\,:\, q\ \text{in window}\ i,j} \frac{1}{n}\, "
    r"\frac{\partial L}{\partial y_{i,j}}",
)


def max_pool2d_grad(
    out_grad: Expr,
    data: Expr,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """The gradient of the pool's `data`, from that of its output."""
    attrs = MaxPool2DAttrs(
        **_window(2, pool_size, strides, 1, padding),
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
    )
    return Call(_MAX_POOL2D_GRAD, [expr(out_grad), expr(data)], attrs)


def avg_pool2d_grad(
    out_grad: Expr,
    data: Expr,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """The gradient of the pool's `data`, from that of its output."""
    window = _window(2, pool_size, strides, 1, padding)
    attrs = AvgPool2DAttrs(
        **window,
        layout=layout,
        out_layout=out_layout,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return Call(_AVG_POOL2D_GRAD, [expr(out_grad), expr(data)], attrs)
