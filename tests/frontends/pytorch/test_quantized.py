"""Operators of quantized tensors give the integers that PyTorch gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from tests.frontends.pytorch.helpers import imported, operators, scripted

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

F = nn.functional
Q = torch.ops.quantized
Function = Callable[[Tensor, Tensor], Tensor]
torch.manual_seed(3)
X, Y = torch.randn(2, 4, 6, 6), torch.randn(2, 4, 6, 6)


class Quantizes(nn.Module):
    """Applies a function to two quantized tensors, and dequantizes its result."""

    def __init__(self, function: Function, dtype: torch.dtype, dequantizes: bool = True) -> None:
        super().__init__()
        self.function = function
        self.dtype = dtype
        self.zero = 103 if dtype == torch.quint8 else -9
        self.dequantizes = dequantizes

    def forward(self, x: Tensor, y: Tensor) -> Any:
        a = torch.quantize_per_tensor(x, 0.0513, self.zero, self.dtype)
        b = torch.quantize_per_tensor(y, 0.0391, self.zero + 5, self.dtype)
        result = self.function(a, b)
        return result.dequantize() if result.is_quantized and self.dequantizes else result


def compare(function: Function, dtype: torch.dtype, steps: float) -> IRModule:
    """Compare a function of quantized tensors with PyTorch's, up to a number of steps; return the module."""
    module = Quantizes(function, dtype)
    result, mod = imported(module, X, Y)
    expected = module(X, Y).numpy()
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    if steps == 0:
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=0)
        return mod
    whole = Quantizes(function, dtype, dequantizes=False)(X, Y)
    assert np.abs(result - expected).max() <= steps * whole.q_scale() * 1.001
    assert (np.abs(result - expected) > 1e-3 * whole.q_scale()).mean() < 0.1
    return mod


def slopes(scale: float, dtype: torch.dtype) -> Tensor:
    """Return the quantized slopes of four channels."""
    return torch.quantize_per_tensor(torch.tensor([0.1, 0.25, -0.2, 0.3]), scale, 99, dtype)


EXACT: dict[str, Function] = {
    "relu": lambda a, b: torch.relu(a),
    "relu_": lambda a, b: torch.relu_(a),
    "relu6": lambda a, b: F.relu6(a),
    "clamp": lambda a, b: torch.clamp(a, -0.3, 0.7),
    "hardtanh": lambda a, b: F.hardtanh(a, -0.5, 0.5),
    "sigmoid": lambda a, b: torch.sigmoid(a),
    "tanh": lambda a, b: torch.tanh(a),
    "hardsigmoid": lambda a, b: F.hardsigmoid(a),
    "max_pool2d": lambda a, b: F.max_pool2d(a, 2),
    "avg_pool2d": lambda a, b: F.avg_pool2d(a, 3, 1, 1),
    "avg_pool2d_halves": lambda a, b: F.avg_pool2d(a, 2),
    "avg_pool2d_padded_halves": lambda a, b: F.avg_pool2d(a, 2, 2, 1),
    "avg_pool2d_divisor": lambda a, b: F.avg_pool2d(a, 2, divisor_override=8),
    "avg_pool1d_halves": lambda a, b: F.avg_pool1d(a[0], 2),
    "adaptive_avg_pool2d": lambda a, b: F.adaptive_avg_pool2d(a, 1),
    "adaptive_avg_pool2d_halves": lambda a, b: F.adaptive_avg_pool2d(a, 3),
    "mean": lambda a, b: a.mean((2, 3)),
    "max": lambda a, b: a.max(),
    "max.dim": lambda a, b: a.max(1)[0],
    "sort": lambda a, b: a.sort(1)[0],
    "topk": lambda a, b: a.topk(2, 1)[0],
    "nearest": lambda a, b: F.interpolate(a, scale_factor=2),
    "bilinear": lambda a, b: F.interpolate(a, scale_factor=2, mode="bilinear", align_corners=True),
    "bilinear_halves": lambda a, b: F.interpolate(a, scale_factor=2, mode="bilinear"),
    "pad": lambda a, b: F.pad(a, (1, 1, 1, 1), value=0.5),
    "reflect": lambda a, b: F.pad(a, (1, 1, 1, 1), mode="reflect"),
    "cat": lambda a, b: torch.cat([a, a], 1),
    "cat_of_other_scales": lambda a, b: torch.cat([a, b, a], 1),
    "stack": lambda a, b: torch.stack([a, a], 1),
    "stack_of_other_scales": lambda a, b: torch.stack([b, a], 1),
    "masked_fill": lambda a, b: a.masked_fill(b.dequantize() > 0, -0.3),
    "rot90": lambda a, b: torch.rot90(a, 1, (2, 3)),
    "view": lambda a, b: a.view(2, -1),
    "permute": lambda a, b: a.permute(0, 2, 3, 1).contiguous(),
    "slice": lambda a, b: a[:, 1:3],
    "select": lambda a, b: a[0],
    "chunk": lambda a, b: a.chunk(2, 1)[1],
    "index": lambda a, b: a[:, torch.tensor([0, 2])],
    "expand": lambda a, b: a[:1].expand(3, 4, 6, 6),
    "pixel_shuffle": lambda a, b: F.pixel_shuffle(a, 2),
    "gelu": lambda a, b: F.gelu(a),
    "std": lambda a, b: a.std((2, 3)),
    "greater": lambda a, b: a > b,
    "int_repr": lambda a, b: a.int_repr(),
    "add": lambda a, b: Q.add(a, b, 0.07, 9),
    "add_relu": lambda a, b: Q.add_relu(a, b, 0.07, 9),
    "mul": lambda a, b: Q.mul(a, b, 0.07, 9),
    "mul_relu": lambda a, b: Q.mul_relu(a, b, 0.07, 9),
    "add_scalar": lambda a, b: Q.add_scalar(a, 0.7),
    "add_scalar_large": lambda a, b: Q.add_scalar(a, 30.0),
    "add_scalar_negative": lambda a, b: Q.add_scalar(a, -30.0),
    "add_scalar_relu": lambda a, b: Q.add_scalar_relu(a, 0.3),
    "mul_scalar": lambda a, b: Q.mul_scalar(a, 0.7),
    "mul_scalar_negative": lambda a, b: Q.mul_scalar(a, -0.7),
    "mul_scalar_zero": lambda a, b: Q.mul_scalar(a, 0.0),
    "mul_scalar_relu": lambda a, b: Q.mul_scalar_relu(a, -0.7),
    "quantized_sigmoid": lambda a, b: Q.sigmoid(a, 0.0041, 2),
    "quantized_softmax": lambda a, b: Q.softmax(a, 1, 0.0041, 2),
    "quantized_relu6": lambda a, b: Q.relu6(a),
    "quantized_clamp": lambda a, b: Q.clamp(a, -0.3, 0.5),
    "threshold": lambda a, b: Q.threshold(a, 0.28, 0.1),
    "threshold_between_steps": lambda a, b: F.threshold(a, 0.33, 0.1),
    "threshold_below_all": lambda a, b: F.threshold(a, -50.0, 0.1),
    "threshold_above_all": lambda a, b: F.threshold(a, 50.0, 0.1),
    "quantized_max_pool2d": lambda a, b: Q.max_pool2d(a, [2, 2], [2, 2], [0, 0], [1, 1], False),
    "dropout": lambda a, b: Q.dropout(a, 0.05, 3, 0.5, False),
}
NEAR: dict[str, Function] = {  # where a tie may be broken otherwise
    "leaky_relu": lambda a, b: F.leaky_relu(a, 0.1),
    "prelu": lambda a, b: Q.prelu(a, slopes(0.02, a.dtype), 0.031, 9),
    "prelu_whose_slopes_are_below_1": lambda a, b: Q.prelu(a, slopes(0.003, a.dtype), 0.031, 9),
    "quantized_cat": lambda a, b: Q.cat([a, b], 1, 0.06, 7),
    "matmul": lambda a, b: Q.matmul(a, b, 0.2, 9),
    "quantized_hardswish": lambda a, b: Q.hardswish(a, 0.031, 9),
    "quantized_leaky_relu": lambda a, b: Q.leaky_relu(a, 0.1, False, 0.031, 9),
    "elu": lambda a, b: Q.elu(a, 0.031, 20, 1.0),
    "celu": lambda a, b: Q.celu(a, 0.031, 20, 1.0),
    "batch_norm": lambda a, b: Q.batch_norm2d(
        a, torch.ones(4), torch.zeros(4), torch.zeros(4), torch.ones(4) * 1.3, 1e-5, 0.05, 11
    ),
    "batch_norm_relu": lambda a, b: Q.batch_norm2d_relu(
        a, torch.ones(4), torch.zeros(4), torch.zeros(4), torch.ones(4) * 1.3, 1e-5, 0.05, 11
    ),
    "layer_norm": lambda a, b: Q.layer_norm(a, [6], torch.ones(6), torch.zeros(6), 1e-5, 0.05, 11),
    "group_norm": lambda a, b: Q.group_norm(a, 2, torch.ones(4), torch.zeros(4), 1e-5, 0.05, 11),
    "instance_norm": lambda a, b: Q.instance_norm(a, torch.ones(4), torch.zeros(4), 1e-5, 0.05, 11),
}


@pytest.mark.parametrize("dtype", [torch.quint8, torch.qint8], ids=["quint8", "qint8"])
@pytest.mark.parametrize("name", EXACT)
def test_equals_pytorch_to_the_last_bit(name: str, dtype: torch.dtype) -> None:
    compare(EXACT[name], dtype, 0)


@pytest.mark.parametrize("name", NEAR)
def test_differs_from_pytorch_by_one_step_at_most(name: str) -> None:
    compare(NEAR[name], torch.quint8, 1)


# -- what is refused


def test_an_operator_that_does_not_take_quantized_tensors_is_refused_with_its_name() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.exp(torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)).dequantize()

    with pytest.raises(RelayError, match="aten::exp of a quantized tensor cannot be imported"):
        from_pytorch(scripted(Model()), [("x", (2, 3))])


def test_a_quantized_tensor_in_a_condition_of_the_run_is_refused() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            q = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
            if bool(x.sum() > 0):
                q = torch.relu(q)
            return q.dequantize()

    with pytest.raises(RelayError, match="where its scale would be lost"):
        from_pytorch(scripted(Model()), [("x", (2, 3))])


def test_a_part_of_a_quantized_tensor_cannot_be_changed() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            q = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
            torch.relu_(q[0])
            return q.dequantize()

    with pytest.raises(RelayError, match="changes a part of a quantized tensor"):
        from_pytorch(scripted(Model()), [("x", (2, 3))])


@pytest.mark.parametrize("scale", [0.0, -0.1, float("inf"), float("nan")])
def test_a_scale_that_is_not_positive_is_refused(scale: float) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = scale

        def forward(self, x: Tensor) -> Tensor:
            return torch.quantize_per_tensor(x, self.scale, 0, torch.quint8).dequantize()

    with pytest.raises(RelayError, match="scale"):
        from_pytorch(scripted(Model()), [("x", (2, 3))])


def test_a_scripted_model_and_a_fixed_condition_keep_the_quantization() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor, double: bool = True) -> Tensor:
            q = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
            if double:
                q = torch.cat([q, q], 1)
            return q.view(-1).dequantize()

    mod, _ = from_pytorch(scripted(Model()), [("x", (2, 3))])
    assert operators(mod) == ["qnn.quantize", "concatenate", "reshape", "qnn.dequantize"]


# -- scripted models


class Scripted(nn.Module):
    """Layers whose forward asks for the form and the quantization of their input, and compute paddings."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.elu, self.act = nn.ELU(), nn.Hardswish()

    def forward(self, x: Tensor) -> Tensor:
        y = self.act(self.conv(x))
        return F.relu(self.elu(y) + y)


Scripted.forward.__annotations__.clear()  # FX writes annotations that are texts into code as names


def test_a_scripted_model_reads_its_scales_from_buffers() -> None:
    prepared = prepare_fx(Scripted().eval(), get_default_qconfig_mapping("fbgemm"), (X,))
    prepared(X)
    model = convert_fx(prepared)
    result, mod = imported(model, X, script=True)
    assert_few_steps(result, model(X).numpy())
    assert "qnn.conv2d" in operators(mod)
    assert [param.name_hint for param in mod["main"].params] == ["x0", "conv.weight", "conv.bias"]


def assert_few_steps(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Check that few elements differ, by two steps (one step of a convolution may move the sum by two). A
    step is the smallest difference of two results of PyTorch's.
    """
    step = np.diff(np.unique(expected)).min()
    assert np.abs(result - expected).max() <= 2.01 * step
    assert (np.abs(result - expected) > 0.01 * step).mean() < 0.05
