"""Sliding windows and Fourier transforms, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.ir.expr import Expr
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any
from relay_explorer.ops import windows
from tests.ops.meanings import close, evaluate, numbers, rng, shape
from tests.ops.tensor_programs import ints, refused, t, typed


@pytest.mark.parametrize("seed", range(12))
def test_sliding_windows(seed: int) -> None:
    random = rng("windows", seed)
    extents = shape(random, 1 + seed % 4)
    axis = int(random.integers(-len(extents), len(extents)))
    moving = extents[axis % len(extents) :]
    window = [int(random.integers(1, extent + 1)) for extent in moving]
    strides = [int(stride) for stride in random.integers(1, 4, len(moving))]
    x = numbers(random, extents, ["float32", "int8"][seed % 2])
    wanted = torch.tensor(x)
    for at, (size, stride) in enumerate(zip(window, strides, strict=True), axis % len(extents)):
        wanted = wanted.unfold(at, size, stride)
    close(evaluate(windows.sliding_window, x, axis=axis, window_shape=window, strides=strides), wanted)


@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_stft(seed: int, normalized: bool, onesided: bool) -> None:
    random = rng("stft", seed, normalized, onesided)
    size = int(random.integers(2, 9))
    hop, win = int(random.integers(1, 5)), int(random.integers(1, size + 1))
    x = numbers(random, (2, size + 7) if seed % 2 else (size + 7,), "float32")
    window = np.abs(numbers(random, (win,)))
    found = evaluate(lambda v, w: windows.stft(v, size, hop, win, w, normalized, onesided), x, window)
    wanted = torch.stft(
        torch.tensor(x), size, hop, win, torch.tensor(window),
        center=False, normalized=normalized, onesided=onesided, return_complex=True,
    )  # fmt: skip
    close(found, torch.view_as_real(wanted), 1e-4)


def test_stft_without_a_window_weighs_all_alike() -> None:
    x = numbers(rng("plain"), (1, 20))
    wanted = torch.stft(torch.tensor(x), 8, 2, window=torch.ones(8), center=False, return_complex=True)
    close(evaluate(windows.stft, x, n_fft=8), torch.view_as_real(wanted), 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inverse", [False, True, None])
def test_dft(inverse: bool | None, dtype: str) -> None:
    random = rng("dft", inverse, dtype)
    re, im = numbers(random, (2, 3, 5), dtype), numbers(random, (2, 3, 5), dtype)
    transform = torch.fft.ifft if inverse else torch.fft.fft
    wanted = transform(torch.complex(torch.tensor(re), torch.tensor(im)))
    found = evaluate(windows.dft, re, im, inverse=inverse)
    close(found[0], wanted.real)
    close(found[1], wanted.imag)


def test_a_transform_is_undone_by_its_inverse() -> None:
    re, im = numbers(rng("there"), (7,), "float64"), numbers(rng("back"), (7,), "float64")

    def round_trip(a: Expr, b: Expr) -> TupleWrapper:
        there_a, there_b = windows.dft(a, b)
        return windows.dft(there_a, there_b, inverse=True)

    close(evaluate(round_trip, re, im)[0], re)


def test_types_of_what_is_unknown() -> None:
    x = t(2, Any(), 8)
    assert typed(windows.sliding_window(x, 1, [2, 3], [1, 2])) == "Tensor[(2, ?, 3, 2, 3), float32]"
    assert typed(windows.stft(t(Any(), Any()), 4, 2)) == "Tensor[(?, 3, ?, 2), float32]"
    assert typed(windows.stft(t(10), 4, 2, onesided=False)) == "Tensor[(4, 4, 2), float32]"
    assert (
        typed(windows.dft(t(2, 3), t(2, 3, name="y"))) == "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            windows.sliding_window(t(2, 3, 4), 1, [2], [1]),
            "the window moves along the last 2 of the axes of the data (2, 3, 4), but window_shape=[2] has 1 "
            "number",
        ),
        (windows.sliding_window(t(3), 0, [2], [0]), "strides=[0] must be positive"),
        (windows.sliding_window(t(3), 0, [4], [1]), "the window is 4 along axis 0, where the data has 3"),
        (
            windows.sliding_window(t(3), 1, [4], [1]),
            "axis 1 is out of range: the tensor has 1 axis, so sliding_window takes -1 to 0",
        ),
        (
            windows.stft(t(9), 4, 0),
            "n_fft=4, hop_length=0 and win_length=4 must be positive, and win_length no more than n_fft",
        ),
        (windows.stft(t(3), 4), "a frame has 4 elements, n_fft, but a signal only 3"),
        (windows.stft(ints(9), 4), "data must be floating-point, but its elements are int32"),
        (
            windows.stft(t(2, 2, 9), 4),
            "the data is one signal or a batch of them, with 1 or 2 axes, not Tensor[(2, 2, 9), float32]",
        ),
        (
            windows.stft(t(9), 4, window=t(5, name="w")),
            "the window must be a vector of at most 4 numbers, n_fft, not Tensor[(5), float32]",
        ),
        (
            windows.dft(t(2, 3), t(3, name="y")),
            "the real part (2, 3) and the imaginary part (3) must have one shape, of at least one axis",
        ),
        (windows.dft(t(3), t(3, dtype="float64", name="y")), "the element types differ: float32 and float64"),
    ],
)
def test_what_does_not_fit_is_said(call: Expr, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message


def test_a_short_signal_is_noticed_when_the_program_runs() -> None:
    with pytest.raises(ExecutionError, match="a frame has 4 elements, but a signal only 3"):
        evaluate(lambda x: windows.stft(_hidden(x), 4, 2), np.ones(3, "float32"))


def _hidden(x: Expr) -> Expr:
    """`x`, as a tensor whose length inference does not know."""
    return relay.reshape(x, relay.shape_of(x))
