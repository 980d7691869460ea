"""Normalizations without parameters: over adjacent channels, and by the Euclidean norm.

Kernels accumulate in float32, and in float64 for float64 and integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import Relation, Reporter
from ...ir.typed import tensor_type
from ...ir.types import IncompleteType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input, size_of
from ..examples import IMAGE, X
from ..gradient_tools import axis_count, composed
from ..gradient_tools import number as number_like
from ..layouts.layout import NO_LAYOUT_RULE, Answer, Question, alike, moved, unchanged
from ..numeric import Array, np
from ..operator import operator
from ..relation import IDENTITY, normal_axis, tensor
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    guarded,
    number,
    real_type,
    reduce_axes,
    stage,
    sum_over,
)
from .sliding import padded, windows

__all__ = ["l2_normalize", "lrn"]


def _like_data(name: str) -> Relation:
    """Build the relation: the output is like the input, which must have the axes that the attribute `axis`
    names.
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        for axis in (
            attrs.axis if isinstance(attrs.axis, tuple) else () if attrs.axis is None else (attrs.axis,)
        ):
            normal_axis(axis, len(data.shape), name)
        reporter.assign(out, data)
        return True

    return Relation(IDENTITY.name, rule, IDENTITY.formula)


# -- local response normalization


def _lrn_reference(attrs: Anything, x: Array) -> Array:
    if attrs.size < 1:
        raise ValueError(f"size={attrs.size} must be positive")
    before = attrs.size // 2
    squares = padded(np.moveaxis(x, attrs.axis, -1) ** 2, [(before, attrs.size - 1 - before)], 0)
    sums = np.moveaxis(windows(squares, (attrs.size,), (1,), (1,)).sum(-1), -1, attrs.axis)
    return (x / (attrs.bias + attrs.alpha / attrs.size * sums) ** attrs.beta).astype(x.dtype)


def _lrn_expr(attrs: Anything, x: Expr) -> Expr:
    """Express the sums of squares over adjacent channels by a sliding window; the channels are moved to the
    last axis.
    """
    rank, axis = axis_count(x), attrs.axis % axis_count(x)
    order = [a for a in range(rank) if a != axis] + [axis]
    last = relay.transpose(x, order)
    before = attrs.size // 2
    widths = [(0, 0)] * (rank - 1) + [(before, attrs.size - 1 - before)]
    squares = relay.nn.pad(last * last, widths, const(0, tensor_type(x).dtype))
    sums: Expr = relay.sum(relay.sliding_window(squares, rank - 1, (attrs.size,), (1,)), [-1])
    sums = relay.transpose(sums, sorted(range(rank), key=order.__getitem__))
    base = number_like(attrs.bias, x) + number_like(attrs.alpha / attrs.size, x) * sums
    return x * relay.power(base, number_like(-attrs.beta, x))


def _lrn_te(call: Lowered) -> list[Tensor]:
    """Normalize by the squares of adjacent channels; channels beyond the first and the last count as 0."""
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


@operator(
    "nn.lrn",
    description="Divides each element by a power of the scaled sum of squares over adjacent channels.",
    formula=r"y_c = \frac{x_c}{\left(b + \frac{\alpha}{n} \sum_{|c' - c| \le n/2} x_{c'}^2\right)^{\beta}}",
    family="normalization",
    level=2,
    relation=_like_data("lrn"),
    flops=lambda attrs, inputs, output: (
        (2 * attrs.size + 4) * size_of(output)
    ),  # squares and their sum, then factor, sum, power, quotient
    reference=_lrn_reference,
    gradient=Gradient(
        "with s = bias + alpha / n · Σ x² over the n neighbours: dx = dy · s^(−beta) − 2 · alpha · beta / n "
        "· x · Σ dy · x · s^(−beta−1), over the channels whose sum includes x",
        composed(_lrn_expr),
    ),
    lowering=_lrn_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE),
    attrs_key="relay.attrs.LRNAttrs",
    lenient_in_tvm="It accepted an axis that the data does not have.",
)
def lrn(
    data: Operand,
    size: Annotated[int, attr(5, "The number of adjacent channels in each sum.")] = 5,
    axis: Annotated[int, attr(1, "The axis of the channels.")] = 1,
    bias: Annotated[float, attr(2, "Added to the sum, against division by zero.")] = 2,
    alpha: Annotated[float, attr(0.0001, "The factor of the sum.")] = 0.00001,
    beta: Annotated[float, attr(0.75, "The exponent of the divisor.")] = 0.75,
) -> Call:
    """Normalize by the sum of squares over `size` adjacent channels (local response normalization)."""


# -- the Euclidean norm


def _l2_reference(attrs: Anything, x: Array) -> Array:
    squares = np.sum(x**2, attrs.axis, keepdims=True)
    return (x / np.sqrt(np.maximum(squares, attrs.eps))).astype(x.dtype)


def _l2_normalize_expr(attrs: Anything, x: Expr) -> Expr:
    return x / relay.sqrt(
        relay.maximum(relay.sum(x * x, attrs.axis, keepdims=True), number_like(attrs.eps, x))
    )


def _l2_normalize_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rank, dtype = len(x.shape), dtype_of(x)
    real, sizes = real_type(dtype), dims(x)
    named = range(rank) if attrs.axis is None else {axis % rank for axis in attrs.axis}
    folded = [axis for axis in range(rank) if axis in named]
    remaining = [axis for axis in range(rank) if axis not in named]
    axes = dict(zip(folded, reduce_axes([sizes[axis] for axis in folded]), strict=True))

    def square(*i: Value) -> Value:
        at = {**axes, **dict(zip(remaining, i, strict=True))}
        here = cast(x(*[at[axis] for axis in range(rank)]), real)
        return sum_over(here * here, list(axes.values()))

    squares = stage([sizes[axis] for axis in remaining], square, f"{call.name}_squares")

    def value(*i: Value) -> Value:
        norm = te.sqrt(te.max(squares(*[i[axis] for axis in remaining]), number(attrs.eps, real)))
        return cast(cast(x(*i), real) / norm, dtype)

    return [stage(x.shape, value, call.name)]


def _l2_normalize_layout(question: Question) -> Answer:
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or question.new is None:
        return unchanged(question)
    axes = [moved(axis, old, question.new[0]) for axis in attrs["axis"] or ()]
    if None in axes or not axes:
        return unchanged(question)
    return alike(question.new[0], attrs.replace(axis=axes))


@operator(
    "nn.l2_normalize",
    description="Divides by the Euclidean norm along the given axes.",
    formula=r"y = \frac{x}{\sqrt{\max(\sum x^2, \epsilon)}}",
    family="normalization",
    level=2,
    relation=_like_data("l2_normalize"),
    flops=operations_per_input(3),  # a square, a sum, a quotient
    reference=_l2_reference,
    gradient=Gradient(
        "with n = √max(Σ x², eps): dx = (dy − y · Σ dy · y) / n, and dy / n where Σ x² < eps",
        composed(_l2_normalize_expr),
    ),
    lowering=_l2_normalize_te,
    layout=_l2_normalize_layout,
    precision=Precision.NEVER,
    example=lambda build: build(X, 1e-5, [1]),
    attrs_key="relay.attrs.L2NormalizeAttrs",
    lenient_in_tvm="It accepted axes that the data does not have.",
)
def l2_normalize(
    data: Operand,
    eps: Annotated[float, required("The least sum of squares, against division by zero.")],
    axis: Annotated[
        int | Sequence[int] | None,
        attr(None, "The axes that are summed over; by default all.", kind="Ints | None"),
    ] = None,
) -> Call:
    """Divide `data` by its Euclidean norm over `axis`; `eps` is a lower bound of the sum of squares."""
