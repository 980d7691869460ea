"""The exercise `combine_dense`: right answers pass, and every usual mistake is told by its name."""

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
from tests.exercises.mistakes import Mistake, tried


@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(seed: int) -> None:
    feedback = check("combine_dense", answer("combine_dense", "combine_dense"), seed=seed, programs=30)
    assert feedback.passed, str(feedback)


def test_many_of_the_random_programs_have_something_to_combine() -> None:
    rng = random.Random(0)
    programs = [main_of(Maker(rng, 0.6).program(6)) for _ in range(40)]
    assert sum(bool(pairs(program)) for program in programs) >= 15


def test_the_packages_own_pass_is_right() -> None:
    """Where a whole group can be one, which is all that it looks for."""

    def own(function: relay.Function) -> relay.Function:
        result = CombineParallelDense(2, to_batch=False)(IRModule.from_expr(function))["main"]
        assert isinstance(result, relay.Function)
        return result

    for name in ("two", "apart", "shared"):
        feedback = check("combine_dense", own, name)
        assert feedback.passed, str(feedback)


def test_gates_of_an_lstm_are_one() -> None:
    gates = ", ".join(f"%w{n}: Tensor[(4, 6), float32]" for n in range(4))
    layers = ", ".join(f"nn.dense(%x, %w{n})" for n in range(4))
    module = relay.parse(f"def @main(%x: Tensor[(1, 6), float32], {gates}) {{ ({layers}) }}")
    typed = ToGraphNormalForm()(relay.transform.InferType()(module))["main"]
    result = answer("combine_dense", "combine_dense")(typed)
    assert isinstance(result, relay.Function)
    assert "units=16" in result.astext()
    assert result.astext().count("nn.dense") == 1


ENDS = [  # three rounds at most
    ("    while True:\n", "    for _ in range(3):\n"),
    ("            return function\n", "            break\n"),
    (
        "        function = typed(merged(function, group))\n",
        "        function = typed(merged(function, group))\n    return function\n",
    ),
]
FRESH = "if not needs[expr].intersection(group):"
WRONG = {
    "nothing": Mistake(
        [("        if len(group) < 2:\n", "        if True:\n")], "two", "are the weight of one layer"
    ),
    "no result": Mistake(
        [("            return function\n", "            return None\n")], "two", "must return a function"
    ),
    "two at a time": Mistake(
        [("        function = typed(merged(function, group))\n",
          "        return typed(merged(function, group[:2]))\n")],
        "several",
        "Not all of a kind",
    ),
    "one group": Mistake(
        [("        function = typed(merged(function, group))\n",
          "        return typed(merged(function, group))\n")],
        "several",
        "there is a second group",
    ),
    "not typed again": Mistake(
        [("typed(merged(function, group))", "merged(function, group)")], "programs", "", programs=60
    ),
    "units of the first": Mistake(
        [("ends.append((ends or [0])[-1] + int(weight.checked_type.shape[0]))",
          "ends.append((len(ends) + 1) * int(weights[0].checked_type.shape[0]))")],
        "two",
        "",
    ),
    "parts exchanged": Mistake(
        [("parts[group.index(call)]", "parts[len(group) - 1 - group.index(call)]")],
        "two",
        "means something else",
    ),
    "along the rows": Mistake(
        [("concatenate(weights, axis=0)", "concatenate(weights, axis=1)")], "two", ""
    ),
    "any data": Mistake(
        [("kind = expr.args[0], expr.attrs.out_dtype", "kind = 0")], "several", "something else"
    ),
    "any type": Mistake([("kind = expr.args[0], expr.attrs.out_dtype", "kind = expr.args[0]")], "apart", ""),
    "what looks the same": Mistake(
        [("kind = expr.args[0], expr.attrs.out_dtype", "kind = str(expr.args[0]), expr.attrs.out_dtype")],
        "apart",
        "Two layers are parallel if their data is one object",
    ),
    "needed, in one group": Mistake(
        [(FRESH, "if len(group) == 1 or not needs[expr].intersection(group):"), *ENDS],
        "needs",
        "needs the result of the other",
    ),
    "directly only": Mistake(
        [("set().union(*[needs[part] for part in children(expr)])",
          "{part for part in children(expr) if isinstance(part, relay.Call)}"), *ENDS],
        "needs",
        "needs the result of the other",
    ),
    "every path": Mistake(
        [("        def visit_call", "        def visit(self, expr):\n            self.memo_map.clear()\n"
          "            return super().visit(expr)\n\n        def visit_call")],
        "programs",
        "computed twice",
        programs=60,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("combine_dense", "combine_dense", "combine_dense", WRONG[name])


def test_the_program_is_shown_before_and_after() -> None:
    wrong = answer("combine_dense", "combine_dense", *WRONG["parts exchanged"].changes)
    feedback = check("combine_dense", wrong)
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "pipeline"
    assert feedback.failure is not None
    assert len(feedback.failure.case.splitlines()) <= 8
    assert "ty=" not in feedback.failure.case + feedback.failure.got
