"""The checks of the exercise `plan_memory`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer.analysis import plan_memory
from relay_explorer.analysis.schedules import SCHEDULES
from relay_explorer.grading import check
from relay_explorer.grading.fragments import main_of
from relay_explorer.grading.fusion_rule.programs import PLAIN, Maker
from relay_explorer.grading.plan_memory import clash, planned, total, work_of
from relay_explorer.typing import infer_types
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, check_mistake


@pytest.mark.parametrize("part", ["lifetimes", "plan"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"plan_memory.{part}", answers("plan_memory")[part], seed=seed, programs=40)
    assert feedback.passed, str(feedback)


def test_accepts_smaller_plan() -> None:
    """Place tensors by size, largest first, in the first free buffer: all sizes are known in advance."""
    solution = answers("plan_memory")["plan"]

    def by_size(lives, sizes):  # type: ignore[no-untyped-def]
        plan: dict[int, int] = {}
        for tensor in sorted(lives, key=lambda t: (-sizes[t], lives[t])):
            taken = {
                b
                for t, b in plan.items()
                if lives[t][0] <= lives[tensor][1] and lives[tensor][0] <= lives[t][1]
            }
            plan[tensor] = next(b for b in range(len(lives)) if b not in taken)
        greedy = solution(lives, sizes)
        return plan if total(plan, sizes) <= total(greedy, sizes) else greedy

    feedback = check("plan_memory.plan", by_size, programs=40)
    assert feedback.passed, str(feedback)


def test_stated_rule_matches_compiler_plan() -> None:
    """Only where sizes differ by at most a factor of 16, the range in which the compiler reuses buffers."""
    compared = 0
    for seed in range(80):
        module = infer_types(
            Maker(random.Random(seed), (*PLAIN, "reduction", "dense", "transposed")).module(3 + seed % 8)
        )
        for order in SCHEDULES:
            compiler_plan = plan_memory(main_of(module), order, views=False, alignment=1)
            work = work_of(main_of(module), order)
            if max(work.sizes.values()) > 16 * min(work.sizes.values()):
                continue
            assert total(planned(work), work.sizes) == compiler_plan.arena
            assert {
                t: (life.made, life.last) for t, life in enumerate(compiler_plan.lives) if t in work.sizes
            } == work.lives
            assert clash(planned(work), work.lives) is None
            compared += 1
    assert compared > 150


BEGIN, RESULT = "lives[tensor] = (number, number)", "lives[tensor] = (lives[tensor][0], len(steps))"
EXTEND = "            if tensor in lives:\n                lives[tensor] = (lives[tensor][0], number)"
LIVES = {
    "returns nothing": Mistake([("    return lives", "    pass")], "straight", "Return a dictionary"),
    "numbers steps from 1": Mistake(
        [("enumerate(steps)", "enumerate(steps, 1)")], "straight", "Steps count from 0"
    ),
    "gives parameters a lifetime": Mistake(
        [(EXTEND, "            lives[tensor] = (lives.get(tensor, (-1,))[0], number)")],
        "straight",
        "memory of its own",
    ),
    "ends a lifetime at the first reader": Mistake(
        [
            (
                EXTEND,
                EXTEND.replace("if tensor in lives:", "if tensor in lives and len(set(lives[tensor])) == 1:"),
            )
        ],
        "branches",
        "up to the last of them",
    ),
    "ignores readers": Mistake([(EXTEND, "            pass")], "straight", "is read after the step"),
    "frees the result": Mistake([(RESULT, "pass")], "straight", "part of the result"),
    "ends the result at the last step": Mistake(
        [("len(steps))", "len(steps) - 1)")], "straight", "the number of steps"
    ),
    "omits tensors without readers": Mistake(
        [("    return lives", "    return {t: l for t, l in lives.items() if l[0] != l[1]}")],
        "ends",
        "No step reads",
    ),
}


@pytest.mark.parametrize("name", LIVES)
def test_hints_at_common_mistake_in_lifetimes(name: str) -> None:
    check_mistake("plan_memory", "lifetimes", "plan_memory.lifetimes", LIVES[name])


FREE, ENOUGH = "if until < first]", "if buffers[b][0] >= need]"
SMALLEST, LARGEST = "min(fitting, key=lambda b: buffers[b][0])", "max(free, key=lambda b: buffers[b][0])"
PLAN = {
    "returns nothing": Mistake([("    return assigned", "    pass")], "apart", "Return a dictionary"),
    "overwrites an argument in its last step": Mistake(
        [(FREE, "if until <= first]")], "apart", "until it ends"
    ),
    "uses one buffer": Mistake([(FREE, "]")], "apart", "same buffer"),
    "omits the first tensor": Mistake(
        [("        assigned[tensor] = buffer", "        if first:\n            assigned[tensor] = buffer")],
        "apart",
        "has none",
    ),
    "never reuses a buffer": Mistake([(FREE, "if until < first and False]")], "again", "No buffer is reused"),
    "never grows a buffer": Mistake(
        [("        elif free:", "        elif False:")], "little", "less memory than a new one"
    ),
    "grows the smallest buffer": Mistake(
        [(LARGEST, LARGEST.replace("max", "min"))], "little", "let the largest of them grow"
    ),
    "takes the first buffer that fits": Mistake(
        [(SMALLEST, "fitting[0]")], "little", "take the smallest", programs=60
    ),
    "takes the largest buffer that fits": Mistake(
        [(SMALLEST, SMALLEST.replace("min", "max"))], "little", "take the smallest", programs=60
    ),
}


@pytest.mark.parametrize("name", PLAN)
def test_hints_at_common_mistake_in_plan(name: str) -> None:
    check_mistake("plan_memory", "plan", "plan_memory.plan", PLAN[name])


def test_rejects_planning_in_order_of_indices() -> None:
    """Indices and steps agree in program order; in other orders such an answer overwrites values."""
    wrong = answer("plan_memory", "plan", ("sorted(lives, key=lambda t: (lives[t][0], t))", "sorted(lives)"))
    feedback = check("plan_memory.plan", wrong)
    assert feedback.failed == "orders", str(feedback)


def test_draws_smallest_program() -> None:
    wrong = answer("plan_memory", "plan", (FREE, "if until <= first]"))
    feedback = check("plan_memory.plan", wrong, seed=3)
    assert feedback.failure is not None
    assert "Its steps:\n  0: exp reads 0 and computes 1 (64 bytes)" in feedback.failure.case
    assert feedback.failure.got == "64 bytes: 1: b0, 2: b0"
    assert feedback.failure.expected == "at most 128 bytes, as with 1: b0, 2: b1"
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "memory"


def test_reports_question_of_a_crash() -> None:
    failure = check("plan_memory.lifetimes", lambda steps, result: steps[9]).failure
    assert failure is not None
    assert "lifetimes(steps, result), for the program" in failure.case
    assert "IndexError" in failure.got
