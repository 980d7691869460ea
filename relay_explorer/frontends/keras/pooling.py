"""Converters of pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .call import Call, Results, Value, layer
from .convolution import SPACE, padding_of, sizes

_POOLS: dict[tuple[str, int], Callable[..., Expr]] = {
    ("Max", 1): relay.nn.max_pool1d, ("Max", 2): relay.nn.max_pool2d, ("Max", 3): relay.nn.max_pool3d,
    ("Average", 1): relay.nn.avg_pool1d, ("Average", 2): relay.nn.avg_pool2d,
    ("Average", 3): relay.nn.avg_pool3d,
}  # fmt: skip
_ADAPTIVE: dict[tuple[str, int], Callable[..., Expr]] = {
    ("Max", 1): relay.nn.adaptive_max_pool1d, ("Max", 2): relay.nn.adaptive_max_pool2d,
    ("Max", 3): relay.nn.adaptive_max_pool3d, ("Average", 1): relay.nn.adaptive_avg_pool1d,
    ("Average", 2): relay.nn.adaptive_avg_pool2d, ("Average", 3): relay.nn.adaptive_avg_pool3d,
}  # fmt: skip


class EmptyAxisError(RelayError, ValueError):
    """An axis that is pooled has no elements. (TVM's importer raised a ValueError.)"""


def _named(call: Call) -> tuple[str, int]:
    """Return what a layer computes, and in how many dimensions, from its name such as MaxPooling2D."""
    return ("Max" if "Max" in call.kind else "Average"), int(call.kind[-2])


@layer(
    "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D"
)
def _pool(call: Call) -> Results:
    how, rank = _named(call)
    x, first, value = call.image()
    window = sizes(call.attr("pool_size"), rank)
    strides = sizes(call.attr("strides") or window, rank)
    padding = padding_of(call, call.context.shape(x), first, window, strides, (1,) * rank)
    layout = f"NC{SPACE[rank]}" if first else f"N{SPACE[rank]}C"
    return value(_POOLS[how, rank](x, window, strides, padding=padding, layout=layout))


@layer(
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
)  # fmt: skip
def _global_pool(call: Call) -> Results:
    how, rank = _named(call)
    x, first, value = call.image()
    axes = list(range(2, 2 + rank) if first else range(1, 1 + rank))
    for axis in axes:
        if call.context.shape(x)[axis] == 0:
            raise EmptyAxisError(f"axis {axis} of {call.context.type(x)} has no elements to pool")
    reduce = relay.max if how == "Max" else relay.mean
    keeps = bool(call.attr("keepdims", False))
    result = reduce(x, axes, keepdims=keeps)
    return value(result) if keeps else result


@layer("GlobalAveragePooling1D", uses_mask=True)
def _global_average_pool_1d(call: Call) -> Results:
    """Average the steps, only those that count if the sequence is masked."""
    x, first, value = call.image()
    axis, keeps = (2 if first else 1), bool(call.attr("keepdims", False))
    mask: Any = (
        call.value(0).mask if not isinstance(call.argument("mask"), Value) else call.argument("mask").expr
    )
    if mask is None:
        result: Expr = relay.mean(x, [axis], keepdims=keeps)
    else:
        counts = relay.expand_dims(relay.cast(mask, call.dtype), 1 if first else 2)
        total = relay.sum(relay.multiply(x, counts), [axis], keepdims=keeps)
        result = relay.divide(total, relay.sum(counts, [axis], keepdims=keeps))
    return value(result) if keeps else result


@layer(
    "AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D",
)  # fmt: skip
def _adaptive_pool(call: Call) -> Results:
    how, rank = _named(call)
    x, first, value = call.image()
    size = sizes(call.attr("output_size"), rank)
    layout = f"NC{SPACE[rank]}"
    moved = x if first else call.importer.to_first(x)
    result = _ADAPTIVE[how, rank](moved, size, layout=layout)
    return value(result if first else call.importer.to_last(result))
