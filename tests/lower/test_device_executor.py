"""Programs whose tensors stay on a device. Here the processor stands for it: its memory is another as far as
the executor knows, and nothing but what the executor moves gets there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer.lower.require import tvm
from relay_explorer.lower.runtime.device_executor import DeviceExecutor
from relay_explorer.lower.runtime.executable import GraphExecutable
from relay_explorer.models import load
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.ops.meanings import numbers, rng

CHAIN = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) {
  let %y = nn.relu(nn.dense(%x, %w, units=None));
  let %z = reshape(nn.softmax(%y), newshape=[8]);
  (%z, (transpose(%y, axes=[1, 0]), sum(%z)))
}"""
BRANCH = """#[version = "0.0.5"]
def @main(%go: bool, %x: Tensor[(3, 4), float32]) {
  let %y = if (%go) { exp(%x) } else { reshape(nn.relu(reshape(%x, newshape=[12])), newshape=[3, 4]) };
  %y + %x
}"""


class Counted(DeviceExecutor):
    """One that notes the memory that it asks the device for."""

    def _empty(self, shape: Sequence[int], dtype: str) -> Any:
        self.__dict__.setdefault("asked", []).append(dtype)
        return super()._empty(shape, dtype)


def on_a_device(program: str, *values: Any) -> tuple[Any, Any]:
    """Return the results of a program on the CPU and on a device, where it runs twice."""
    exe = relay_explorer.build(infer_types(parse(program)), "cpu", quiet=True)
    assert isinstance(exe, GraphExecutable)
    device = Counted(exe.program, exe.kernels, exe.constants, tvm().cpu())
    planned = {slot.offset for slot in exe.program.slots if slot.offset >= 0}
    assert device.__dict__["asked"].count("uint8") == len(planned)  # each piece of the plan once
    result = []
    for given in (tuple(np.zeros_like(value) for value in values), values):
        for parameter, value in zip(exe.inputs, given, strict=True):
            assert isinstance(parameter.nest, int)
            device.bind(parameter.nest, value)
        device.run()
        result.append(device.result())
    return exe(*values), result[-1]


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            same(one, other)
        return
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_tensors_stay_and_the_result_comes_back() -> None:
    random = rng("device")
    expected, result = on_a_device(
        CHAIN, numbers(random, (2, 8), "float32"), numbers(random, (4, 8), "float32")
    )
    same(result, expected)


@pytest.mark.parametrize("go", [True, False])
def test_a_branch_asks_the_device(go: bool) -> None:
    expected, result = on_a_device(BRANCH, np.array(go), numbers(rng("device"), (3, 4), "float32"))
    same(result, expected)


def test_a_network() -> None:
    module: Any = infer_types(load("lenet"))
    types = [param.checked_type for param in module["main"].params]
    values = [numbers(rng("device"), t.concrete_shape, t.dtype) for t in types]
    expected, result = on_a_device(str(module), *values)
    same(result, expected)
