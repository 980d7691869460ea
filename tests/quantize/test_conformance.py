"""TVM 0.14 quantized these networks: the operators and types of each result, in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relay_explorer.ir import Call, IRModule, Op, post_order
from relay_explorer.quantize import qconfig, quantize
from tests.quantize.networks import network

CASES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "quantize_conformance.json").read_text("utf-8")
)


def rows(mod: IRModule) -> list[list[str]]:
    return [
        [node.op.name if isinstance(node.op, Op) else type(node.op).__name__, str(node.checked_type)]
        for node in post_order(mod["main"])
        if isinstance(node, Call)
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_the_references(name: str) -> None:
    case = CASES[name]
    mod, params, _ = network(case["text"])
    with qconfig(**case["config"]):
        assert rows(quantize(mod, params)) == case["rows"]
