"""Signal processing: spectra of frames."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .registry import aten, tensor_call
from .values import Value


@aten("stft")
def stft(
    ctx: Aten,
    x: Expr,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Expr | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Value:
    """Return the spectrum of frames; real and imaginary parts are the last axis."""
    if return_complex:
        raise RelayError(
            "Relay has no complex numbers", help=["call torch.stft with return_complex=False in the model"]
        )
    if window is not None:
        window = ctx.cast(window, ctx.dtype(x))
    signal = relay.expand_dims(x, 0) if ctx.rank(x) == 1 else x
    spectrum = relay.stft(
        signal, n_fft, hop_length, win_length or n_fft, window, normalized, onesided is not False
    )
    return relay.squeeze(spectrum, [0]) if ctx.rank(x) == 1 else spectrum


@aten("stft.center")
def stft_center(
    ctx: Aten,
    x: Expr,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Expr | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Value:
    """Return the spectrum of frames whose middles are elements of the signal, which is padded for that."""
    if center:
        batch = relay.expand_dims(x, 0) if ctx.rank(x) == 1 else x
        padded = tensor_call(ctx, "pad", batch, [n_fft // 2, n_fft // 2], pad_mode, None)
        x = relay.squeeze(padded, [0]) if ctx.rank(x) == 1 else padded
    return stft(ctx, x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)
