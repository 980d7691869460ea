"""`relay-explorer explore … --view quantize`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relay_explorer.cli import main

LAYER = """\
def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(3, 8), float32]) {
  nn.relu(nn.dense(%x, %w))
}
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("layer.relay").write_text(LAYER, "utf-8")


def written() -> dict[str, object]:
    data: dict[str, object] = json.loads(Path("view.json").read_text("utf-8"))
    return data


def explore(*arguments: str) -> int:
    return main(["explore", "layer.relay", *arguments, "--json", "-o", "view.json"])


def texts() -> list[str]:
    strings = written()["strings"]
    assert isinstance(strings, list)
    return strings


def test_without_inputs_the_data_are_random_and_it_says_so() -> None:
    assert explore("--view", "quantize") == 0
    assert written()["view"] == "quantize"
    assert "8 random inputs and random weights" in texts()
    assert "per_channel_asymmetric" in texts()


def test_inputs_calibrate_a_scheme() -> None:
    np.savez("x.npz", x=np.linspace(-3, 5, 16, dtype="float32").reshape(2, 8))
    assert explore("--view", "quantize", "--scheme", "tvm_symmetric", "--input", "x.npz") == 0
    assert "tvm_symmetric" in texts()
    assert "1 input" in texts()


def test_options_of_other_views_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert explore("--view", "costs", "--scheme", "ternary") == 1
    assert "the view `costs` has no option --scheme" in capsys.readouterr().err
    assert explore("--view", "quantize", "--scheme", "ternry") == 1
    assert "did you mean 'ternary'?" in capsys.readouterr().err
    assert explore("--view", "quantize", "--arg", "1") == 1
    assert "has no option --arg" in capsys.readouterr().err
