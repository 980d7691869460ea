"""Handles tiles that do not divide an axis: the last one begins earlier, so that it ends where the axis does.

A row of 241 elements has four tiles of 64, of which the last would have only 49 elements. The bounds check
that this needs for each element prevents vectorization. If the last tile begins at 177 instead, it is full
like the others. Elements in two tiles are computed twice, with equal results, because each tile has its own
accumulators, which start at zero.
"""

from __future__ import annotations

from typing import Any

from ..require import tvm
from ..tvm_types import IRModule
from .rewriting import conditions_of, mapped
from .tail import with_tails


def overlapped(mod: IRModule) -> IRModule:
    """Replace bounds checks by overlapping tiles. Each nest's outermost loop must run over its tiles."""
    result = mod
    for var, function in mod.functions_items():
        root = function.body.block
        parts = list(root.body.seq) if hasattr(root.body, "seq") else [root.body]
        new = {part: _nest(with_tails(part)) for part in parts if isinstance(part, tvm().tirx.For)}
        if any(not before.same_as(after) for before, after in new.items()):
            result = result.clone() if result is mod else result
            change = lambda loop, new=new: new.get(loop, loop)  # noqa: E731
            result[var] = function.with_body(mapped(function.body, tvm().tirx.For, change, "pre"))
    return result


def _nest(loop: Any) -> Any:
    """Rewrite a nest, given by its outermost loop. Either all of its blocks are shifted, or none is."""
    bounds = tvm().sym.Analyzer()
    left: list[Any] = []

    def bind(inner: Any) -> Any:
        bounds.bind(inner.loop_var, tvm().ir.Range.from_min_extent(inner.min, inner.extent))
        return inner

    def change(realize: Any) -> Any:
        return _moved(realize, loop.loop_var, bounds, left)

    mapped(loop, tvm().tirx.For, bind)
    moved = mapped(loop, tvm().s_tir.SBlockRealize, change)
    return loop if left else moved


def _moved(realize: Any, tiles: Any, bounds: Any, left: list[Any]) -> Any:
    """Return a block whose indices are shifted in the last tile, and without its bounds checks; `tiles` is
    the variable of the loop over tiles. Conditions that cannot be replaced are appended to `left`.
    """
    tirx = tvm().tirx
    values, conditions = list(realize.iter_values), conditions_of(realize.predicate)
    for condition in conditions:
        axis = _axis(realize, condition, bounds)
        if axis is None:
            left.append(condition)
            continue
        value, size = values[axis], int(realize.block.iter_vars[axis].dom.extent)
        zero = tirx.const(0, str(tiles.ty))
        inner = bounds.simplify(
            mapped(value, tirx.Var, lambda var, zero=zero: zero if var.same_as(tiles) else var)
        )
        tile = bounds.const_int_bound(inner).max_value + 1
        if tile > size:  # another loop runs over the tiles of this axis
            left.append(condition)
            continue
        values[axis] = tirx.min(bounds.simplify(value - inner), size - tile) + inner
    if not conditions:
        return realize
    return tvm().s_tir.SBlockRealize(values, tirx.const(True, "bool"), realize.block)


def _axis(realize: Any, condition: Any, bounds: Any) -> int | None:
    """Return the axis for which a condition is the bounds check; None for other conditions."""
    if not isinstance(condition, tvm().tirx.LT):
        return None
    for number, (axis, value) in enumerate(zip(realize.block.iter_vars, realize.iter_values)):
        same = hasattr(axis.dom.extent, "value") and bounds.can_prove_equal(axis.dom.extent, condition.b)
        if same and bounds.can_prove_equal(value, condition.a):
            return number
    return None
