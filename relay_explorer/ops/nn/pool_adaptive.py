"""Pools that are told the output's size rather than the window's: adaptive ones, and global ones, whose
output is one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, attr
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, flops_per_input
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import tensor
from .layout import many
from .pool import LAYOUT, OUT_LAYOUT
from .pool_shape import spatial_places
from .pool_values import resized_to

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "asked_sizes", "global_avg_pool1d", "global_avg_pool2d",
    "global_avg_pool3d", "global_max_pool1d", "global_max_pool2d", "global_max_pool3d",
]  # fmt: skip

OUTPUT_SIZE = (
    "The output's size on each spatial axis, or one number for all; the data's where it is left out."
)


class GlobalPool2DAttrs(Attrs, key="relay.attrs.GlobalPool2DAttrs"):
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool1DAttrs(Attrs, key="relay.attrs.AdaptivePool1DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE)
    layout: str = attr("NCW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool2DAttrs(Attrs, key="relay.attrs.AdaptivePool2DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE)
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool3DAttrs(Attrs, key="relay.attrs.AdaptivePool3DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE)
    layout: str = attr("NCDHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


def _sized(name: str, axes: str) -> Relation:
    """Input of any layout; output the same with the asked size on the spatial axes (1 for a global pool)."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        places = spatial_places(attrs, axes, len(data.shape))
        shape: list[Dim] = list(data.shape)
        for place, size in zip(places, asked_sizes(attrs, len(axes)), strict=False):
            shape[place] = size
        reporter.assign(out, TensorType.of(tuple(shape), data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} with the asked size")


def asked_sizes(attrs: Anything, axes: int) -> tuple[int, ...]:
    """The asked sizes, one an axis; none where the data's size stays."""
    sizes: tuple[int, ...] = (1,) if isinstance(attrs, GlobalPool2DAttrs) else attrs.output_size
    if len(sizes) not in (0, 1, axes):
        raise RelationError(
            f"output_size={list(sizes)} has {many(len(sizes), 'value', 'values')} for "
            f"{many(axes, 'axis', 'axes')}",
            f"give one, or {axes}",
        )
    if any(size < 1 for size in sizes):
        raise RelationError(f"output_size={list(sizes)} must be positive")
    return sizes * axes if len(sizes) == 1 else sizes


_COUNTS = ("one axis", "two axes", "three axes")


def _adaptive(kind: str, axes: str, attrs: type[Attrs]) -> Op:
    n = len(axes)
    picked = r"\max_{u}" if kind == "max" else r"\frac{1}{n} \sum_{u}"
    window = r"u \in [\lfloor \tfrac{i d}{m} \rfloor, \lceil \tfrac{(i + 1) d}{m} \rceil)"
    return declare(
        f"nn.adaptive_{kind}_pool{n}d",
        f"Divides {_COUNTS[n - 1]} into as many windows as asked for, and takes the "
        f"{'maximum' if kind == 'max' else 'mean'} of each.",
        formula=rf"y_{{\ldots,i}} = {picked}\, x_{{\ldots,u}}, \quad {window}"
        + (r"\ \text{on each axis}" if n > 1 else ""),
        relation=_sized(f"Adaptive{kind.capitalize()}Pool{n}D", axes),
        attrs=attrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=flops_per_input,
        compute=resized_to(kind, axes, asked_sizes),
        family="pooling",
        level=10,
        gradient=f"pooling.adaptive_{'maximum' if kind == 'max' else 'mean'}",
        lowering=f"pool.adaptive_{kind}",
    )


_ADAPTIVE_MAX_POOL1D = _adaptive("max", "W", AdaptivePool1DAttrs)
_ADAPTIVE_MAX_POOL2D = _adaptive("max", "HW", AdaptivePool2DAttrs)
_ADAPTIVE_MAX_POOL3D = _adaptive("max", "DHW", AdaptivePool3DAttrs)
_ADAPTIVE_AVG_POOL1D = _adaptive("avg", "W", AdaptivePool1DAttrs)
_ADAPTIVE_AVG_POOL2D = _adaptive("avg", "HW", AdaptivePool2DAttrs)
_ADAPTIVE_AVG_POOL3D = _adaptive("avg", "DHW", AdaptivePool3DAttrs)


def _global(kind: str) -> Op:
    picked = r"\max_{i,j}" if kind == "max" else r"\frac{1}{hw} \sum_{i,j}"
    return declare(
        f"nn.global_{kind}_pool2d",
        f"The {'maximum' if kind == 'max' else 'mean'} of each channel's image.",
        formula=rf"y_{{b,c,0,0}} = {picked}\, x_{{b,c,i,j}}",
        relation=_sized(f"Global{kind.capitalize()}Pool2D", "HW"),
        attrs=GlobalPool2DAttrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=flops_per_input,
        compute=resized_to(kind, "HW", asked_sizes),
        family="pooling",
        level=2,
        gradient=f"pooling.adaptive_{'maximum' if kind == 'max' else 'mean'}",
        lowering=f"pool.adaptive_{kind}",
    )


_GLOBAL_MAX_POOL2D = _global("max")
_GLOBAL_AVG_POOL2D = _global("avg")

Size = int | Sequence[int] | None


def _asked(output_size: Size) -> Anything:
    return () if output_size is None else output_size


def adaptive_max_pool1d(
    data: Expr, output_size: Size = None, layout: str = "NCW", out_layout: str = ""
) -> Call:
    """The maxima of `data` (N, C, W) in as many windows as `output_size` says: (N, C, w)."""
    """The greatest element of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_MAX_POOL1D,
        [expr(data)],
        AdaptivePool1DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def adaptive_avg_pool1d(
    data: Expr, output_size: Size = None, layout: str = "NCW", out_layout: str = ""
) -> Call:
    """The means of `data` (N, C, W) in as many windows as `output_size` says: (N, C, w)."""
    """The mean of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_AVG_POOL1D,
        [expr(data)],
        AdaptivePool1DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def adaptive_max_pool2d(
    data: Expr, output_size: Size = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """The maxima of `data` (N, C, H, W) in as many windows as `output_size` says: (N, C, h, w)."""
    """The greatest element of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_MAX_POOL2D,
        [expr(data)],
        AdaptivePool2DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def adaptive_avg_pool2d(
    data: Expr, output_size: Size = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """The means of `data` (N, C, H, W) in as many windows as `output_size` says: (N, C, h, w)."""
    """The mean of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_AVG_POOL2D,
        [expr(data)],
        AdaptivePool2DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def adaptive_max_pool3d(
    data: Expr, output_size: Size = None, layout: str = "NCDHW", out_layout: str = ""
) -> Call:
    """The maxima of `data` (N, C, D, H, W) in as many windows as `output_size` says: (N, C, d, h, w)."""
    """The greatest element of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_MAX_POOL3D,
        [expr(data)],
        AdaptivePool3DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def adaptive_avg_pool3d(
    data: Expr, output_size: Size = None, layout: str = "NCDHW", out_layout: str = ""
) -> Call:
    """The means of `data` (N, C, D, H, W) in as many windows as `output_size` says: (N, C, d, h, w)."""
    """The mean of each of `output_size` regions; None keeps the data's size."""
    return Call(
        _ADAPTIVE_AVG_POOL3D,
        [expr(data)],
        AdaptivePool3DAttrs(output_size=_asked(output_size), layout=layout, out_layout=out_layout),
    )


def global_max_pool1d(data: Expr, layout: str = "NCW", out_layout: str = "") -> Call:
    """The maximum of each channel: adaptive_max_pool1d to one element."""
    return adaptive_max_pool1d(data, (1,), layout, out_layout)


def global_avg_pool1d(data: Expr, layout: str = "NCW", out_layout: str = "") -> Call:
    """The mean of each channel: adaptive_avg_pool1d to one element."""
    return adaptive_avg_pool1d(data, (1,), layout, out_layout)


def global_max_pool2d(data: Expr, layout: str = "NCHW", out_layout: str = "") -> Call:
    """`data` (N, C, H, W): (N, C, 1, 1)."""
    return Call(_GLOBAL_MAX_POOL2D, [expr(data)], GlobalPool2DAttrs(layout=layout, out_layout=out_layout))


def global_avg_pool2d(data: Expr, layout: str = "NCHW", out_layout: str = "") -> Call:
    """`data` (N, C, H, W): (N, C, 1, 1)."""
    return Call(_GLOBAL_AVG_POOL2D, [expr(data)], GlobalPool2DAttrs(layout=layout, out_layout=out_layout))


def global_max_pool3d(data: Expr, layout: str = "NCDHW", out_layout: str = "") -> Call:
    """The maximum of each channel: adaptive_max_pool3d to one element."""
    return adaptive_max_pool3d(data, (1, 1, 1), layout, out_layout)


def global_avg_pool3d(data: Expr, layout: str = "NCDHW", out_layout: str = "") -> Call:
    """The mean of each channel: adaptive_avg_pool3d to one element."""
    return adaptive_avg_pool3d(data, (1, 1, 1), layout, out_layout)
