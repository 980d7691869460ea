"""Adaptive pools, whose attribute is the output's size instead of the window's, and global pools, whose
output is one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, Ints, attr
from ...ir.declaration import Gradient, GradientRule, Precision, Trait
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import OpPattern, Relation, RelationError, Reporter, flops_per_input
from ...ir.typed import tensor_type
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import IMAGE, SIGNAL, VOLUME
from ..gradient_tools import composed
from ..layouts.images import pool as pool_layout
from ..operator import Example, operator
from ..relation import tensor
from ..te.library import te
from ..te.lowered import Lowered, Lowering
from ..te.pool import share
from ..te.reduce import greatest
from ..te.tensors import (
    Extent,
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    known,
    least,
    number,
    product,
    quotient,
    reduce_axes,
    stage,
    sum_over,
    sum_type,
)
from .layout import many
from .pool import LAYOUT, OUT_LAYOUT, laid_out, shape_in
from .pool_shape import spatial_places
from .pool_values import resized_to

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "asked_sizes", "global_avg_pool1d", "global_avg_pool2d",
    "global_avg_pool3d", "global_max_pool1d", "global_max_pool2d", "global_max_pool3d",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")
Size = int | Sequence[int] | None


OUTPUT_SIZE = "The output's size on each spatial axis, or one number for all; by default the data's."


def _asked(output_size: Size) -> Anything:
    return () if output_size is None else output_size


class GlobalPool2DAttrs(Attrs, key="relay.attrs.GlobalPool2DAttrs"):
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool1DAttrs(Attrs, key="relay.attrs.AdaptivePool1DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE, normal=_asked)
    layout: str = attr("NCW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool2DAttrs(Attrs, key="relay.attrs.AdaptivePool2DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE, normal=_asked)
    layout: str = attr("NCHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


class AdaptivePool3DAttrs(Attrs, key="relay.attrs.AdaptivePool3DAttrs"):
    output_size: Ints = attr((), OUTPUT_SIZE, normal=_asked)
    layout: str = attr("NCDHW", LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)


def _sized(name: str, axes: str) -> Relation:
    """Build the relation: input in any layout; output the same with the requested size on the spatial axes (1
    for a global pool).
    """

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

    return Relation(name, rule, "{out} = {0} with the requested size")


def asked_sizes(attrs: Anything, axes: int) -> tuple[int, ...]:
    """Return the requested sizes, one per axis; an empty tuple where the data's size is kept."""
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


# -- gradients: along each spatial axis separately


def _adaptive_gradient(kind: str) -> GradientRule:
    def build(attrs: Anything, x: Expr) -> Expr:
        axes = "".join(letter for letter in "DHW" if letter in attrs.layout)
        value, dtype = laid_out(x, attrs.layout, "NC" + axes), tensor_type(x).dtype
        shape = shape_in(x, attrs.layout, "NC" + axes)
        sizes = (*attrs["output_size"],) if hasattr(attrs, "output_size") else (1,) * len(axes)
        sizes = sizes * len(axes) if len(sizes) == 1 else sizes or tuple(shape[2:])
        for axis, (extent, count) in enumerate(zip(shape[2:], sizes, strict=True), 2):
            windows = [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
            if kind == "max":
                value = _maxima(value, axis, windows)
            else:
                value = _means(value, axis, len(shape), windows, extent, dtype)
        return laid_out(value, "NC" + axes, attrs.out_layout or attrs.layout)

    return composed(build)


def _maxima(value: Expr, axis: int, windows: list[range]) -> Expr:
    """Take the maximum of each window; a window that is shorter than the longest repeats the index of its
    last element.
    """
    longest = max(map(len, windows))
    places = [min(w.start + k, w.stop - 1) for w in windows for k in range(longest)]
    indices = Constant(NDArray.from_list([*places], (len(windows), longest), "int32"))
    return relay.max(relay.take(value, indices, axis), [axis + 1])


def _means(value: Expr, axis: int, rank: int, windows: list[range], extent: int, dtype: str) -> Expr:
    """Take the mean of each window, by a product with the matrix of the windows' weights."""
    shares = [1 / len(window) if k in window else 0.0 for window in windows for k in range(extent)]
    matrix = Constant(NDArray.from_list([*shares], (len(windows), extent), dtype))
    order = [*[a for a in range(rank) if a != axis], axis]
    product = relay.nn.dense(relay.transpose(value, order), matrix)
    return relay.transpose(product, sorted(range(rank), key=order.__getitem__))


_GRADIENTS = {
    "max": Gradient("dy is added to the dx of the largest element of its window", _adaptive_gradient("max")),
    "avg": Gradient("dy is distributed evenly over the dx of its window", _adaptive_gradient("avg")),
}

# -- lowerings


def _adaptive_te(kind: str) -> Lowering:
    """Build the lowering of an adaptive pool, whose windows overlap by one element where the sizes do not
    divide. Their lengths then differ, so the loop has the extent of the longest, and skips indices beyond the
    end of the others.
    """

    def lower(call: Lowered) -> list[Tensor]:
        x, dtype = call.inputs[0], dtype_of(call.inputs[0])
        letters = "".join([letter for letter in "DHW" if letter in call.attrs.layout])
        axes = spatial_places(call.attrs, letters, len(x.shape))
        extents = [dims(x)[axis] for axis in axes]
        sizes = asked_sizes(call.attrs, len(axes)) or extents
        shape = list(dims(x))
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        spans = [_Span(*pair) for pair in zip(extents, sizes, strict=True)]
        within = reduce_axes([span.longest for span in spans])

        def read(*i: Value) -> Value:
            at, inside = list(i), []
            for axis, u, span in zip(axes, within, spans, strict=True):
                at[axis] = span.start(i[axis]) + u
                inside += [] if span.even else [at[axis] < span.end(i[axis])]
            neutral = least(dtype) if kind == "max" else number(0, dtype)
            return guarded(every(inside), x(*at), neutral) if inside else x(*at)

        if kind == "max":
            return [stage(shape, lambda *i: greatest(read(*i), within), call.name)]
        wide = sum_type(dtype)
        sums = stage(shape, lambda *i: sum_over(cast(read(*i), wide), within), f"{call.name}_sum")

        def count(i: Sequence[Value]) -> Extent:
            return product([span.count(i[axis]) for axis, span in zip(axes, spans, strict=True)])

        return [stage(shape, lambda *i: share(sums(*i), count(i), dtype), call.name)]

    return lower


class _Span:
    """The division of an axis of `extent` elements into `windows`."""

    def __init__(self, extent: Anything, windows: Anything) -> None:
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

    def count(self, i: Value) -> Anything:
        return self.longest if self.even else self.end(i) - self.start(i)


# -- the operators


_COUNTS = ("one axis", "two axes", "three axes")
_NAMES = {"max": "maximum", "avg": "mean"}


def _adaptive(
    kind: str, axes: str, attrs: type[Attrs], example: Example
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an adaptive pool, of `kind` "max" or "avg", over the spatial `axes`."""
    n = len(axes)
    picked = r"\max_{u}" if kind == "max" else r"\frac{1}{n} \sum_{u}"
    window = r"u \in [\lfloor \tfrac{i d}{m} \rfloor, \lceil \tfrac{(i + 1) d}{m} \rceil)"
    return operator(
        f"nn.adaptive_{kind}_pool{n}d",
        description=(
            f"Divides {_COUNTS[n - 1]} into a given number of windows and computes the "
            f"{_NAMES[kind]} of each."
        ),
        formula=rf"y_{{\ldots,i}} = {picked}\, x_{{\ldots,u}}, \quad {window}"
        + (r"\ \text{on each axis}" if n > 1 else ""),
        family="pooling",
        level=10,
        relation=_sized(f"Adaptive{kind.capitalize()}Pool{n}D", axes),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=flops_per_input,
        reference=resized_to(kind, axes, asked_sizes),
        gradient=_GRADIENTS[kind],
        lowering=_adaptive_te(kind),
        layout=pool_layout,
        precision=Precision.FOLLOW if kind == "max" else Precision.NEVER,
        traits={Trait.POOL, Trait.SELECTION} if kind == "max" else {Trait.POOL},
        example=example,
        attrs=attrs,
    )


def _global(kind: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a pool over whole images, of `kind` "max" or "avg"."""
    picked = r"\max_{i,j}" if kind == "max" else r"\frac{1}{hw} \sum_{i,j}"
    return operator(
        f"nn.global_{kind}_pool2d",
        description=f"Computes the {_NAMES[kind]} of each channel over both spatial axes.",
        formula=rf"y_{{b,c,0,0}} = {picked}\, x_{{b,c,i,j}}",
        family="pooling",
        level=2,
        relation=_sized(f"Global{kind.capitalize()}Pool2D", "HW"),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=flops_per_input,
        reference=resized_to(kind, "HW", asked_sizes),
        gradient=_GRADIENTS[kind],
        lowering=_adaptive_te(kind),
        layout=pool_layout,
        precision=Precision.FOLLOW if kind == "max" else Precision.NEVER,
        traits={Trait.POOL, Trait.SELECTION} if kind == "max" else {Trait.POOL},
        example=lambda build: build(IMAGE),
        attrs=GlobalPool2DAttrs,
    )


@_adaptive("max", "W", AdaptivePool1DAttrs, lambda build: build(SIGNAL, 2))
def adaptive_max_pool1d(
    data: Operand, output_size: Size = None, layout: str = "NCW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, W) into `output_size` windows, and take the maximum of each: (N, C, w).

    A size of None keeps that of the data.
    """


@_adaptive("avg", "W", AdaptivePool1DAttrs, lambda build: build(SIGNAL, 2))
def adaptive_avg_pool1d(
    data: Operand, output_size: Size = None, layout: str = "NCW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, W) into `output_size` windows, and take the mean of each: (N, C, w).

    A size of None keeps that of the data.
    """


@_adaptive("max", "HW", AdaptivePool2DAttrs, lambda build: build(IMAGE, 2))
def adaptive_max_pool2d(
    data: Operand, output_size: Size = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, H, W) into `output_size` windows, and take the maximum of each: (N, C, h, w).

    A size of None keeps that of the data.
    """


@_adaptive("avg", "HW", AdaptivePool2DAttrs, lambda build: build(IMAGE, 2))
def adaptive_avg_pool2d(
    data: Operand, output_size: Size = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, H, W) into `output_size` windows, and take the mean of each: (N, C, h, w).

    A size of None keeps that of the data.
    """


@_adaptive("max", "DHW", AdaptivePool3DAttrs, lambda build: build(VOLUME, 2))
def adaptive_max_pool3d(
    data: Operand, output_size: Size = None, layout: str = "NCDHW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, D, H, W) into `output_size` windows, and take the maximum of each: (N, C, d, h,
    w).

    A size of None keeps that of the data.
    """


@_adaptive("avg", "DHW", AdaptivePool3DAttrs, lambda build: build(VOLUME, 2))
def adaptive_avg_pool3d(
    data: Operand, output_size: Size = None, layout: str = "NCDHW", out_layout: str = ""
) -> Call:
    """Divide `data` (N, C, D, H, W) into `output_size` windows, and take the mean of each: (N, C, d, h, w).

    A size of None keeps that of the data.
    """


def global_max_pool1d(data: Operand, layout: str = "NCW", out_layout: str = "") -> Call:
    """Take the maximum of each channel: adaptive_max_pool1d with an output of one element."""
    return adaptive_max_pool1d(data, (1,), layout, out_layout)


def global_avg_pool1d(data: Operand, layout: str = "NCW", out_layout: str = "") -> Call:
    """Take the mean of each channel: adaptive_avg_pool1d with an output of one element."""
    return adaptive_avg_pool1d(data, (1,), layout, out_layout)


@_global("max")
def global_max_pool2d(data: Operand, layout: str = "NCHW", out_layout: str = "") -> Call:
    """Take the maximum of each channel of `data` (N, C, H, W): (N, C, 1, 1)."""


@_global("avg")
def global_avg_pool2d(data: Operand, layout: str = "NCHW", out_layout: str = "") -> Call:
    """Take the mean of each channel of `data` (N, C, H, W): (N, C, 1, 1)."""


def global_max_pool3d(data: Operand, layout: str = "NCDHW", out_layout: str = "") -> Call:
    """Take the maximum of each channel: adaptive_max_pool3d with an output of one element."""
    return adaptive_max_pool3d(data, (1, 1, 1), layout, out_layout)


def global_avg_pool3d(data: Operand, layout: str = "NCDHW", out_layout: str = "") -> Call:
    """Take the mean of each channel: adaptive_avg_pool3d with an output of one element."""
    return adaptive_avg_pool3d(data, (1, 1, 1), layout, out_layout)
