"""Chapter 9: an exported program of PyTorch becomes a program that computes the same."""

from __future__ import annotations

import numpy as np
import torch
from pocket import ir
from pocket.importer import CONVERTERS, import_program
from pocket.interpreter import run
from pocket.visitor import find_all
from torch import nn


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Linear(4, 6)
        self.norm = nn.LayerNorm(6)
        self.mood = nn.Linear(6, 3)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(self.word(words))
        both = hidden.relu().mean(0, keepdim=True)
        return torch.softmax(self.mood(both.tanh()).flatten(), 0)


torch.manual_seed(1)
words = torch.randn(5, 4) * 3
network = Network().eval()
nn.init.normal_(network.norm.weight)
nn.init.normal_(network.norm.bias)
with torch.no_grad():
    expected = network(words).numpy()
program = torch.export.export(network, (words,))
imported = import_program(program)
assert [param.name for param in imported.functions["main"].params] == ["words"], "the weights are constants"
assert np.allclose(run(imported, words.numpy()), expected, atol=1e-5), "the results differ"
dense = [e for e in find_all(imported.functions["main"], ir.Call) if e.callee == ir.Op("nn.dense")]
assert len(dense) == 2, f"each linear layer is one nn.dense, and not {len(dense)}"

without = {name: convert for name, convert in CONVERTERS.items() if "softmax" not in name}
without.pop("aten.tanh.default")
message = "nothing is refused"
try:
    import_program(program, without)
except NotImplementedError as error:
    message = str(error)
assert "aten.softmax.int, aten.tanh.default" in message, "all missing converters are named at once"
