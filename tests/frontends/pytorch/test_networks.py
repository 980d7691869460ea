"""Networks of each family: convolutional, recurrent, attention; and dynamic shapes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import relay_explorer
from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.size import SizeVar
from relay_explorer.ir.types import Any as AnyDim
from relay_explorer.ir.types import FuncType, TensorType
from tests.frontends.pytorch.helpers import infos, operators, same, scripted, traced


class Residual(nn.Module):
    """A small residual network, which changes tensors in place as torchvision's do."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        conv = nn.Conv2d(3, 4, 3, 2, 1, bias=False)
        self.stem = nn.Sequential(conv, nn.BatchNorm2d(4), nn.ReLU(inplace=True))
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.BatchNorm2d(4), nn.Hardswish())
        self.head = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.body(x)
        y += x
        y = nn.functional.max_pool2d(y, 2)
        result: Tensor = self.head(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))
        return result


class Tagger(nn.Module):
    """A bidirectional LSTM over embedded words."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(11, 4)
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(6, 2)

    def forward(self, words: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(words))
        result: Tensor = self.out(states).log_softmax(-1)
        return result


class Attention(nn.Module):
    """One block of a transformer's encoder."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        b, s, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, s, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-1, -2)) / 2.0
        result: Tensor = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, w))
        return x + result


IMAGE = torch.linspace(-1, 1, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16)
WORDS = torch.tensor([[1, 5, 3, 0, 10], [2, 2, 9, 7, 4]])
SEQUENCE = torch.linspace(-1, 1, 80).reshape(2, 5, 8).sin()
NETWORKS: list[tuple[type[nn.Module], Tensor]] = [(Residual, IMAGE), (Tagger, WORDS), (Attention, SEQUENCE)]
NAMES = [network.__name__ for network, _ in NETWORKS]


@pytest.mark.parametrize(("network", "x"), NETWORKS, ids=NAMES)
def test_traced_networks(network: type[nn.Module], x: Tensor) -> None:
    same(traced(network(), [x]), [x])


@pytest.mark.parametrize(("network", "x"), NETWORKS, ids=NAMES)
def test_scripted_networks(network: type[nn.Module], x: Tensor) -> None:
    same(scripted(network()), [x])


def test_an_imported_network_is_compiled() -> None:
    model = Residual().eval()
    mod, params = from_pytorch(traced(model, [IMAGE]), [("x", tuple(IMAGE.shape))])
    compiled = relay_explorer.build(mod, params={name: value.numpy() for name, value in params.items()})
    with torch.no_grad():
        expected = model(IMAGE).numpy()
    np.testing.assert_allclose(compiled(IMAGE.numpy()), expected, rtol=1e-4, atol=1e-4)


def test_dynamic_axes_are_unknown_or_named() -> None:
    module = scripted(Attention())
    mod, _ = from_pytorch(module, [("x", (relay.Any(), 5, 8))])
    assert str(relay.transform.InferType()(mod)["main"].checked_type).endswith(
        "-> Tensor[(?, 5, 8), float32]"
    )
    mod, _ = from_pytorch(module, [("x", ("batch", "length", 8))])
    type_ = relay.transform.InferType()(mod)["main"].checked_type
    assert isinstance(type_, FuncType)
    result = type_.ret_type
    assert isinstance(result, TensorType)
    assert [str(extent) for extent in result.shape] == ["batch", "length", "8"]
    assert isinstance(result.shape[0], SizeVar)


@pytest.mark.parametrize("shape", [(AnyDim(), 5, 8), (2, AnyDim(), 8), ("b", "s", 8)], ids=str)
def test_a_network_with_dynamic_axes_agrees_with_pytorch(shape: tuple[object, ...]) -> None:
    mod = same(scripted(Attention()), [SEQUENCE], [("x", (shape, "float32"))])
    if "s" in shape:  # reshapes that keep, merge or split named axes need no computed shapes
        assert not any(name.startswith("dyn.") for name in operators(mod))


def test_a_network_with_a_dynamic_batch_runs_on_other_batches() -> None:
    module = scripted(Residual())
    mod, params = from_pytorch(module, [("x", ("n", 3, 16, 16))])
    run = relay.create_executor("debug", mod).evaluate()
    with torch.no_grad():
        for x in (IMAGE, IMAGE[:1], torch.cat([IMAGE, IMAGE + 1])):
            expected = module(x).numpy()
            np.testing.assert_allclose(run(x.numpy(), **params).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_weights_share_the_memory_of_the_model() -> None:
    model = nn.Linear(4, 3).eval()
    _, params = from_pytorch(traced(model, [torch.ones(1, 4)]), infos([torch.ones(1, 4)]))
    shared = np.frombuffer(params["weight"].data, np.float32)
    assert shared.ctypes.data == model.weight.data_ptr()
