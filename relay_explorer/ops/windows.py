"""Operators that move a window over a tensor without reducing it, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops, size_of
from ..ir.show import counted, show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import expr
from .create import ones
from .declare import declare
from .numeric import Array, np
from .relation import UNKNOWN, floating, forward, normal_axis, same_dim, same_dtypes, tensor

__all__ = ["dft", "sliding_window", "stft"]


class SlidingWindowAttrs(Attrs, key="relay.attrs.SlidingWindowAttrs"):
    axis: int = required("The first axis that the window moves along; it moves along all from there on.")
    window_shape: Ints = required("The window's extents, one for each of these axes.")
    strides: Ints = required("How far the window moves at a time, for each of these axes.")


def _sliding(attrs: SlidingWindowAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(x.shape), "sliding_window")
    moving = len(x.shape) - axis
    for name, given in (("window_shape", attrs.window_shape), ("strides", attrs.strides)):
        if len(given) != moving:
            raise RelationError(
                f"the window moves along the last {moving} of the axes of the data {show_shape(x.shape)}, "
                f"but {name}={list(given)} has {counted(len(given), 'number')}",
                f"give {moving}, or another axis",
                culprits=(0,),
            )
        if min(given) < 1:
            raise RelationError(f"{name}={list(given)} must be positive")
    places: list[Dim] = []
    for at, (window, stride) in enumerate(zip(attrs.window_shape, attrs.strides, strict=True), axis):
        extent = x.shape[at]
        if not isinstance(extent, int):
            places.append(UNKNOWN)
        elif window > extent:
            raise RelationError(
                f"the window is {window} along axis {at}, where the data has {extent}", culprits=(0,)
            )
        else:
            places.append((extent - window) // stride + 1)
    return TensorType.of((*x.shape[:axis], *places, *attrs.window_shape), x.dtype)


def _slid(attrs: SlidingWindowAttrs, x: Array) -> Array:
    axis = attrs.axis % x.ndim
    moving = tuple(range(axis, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, attrs.window_shape, moving)
    return windows[(slice(None),) * axis + tuple([slice(None, None, stride) for stride in attrs.strides])]


class StftAttrs(Attrs, key="relay.attrs.StftAttrs"):
    n_fft: int = attr(-1, "How many elements each frame has.")
    hop_length: int = attr(-1, "How far one frame begins after the one before.")
    win_length: int = attr(-1, "How many elements of a frame the window covers, in its middle.")
    normalized: bool = attr(False, "Whether the result is divided by the square root of n_fft.")
    onesided: bool = attr(True, "Whether the upper half of the frequencies, which mirrors, is left out.")


def _stft(attrs: StftAttrs, data: Type, window: Type) -> Type:
    x, w = floating(data, 0, "data"), tensor(window, 1, "window")
    if attrs.n_fft < 1 or attrs.hop_length < 1 or not 1 <= attrs.win_length <= attrs.n_fft:
        raise RelationError(
            f"n_fft={attrs.n_fft}, hop_length={attrs.hop_length} and win_length={attrs.win_length} must be "
            "positive, and win_length no more than n_fft"
        )
    if len(x.shape) not in (1, 2):
        raise RelationError(
            f"the data is one signal or a batch of them, with 1 or 2 axes, not {x}",
            "relay.reshape joins axes",
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


def _framed(attrs: StftAttrs, x: Array, window: Array) -> Array:
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


class DFTAttrs(Attrs, key="relay.attrs.DFTAttrs"):
    inverse: bool = attr(False, "Whether the transform is undone: the sign of the angle, and 1 / n.")


def _dft(attrs: DFTAttrs, re_data: Type, im_data: Type) -> Type:
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


def _transformed(attrs: DFTAttrs, re: Array, im: Array) -> tuple[Array, Array]:
    if not re.shape[-1]:
        return re, im
    y = (np.fft.ifft if attrs.inverse else np.fft.fft)(re + 1j * im.astype("float64"), axis=-1)
    return y.real.astype(re.dtype), y.imag.astype(re.dtype)


def _dft_flops(attrs: DFTAttrs, inputs: Sequence[Type], output: Type) -> int:
    """By the definition: for each complex element n complex multiply-adds of 8 operations each."""
    re = inputs[0]
    length = re.shape[-1] if isinstance(re, TensorType) and re.shape else 1
    return 8 * size_of(re) * length if isinstance(length, int) else 0


def _stft_flops(attrs: StftAttrs, inputs: Sequence[Type], output: Type) -> int:
    """By the definition: for each real or imaginary part n_fft times window, cosine, and add."""
    return 3 * attrs.n_fft * size_of(output)


_SLIDING_WINDOW = declare(
    "sliding_window",
    "All places of a window that moves over the last axes, each with the elements it covers.",
    formula=r"y_{b\, p\, k} = x_{b\, (p \cdot s + k)}",
    relation=forward(
        "SlidingWindow", "{out} = {0} with the window's places, then its elements, from `axis` on", _sliding
    ),
    attrs=SlidingWindowAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="index",
    level=3,
    compute=_slid,
    gradient="shape.moved",
    lowering="windows.sliding_window",
)
_STFT = declare(
    "stft",
    "The frequencies of short, overlapping frames of a signal.",
    formula=r"y_{\omega m} = \sum_k w_k\, x_{m h + k}\, e^{-2 \pi i \omega k / n}",
    relation=forward("STFT", "{out} = frequencies × frames × (real, imaginary) for each signal", _stft),
    inputs=("data", "window"),
    attrs=StftAttrs,
    pattern=OpPattern.OPAQUE,
    flops=_stft_flops,
    family="other",
    level=3,
    lenient_in_tvm="It looked neither at the window's length nor at the element types.",
    compute=_framed,
    lowering="windows.stft",
)
_DFT = declare(
    "dft",
    "The discrete Fourier transform along the last axis, of real and imaginary parts.",
    formula=r"y_\omega = \sum_k x_k\, e^{-2 \pi i \omega k / n}",
    relation=forward("DFT", "{out} = ({0}, {0}), if {1} agrees with {0}", _dft),
    inputs=("re_data", "im_data"),
    attrs=DFTAttrs,
    pattern=OpPattern.OPAQUE,
    flops=_dft_flops,
    family="other",
    level=3,
    compute=_transformed,
    lowering="windows.dft",
)


def sliding_window(data: Expr, axis: int, window_shape: Sequence[int], strides: Sequence[int]) -> Expr:
    """Every place of a window over the axes of `data` from `axis` on, with the elements it covers."""
    attrs = SlidingWindowAttrs(axis=axis, window_shape=window_shape, strides=strides)
    return Call(_SLIDING_WINDOW, [expr(data)], attrs)


def stft(
    data: Expr,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Expr | None = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Expr:
    """The spectrum, (batch, frequencies, frames, 2), of frames of `n_fft` elements, `hop_length` apart."""
    attrs = StftAttrs(
        n_fft=n_fft,
        hop_length=n_fft // 4 if hop_length is None else hop_length,
        win_length=n_fft if win_length is None else win_length,
        normalized=normalized,
        onesided=onesided,
    )
    weights = ones([n_fft], "int32") if window is None else expr(window)
    return Call(_STFT, [expr(data), weights], attrs)


def dft(re_data: Expr, im_data: Expr, inverse: bool | None = False) -> TupleWrapper:
    """The real and the imaginary part of the Fourier transform of `re_data` + i · `im_data`."""
    return TupleWrapper(Call(_DFT, [expr(re_data), expr(im_data)], DFTAttrs(inverse=bool(inverse))), 2)
