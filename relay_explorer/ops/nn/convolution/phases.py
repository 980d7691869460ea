"""Lower strided transposed convolutions without multiplying by zeros.

If zeros are inserted for a stride of 2, three of four elements of an image are zeros, and so are three of
four products. Whether an element of the output depends on an element of the data or on a zero follows from
its *phase*, its index modulo the stride. Therefore the elements of each phase are a convolution of the data
itself with every second element of the kernel. This lowering computes all phases together, on extra axes, and
interleaves them at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...te.imperative import int32
from ...te.lowered import Lowered
from ...te.tensors import (
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
from ...te.windows import surrounded
from ..layout import LayoutMap
from ..sliding import sides


def has_phases(call: Lowered, data: View, weight: View) -> bool:
    """Whether there are zeros to skip, and all sizes are static."""
    sized = all(known(size) is not None for size in (*data.shape, *weight.shape))
    return sized and max(call.attrs.strides) > 1 and max(call.attrs.dilation) == 1


def phased(call: Lowered, data: View, weight: View, out_layout: LayoutMap) -> Tensor:
    """Compute a transposed convolution phase by phase.

    At index y = s g + q of an axis with stride s, the kernel's element k = s a + (q + padding) mod s is
    multiplied by the data's element g + ⌊(q + padding) / s⌋ - a.
    """
    attrs, dtype = call.attrs, call.out.dtype
    pads = [int(before) for before, _ in sides(attrs.padding, len(attrs.strides))]
    strides = [int(stride) for stride in attrs.strides]
    sizes, lengths, taps, padding_needed = _extents(call, data, weight)
    padded = surrounded(data, padding_needed, number(0, data.dtype), f"{call.name}_pad")
    read = _every_tap(weight, strides, taps, call.name)
    each, groups = int(weight.shape[1]), attrs.groups
    inputs = int(data.shape[1]) // groups
    c, *u = reduce_axes([inputs, *taps])
    wide, count = sum_type(dtype), len(strides)

    def term(n: Value, o: Value, *i: Value) -> Value:
        at, tap = [], []
        for q, g, a, s, pad, most in zip(i[:count], i[count:], u, strides, pads, taps, strict=True):
            whole, phase = _divided(q, pad, s)
            at.append(g + whole + (most - 1) - a)
            tap.append(a * s + phase)
        channel, output = (c, o) if groups == 1 else (quotient(o, each) * inputs + c, remainder(o, each))
        return cast(padded(n, channel, *at), wide) * cast(read(channel, output, *tap), wide)

    sums = stage(
        (data.shape[0], each * groups, *strides, *lengths),
        lambda *i: sum_over(term(*i), [c, *u]),
        f"{call.name}_phases",
    )

    def value(n: Value, o: Value, *i: Value) -> Value:
        phases = [remainder(y, s) for y, s in zip(i, strides, strict=True)]
        return cast(sums(n, o, *phases, *[quotient(y, s) for y, s in zip(i, strides, strict=True)]), dtype)

    return laid_out((data.shape[0], each * groups, *sizes), out_layout, value, call.name)


def _divided(q: Value, pad: int, stride: int) -> tuple[Value, Value]:
    """Divide q + pad by the stride, for a `q` smaller than the stride; return quotient and remainder.

    TVM 0.27 simplifies divisions here to a wrong index where `q` is part of a fused loop: it loses the `pad`.
    """
    whole, rest = divmod(pad, stride)
    if rest == 0:
        return int32(whole), q
    beyond = (q >= stride - rest).astype("int32")
    return beyond + whole, q + rest - beyond * stride


def _extents(
    call: Lowered, data: View, weight: View
) -> tuple[list[int], list[int], list[int], list[tuple[int, int]]]:
    """Compute for each axis the output's size, the length of a phase, the number of kernel elements per
    phase, and the zeros that its first and last positions need before and after the data.
    """
    attrs = call.attrs
    pairs = sides(attrs.padding, len(attrs.strides))
    sizes, lengths, taps, padding_needed = [], [], [], []
    for axis, (stride, pair) in enumerate(zip(attrs.strides, pairs, strict=True)):
        dim, size = int(data.shape[axis + 2]), int(weight.shape[axis + 2])
        sizes.append(stride * (dim - 1) + size + attrs.output_padding[axis] - sum(pair))
        lengths.append(-(-sizes[-1] // stride))
        taps.append(-(-size // stride))
        last = lengths[-1] - 1 + (stride - 1 + pair[0]) // stride
        padding_needed.append((taps[-1] - 1, max(0, last + 1 - dim)))
    return sizes, lengths, taps, padding_needed


def _every_tap(weight: View, strides: list[int], taps: list[int], name: str) -> Callable[..., Value]:
    """Pad the weight with zeros if the phases have different numbers of kernel elements."""
    whole = [s * a for s, a in zip(strides, taps, strict=True)]
    sizes: list[Any] = list(weight.shape[2:])
    if whole == sizes:
        return weight

    def tap(c: Value, o: Value, *k: Value) -> Value:
        inside = [at < size for at, size, most in zip(k, sizes, whole, strict=True) if size != most]
        return guarded(every(inside), weight(c, o, *k), number(0, weight.dtype))

    return View(laid_out((*weight.shape[:2], *whole), weight.layout, tap, f"{name}_taps"), weight.layout)
