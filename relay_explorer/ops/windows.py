"""Operators that move a window over a tensor without reducing it, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import attr, required
from ..ir.declaration import NotApplicable, Precision
from ..ir.expr import Call
from ..ir.op import RelationError, no_flops, size_of
from ..ir.show import counted, show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import Operand
from .create import ones
from .examples import IMAGE, X, Y, t
from .gradient_tools import MOVED
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np
from .operator import call, operator
from .relation import UNKNOWN, floating, forward, normal_axis, same_dim, same_dtypes, tensor
from .te.library import te
from .te.lowered import Lowered
from .te.tensors import (
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

__all__ = ["dft", "sliding_window", "stft"]


def _sliding(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(x.shape), "sliding_window")
    moving = len(x.shape) - axis
    for name, values in (("window_shape", attrs.window_shape), ("strides", attrs.strides)):
        if len(values) != moving:
            raise RelationError(
                f"the window moves along the last {moving} of the axes of the data {show_shape(x.shape)}, "
                f"but {name}={list(values)} has {counted(len(values), 'number')}",
                f"give {moving}, or another axis",
                culprits=(0,),
            )
        if min(values) < 1:
            raise RelationError(f"{name}={list(values)} must be positive")
    counts: list[Dim] = []
    for at, (window, stride) in enumerate(zip(attrs.window_shape, attrs.strides, strict=True), axis):
        extent = x.shape[at]
        if not isinstance(extent, int):
            counts.append(UNKNOWN)
        elif window > extent:
            raise RelationError(
                f"the window is {window} along axis {at}, where the data has {extent}", culprits=(0,)
            )
        else:
            counts.append((extent - window) // stride + 1)
    return TensorType.of((*x.shape[:axis], *counts, *attrs.window_shape), x.dtype)


def _slid(attrs: Anything, x: Array) -> Array:
    axis = attrs.axis % x.ndim
    moving = tuple(range(axis, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, attrs.window_shape, moving)
    return windows[(slice(None),) * axis + tuple([slice(None, None, stride) for stride in attrs.strides])]


def _stft(attrs: Anything, data: Type, window: Type) -> Type:
    x, w = floating(data, 0, "data"), tensor(window, 1, "window")
    if attrs.n_fft < 1 or attrs.hop_length < 1 or not 1 <= attrs.win_length <= attrs.n_fft:
        raise RelationError(
            f"n_fft={attrs.n_fft}, hop_length={attrs.hop_length} and win_length={attrs.win_length} must be "
            "positive, and win_length no more than n_fft"
        )
    if len(x.shape) not in (1, 2):
        raise RelationError(
            f"the data is one signal or a batch of them, with 1 or 2 axes, not {x}",
            "relay.reshape merges axes",
            culprits=(0,),
        )
    if len(w.shape) != 1 or (isinstance(w.shape[0], int) and w.shape[0] > attrs.n_fft):
        raise RelationError(
            f"the window must be a vector of at most {attrs.n_fft} numbers, n_fft, not {w}", culprits=(1,)
        )
    length = x.shape[-1]
    frames: Dim = UNKNOWN
    if isinstance(length, int):
        if length < attrs.n_fft:
            raise RelationError(
                f"a frame has {attrs.n_fft} elements, n_fft, but a signal only {length}",
                "relay.nn.pad makes it longer",
                culprits=(0,),
            )
        frames = (length - attrs.n_fft) // attrs.hop_length + 1
    rows = attrs.n_fft // 2 + 1 if attrs.onesided else attrs.n_fft
    return TensorType.of((*x.shape[:-1], rows, frames, 2), x.dtype)


def _framed(attrs: Anything, x: Array, window: Array) -> Array:
    if x.shape[-1] < attrs.n_fft:
        raise ValueError(f"a frame has {attrs.n_fft} elements, but a signal only {x.shape[-1]}")
    missing = attrs.n_fft - len(window)
    if missing < 0:
        raise ValueError(f"the window has {len(window)} elements, more than n_fft={attrs.n_fft}")
    centred = np.pad(window, (missing // 2, missing - missing // 2))
    frames = np.lib.stride_tricks.sliding_window_view(x, attrs.n_fft, -1)[..., :: attrs.hop_length, :]
    spectrum = (np.fft.rfft if attrs.onesided else np.fft.fft)(frames * centred, axis=-1)
    if attrs.normalized:
        spectrum = spectrum / attrs.n_fft**0.5
    spectrum = np.swapaxes(spectrum, -1, -2)
    return np.stack([spectrum.real, spectrum.imag], -1).astype(x.dtype)


def _dft(attrs: Anything, re_data: Type, im_data: Type) -> Type:
    re, im = floating(re_data, 0, "re_data"), tensor(im_data, 1, "im_data")
    same_dtypes(re, im)
    same = len(re.shape) == len(im.shape) and all(map(same_dim, re.shape, im.shape))
    if not same or not re.shape:
        raise RelationError(
            f"the real part {show_shape(re.shape)} and the imaginary part {show_shape(im.shape)} must have "
            "one shape, of at least one axis",
            "the imaginary part of a real signal is relay.zeros_like(re_data)",
            culprits=(0, 1),
        )
    return TupleType([re, re])


def _transformed(attrs: Anything, re: Array, im: Array) -> tuple[Array, Array]:
    if not re.shape[-1]:
        return re, im
    y = (np.fft.ifft if attrs.inverse else np.fft.fft)(re + 1j * im.astype("float64"), axis=-1)
    return y.real.astype(re.dtype), y.imag.astype(re.dtype)


def _dft_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count by the definition: for each complex element n complex multiply-adds of 8 operations each."""
    re = inputs[0]
    length = re.shape[-1] if isinstance(re, TensorType) and re.shape else 1
    return 8 * size_of(re) * length if isinstance(length, int) else 0


def _stft_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count by the definition: for each real or imaginary part n_fft times window, cosine, and addition."""
    operations: int = 3 * attrs.n_fft * size_of(output)
    return operations


def _sliding_window_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    axis, moving = attrs.axis % len(x.shape), len(attrs.window_shape)
    counts = [
        quotient(dim - window, stride) + 1
        for dim, window, stride in zip(dims(x)[axis:], attrs.window_shape, attrs.strides, strict=True)
    ]

    def value(*i: Value) -> Value:
        positions, within = i[axis : axis + moving], i[axis + moving :]
        at = [p * stride + u for p, u, stride in zip(positions, within, attrs.strides, strict=True)]
        return x(*i[:axis], *at)

    return [stage((*dims(x)[:axis], *counts, *attrs.window_shape), value, call.name)]


REAL = "float64"


def _angle(a: Value, b: Value, size: Anything) -> Value:
    """Compute 2π a b / size for integers `a` and `b`, reduced modulo 2π."""
    whole = te.floormod(a.astype("int64") * b.astype("int64"), size)
    length = number(size, REAL) if isinstance(size, int) else size.astype(REAL)
    return whole.astype(REAL) * number(2 * pi, REAL) / length


def _stft_te(call: Lowered) -> list[Tensor]:
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


def _dft_te(call: Lowered) -> list[Tensor]:
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


@operator(
    "sliding_window",
    description="Returns the elements under a window at each position as it slides over the last axes.",
    formula=r"y_{b\, p\, k} = x_{b\, (p \cdot s + k)}",
    family="index",
    level=3,
    relation=forward(
        "SlidingWindow",
        "{out} = {0}, where the window's positions and then its elements replace the axes from `axis` on",
        _sliding,
    ),
    flops=no_flops,
    reference=_slid,
    gradient=MOVED,
    lowering=_sliding_window_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, 1, [3, 2, 4], [1, 2, 2]),
)
def sliding_window(
    data: Operand,
    axis: Annotated[
        int, required("The first axis that the window moves along; it moves along all from there on.")
    ],
    window_shape: Annotated[
        Sequence[int], required("The window's extents, one for each of these axes.", kind="Ints")
    ],
    strides: Annotated[Sequence[int], required("The step of the window on each of these axes.", kind="Ints")],
) -> Call:
    """Return the elements under a window at each position over the axes of `data` from `axis` on."""


@operator(
    "stft",
    description="Computes the short-time Fourier transform: the spectra of short frames, which may overlap.",
    formula=r"y_{\omega m} = \sum_k w_k\, x_{m h + k}\, e^{-2 \pi i \omega k / n}",
    family="other",
    level=3,
    relation=forward("STFT", "{out} = frequencies × frames × (real, imaginary) for each signal", _stft),
    flops=_stft_flops,
    reference=_framed,
    gradient=NotApplicable("there is no gradient rule for Fourier transforms"),
    lowering=_stft_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, 4, 1, 3, t(3, name="w")),
    lenient_in_tvm="It checked neither the window's length nor the element types.",
)
def stft(
    data: Operand,
    n_fft: Annotated[int, attr(-1, "How many elements each frame has.")],
    hop_length: Annotated[
        int | None, attr(-1, "The distance between the starts of two frames.", kind="int")
    ] = None,
    win_length: Annotated[
        int | None, attr(-1, "How many elements of a frame the window covers, in its middle.", kind="int")
    ] = None,
    window: Operand | None = None,
    normalized: Annotated[
        bool, attr(False, "Whether the result is divided by the square root of n_fft.")
    ] = False,
    onesided: Annotated[
        bool, attr(True, "Whether the upper half of the frequencies, a mirror image, is left out.")
    ] = True,
) -> Call:
    """Compute the spectrum, (batch, frequencies, frames, 2), of frames of `n_fft` elements, `hop_length`
    apart.
    """
    weights = ones([n_fft], "int32") if window is None else window
    return call(
        "stft",
        [data, weights],
        n_fft=n_fft,
        hop_length=n_fft // 4 if hop_length is None else hop_length,
        win_length=n_fft if win_length is None else win_length,
        normalized=normalized,
        onesided=onesided,
    )


@operator(
    "dft",
    description="Computes the discrete Fourier transform along the last axis, from real and imaginary parts.",
    formula=r"y_\omega = \sum_k x_k\, e^{-2 \pi i \omega k / n}",
    family="other",
    level=3,
    relation=forward("DFT", "{out} = ({0}, {0}), if {1} has the type of {0}", _dft),
    flops=_dft_flops,
    reference=_transformed,
    gradient=NotApplicable("there is no gradient rule for Fourier transforms"),
    lowering=_dft_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, Y, True),
    attrs_key="relay.attrs.DFTAttrs",
    results=2,
)
def dft(
    re_data: Operand,
    im_data: Operand,
    inverse: Annotated[
        bool | None,
        attr(
            False,
            "Whether the transform is the inverse one: the sign of the angle, and the factor 1 / n.",
            kind="bool",
            normal=bool,
        ),
    ] = False,
) -> TupleWrapper:
    """Compute the real and the imaginary part of the Fourier transform of `re_data` + i · `im_data`."""
