"""Programs on a GPU give what the interpreter gives. Every test needs a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.models.lenet import lenet
from relay_explorer.models.mlp import mlp
from relay_explorer.models.resnet import resnet18
from relay_explorer.typing import infer_types
from tests.lower.kernels import DIGITS, Case, flat
from tests.lower.test_computes import made
from tests.ops.examples import EXAMPLES
from tests.ops.meanings import numbers, rng
from tests.ops.test_examples import program

CASES = [case for case in map(made, map(program, EXAMPLES)) if case is not None]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_operator(case: Case) -> None:
    expected = flat(Interpreter(case.module).call("main", case.values))
    result = flat(relay_explorer.build(case.module, "cuda", opt_level=0)(*case.values))
    for got, right in zip(result, expected, strict=True):
        close = DIGITS.get(str(right.dtype), 0) * 10
        np.testing.assert_allclose(got, right, rtol=close, atol=close)


@pytest.mark.parametrize("model", [mlp, lenet, resnet18], ids=["mlp", "lenet", "resnet18"])
def test_a_model(model: Any) -> None:
    module = infer_types(model())
    main = module["main"]
    assert isinstance(main, Function)
    random = rng("gpu")
    types = [param.checked_type for param in main.params]
    values = [
        np.abs(numbers(random, t.concrete_shape, t.dtype)) * np.float32(0.1)
        for t in map(as_tensor_type, types)
    ]
    expected = flat(relay_explorer.build(module, "cpu")(*values))
    for got, right in zip(flat(relay_explorer.build(module, "cuda")(*values)), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-3)


def test_a_quantized_network() -> None:
    """The products of bytes, computed by `dp4a`, are exactly those of the interpreter."""
    random = rng("bytes")
    x = relay.var("x", shape=(2, 16, 20, 20), dtype="uint8")
    filters = relay.const(random.integers(-128, 128, (32, 16, 3, 3)).astype("int8"))
    layer = relay.nn.conv2d(x, filters, padding=(1, 1), out_dtype="int32")
    small = relay.cast(relay.clip(relay.right_shift(layer, relay.const(8)), -128, 127), "int8")
    weight = relay.const(random.integers(-128, 128, (40, 32 * 400)).astype("int8"))
    body = relay.nn.dense(relay.nn.batch_flatten(small), weight, out_dtype="int32")
    module = infer_types(IRModule.from_expr(Function([x], body)))
    data = random.integers(0, 256, (2, 16, 20, 20)).astype("uint8")
    exe = relay_explorer.build(module, "cuda")
    np.testing.assert_array_equal(exe(data), Interpreter(module).call("main", [data]))
    assert sum("__dp4a" in kernel.source("cuda") for kernel in exe.kernels) == 2
