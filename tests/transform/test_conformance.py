"""Every pass on every program of the reference, as it answered; fusion at every level."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay_explorer.ir import Call, Function, IRModule, Op, difference, post_order
from relay_explorer.text import parse
from relay_explorer.transform import (
    CanonicalizeOps,
    CombineParallelConv2D,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    EtaExpand,
    FastMath,
    FoldConstant,
    FoldScaleAxis,
    FuseOps,
    InferType,
    PartialEvaluate,
    Pass,
    PassContext,
    Sequential,
    SimplifyInference,
    ToBasicBlockNormalForm,
)
from relay_explorer.typing import infer_types

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())
STEPS: dict[str, list[Pass]] = {
    "CanonicalizeOps": [CanonicalizeOps()],
    "CombineParallelConv2D": [CombineParallelConv2D(3)],
    "DeadCodeElimination": [DeadCodeElimination()],
    "EliminateCommonSubexpr": [EliminateCommonSubexpr()],
    "EtaExpand": [EtaExpand(True, True)],
    "FastMath": [FastMath()],
    "FoldConstant": [FoldConstant()],
    "FoldScaleAxis": [SimplifyInference(), FoldScaleAxis()],
    "FuseOps": [FuseOps(2)],
    "FuseOpsSimplified": [SimplifyInference(), FuseOps(2)],
    "PartialEvaluate": [PartialEvaluate(), DeadCodeElimination()],
    "SimplifyInference": [SimplifyInference()],
    "ToBasicBlockNormalForm": [ToBasicBlockNormalForm()],
}


def run(steps: list[Pass], text: str) -> IRModule:
    with PassContext(opt_level=4):
        return Sequential([InferType(), *steps, InferType()])(parse(text))


@pytest.mark.parametrize("name", STEPS)
def test_a_pass_answers_as_the_reference(name: str) -> None:
    answers = {
        program: case["passes"][name] for program, case in CASES.items() if name in (case.get("passes") or {})
    }
    assert len(answers) > 12
    wrong = {}
    for program, answer in answers.items():
        result = difference(
            infer_types(parse(answer)), run(STEPS[name], CASES[program]["text"]), map_free_vars=True
        )
        if result is not None:
            wrong[program] = result
    assert not wrong


@pytest.mark.parametrize("level", ["0", "1", "2", "0s", "1s", "2s"])
def test_fusion_groups_as_the_reference_does(level: str) -> None:
    """The kernels of `@main` in the order of their calls, each as its operators."""
    steps: list[Pass] = [SimplifyInference()] if level.endswith("s") else []
    tried = 0
    for program, case in CASES.items():
        expected = (case.get("fusion") or {}).get(level)
        if expected is not None:
            result = run([*steps, FuseOps(int(level[0]))], case["text"])["main"]
            assert kernels(result) == expected, program
            tried += 1
    assert tried > 40


def kernels(function: object) -> list[list[str]]:
    assert isinstance(function, Function)
    result = [node.op for node in post_order(function) if isinstance(node, Call)]
    return [
        [n.op.name for n in post_order(f) if isinstance(n, Call) and isinstance(n.op, Op)]
        for f in result
        if isinstance(f, Function) and "Primitive" in f.attrs
    ]
