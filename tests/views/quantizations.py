"""Programs whose quantizations the tests share, on both sides of the view.

`python -m tests.views.quantizations` writes them as views into `frontend/test/data`, for the front end's
tests.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.quantize import QConfig, Quantization, trace
from relay_explorer.quantize.schemes import PerChannelAsymmetric, TvmSymmetric
from relay_explorer.text import parse
from relay_explorer.views.quantize.format import QuantizeView
from relay_explorer.views.quantize.inputs import Data
from relay_explorer.views.quantize.view import quantize_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

# Two layers; the rows of the first weight differ much in their ranges.
LAYERS = """
def @main(%x: Tensor[(4, 8), float32], %w1: Tensor[(6, 8), float32], %b1: Tensor[(6), float32],
          %w2: Tensor[(4, 6), float32]) {
  let %a = nn.dense(%x, %w1);
  let %b = nn.bias_add(%a, %b1);
  let %c = nn.relu(%b);
  let %d = nn.dense(%c, %w2);
  %d
}
"""

# Convolutions, the first of which TVM's scheme leaves alone. A pool moves integers; the end is in float.
NETWORK = """
def @main(%x: Tensor[(1, 2, 6, 6), float32], %w1: Tensor[(4, 2, 3, 3), float32],
          %w2: Tensor[(4, 4, 3, 3), float32], %w3: Tensor[(3, 16), float32]) {
  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, %w2, channels=4, kernel_size=[3, 3]);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  %4 = nn.batch_flatten(%3);
  %5 = nn.dense(%4, %w3);
  nn.softmax(%5)
}
"""


def numbers(seed: int, shape: tuple[int, ...], scale: float = 1.0) -> Any:
    """Eighths, whose products and sums are exact, so that the samples are the same on every machine."""
    random = np.random.default_rng(seed)
    return (random.integers(-8, 9, shape) / 8 * scale).astype("float32")


def layers() -> tuple[Quantization, Data]:
    """Two layers by the scheme that explorers use by default."""
    w1 = numbers(1, (6, 8))
    w1[1:] /= 16
    weights = {"w1": w1, "b1": numbers(2, (6,)), "w2": numbers(3, (4, 6))}
    inputs = [{"x": numbers(10 + k, (4, 8))} for k in range(4)]
    found = trace(parse(LAYERS), PerChannelAsymmetric(), weights, inputs)
    return found, Data(weights, list(inputs), "4 inputs")


def network() -> tuple[Quantization, Data]:
    """A small network by TVM's scheme, which leaves the first convolution alone; its data have an outlier."""
    weights = {"w1": numbers(1, (4, 2, 3, 3)), "w2": numbers(2, (4, 4, 3, 3)), "w3": numbers(3, (3, 16))}
    inputs = [{"x": numbers(20 + k, (1, 2, 6, 6))} for k in range(4)]
    inputs[0]["x"][0, 0, 2, 2] = 8
    config = QConfig(calibrate_mode="kl_divergence", skip_dense_layer=False)
    found = trace(parse(NETWORK), TvmSymmetric(config), weights, inputs)
    return found, Data(weights, list(inputs), "4 inputs")


def tree() -> tuple[Quantization, Data]:
    """A small TreeLSTM: functions, recursion and `match`."""
    module = tree_lstm(inputs=4, hidden=4, moods=2)
    weights = {
        param.name_hint: numbers(k, param.type_annotation.concrete_shape)  # type: ignore[union-attr]  # a tensor
        for k, param in enumerate(module["main"].params[1:])
    }
    vectors = {word: numbers(30 + k, (4,)) for k, word in enumerate(("a", "not", "bad", "film"))}
    sentences = [("a", ("not", ("bad", "film"))), (("not", "bad"), "film"), "bad"]
    inputs = [[phrase(module, sentence, vectors)] for sentence in sentences]
    found = trace(module, PerChannelAsymmetric(), weights, inputs)
    return found, Data(weights, list(inputs), "3 sentences")


PROGRAMS = {"layers": layers, "network": network, "tree": tree}


@cache
def view(name: str) -> QuantizeView:
    """The view of a program above."""
    return quantize_view(*PROGRAMS[name](), title=name)


def sample(name: str) -> str:
    """The view as the JSON in `frontend/test/data`."""
    return view(name).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name in PROGRAMS:
        (DATA / f"quantize_{name}.json").write_text(sample(name), "utf-8")
