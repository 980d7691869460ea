"""Handles sums whose length is not a multiple of the vector length: peels the iteration for the remainder.

A row of 333 elements, summed 16 at a time, has 20 vectors and 13 more elements. If these were a 21st
iteration of the loop, every iteration would check bounds for each element. After the loop, they are a shorter
vector.

When TVM moves such a loop into a tile, it loses the information that the last iteration is not full. The loop
is therefore annotated with the number of elements in the remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..require import tvm
from .rewriting import mapped

MARK = "relay_explorer.tail"


def with_tails(nest: Any) -> Any:
    """Peel the last iteration of each marked loop of a nest."""
    return mapped(nest, tvm().tirx.For, lambda loop: _split(loop) if MARK in loop.annotations else loop)


def _split(loop: Any) -> Any:
    tirx = tvm().tirx
    left = int(loop.annotations[MARK])
    count, dtype = int(loop.extent), str(loop.loop_var.ty)
    annotations = {key: value for key, value in loop.annotations.items() if key != MARK}
    last = tirx.const(count - 1, dtype)
    whole = tirx.For(loop.loop_var, loop.min, last, loop.kind, loop.body, None, annotations)
    rest = mapped(loop.body, tirx.For, lambda inner: _remainder(inner, left))
    return tirx.SeqStmt([whole, mapped(rest, tirx.Var, _substitution(loop.loop_var, last))])


def _remainder(loop: Any, left: int) -> Any:
    """Copy a loop with a new variable; a loop over a vector's elements runs only over those that remain."""
    tirx = tvm().tirx
    var = tirx.Var(f"{loop.loop_var.name}_rest", loop.loop_var.ty)
    vector = int(loop.kind) == tirx.ForKind.VECTORIZED
    extent = tirx.const(left, str(var.ty)) if vector else loop.extent
    body = mapped(loop.body, tirx.Var, _substitution(loop.loop_var, var))
    return tirx.For(var, loop.min, extent, loop.kind, body, None, loop.annotations)


def _substitution(var: Any, value: Any) -> Callable[[Any], Any]:
    return lambda other: value if other.same_as(var) else other
