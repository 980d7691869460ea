"""Operators that move a window over a tensor without reducing it, and Fourier transforms.

TOPI multiplies angles up in the data's type; here the multiple is brought below n as an integer first, and
the angle is float64, so that long transforms keep their precision.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from .library import te
from .lowered import Lowered
from .tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    guarded,
    known,
    number,
    quotient,
    reduce_axes,
    stage,
    sum_over,
)

REAL = "float64"


def sliding_window(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    axis, moving = attrs.axis % len(x.shape), len(attrs.window_shape)
    counts = [
        quotient(dim - window, stride) + 1
        for dim, window, stride in zip(dims(x)[axis:], attrs.window_shape, attrs.strides, strict=True)
    ]

    def value(*i: Value) -> Value:
        places, within = i[axis : axis + moving], i[axis + moving :]
        at = [p * stride + u for p, u, stride in zip(places, within, attrs.strides, strict=True)]
        return x(*i[:axis], *at)

    return [stage((*dims(x)[:axis], *counts, *attrs.window_shape), value, call.name)]


def _angle(a: Value, b: Value, size: Any) -> Value:
    """2π a b / size, for whole numbers."""
    whole = te.floormod(a.astype("int64") * b.astype("int64"), size)
    length = number(size, REAL) if isinstance(size, int) else size.astype(REAL)
    return whole.astype(REAL) * number(2 * pi, REAL) / length


def stft(call: Lowered) -> list[Tensor]:
    (x, window), attrs = call.inputs, call.attrs
    n, dtype = attrs.n_fft, dtype_of(x)
    length = dims(window)[0]
    before = (n - length) // 2
    rows = n // 2 + 1 if attrs.onesided else n
    frames = quotient(dims(x)[-1] - n, attrs.hop_length) + 1
    (k,) = reduce_axes([n])
    scale = number(1 / sqrt(n) if attrs.normalized else 1, REAL)

    def value(*i: Value) -> Value:
        *batch, frequency, frame, part = i
        inside = te.all(k >= before, k < before + length)
        weight = guarded(inside, cast(window(k - before), REAL), number(0, REAL))
        angle = _angle(frequency, k, n)
        wave = te.if_then_else(part == 0, te.cos(angle), -te.sin(angle))
        return sum_over(weight * cast(x(*batch, frame * attrs.hop_length + k), REAL) * wave, [k])

    shape = (*dims(x)[:-1], rows, frames, 2)
    total = stage(shape, value, f"{call.name}_sum")
    return [stage(shape, lambda *i: cast(total(*i) * scale, dtype), call.name)]


def dft(call: Lowered) -> list[Tensor]:
    re, im = call.inputs
    size, dtype, shape = dims(re)[-1], dtype_of(re), dims(re)
    if known(size) == 0:
        return [re, im]
    length = number(size, REAL) if isinstance(size, int) else size.astype(REAL)
    scale = number(1, REAL) / length if call.attrs.inverse else number(1, REAL)

    def part(imaginary: bool) -> Tensor:
        (k,) = reduce_axes([size])

        def value(*i: Value) -> Value:
            angle = _angle(i[-1], k, size)
            a, b = cast(re(*i[:-1], k), REAL), cast(im(*i[:-1], k), REAL)
            cos, sin = te.cos(angle), te.sin(angle)
            if not call.attrs.inverse:
                sin = -sin  # e to the power of minus the angle
            return sum_over(a * sin + b * cos if imaginary else a * cos - b * sin, [k])

        total = stage(shape, value, f"{call.name}_{'imaginary' if imaginary else 'real'}")
        return stage(shape, lambda *i: cast(total(*i) * scale, dtype), call.name)

    return [part(False), part(True)]
