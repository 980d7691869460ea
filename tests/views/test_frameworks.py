"""`explore` of models of frameworks: files, and objects in a notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from relay_explorer import explore
from relay_explorer.frontends import from_onnx
from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.ir.errors import RelayError
from relay_explorer.views.evaluation.format import EvaluationView
from relay_explorer.views.source_map.format import SourceView
from tests.cli.models import classifier


class Block(torch.nn.Module):
    """A layer with its own scale."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh())
        self.scale = torch.nn.Parameter(torch.full((6,), 2.0))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Combine two tensors."""
        scaled: torch.Tensor = self.inner(x) * self.scale + y
        return scaled


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of an ONNX model."""
    return classifier(tmp_path / "model.onnx")


def test_the_path_of_a_model(path: Path) -> None:
    for argument in (path, str(path)):
        explorer = explore(argument, view="source")
        assert isinstance(explorer.view, SourceView)
        assert explorer.view.framework == "ONNX"
        assert explorer.view.title == "model"


def test_what_an_importer_returns(path: Path) -> None:
    mod, params = from_onnx(path, freeze_params=False)
    assert explore((mod, params)).view.summary == explore(mod).view.summary


def test_a_model_proto(path: Path) -> None:
    assert explore(onnx.load(path)).view.summary == explore(path).view.summary


def test_a_path_that_contains_no_model(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(ModelFileError, match="a Python pickle"):
        explore(tmp_path / "weights.pt")


def test_a_pytorch_module_with_example_inputs() -> None:
    args = (torch.ones(2, 6), torch.zeros(2, 6))
    model = Block().eval()
    explorer = explore(model, args=args, view="source")
    assert isinstance(explorer.view, SourceView)
    assert explorer.view.title == "Block"
    assert {"inner.0", "inner.1"} <= {node.path for node in explorer.view.nodes}
    ran = explore(model, args=args, view="evaluation").view
    assert isinstance(ran, EvaluationView)
    assert ran.failure is None


def test_the_arguments_of_a_module_may_come_second() -> None:
    model, data = torch.nn.Linear(4, 2), torch.ones(3, 4)
    expected = explore(model, args=(data,)).view.summary
    assert explore(model, (data,)).view.summary == expected
    assert explore(model, data).view.summary == expected  # type: ignore[arg-type]  # one tensor, as model(data)
    with pytest.raises(TypeError, match="once"):
        explore(model, (data,), args=(data,))


def test_a_scripted_module_with_example_inputs() -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        traced = torch.jit.trace(Block().eval(), (torch.ones(2, 6), torch.zeros(2, 6)))
    explorer = explore(traced, args=(torch.ones(2, 6), torch.zeros(2, 6)), view="ir")
    assert "@main: " in explorer.view.summary


def test_an_exported_program() -> None:
    program = torch.export.export(Block().eval(), (torch.ones(2, 6), torch.zeros(2, 6)))
    assert "@main: " in explore(program).view.summary


def test_a_pytorch_module_without_inputs_says_how_to_give_them() -> None:
    with pytest.raises(RelayError) as caught:
        explore(Block())
    assert str(caught.value) == (
        "error: a PyTorch module is imported for example inputs: they determine the shapes\n"
        "help: explore(model, args=(x,)), where model(x) would run it"
    )


def test_something_else_is_still_refused() -> None:
    with pytest.raises(TypeError, match="explore takes a module"):
        explore(np.zeros(3))


def test_no_framework_is_imported_to_recognize_one() -> None:
    program = (
        "import sys, relay_explorer; relay_explorer.explore('def @main(%x: int32) { %x }');"
        "print([m for m in ('torch', 'onnx', 'keras', 'tensorflow', 'tflite') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
