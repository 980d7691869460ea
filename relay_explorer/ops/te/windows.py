"""Windows over the spatial axes: the padding around the data, and the number of positions of a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tensors import Value, View, every, guarded, laid_out, quotient

Pairs = Sequence[tuple[int, int]]


def surrounded(view: View, pairs: Pairs, value: Value, name: str) -> View:
    """Pad the spatial axes of `view` with `value`: `pairs` has the amounts before and after each of them.

    The padded data is a stage of its own: computed in the innermost loop, padding would cost a comparison for
    every product.
    """
    if not any(before or after for before, after in pairs):
        return view
    lead = len(view.shape) - len(pairs)
    inner = view.shape[lead:]
    shape = [*view.shape[:lead], *[d + a + b for d, (a, b) in zip(inner, pairs, strict=True)]]

    def element(*i: Value) -> Value:
        inside, source = [], []
        for at, dim, (before, after) in zip(i[lead:], inner, pairs, strict=True):
            inside += [at >= before] * bool(before) + [at < dim + before] * bool(after)
            source.append(at - before if before else at)
        return guarded(every(inside), view(*i[:lead], *source), value)

    return View(laid_out(shape, view.layout, element, name), view.layout)


def positions(dim: Any, size: Any, stride: int, step: int, pair: tuple[int, int]) -> Any:
    """Count the positions of a window along an axis."""
    room = dim + (sum(pair) - 1) - step * (size - 1)
    return quotient(room, stride) + 1
