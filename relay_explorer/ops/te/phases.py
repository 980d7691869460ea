"""Transposed convolutions with strides, without the zeros.

Moved apart by a stride of 2, three of four elements of a picture are zeros, and so are three of four
products. But whether a place of the output sees an element or a zero depends on its phase alone: what is left
when its number is divided by the stride. So the places of each phase are a convolution of the data as it is
with every second element of the kernel. Here all phases are computed together, on axes of their own, and put
between each other at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.layout import LayoutMap
from ..nn.sliding import sides
from .convolution import surrounded
from .imperative import int32
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    View,
    cast,
    every,
    guarded,
    known,
    laid_out,
    number,
    quotient,
    reduce_axes,
    remainder,
    stage,
    sum_over,
    sum_type,
)


def has_phases(call: Lowered, data: View, weight: View) -> bool:
    """Whether there are zeros to leave out, and all sizes are known."""
    sized = all(known(size) is not None for size in (*data.shape, *weight.shape))
    return sized and max(call.attrs.strides) > 1 and max(call.attrs.dilation) == 1


def phased(call: Lowered, data: View, weight: View, out_layout: LayoutMap) -> Tensor:
    """The output of a transposed convolution. At the place y = s g + q of an axis with the stride s, a tap
    k = s a + (q + padding) mod s of the kernel sees the element g + ⌊(q + padding) / s⌋ - a.
    """
    attrs, dtype = call.attrs, call.out.dtype
    pads = [int(before) for before, _ in sides(attrs.padding, len(attrs.strides))]
    strides = [int(stride) for stride in attrs.strides]
    sizes, places, taps, border = _extents(call, data, weight)
    padded = surrounded(data, border, number(0, data.dtype), f"{call.name}_pad")
    read = _every_tap(weight, strides, taps, call.name)
    each, groups = int(weight.shape[1]), attrs.groups
    inputs = int(data.shape[1]) // groups
    c, *u = reduce_axes([inputs, *taps])
    wide, count = sum_type(dtype), len(strides)

    def term(n: Value, o: Value, *i: Value) -> Value:
        at, tap = [], []
        for q, g, a, s, pad, most in zip(i[:count], i[count:], u, strides, pads, taps, strict=True):
            turn, phase = _divided(q, pad, s)
            at.append(g + turn + (most - 1) - a)
            tap.append(a * s + phase)
        channel, output = (c, o) if groups == 1 else (quotient(o, each) * inputs + c, remainder(o, each))
        return cast(padded(n, channel, *at), wide) * cast(read(channel, output, *tap), wide)

    sums = stage(
        (data.shape[0], each * groups, *strides, *places),
        lambda *i: sum_over(term(*i), [c, *u]),
        f"{call.name}_phases",
    )

    def value(n: Value, o: Value, *i: Value) -> Value:
        phases = [remainder(y, s) for y, s in zip(i, strides, strict=True)]
        return cast(sums(n, o, *phases, *[quotient(y, s) for y, s in zip(i, strides, strict=True)]), dtype)

    return laid_out((data.shape[0], each * groups, *sizes), out_layout, value, call.name)


def _divided(q: Value, pad: int, stride: int) -> tuple[Value, Value]:
    """⌊(q + pad) / stride⌋ and what is left, of a `q` below the stride. Written as divisions, TVM 0.27 makes
    a wrong index of them where `q` is itself a part of a fused loop: it loses the `pad`.
    """
    whole, rest = divmod(pad, stride)
    if rest == 0:
        return int32(whole), q
    beyond = (q >= stride - rest).astype("int32")
    return beyond + whole, q + rest - beyond * stride


def _extents(
    call: Lowered, data: View, weight: View
) -> tuple[list[int], list[int], list[int], list[tuple[int, int]]]:
    """For each axis the output's size, the places of a phase, its taps of the kernel, and how many zeros the
    first and the last place see outside of the data.
    """
    attrs = call.attrs
    pairs = sides(attrs.padding, len(attrs.strides))
    sizes, places, taps, border = [], [], [], []
    for axis, (stride, pair) in enumerate(zip(attrs.strides, pairs, strict=True)):
        dim, size = int(data.shape[axis + 2]), int(weight.shape[axis + 2])
        sizes.append(stride * (dim - 1) + size + attrs.output_padding[axis] - sum(pair))
        places.append(-(-sizes[-1] // stride))
        taps.append(-(-size // stride))
        last = places[-1] - 1 + (stride - 1 + pair[0]) // stride
        border.append((taps[-1] - 1, max(0, last + 1 - dim)))
    return sizes, places, taps, border


def _every_tap(weight: View, strides: list[int], taps: list[int], name: str) -> Callable[..., Value]:
    """The weight, with zeros behind it where the phases have unequally many taps."""
    whole = [s * a for s, a in zip(strides, taps, strict=True)]
    sizes: list[Any] = list(weight.shape[2:])
    if whole == sizes:
        return weight

    def tap(c: Value, o: Value, *k: Value) -> Value:
        inside = [at < size for at, size, most in zip(k, sizes, whole, strict=True) if size != most]
        return guarded(every(inside), weight(c, o, *k), number(0, weight.dtype))

    return View(laid_out((*weight.shape[:2], *whole), weight.layout, tap, f"{name}_taps"), weight.layout)
