"""ONNX's own tests of its operators: how many pass, why others are refused, and that none is wrong.

`python -m tests.frontends.onnx.node_tests --write [FOLDER]` writes the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.frontends.onnx.node_tests import (
    NEWEST,
    TABLE,
    Case,
    Outcome,
    difference,
    from_folder,
    generated,
    run,
    run_once,
    table,
    with_constants,
)


def check(outcomes: list[Outcome], written: Path) -> None:
    """Check that no test fails, that nine of ten pass, and that the table is up to date."""
    kinds = Counter(outcome.kind for outcome in outcomes)
    failed = [f"{outcome.case.name}: {outcome.reason}" for outcome in outcomes if outcome.kind == "failed"]
    assert failed == []
    passed = kinds["passed"] + kinds["constant"]
    assert passed >= 0.9 * (passed + kinds["refused"])
    assert table(outcomes) == written.read_text()


def wrong(cases: Iterable[Case]) -> list[str]:
    """Return the tests that give another result with constant operands."""
    constant = [case for case in map(with_constants, cases) if case is not None]
    outcomes = map(run_once, constant)
    return [
        f"{o.case.name}: {o.reason}" for o in outcomes if o.kind == "failed" and run(o.case).kind == "failed"
    ]


@pytest.mark.frameworks
def test_stored_tests_pass_or_are_refused_with_a_reason() -> None:
    import onnx

    folder = Path(onnx.__file__).parent / "backend/test/data/node"
    cases = list(from_folder(folder))
    assert len(cases) == 1288
    check([run(case) for case in cases], TABLE)


def test_generated_tests_of_the_newest_opset_pass_or_are_refused_with_a_reason() -> None:
    check([run(case) for case in generated()], NEWEST)


@pytest.mark.slow
def test_constant_operands_give_the_same_results() -> None:
    assert wrong(generated()) == []


def test_comparison_rejects_other_values_types_and_shapes() -> None:
    (case,) = [case for case in generated("test_abs") if case.name == "abs"]
    expected = np.zeros((2, 3), "float32")
    assert difference(expected, expected, case) == ""
    assert "type" in difference(expected.astype("float64"), expected, case)
    assert "shape" in difference(expected.T, expected, case)
    assert "Mismatched" in difference(expected + 1, expected, case)
    assert "sequence" in difference([expected], [expected, expected], case)


def test_a_wrong_result_is_reported() -> None:
    (case,) = [case for case in generated("test_abs") if case.name == "abs"]
    inputs, outputs = case.data[0]
    assert run(case).kind == "passed"
    assert run(Case("abs", case.model, [(inputs, [outputs[0] + 1])])).kind == "failed"
