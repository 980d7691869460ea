"""Models with dynamic axes, imported and compiled: their sizes have names, down to the kernels."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import relay_explorer
from relay_explorer import relay
from relay_explorer.ir import Call, IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order

Import = Callable[[torch.nn.Module, tuple[torch.Tensor, ...], Sequence[dict[int, str]]], IRModule]


def by_onnx(model: torch.nn.Module, args: tuple[torch.Tensor, ...], axes: Sequence[dict[int, str]]) -> Any:
    names = [f"x{k}" for k in range(len(args))]
    named = dict(zip(names, axes))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        path = f"{folder}/model.onnx"
        torch.onnx.export(
            model, args, path, input_names=names, dynamic_axes=named, dynamo=False, opset_version=17
        )
        return relay.frontend.from_onnx(Path(path).read_bytes())[0]


def by_export(model: torch.nn.Module, args: tuple[torch.Tensor, ...], axes: Sequence[dict[int, str]]) -> Any:
    dims = {
        name: torch.export.Dim(name, min=1 if name in ("batch", "tokens") else 4, max=64)
        for named in axes
        for name in named.values()
    }
    shapes = tuple({axis: dims[name] for axis, name in named.items()} for named in axes)
    module, params = relay.frontend.from_exported_program(
        torch.export.export(model, args, dynamic_shapes=shapes)
    )
    return relay.build_module.bind_params_by_name(module["main"], params)


class Convolutions(torch.nn.Module):
    """A convolution, which halves the image, and a mean over what remains."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3, stride=2, padding=1)
        self.out = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> Any:
        return self.out(torch.relu(self.conv(x)).mean((2, 3)))


class Tokens(torch.nn.Module):
    """A layer that flattens batch and tokens, and undoes it, as GPT-2's do."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.layer = torch.nn.Linear(8, 6)

    def forward(self, ids: torch.Tensor) -> Any:
        x = self.embedding(ids)
        rows = torch.addmm(self.layer.bias, x.view(-1, 8), self.layer.weight.t())
        return torch.tanh(rows.view(ids.shape[0], ids.shape[1], 6)).cumsum(1)


@pytest.mark.parametrize("imported", [by_onnx, by_export])
@pytest.mark.parametrize(
    ("model", "inputs", "axes"),
    [
        (Convolutions, lambda n: torch.rand(n, 2, 5 + n, 4 + 3 * n), {0: "batch", 2: "rows", 3: "columns"}),
        (Tokens, lambda n: torch.arange(n * (n + 2)).reshape(n, n + 2) % 20, {0: "batch", 1: "tokens"}),
    ],
)
def test_are_compiled_for_all_sizes_saved_and_loaded(
    model: Callable[[], torch.nn.Module], inputs: Callable[[int], torch.Tensor], axes: dict[int, str],
    imported: Import, tmp_path: Path,
) -> None:  # fmt: skip
    torch.manual_seed(0)
    network = model().eval()
    module = imported(network, (inputs(2),), [axes])
    programs = []
    for executor, path in (("vm", tmp_path / "model.rx"), ("aot", tmp_path / "model.so")):
        exe = relay_explorer.build(module, executor=executor, opt_level=2, quiet=True)
        exe.save(path)
        programs += [exe, relay_explorer.load(path)]
    for n in (1, 2, 4):
        x = inputs(n)
        with torch.no_grad():
            expected = network(x).numpy()
        for program in programs:
            np.testing.assert_allclose(program(x.numpy()), expected, rtol=1e-5, atol=1e-5)


class Attention(torch.nn.Module):
    """PyTorch's own, which splits `tokens * batch` rows into tokens and batch, the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.attention = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)

    def forward(self, ids: torch.Tensor) -> Any:
        return self.attention(self.embedding(ids))


@pytest.mark.parametrize("model", [Tokens, Attention])
def test_reshapes_to_named_sizes_compute_no_shape(model: Callable[[], torch.nn.Module]) -> None:
    ids = torch.arange(6).reshape(2, 3)
    function = by_export(model().eval(), (ids,), [{0: "batch", 1: "tokens"}])
    operators = {
        node.op.name for node in post_order(function) if isinstance(node, Call) and isinstance(node.op, Op)
    }
    assert "reshape_like" in operators
    assert not [name for name in operators if name.startswith("dyn.") or name == "shape_of"]
