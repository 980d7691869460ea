"""Quantized convolutions, linear and recurrent layers compute what PyTorch computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from tests.frontends.pytorch.helpers import imported, same
from tests.frontends.quantized import calls, element_types

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

Q = torch.ops.quantized
torch.manual_seed(4)
X = torch.randn(2, 4, 6, 6)


def weight(*shape: int, per_channel: bool = True, axis: int = 0, zero: int = 0) -> Tensor:
    """Return a quantized weight."""
    values = torch.randn(shape) * 0.3
    if not per_channel:
        return torch.quantize_per_tensor(values, 0.0123, zero, torch.qint8)
    count = shape[axis]
    scales, zeros = torch.linspace(0.004, 0.013, count), torch.full((count,), zero)
    return torch.quantize_per_channel(values, scales, zeros, axis, torch.qint8)


def convolution(
    shape: tuple[int, ...], groups: int = 1, stride: int = 1, per_channel: bool = True, zero: int = 0
) -> Any:
    """Return the packed weight of a convolution."""
    axes = len(shape) - 2
    pack = {1: Q.conv1d_prepack, 2: Q.conv2d_prepack, 3: Q.conv3d_prepack}[axes]
    bias = torch.randn(shape[0])
    return pack(
        weight(*shape, per_channel=per_channel, zero=zero),
        bias,
        [stride] * axes,
        [1] * axes,
        [1] * axes,
        groups,
    )


CONVOLUTIONS: dict[str, tuple[tuple[int, ...], dict[str, Any], Any]] = {
    "per_channel": ((8, 4, 3, 3), {}, Q.conv2d),
    "per_tensor": ((8, 4, 3, 3), {"per_channel": False}, Q.conv2d),
    "zero_point": ((8, 4, 3, 3), {"per_channel": False, "zero": 7}, Q.conv2d),
    "strided_relu": ((8, 4, 3, 3), {"stride": 2}, Q.conv2d_relu),
    "grouped": ((8, 2, 3, 3), {"groups": 2}, Q.conv2d),
    "depthwise": ((4, 1, 3, 3), {"groups": 4}, Q.conv2d),
    "depthwise_multiplier": ((8, 1, 3, 3), {"groups": 4}, Q.conv2d_relu),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_differ_by_one_step_in_few_elements(name: str) -> None:
    shape, options, convolve = CONVOLUTIONS[name]
    packed = convolution(shape, **options)
    module = Convolves(packed, lambda x, packed: convolve(x, packed, 0.0413, 57))
    assert_few_steps(module, X, 0.0413)
    _, mod = imported(module, X)
    (call,) = calls(mod, "qnn.conv2d")
    assert element_types(call) == ["uint8", "int8", "int32"]


class Convolves(nn.Module):
    """Quantizes its input and applies a packed layer."""

    def __init__(self, packed: Any, function: Callable[[Tensor, Any], Tensor]) -> None:
        super().__init__()
        self.packed = packed
        self.function = function

    def forward(self, x: Tensor) -> Any:
        result = self.function(torch.quantize_per_tensor(x, 0.0257, 61, torch.quint8), self.packed)
        return result.dequantize()


def assert_few_steps(module: nn.Module, x: Tensor, step: float) -> None:
    """Check that results differ from PyTorch's by one step in less than one element of 100."""
    result, _ = imported(module, x)
    distance = np.abs(result - module(x).numpy()) / step
    assert distance.max() < 1.001
    assert (distance > 0.001).mean() < 0.01


def test_convolutions_in_one_and_three_dimensions() -> None:
    line = Convolves(convolution((8, 4, 3)), lambda x, packed: Q.conv1d(x, packed, 0.0413, 57))
    assert_few_steps(line, torch.randn(4, 4, 50), 0.0413)
    volume = Convolves(convolution((8, 4, 3, 3, 3)), lambda x, packed: Q.conv3d_relu(x, packed, 0.0413, 57))
    assert_few_steps(volume, torch.randn(1, 4, 3, 4, 5), 0.0413)


@pytest.mark.parametrize("axes", [2, 3])
def test_each_channel_of_a_weight_may_have_a_zero_point_of_its_own(axes: int) -> None:
    shape = (8, 4, *[3] * axes)
    zeros = torch.arange(-4, 4)
    kernel = torch.quantize_per_channel(
        torch.randn(shape) * 0.3, torch.linspace(0.004, 0.013, 8), zeros, 0, torch.qint8
    )
    pack, convolve = (Q.conv2d_prepack, Q.conv2d) if axes == 2 else (Q.conv3d_prepack, Q.conv3d)
    packed = pack(kernel, torch.randn(8), [1] * axes, [1] * axes, [1] * axes, 1)
    module = Convolves(packed, lambda x, packed: convolve(x, packed, 0.0613, 57))
    assert_few_steps(module, torch.randn(1, 4, *[6] * axes), 0.0613)


@pytest.fixture
def onednn() -> Iterator[None]:
    """Let PyTorch compute with oneDNN, the only library that has some fused operators."""
    engine = torch.backends.quantized.engine
    torch.backends.quantized.engine = "onednn"
    yield
    torch.backends.quantized.engine = engine


@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_convolutions(groups: int) -> None:
    kernel = weight(4, 6 // groups, 3, 3, per_channel=False)
    packed = Q.conv_transpose2d_prepack(kernel, torch.randn(6), [2, 2], [1, 1], [1, 1], [1, 1], groups)
    assert_few_steps(Convolves(packed, lambda x, p: Q.conv_transpose2d(x, p, 0.0613, 57)), X, 0.0613)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("per_channel", [False, True])
def test_linear_layers_differ_by_one_step_in_few_elements(rank: int, per_channel: bool) -> None:
    packed = Q.linear_prepack(weight(64, 16, per_channel=per_channel), torch.randn(64))
    x = torch.randn(9, 16) if rank == 2 else torch.randn(3, 3, 16)
    for layer in (Q.linear, Q.linear_relu):

        def function(x: Tensor, packed: Any, layer: Any = layer) -> Tensor:
            result: Tensor = layer(x, packed, 0.0413, 57)
            return result

        assert_few_steps(Convolves(packed, function), x, 0.0413)


@pytest.mark.usefixtures("onednn")
def test_linear_layers_with_activation_functions() -> None:
    packed = Q.linear_prepack(weight(64, 16), torch.randn(64))
    x = torch.randn(9, 16)
    leaky = Convolves(packed, lambda x, packed: Q.linear_leaky_relu(x, packed, 0.0413, 57, 0.1))
    assert_few_steps(leaky, x, 0.0413)
    tanh = Convolves(packed, lambda x, packed: Q.linear_tanh(x, packed, 0.0079, 120))
    assert_few_steps(tanh, x, 0.0079)


@pytest.mark.usefixtures("onednn")
def test_a_sum_is_fused_with_a_convolution() -> None:
    for convolve in (Q.conv2d_add, Q.conv2d_add_relu):
        packed = convolution((4, 4, 3, 3))  # oneDNN keeps in it what was fused at its first use

        def function(x: Tensor, packed: Any, convolve: Any = convolve) -> Tensor:
            addend = torch.quantize_per_tensor(x.dequantize(), 0.031, 70, torch.quint8)  # is overwritten
            result: Tensor = convolve(x, addend, packed, 0.0513, 57)
            return result

        assert_few_steps(Convolves(packed, function), X, 0.0513)


def test_a_bias_that_no_integer_represents_is_added_as_a_real_number() -> None:
    kernel = torch.quantize_per_tensor(torch.randn(4, 16) * 1e-9, 1e-11, 0, torch.qint8)
    packed = Q.linear_prepack(kernel, torch.tensor([1.0, -2.0, 3.0, 0.5]))
    module = Convolves(packed, lambda x, packed: Q.linear(x, packed, 0.05, 57))
    result, _ = imported(module, torch.randn(2, 16))
    np.testing.assert_allclose(result, [[1.0, -2.0, 3.0, 0.5]] * 2, atol=1e-6)


class Shared(nn.Module):
    """Uses one packed layer twice, with different scales of its data."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.ao.nn.quantized.Linear(8, 8)

    def forward(self, x: Tensor) -> Any:
        first = self.layer(torch.quantize_per_tensor(x, 0.02, 60, torch.quint8)).dequantize()
        second = self.layer(torch.quantize_per_tensor(first, 0.0317, 128, torch.quint8)).dequantize()
        return first + second


def test_a_layer_that_is_used_twice_has_one_weight_and_two_biases_of_integers() -> None:
    module = Shared()
    module.layer.set_weight_bias(weight(8, 8, per_channel=False), torch.randn(8))
    x = torch.randn(3, 8)
    result, mod = imported(module, x)
    np.testing.assert_allclose(result, module(x).numpy(), atol=1.001)
    names = [param.name_hint for param in mod["main"].params]
    assert names == ["x0", "layer.weight", "layer.bias", "layer.bias_1"]


def test_parameters_are_integers_with_or_without_keep_quantized_weight() -> None:
    module = Shared()
    module.layer.set_weight_bias(weight(8, 8, per_channel=False), torch.randn(8))
    graph = torch.jit.trace(module, torch.randn(3, 8))
    for keep in (False, True):
        _, params = from_pytorch(graph, [("x", (3, 8))], keep_quantized_weight=keep)
        assert sorted(value.dtype for value in params.values()) == ["int32", "int32", "int8"]


# -- quantization while the program runs


class Dynamic(nn.Module):
    """Layers that quantize their data in every run."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *args: Tensor) -> Any:
        return self.layer(*args)


def assert_near(module: nn.Module, *args: Tensor) -> None:
    result, _ = imported(module, *args)
    expected = module(*args)
    expected = expected[0] if isinstance(expected, tuple) else expected
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "x", [torch.randn(5, 16), torch.randn(2, 3, 16), torch.zeros(2, 16), torch.rand(2, 16)]
)
def test_dynamic_linear_layers(x: Tensor) -> None:
    dynamic = torch.ao.nn.quantized.dynamic
    for layer in (dynamic.Linear(16, 8), dynamic.Linear(16, 8, dtype=torch.float16)):
        assert_near(Dynamic(layer), x)


class First(nn.Module):
    """Returns the first result of a layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        return self.layer(x)[0]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True}])
def test_dynamic_recurrent_layers(kind: str, options: dict[str, Any]) -> None:
    layer = getattr(torch.ao.nn.quantized.dynamic, kind)(6, 5, **options)
    assert_near(First(layer), torch.randn(4, 3, 6))


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_dynamic_recurrent_cells(kind: str) -> None:
    cell = getattr(torch.ao.nn.quantized.dynamic, kind)(6, 5)
    module = First(cell) if kind == "LSTMCell" else Dynamic(cell)
    assert_near(module, torch.randn(3, 6))


def test_embeddings_of_bytes() -> None:
    layer = torch.ao.nn.quantized.Embedding(10, 4)
    with torch.no_grad():
        graph = torch.jit.trace(Dynamic(layer), torch.tensor([[1, 7], [0, 9]]))
    mod, params = from_pytorch(graph, [("x0", ((2, 2), "int64"))])
    indices = np.array([[3, 1], [9, 0]])
    result = relay.create_executor("debug", mod).evaluate()(indices, **params).numpy()
    np.testing.assert_allclose(result, layer(torch.tensor(indices)).numpy(), rtol=1e-6)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("features", [6, 5])
def test_bags_of_embeddings(bits: int, features: int) -> None:
    dtype = torch.quint8 if bits == 8 else torch.quint4x2
    values = torch.randn(10, features)
    scales = (values.amax(1) - values.amin(1)) / (2**bits - 1)
    whole = torch.quantize_per_channel(values, scales, -values.amin(1) / scales, 0, dtype)
    packed = Q.embedding_bag_prepack(whole)
    bag = Q.embedding_bag_byte if bits == 8 else Q.embedding_bag_4bit
    row = Q.embedding_byte if bits == 8 else Q.embedding_4bit

    class Bags(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.packed = packed

        def forward(self, indices: Tensor, offsets: Tensor, weights: Tensor) -> Any:
            return (
                bag(self.packed, indices, offsets),
                bag(self.packed, indices, offsets, False, 0, False, weights),
                bag(self.packed, indices.reshape(2, 3)),
                row(self.packed, indices),
            )

    args = (torch.tensor([3, 9, 0, 1, 1, 7]), torch.tensor([0, 2, 2]), torch.rand(6))
    mod = same(torch.jit.trace(Bags(), args), args, tolerance=1e-5)
    assert not calls(mod, "qnn.dequantize")  # the table stays as it is
