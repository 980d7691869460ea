"""Layers with weights of 8 bits and float data: how the data is quantized, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.tflite import from_tflite, read
from relay_explorer.frontends.tflite.hybrid import quantized_in_the_run
from relay_explorer.frontends.tflite.reader import Model, Quantization, Tensor
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Function, Tuple
from relay_explorer.ir.module import IRModule
from tests.frontends.tflite.files import flat, inputs_of, outputs_of, path_of, run

RNG = np.random.default_rng(0)
Array = np.ndarray[Any, Any]


def quantized(x: Array, symmetric: bool = False, away: bool = False) -> list[Array]:
    """Return the integers, the scales and, unless `symmetric`, the zero points of the rows of a matrix."""
    var = relay.var("x", shape=x.shape, dtype="float32")
    parts = [part for part in quantized_in_the_run(var, [1], symmetric, away) if part is not None]
    mod = IRModule.from_expr(Function([var], Tuple(parts)))
    return flat(relay.create_executor("debug", mod).evaluate()(x))


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize("shift", [-5.0, -0.5, 0.0, 0.3, 4.0])
def test_each_row_has_its_own_scale_and_zero_point(shift: float, away: bool) -> None:
    sizes = np.exp(RNG.normal(size=(7, 1)) * 3)
    x = ((RNG.normal(size=(7, 40)) + shift) * sizes).astype(np.float32)
    whole, scale, zero = quantized(x, away=away)
    assert (whole.dtype, scale.shape, zero.shape) == (np.int8, (7, 1), (7, 1))
    extent = np.maximum(x.max(1), 0) - np.minimum(x.min(1), 0)
    np.testing.assert_allclose(scale[:, 0], extent / 255, rtol=1e-6)
    error = np.abs((whole.astype(int) - zero) * scale - x)
    assert (error <= scale * 1.001).all()  # half a step, and up to another half at the ends of the range
    assert ((whole == zero) == (np.round(x / scale) == 0)).all()  # zero is represented exactly


def test_symmetric_data_has_no_zero_point_and_does_not_use_the_smallest_integer() -> None:
    x = RNG.normal(size=(5, 30)).astype(np.float32)
    whole, scale = quantized(x, symmetric=True)
    np.testing.assert_allclose(scale[:, 0], np.abs(x).max(1) / 127, rtol=1e-6)
    assert np.abs(whole.astype(int)).max() == 127
    assert (np.abs(whole * scale - x) <= scale * 0.5001).all()


@pytest.mark.parametrize("symmetric", [False, True])
def test_rows_of_zeros_remain_zeros(symmetric: bool) -> None:
    x = np.stack([np.zeros(8), np.arange(8)]).astype(np.float32)
    whole, scale, *zero = quantized(x, symmetric)
    assert np.isfinite(scale).all()
    centered = whole.astype(int) - (zero[0] if zero else 0)
    assert not centered[0].any()
    assert centered[1].any()


@pytest.mark.parametrize(("away", "wanted"), [(False, [0, 2, 2, 0, -2, -2]), (True, [1, 2, 3, -1, -2, -3])])
def test_halves_are_rounded_to_even_or_away_from_zero(away: bool, wanted: list[int]) -> None:
    x = np.array([[-128, 127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5]], np.float32)
    whole, scale, zero = quantized(x, away=away)
    assert (scale.item(), zero.item()) == (1.0, 0)
    assert list(whole[0, 2:]) == wanted


def changed(
    monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Tensor], Tensor]
) -> Callable[[], Any]:
    """Return a function that imports a model after a change of its tensors."""
    model = read(path_of(name))
    graph = model.subgraphs[0]
    graphs = [replace(graph, tensors=[change(tensor) for tensor in graph.tensors]), *model.subgraphs[1:]]
    monkeypatch.setattr(
        "relay_explorer.frontends.tflite.importer.read", lambda _: Model(graphs, model.original)
    )
    return lambda: from_tflite(b"")


def is_weight(tensor: Tensor) -> bool:
    return tensor.dtype == "int8" and tensor.quantization is not None


def test_one_scale_for_all_channels_gives_the_product_with_the_scaled_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def alike(tensor: Tensor) -> Tensor:
        return replace(tensor, quantization=Quantization((0.5,), (0,), 0)) if is_weight(tensor) else tensor

    weights = [t for t in read(path_of("hybrid_dense")).subgraphs[0].tensors if is_weight(t)]
    quantization, data = weights[0].quantization, weights[0].data
    assert quantization is not None
    assert data is not None
    mod, params = changed(monkeypatch, "hybrid_dense", alike)()
    (result,) = run(mod, params, inputs_of("hybrid_dense"))
    (wanted,) = outputs_of("hybrid_dense")
    bias = wanted[0, 1]  # of the row of zeros
    scaled = (wanted - bias) * (0.5 / np.asarray(quantization.scale, np.float32))
    np.testing.assert_allclose(result - bias, scaled, rtol=1e-4, atol=1e-3)


def test_weights_with_a_zero_point_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(tensor: Tensor) -> Tensor:
        return replace(tensor, quantization=Quantization((0.5,), (3,), 0)) if is_weight(tensor) else tensor

    with pytest.raises(RelayError, match="must have the zero point 0, not 3"):
        changed(monkeypatch, "hybrid_dense", moved)()


def test_weights_without_a_scale_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(tensor: Tensor) -> Tensor:
        return replace(tensor, quantization=None) if is_weight(tensor) else tensor

    with pytest.raises(RelayError, match="integer operands without quantization parameters"):
        changed(monkeypatch, "hybrid_convolutions", bare)()


def test_unsigned_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsigned(tensor: Tensor) -> Tensor:
        if not is_weight(tensor) or tensor.data is None:
            return tensor
        return replace(tensor, dtype="uint8", data=tensor.data.view(np.uint8))

    with pytest.raises(RelayError, match="only weights of int8 can be multiplied"):
        changed(monkeypatch, "hybrid_dense", unsigned)()


def test_scales_of_a_sequence_are_those_of_each_step() -> None:
    mod, params = from_tflite(path_of("hybrid_lstm"))
    (x,) = inputs_of("hybrid_lstm")
    (before,) = run(mod, params, [x])
    x = x.copy()
    x[:, -1] *= 1000  # changes the scale of the last step only
    (after,) = run(mod, params, [x])
    np.testing.assert_array_equal(before[:, :-1], after[:, :-1])
    assert (before[:, -1] != after[:, -1]).any()
