"""Programs on a GPU give what the interpreter gives. Every test needs a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Function
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
