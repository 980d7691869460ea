"""Rules of SimplifyExpr for `…_like` operators, for reshapes and for transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.declaration import Trait
from ...ir.expr import Call, Expr
from ...ops.calls import relay
from ...ops.nn.layout import parse_layout
from ..fold_scale_axis.axes import calls, operator_of

if TYPE_CHECKING:
    from . import Rules, Simplifier

Tokens = tuple[str, ...]  # the axes of a layout as they are written: ("N", "C", "H", "W", "4c")


def filled_like(s: Simplifier, call: Call) -> Expr | None:
    """`zeros_like(x)` is `zeros(shape=…)`, where the shape is known; `ones_like` and `full_like` likewise."""
    type_, name = s.tensor(call), operator_of(call).removesuffix("_like")
    if not type_.is_static:
        return None
    return s.call(name, *call.args[1:], shape=type_.concrete_shape, dtype=type_.dtype)


def reshape_like(s: Simplifier, call: Call) -> Expr | None:
    """`reshape_like(x, y)` is `reshape(x)` to the shape of `y`, where that is known."""
    type_ = s.tensor(call)
    if not type_.is_static or 0 in type_.shape:
        return None
    return s.call("reshape", call.args[0], newshape=type_.concrete_shape)


def broadcast_to_like(s: Simplifier, call: Call) -> Expr | None:
    """`broadcast_to_like(x, y)` is `broadcast_to(x)` to the shape of `y`, where that is known."""
    type_ = s.tensor(call)
    return s.call("broadcast_to", call.args[0], shape=type_.concrete_shape) if type_.is_static else None


def collapse_sum_like(s: Simplifier, call: Call) -> Expr | None:
    """`collapse_sum_like(x, y)` is `collapse_sum_to(x)` to the shape of `y`, where that is known."""
    type_ = s.tensor(call)
    return relay.collapse_sum_to(call.args[0], type_.concrete_shape) if type_.is_static else None


def reshape_of_reshape(s: Simplifier, call: Call) -> Expr | None:
    """Replace a sequence of reshapes by one reshape to the last shape."""
    inner, type_ = call.args[0], s.tensor(call)
    if not calls(inner, Trait.RESHAPE):
        return None
    if not type_.is_static or 0 in type_.concrete_shape:
        return None
    assert isinstance(inner, Call)
    return s.call("reshape", inner.args[0], newshape=type_.concrete_shape)


def moved_axes(s: Simplifier, call: Call) -> Expr | None:
    """Remove a transpose, or layout transform, that does nothing; merge two in a row."""
    rank = len(s.tensor(call).shape)
    if _order(call, rank) == list(range(rank)):
        return call.args[0]
    inner = call.args[0]
    if not calls(inner, Trait.TRANSPOSE):
        return None
    assert isinstance(inner, Call)
    data = inner.args[0]
    first, second = _order(inner, len(s.tensor(inner).shape)), _order(call, rank)
    if first is not None and second is not None:
        axes = [first[axis] for axis in second]
        return data if axes == list(range(rank)) else s.call("transpose", data, axes=axes)
    layouts = _both_layouts(inner, call, first, second)
    if layouts is None:
        return None
    source, target = ("".join(tokens) for tokens in layouts)
    return (
        data if source == target else s.call("layout_transform", data, src_layout=source, dst_layout=target)
    )


def _both_layouts(
    inner: Call, outer: Call, first: Sequence[int] | None, second: Sequence[int] | None
) -> tuple[Tokens, Tokens] | None:
    """Return the source and target layouts of two moves together, at least one of which splits or joins
    axes.
    """
    if first is None:
        source, middle = _layouts(inner)
        if second is not None:
            return source, tuple(middle[axis] for axis in second)
        again, target = _layouts(outer)
        return (source, target) if again == middle else None
    middle, target = _layouts(outer)
    return tuple(middle[list(first).index(axis)] for axis in range(len(middle))), target


def _order(call: Call, rank: int) -> list[int] | None:
    """Return the argument's axes in the order of the result; None where axes are split or joined."""
    assert call.attrs is not None
    if operator_of(call) == "transpose":
        axes = call.attrs["axes"]
        return [axis % rank for axis in axes] if axes else list(reversed(range(rank)))
    source, target = _layouts(call)
    return [source.index(axis) for axis in target] if sorted(source) == sorted(target) else None


def _layouts(call: Call) -> tuple[Tokens, Tokens]:
    assert call.attrs is not None
    source, target = (
        tuple(letter if letter.isupper() else f"{factor}{letter}" for letter, factor in parse_layout(layout))
        for layout in (call.attrs["src_layout"], call.attrs["dst_layout"])
    )
    return source, target


RULES: Rules = {
    "zeros_like": [filled_like],
    "ones_like": [filled_like],
    "full_like": [filled_like],
    "reshape_like": [reshape_like],
    "broadcast_to_like": [broadcast_to_like],
    "collapse_sum_like": [collapse_sum_like],
    "reshape": [reshape_of_reshape],
    "contrib_reverse_reshape": [reshape_of_reshape],
    "transpose": [moved_axes],
    "layout_transform": [moved_axes],
}
