"""The checks of the exercise `combine_dense`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer import relay
from relay_explorer.grading import check
from relay_explorer.grading.combine_dense.checks import Maker, pairs
from relay_explorer.grading.fragments import main_of
from relay_explorer.ir import IRModule
from relay_explorer.transform import CombineParallelDense, ToGraphNormalForm
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(seed: int) -> None:
    feedback = check("combine_dense", answer("combine_dense", "combine_dense"), seed=seed, programs=30)
    assert feedback.passed, str(feedback)


def test_random_programs_have_parallel_layers() -> None:
    rng = random.Random(0)
    programs = [main_of(Maker(rng, 0.6).program(6)) for _ in range(40)]
    assert sum(bool(pairs(program)) for program in programs) >= 15


def test_accepts_package_pass() -> None:
    """On programs whose groups are combined completely; the pass does not combine parts of a group."""

    def package_pass(function: relay.Function) -> relay.Function:
        result = CombineParallelDense(2, to_batch=False)(IRModule.from_expr(function))["main"]
        assert isinstance(result, relay.Function)
        return result

    for name in ("two", "apart", "shared"):
        feedback = check("combine_dense", package_pass, name)
        assert feedback.passed, str(feedback)


def test_combines_gates_of_lstm() -> None:
    gates = ", ".join(f"%w{n}: Tensor[(4, 6), float32]" for n in range(4))
    layers = ", ".join(f"nn.dense(%x, %w{n})" for n in range(4))
    module = relay.parse(f"def @main(%x: Tensor[(1, 6), float32], {gates}) {{ ({layers}) }}")
    typed = ToGraphNormalForm()(relay.transform.InferType()(module))["main"]
    result = answer("combine_dense", "combine_dense")(typed)
    assert isinstance(result, relay.Function)
    assert "units=16" in result.astext()
    assert result.astext().count("nn.dense") == 1


ENDS = [  # at most three iterations
    ("    while True:\n", "    for _ in range(3):\n"),
    ("            return function\n", "            break\n"),
    (
        "        function = typed(merged(function, group))\n",
        "        function = typed(merged(function, group))\n    return function\n",
    ),
]
INDEPENDENT = "if not needs[expr].intersection(group):"
WRONG = {
    "combines nothing": Mistake(
        [("        if len(group) < 2:\n", "        if True:\n")], "two", "a layer with the units of both"
    ),
    "returns None": Mistake(
        [("            return function\n", "            return None\n")], "two", "must return a function"
    ),
    "combines two layers once": Mistake(
        [
            (
                "        function = typed(merged(function, group))\n",
                "        return typed(merged(function, group[:2]))\n",
            )
        ],
        "several",
        "there may be several groups",
    ),
    "combines one group": Mistake(
        [
            (
                "        function = typed(merged(function, group))\n",
                "        return typed(merged(function, group))\n",
            )
        ],
        "several",
        "there may be several groups",
    ),
    "does not infer types again": Mistake(
        [("typed(merged(function, group))", "merged(function, group)")], "programs", "", programs=60
    ),
    "slices by the units of the first layer": Mistake(
        [
            (
                "ends.append((ends or [0])[-1] + int(weight.checked_type.shape[0]))",
                "ends.append((len(ends) + 1) * int(weights[0].checked_type.shape[0]))",
            )
        ],
        "two",
        "",
    ),
    "slices in reverse order": Mistake(
        [("parts[group.index(call)]", "parts[len(group) - 1 - group.index(call)]")],
        "two",
        "has a different meaning",
    ),
    "concatenates along axis 1": Mistake(
        [("concatenate(weights, axis=0)", "concatenate(weights, axis=1)")], "two", ""
    ),
    "ignores the data": Mistake(
        [("kind = expr.args[0], expr.attrs.out_dtype", "kind = 0")], "several", "a different meaning"
    ),
    "ignores out_dtype": Mistake(
        [("kind = expr.args[0], expr.attrs.out_dtype", "kind = expr.args[0]")], "apart", ""
    ),
    "compares the data as text": Mistake(
        [("kind = expr.args[0], expr.attrs.out_dtype", "kind = str(expr.args[0]), expr.attrs.out_dtype")],
        "apart",
        "Two layers are parallel if their data is the same object",
    ),
    "does not check the second layer for dependences": Mistake(
        [(INDEPENDENT, "if len(group) == 1 or not needs[expr].intersection(group):"), *ENDS],
        "needs",
        "depends on the result of the other",
    ),
    "checks direct dependences only": Mistake(
        [
            (
                "set().union(*[needs[part] for part in children(expr)])",
                "{part for part in children(expr) if isinstance(part, relay.Call)}",
            ),
            *ENDS,
        ],
        "needs",
        "depends on the result of the other",
    ),
    "has no memo": Mistake(
        [
            (
                "        def visit_call",
                "        def visit(self, expr):\n            self.memo_map.clear()\n"
                "            return super().visit(expr)\n\n        def visit_call",
            )
        ],
        "programs",
        "computed twice",
        programs=60,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("combine_dense", "combine_dense", "combine_dense", WRONG[name])


def test_shows_program_before_and_after() -> None:
    wrong = answer("combine_dense", "combine_dense", *WRONG["slices in reverse order"].changes)
    feedback = check("combine_dense", wrong)
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
    assert "ty=" not in feedback.failure.case + feedback.failure.got
