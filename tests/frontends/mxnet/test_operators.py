"""Every operator of `tests/data/mxnet/operators.json` gives MXNet's outputs, shapes and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends import from_mxnet

FOLDER = Path(__file__).parents[2] / "data" / "mxnet"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "operators.json").read_text())
BYTES = (FOLDER / "operators.bin").read_bytes()


def array(entry: list[Any]) -> Any:
    dtype, shape, offset = entry
    return np.frombuffer(BYTES, dtype, int(np.prod(shape)), offset).reshape(shape)


def test_the_cases_cover_the_operators() -> None:
    operators = {node["op"] for case in CASES for node in case["symbol"]["nodes"]}
    assert len(operators) > 170


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_an_operator_gives_the_outputs_of_mxnet(case: dict[str, Any]) -> None:
    inputs = {name: array(entry) for name, entry in case["inputs"].items()}
    weights = {name: array(entry) for name, entry in case["weights"].items()}
    mod, params = from_mxnet(
        json.dumps(case["symbol"]),
        {name: value.shape for name, value in inputs.items()},
        {name: str(value.dtype) for name, value in inputs.items()},
        arg_params=weights,
    )
    used = {var.name_hint for var in mod["main"].params}
    values = {name: value for name, value in inputs.items() if name in used}
    result = relay.create_executor("debug", mod).evaluate()(**values, **params)
    results = [value.numpy() for value in (result if isinstance(result, (tuple, list)) else [result])]
    expected = [array(entry) for entry in case["outputs"]]
    assert [(value.shape, value.dtype) for value in results] == [(e.shape, e.dtype) for e in expected]
    for value, output in zip(results, expected):
        np.testing.assert_allclose(value, output, rtol=1e-4, atol=1e-4)
