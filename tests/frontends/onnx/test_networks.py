"""Networks that PyTorch exports give what ONNX Runtime gives; axes with names keep them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import relay_explorer
from relay_explorer.frontends import from_onnx
from tests.frontends.onnx.support import Array, assert_same, interpreted, runtime


def exported(
    module: nn.Module,
    inputs: Sequence[torch.Tensor],
    names: Sequence[str],
    axes: dict[str, dict[int, str]] | None = None,
) -> onnx.ModelProto:
    """Export a module as an ONNX model."""
    buffer: Any = io.BytesIO()  # PyTorch's annotation knows only paths
    torch.manual_seed(1)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(inputs),
            buffer,
            dynamo=False,
            opset_version=18,
            input_names=list(names),
            dynamic_axes=axes,
        )
    return onnx.load_from_string(buffer.getvalue())


class Convolutional(nn.Module):
    """A residual block, a depthwise one with squeeze-and-excitation, and an upsampling one."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish())
        self.pool = nn.MaxPool2d(3, 2, 1, ceil_mode=True)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.ReLU(), nn.Conv2d(2, 8, 1), nn.Hardsigmoid()
        )
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.head = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.stem(x))
        y = self.depthwise(x)
        y = torch.cat([self.up(x + y * self.squeeze(y)), self.up(nn.functional.pad(y, (0, 0, 0, 0)))], 1)
        y = nn.functional.leaky_relu(y[:, ::2], 0.1)
        result: torch.Tensor = self.head(y.mean((2, 3))).log_softmax(-1)
        return result


class Attention(nn.Module):
    """Causal self-attention whose extents are those of its input, and a gated feed-forward layer."""

    def __init__(self, width: int = 16, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(50, width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 2 * width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        batch, length, width = x.shape
        q, k, v = self.project(x).chunk(3, -1)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        mixed = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        a, b = self.gate(x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)).chunk(2, -1)
        result: torch.Tensor = x + nn.functional.silu(a) * b
        return result


class Recurrent(nn.Module):
    """A tagger: an LSTM in both directions, whose scores pass a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embed(tokens))
        result: torch.Tensor = self.gru(states)[0]
        return result


IMAGE = torch.randn(1, 3, 17, 16, generator=torch.Generator().manual_seed(1))
TOKENS = torch.randint(0, 20, (2, 7), generator=torch.Generator().manual_seed(1))
NAMED = {"tokens": {0: "batch", 1: "length"}}


def array(tensor: torch.Tensor) -> Array:
    result: Array = tensor.numpy()
    return result


def test_convolutional_network() -> None:
    proto = exported(Convolutional(), [IMAGE], ["image"])
    mod, _ = from_onnx(proto.SerializeToString())
    inputs = {"image": array(IMAGE)}
    assert_same(interpreted(mod, inputs), runtime(proto, inputs))


@pytest.mark.parametrize("network", [Attention, Recurrent])
def test_network_of_fixed_shape(network: type[nn.Module]) -> None:
    proto = exported(network(), [TOKENS], ["tokens"])
    mod, _ = from_onnx(proto)
    inputs = {"tokens": array(TOKENS)}
    assert_same(interpreted(mod, inputs), runtime(proto, inputs))


@pytest.mark.parametrize("network", [Attention, Recurrent])
@pytest.mark.parametrize("shape", [(1, 3), (3, 5)])
def test_network_of_dynamic_shape(network: type[nn.Module], shape: tuple[int, int]) -> None:
    proto = exported(network(), [TOKENS], ["tokens"], NAMED)
    mod, _ = from_onnx(proto)
    assert str(mod["main"].params[0].type_annotation) == "Tensor[(batch, length), int64]"
    inputs = {"tokens": np.random.default_rng(2).integers(0, 20, shape)}
    assert_same(interpreted(mod, inputs), runtime(proto, inputs))


def test_dynamic_attention_is_compiled() -> None:
    proto = exported(Attention(), [TOKENS], ["tokens"], NAMED)
    program = relay_explorer.build(from_onnx(proto)[0], quiet=True)
    for shape in ((1, 3), (2, 6)):
        tokens = np.random.default_rng(2).integers(0, 20, shape)
        result: Any = program(tokens)
        (expected,) = runtime(proto, {"tokens": tokens})
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_values_of_dynamic_attention_have_named_sizes() -> None:
    mod, _ = from_onnx(exported(Attention(), [TOKENS], ["tokens"], NAMED))
    body: Any = mod["main"].body
    assert str(body.checked_type) == "Tensor[(batch, length, 16), float32]"


def test_scopes_are_the_modules() -> None:
    mod, _ = from_onnx(
        exported(nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU())), [torch.ones(1, 3)], ["x"])
    )
    source: Any = mod.source
    scopes = {node.op: node.path for node in source.nodes}
    assert scopes["Gemm"] == "0.0"
    assert scopes["Relu"] == "0.1"
