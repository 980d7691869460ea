"""PyTorch's own backend of the name "tvm", which imports `tvm.relay`, works with the compatibility hook."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import relay_explorer.compat
relay_explorer.compat.install()
import torch
from torch import nn
from tvm import relay

build, builds = relay.build, []
relay.build = lambda *args, **options: builds.append(args) or build(*args, **options)

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))

    def forward(self, x):
        y = self.layers(x)
        return torch.softmax(y, -1), y > 0

model, x = Network().eval(), torch.randn(1, 2, 6, 6)
compiled = torch.compile(model, backend="tvm")
with torch.no_grad():
    for result, expected in zip(compiled(x), model(x)):
        torch.testing.assert_close(result, expected)
print(len(builds), "graph built")
"""


def test_the_backend_of_pytorch_works() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines()[-1] == "1 graph built"
