"""Losses: how far predictions are from targets."""

from __future__ import annotations

import math
from collections.abc import Callable

from .index import inside
from .library import te, tirx
from .lowered import Lowered, Lowering
from .tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    number,
    real_type,
    reduce_axes,
    select,
    stage,
    sum_over,
)


def _agreement(logarithm: Callable[[Value], Value]) -> Lowering:
    """The mean over examples of targets times logarithms of predictions, negated."""

    def lower(call: Lowered) -> list[Tensor]:
        predictions, targets = call.inputs
        dtype = dtype_of(targets)
        real, (examples, classes) = real_type(dtype), dims(predictions)
        n, c = reduce_axes([examples, classes])

        def all_of_them() -> Value:
            found = logarithm(cast(predictions(n, c), real)) * cast(targets(n, c), real)
            return sum_over(found, [n, c])

        sums = stage((), all_of_them, f"{call.name}_sum")
        known_count = isinstance(examples, int)  # the mean of no examples is no number
        count = number(examples or math.nan, real) if known_count else cast(examples, real)
        return [stage((), lambda: cast(-sums() / count, dtype), call.name)]

    return lower


cross_entropy = _agreement(te.log)
cross_entropy_with_logits = _agreement(lambda x: x)


def nll_loss(call: Lowered) -> list[Tensor]:
    """A target that is no class counts as the nearest one; one that is ignored weighs 0."""
    predictions, targets, weights = call.inputs
    attrs, dtype = call.attrs, dtype_of(predictions)
    real, classes = real_type(dtype), dims(predictions)[1]

    def weight(*i: Value) -> Value:
        ignored = tirx.EQ(targets(*i), number(attrs.ignore_index, dtype_of(targets)))
        return select(ignored, number(0, real), cast(weights(inside(targets(*i), classes)), real))

    def loss(*i: Value) -> Value:
        chosen = cast(predictions(i[0], inside(targets(*i), classes), *i[1:]), real)
        return number(0, real) - chosen * weight(*i)

    shape = dims(targets)
    if attrs.reduction == "none":
        return [stage(shape, lambda *i: cast(loss(*i), dtype), call.name)]
    k, m = reduce_axes(shape), reduce_axes(shape, "m")
    total = stage((), lambda: sum_over(loss(*k), k), f"{call.name}_sum")
    if attrs.reduction == "sum":
        return [stage((), lambda: cast(total(), dtype), call.name)]
    weighed = stage((), lambda: sum_over(weight(*m), m), f"{call.name}_weight")
    return [stage((), lambda: cast(total() / weighed(), dtype), call.name)]
