"""`torch.compile(model, backend="relay")` computes what PyTorch computes, or says why it does not try."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import relay_explorer
from relay_explorer import relay
from relay_explorer.frontends.base.source import Node
from relay_explorer.frontends.torch_compile import (
    Options,
    RelayFallbackWarning,
    last_compiled,
    relay_backend,
)
from relay_explorer.frontends.torch_compile.names import readable
from relay_explorer.frontends.torch_compile.runner import _ONCE
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Expr


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Let Dynamo and the warnings forget earlier tests; PyTorch's own warnings are not errors."""
    torch._dynamo.reset()
    _ONCE.clear()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        yield


def compiled(model: Any, dynamic: bool | None = None, **options: Any) -> Callable[..., Any]:
    """Compile a model; its graphs must be compiled by Relay unless `strict` says otherwise."""
    function: Callable[..., Any] = torch.compile(
        model, backend=relay_backend, dynamic=dynamic, options={"strict": True, **options}
    )
    return function


class Network(nn.Module):
    """Two layers and a scale."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 5), nn.Linear(5, 3)
        self.scale: Tensor
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, x: Tensor, shift: Tensor) -> dict[str, Tensor]:
        hidden = torch.relu(self.first(x))
        return {"y": self.second(hidden) * self.scale + shift, "hidden": hidden}


torch.manual_seed(0)
X, SHIFT = torch.randn(4, 6), torch.randn(3)


def test_computes_what_pytorch_computes() -> None:
    model = Network().eval()
    function = compiled(model)
    with torch.no_grad():
        for x in (X, X * 2):
            results, expected = function(x, SHIFT), model(x, SHIFT)
            assert list(results) == ["y", "hidden"]
            for key in expected:
                torch.testing.assert_close(results[key], expected[key])


def test_shows_what_became_of_the_graph() -> None:
    model = Network().eval()
    with torch.no_grad():
        compiled(model)(X, SHIFT)
    result = relay_explorer.last_compiled()
    assert result is last_compiled()
    assert [param.name_hint for param in result.module["main"].params] == ["x", "shift"]
    nodes: list[Node] = result.module.source.nodes  # type: ignore[union-attr]  # a ModelSource
    assert {node.name for node in nodes if node.op == "weight"} >= {"first.weight", "second.bias", "scale"}
    assert {"first", "second"} <= {node.path for node in nodes}
    assert "nn.dense" in result.text
    assert result.executable.kernels
    assert "kernels" in repr(result)
    view = relay_explorer.explore(result, view="ir").view
    assert view.kind == "ir"


def test_one_program_serves_all_sizes() -> None:
    function = compiled(lambda x: torch.softmax(x, 1).sum(0) * x.shape[0], dynamic=True)
    with torch.no_grad():
        function(torch.randn(5, 3))
        first = last_compiled()
        for rows in (2, 9, 17):
            x = torch.randn(rows, 3)
            torch.testing.assert_close(function(x), torch.softmax(x, 1).sum(0) * rows)
        assert last_compiled() is first
    assert "?" not in str(first.module["main"].params[0].type_annotation)


def test_sees_changes_of_the_weights() -> None:
    model = Network().eval()
    function = compiled(model)
    with torch.no_grad():
        function(X, SHIFT)
        model.first.bias.add_(1)
        torch.testing.assert_close(function(X, SHIFT)["y"], model(X, SHIFT)["y"])
        assert "first.bias" in {p.name_hint for p in last_compiled().module["main"].params}
        last = last_compiled()
        model.first.bias.add_(1)  # the weights are arguments by now
        torch.testing.assert_close(function(X, SHIFT)["y"], model(X, SHIFT)["y"])
        assert last_compiled() is last


def test_computes_the_forward_pass_of_training() -> None:
    model, copy = Network(), Network()
    copy.load_state_dict(model.state_dict())
    function = compiled(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.01) for m in (model, copy)]
    for _ in range(3):
        calls: list[Callable[..., Any]] = [function, copy]
        for call, optimizer in zip(calls, optimizers):
            optimizer.zero_grad()
            call(X, SHIFT)["y"].square().sum().backward()
            optimizer.step()
    for ours, theirs in zip(model.parameters(), copy.parameters()):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_lays_results_out_as_pytorch_does() -> None:
    def turned(x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1) * 2

    x = torch.randn(2, 3, 4, 5)
    with torch.no_grad():
        result, expected = compiled(turned)(x), turned(x)
    torch.testing.assert_close(result, expected)
    assert result.stride() == expected.stride()  # the backward pass relies on it


def test_writes_changed_buffers_back() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count: Tensor
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: Tensor) -> Tensor:
            self.count += 1
            return x.relu_() * self.count

    model = Counter()
    function, x = compiled(model), torch.tensor([-1.0, 2.0])
    with torch.no_grad():
        assert function(x).tolist() == [0.0, 2.0]
        assert function(x).tolist() == [0.0, 4.0]
    assert model.count.item() == 2
    assert x.tolist() == [0.0, 2.0]


def test_takes_views_and_other_types() -> None:
    def mixed(x: Tensor, y: Tensor, z: Tensor, number: int) -> Any:
        return x.t() @ x, y.sum(), z * 2, number + 1, [y > 2, None]

    x = torch.randn(6, 4)[::2, 1:]
    args = (x, torch.arange(5), torch.randn(3).to(torch.bfloat16), 3)
    with torch.no_grad():
        results, expected = compiled(mixed)(*args), mixed(*args)
    torch.testing.assert_close(results[:3], expected[:3])
    assert results[3] == 4
    assert results[4][0].tolist() == expected[4][0].tolist()
    assert results[4][1] is None


@torch.library.custom_op("relay_backend_tests::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    """Double a tensor."""
    return x * 2


@twice.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def test_falls_back_with_one_warning() -> None:
    function = compiled(lambda x: twice(x) + 1, strict=False)
    with torch.no_grad():
        with pytest.warns(RelayFallbackWarning) as caught:
            assert function(torch.ones(2)).tolist() == [3.0, 3.0]
        (message,) = [str(w.message) for w in caught if w.category is RelayFallbackWarning]
        assert "relay_backend_tests::twice (1 node" in message
        assert 'options={"convert_map"' in message
        assert function(torch.zeros(2)).tolist() == [1.0, 1.0]  # a second warning would be an error


def test_uses_the_converters_of_the_user() -> None:
    def convert(node: Node, inputs: list[Expr]) -> Expr:
        return relay.multiply(inputs[0], relay.const(2.0))

    function = compiled(lambda x: twice(x) + 1, convert_map={"relay_backend_tests::twice": convert})
    with torch.no_grad():
        assert function(torch.ones(2)).tolist() == [3.0, 3.0]


def wrong(node: Node, inputs: list[Expr]) -> Expr:
    """Convert to something that has the right type and the wrong value."""
    return relay.multiply(inputs[0], relay.const(3.0))


def test_notices_wrong_results() -> None:
    function = compiled(
        lambda x: twice(x) + 1, convert_map={"relay_backend_tests::twice": wrong}, strict=False
    )
    with (
        torch.no_grad(),
        pytest.warns(
            RelayFallbackWarning, match="result 0 of the compiled graph differs from PyTorch's by up to 1"
        ),
    ):
        assert function(torch.ones(2)).tolist() == [3.0, 3.0]
    unchecked = compiled(
        lambda x: twice(x) - 1, convert_map={"relay_backend_tests::twice": wrong}, check=False
    )
    with torch.no_grad():
        assert unchecked(torch.ones(2)).tolist() == [2.0, 2.0]


def test_leaves_dropout_in_training_to_pytorch() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train()
    function = compiled(model, strict=False)
    with pytest.warns(RelayFallbackWarning, match="random|training|bernoulli|rand"):
        result = function(torch.ones(2, 4))
    assert result.shape == (2, 4)


def test_rejects_unknown_options() -> None:
    with pytest.raises(RelayError, match="no option 'opt'"):
        Options.of({"opt": 3})
    assert Options.of(None).opt_level == 3


def test_names_inputs_as_the_user_does() -> None:
    assert readable("L['self']._modules['conv']._parameters['weight']") == "conv.weight"
    assert readable("L['fn']._modules['0']._buffers['running_mean']") == "0.running_mean"
    assert readable("L['x']") == "x"
    assert readable("L['args'][0]") == "args_0"


def test_is_registered_with_pytorch() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["torch_dynamo_backends"] == {
        "relay": f"{relay_backend.__module__.rpartition('.')[0]}:{relay_backend.__name__}"
    }


def test_says_that_nothing_is_compiled_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.frontends.torch_compile.compiled._last", [])
    with pytest.raises(RelayError, match="no graph has been compiled yet"):
        last_compiled()
