"""Operators of quantized exported programs (PT2E) compute what PyTorch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers the operators
from torch import Tensor, nn

from relay_explorer import relay
from relay_explorer.frontends import from_exported_program
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from tests.frontends.quantized import calls

D = torch.ops.quantized_decomposed
torch.manual_seed(5)
X = torch.randn(4, 6, 8)
SCALES, ZEROS = torch.linspace(0.02, 0.09, 6), torch.arange(-3, 3)
Function = Callable[[Tensor], Any]


class Calls(nn.Module):
    """A module whose `forward` is a function of it and its input; scales are buffers, as PT2E makes them."""

    scales: Tensor
    zeros: Tensor

    def __init__(self, function: Callable[[Any, Tensor], Any]) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("scales", SCALES)
        self.register_buffer("zeros", ZEROS)

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


def same(function: Callable[[Any, Tensor], Any], x: Tensor = X, tolerance: float = 0.0) -> IRModule:
    """Export a function, import it, and compare its results with PyTorch's; return the module."""
    module = Calls(function).eval()
    program = torch.export.export(module, (x,))
    mod, params = from_exported_program(program)
    result = relay.create_executor("debug", mod).evaluate()(x.numpy(), **params)
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    expected = module(x)
    for ours, theirs in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        wanted = theirs.numpy()
        assert (ours.numpy().shape, ours.numpy().dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(ours.numpy(), wanted, rtol=tolerance, atol=tolerance)
    return mod


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 255, torch.uint8), (0, 127, torch.uint8), (-128, 127, torch.int8), (-127, 127, torch.int8),
        (-32768, 32767, torch.int16), (-(2**31), 2**31 - 1, torch.int32),
    ],
)  # fmt: skip
def test_quantizes_and_dequantizes_a_tensor(low: int, high: int, dtype: torch.dtype) -> None:
    def function(module: Any, x: Tensor) -> Any:
        whole = D.quantize_per_tensor(x, 0.0173, 5, low, high, dtype)
        return whole, D.dequantize_per_tensor(whole, 0.0173, 5, low, high, dtype)

    mod = same(function)
    assert len(calls(mod, "qnn.quantize")) == 1
    assert len(calls(mod, "clip")) == (1 if (low, high) in ((0, 127), (-127, 127)) else 0)


def test_quantizes_and_dequantizes_channels() -> None:
    def function(module: Any, x: Tensor) -> Any:
        options = (module.scales, module.zeros, 1, -128, 127, torch.int8)
        whole = D.quantize_per_channel(x, *options)
        return whole, D.dequantize_per_channel(whole, *options)

    mod = same(function)
    assert [param.name_hint for param in mod["main"].params] == ["x"]  # the scales are constants


@pytest.mark.parametrize("x", [X, torch.rand(3, 4) + 1.0, torch.zeros(2, 3)])
def test_scales_that_are_computed_in_every_run(x: Tensor) -> None:
    def function(module: Any, x: Tensor) -> Any:
        options = (0, 255, torch.uint8)
        scale, zero = D.choose_qparams.tensor(x, 0, 255, 1e-5, torch.uint8)
        whole = D.quantize_per_tensor.tensor(x, scale, zero, *options)
        return D.dequantize_per_tensor.tensor(whole, scale, zero, *options)

    same(function, x, 1e-6)

    def symmetric(module: Any, x: Tensor) -> Any:
        options = (-127, 127, torch.int8)
        scale, zero = D.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8)
        whole = D.quantize_per_tensor.tensor(x, scale, zero, *options)
        return D.dequantize_per_tensor.tensor(whole, scale, zero, *options)

    same(symmetric, x, 1e-6)


def test_each_row_has_its_own_scale() -> None:
    def function(module: Any, x: Tensor) -> Any:
        scale, zero = D.choose_qparams_per_token_asymmetric(x, torch.int8)
        whole = D.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        return D.dequantize_per_token(whole, scale, zero, -128, 127, torch.int8, torch.float32)

    same(function, X, 1e-5)


def test_each_row_has_its_own_scale_for_a_zero_in_the_middle() -> None:
    def function(module: Any, x: Tensor) -> Any:
        scale, zero = D.choose_qparams_per_token(x, torch.int8)
        whole = D.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        return D.dequantize_per_token(whole, scale, zero, -128, 127, torch.int8, torch.float32)

    same(function, X, 1e-6)
    same(function, torch.zeros_like(X))


@pytest.mark.parametrize("group", [4, 16])
def test_a_layer_whose_weight_has_scales_for_groups_reads_packed_integers(group: int) -> None:
    weight = torch.randint(-8, 8, (5, 8), dtype=torch.int8)
    scales = torch.linspace(0.1, 0.3, 10 if group == 4 else 5).reshape(5, -1)

    def function(module: Any, x: Tensor) -> Any:
        options = (scales, None, -8, 7, torch.int8, group, torch.float32)
        return nn.functional.linear(x, D.dequantize_per_channel_group(weight, *options))

    (call,) = calls(same(function, X, 1e-5), "nn.contrib_dense_nbits")
    assert call.attrs is not None
    assert (call.attrs["bits"], call.attrs["group_size"]) == (4, min(group, 8))


def test_groups_of_columns_have_their_own_scales() -> None:
    scales, zeros = torch.linspace(0.05, 0.4, 12).reshape(6, 2), torch.arange(12).reshape(6, 2) % 3

    def function(module: Any, x: Tensor) -> Any:
        whole = D.quantize_per_channel_group(x, scales, zeros, -8, 7, torch.int8, 4)
        return D.dequantize_per_channel_group(whole, scales, zeros, -8, 7, torch.int8, 4, torch.float32)

    same(function, X[0], 1e-6)


def test_fake_quantization_of_a_model_in_training() -> None:
    mod = same(lambda module, x: torch.fake_quantize_per_tensor_affine(x, 0.02, 7, 0, 255), X, 1e-6)
    assert len(calls(mod, "qnn.quantize", "qnn.dequantize")) == 2
    zeros = ZEROS.to(torch.int32)
    same(lambda m, x: torch.fake_quantize_per_channel_affine(x, m.scales, zeros, 1, -128, 127), X, 1e-6)


def test_a_layer_between_the_pairs_computes_with_integers_on_request() -> None:
    weight = torch.randint(-128, 128, (6, 8), dtype=torch.int8)

    def function(module: Any, x: Tensor) -> Any:
        whole = D.quantize_per_tensor(x, 0.0173, 128, 0, 255, torch.uint8)
        data = D.dequantize_per_tensor(whole, 0.0173, 128, 0, 255, torch.uint8)
        kernel = D.dequantize_per_channel(weight, module.scales, None, 0, -128, 127, torch.int8)
        result = D.quantize_per_tensor(nn.functional.linear(data, kernel), 0.21, 100, 0, 255, torch.uint8)
        return D.dequantize_per_tensor(result, 0.21, 100, 0, 255, torch.uint8)

    x = X[0]
    module = Calls(function).eval()
    program = torch.export.export(module, (x,))
    expected = module(x).numpy()
    for integers, layer in ((False, "nn.dense"), (True, "qnn.dense")):
        mod, params = from_exported_program(program, integers=integers)
        assert len(calls(mod, layer)) == 1
        result = relay.create_executor("debug", mod).evaluate()(x.numpy(), **params).numpy()
        np.testing.assert_allclose(result, expected, atol=1e-6)


def test_a_dynamically_quantized_layer_on_rows_of_several_axes_computes_with_integers() -> None:
    weight = torch.randint(-128, 128, (6, 8), dtype=torch.int8)

    def function(module: Any, x: Tensor) -> Any:
        scale, zero = D.choose_qparams.tensor(x, 0, 255, 1e-5, torch.uint8)
        whole = D.quantize_per_tensor.tensor(x, scale, zero, 0, 255, torch.uint8)
        data = D.dequantize_per_tensor.tensor(whole, scale, zero, 0, 255, torch.uint8)
        kernel = D.dequantize_per_channel(weight, module.scales, None, 0, -128, 127, torch.int8)
        return nn.functional.linear(data, kernel, torch.ones(6))

    module = Calls(function).eval()
    mod, params = from_exported_program(torch.export.export(module, (X,)), integers=True)
    assert len(calls(mod, "qnn.dense")) == 1
    assert not calls(mod, "nn.dense")
    result = relay.create_executor("debug", mod).evaluate()(X.numpy(), **params).numpy()
    np.testing.assert_allclose(result, module(X).numpy(), rtol=1e-5, atol=1e-5)


def test_fake_quantization_chooses_a_type_that_represents_the_bounds() -> None:
    program = torch.export.export(
        Calls(lambda module, x: torch.fake_quantize_per_tensor_affine(x, 0.02, 7, -1, 255)), (X,)
    )
    mod, _ = from_exported_program(program)
    assert "int16" in str(mod)


def test_a_scale_that_is_not_positive_is_refused() -> None:
    def function(module: Any, x: Tensor) -> Any:
        return D.quantize_per_tensor(x, 0.0, 5, 0, 255, torch.uint8)

    program = torch.export.export(Calls(function), (X,))
    with pytest.raises(RelayError, match="a scale must be a positive, finite number"):
        from_exported_program(program)
