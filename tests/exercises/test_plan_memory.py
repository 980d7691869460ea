"""The exercise `plan_memory`: right answers pass, and every usual mistake is told by its name."""

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
from tests.exercises.mistakes import Mistake, tried


@pytest.mark.parametrize("part", ["lifetimes", "plan"])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"plan_memory.{part}", answers("plan_memory")[part], seed=seed, programs=40)
    assert feedback.passed, str(feedback)


def test_a_plan_that_takes_less_passes() -> None:
    """By size, the largest first, wherever there is room: it knows all sizes beforehand."""
    right = answers("plan_memory")["plan"]

    def other(lives, sizes):  # type: ignore[no-untyped-def]
        plan: dict[int, int] = {}
        for tensor in sorted(lives, key=lambda t: (-sizes[t], lives[t])):
            taken = {
                b
                for t, b in plan.items()
                if lives[t][0] <= lives[tensor][1] and lives[tensor][0] <= lives[t][1]
            }
            plan[tensor] = next(b for b in range(len(lives)) if b not in taken)
        rule = right(lives, sizes)
        return plan if total(plan, sizes) <= total(rule, sizes) else rule

    feedback = check("plan_memory.plan", other, programs=40)
    assert feedback.passed, str(feedback)


def test_the_rule_is_that_of_the_real_plan() -> None:
    """Where sizes are within the range in which the compiler's plan takes them as they are."""
    compared = 0
    for seed in range(80):
        module = infer_types(
            Maker(random.Random(seed), (*PLAIN, "reduction", "dense", "moved")).module(3 + seed % 8)
        )
        for order in SCHEDULES:
            real = plan_memory(main_of(module), order, views=False, alignment=1)
            asked = work_of(main_of(module), order)
            if max(asked.sizes.values()) > 16 * min(asked.sizes.values()):
                continue
            assert total(planned(asked), asked.sizes) == real.arena
            assert {
                t: (life.made, life.last) for t, life in enumerate(real.lives) if t in asked.sizes
            } == asked.lives
            assert clash(planned(asked), asked.lives) is None
            compared += 1
    assert compared > 150


MADE, RESULT = "lives[tensor] = (number, number)", "lives[tensor] = (lives[tensor][0], len(steps))"
READ = "            if tensor in lives:\n                lives[tensor] = (lives[tensor][0], number)"
LIVES = {
    "nothing returned": Mistake([("    return lives", "    pass")], "straight", "Return a dictionary"),
    "from 1": Mistake([("enumerate(steps)", "enumerate(steps, 1)")], "straight", "counted from 0"),
    "parameters": Mistake(
        [(READ, "            lives[tensor] = (lives.get(tensor, (-1,))[0], number)")],
        "straight", "memory of its own",
    ),
    "the first reader": Mistake(
        [(READ, READ.replace("if tensor in lives:", "if tensor in lives and len(set(lives[tensor])) == 1:"))],
        "branches", "up to the last of them",
    ),
    "never read on": Mistake([(READ, "            pass")], "straight", "is read after the step"),
    "the result goes": Mistake([(RESULT, "pass")], "straight", "part of the result"),
    "the last step": Mistake([("len(steps))", "len(steps) - 1)")], "straight", "the number of steps"),
    "only what is read": Mistake(
        [("    return lives", "    return {t: l for t, l in lives.items() if l[0] != l[1]}")],
        "ends", "read by no step",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVES)
def test_a_usual_mistake_of_lifetimes_is_named(name: str) -> None:
    tried("plan_memory", "lifetimes", "plan_memory.lifetimes", LIVES[name])


FREE, ENOUGH = "if until < made]", "if buffers[b][0] >= need]"
SMALLEST, LARGEST = "min(enough, key=lambda b: buffers[b][0])", "max(free, key=lambda b: buffers[b][0])"
PLAN = {
    "nothing returned": Mistake([("    return places", "    pass")], "apart", "Return a dictionary"),
    "in the place of its argument": Mistake([(FREE, "if until <= made]")], "apart", "until it is over"),
    "all in one": Mistake([(FREE, "]")], "apart", "same buffer"),
    "one is forgotten": Mistake(
        [("        places[tensor] = buffer", "        if made:\n            places[tensor] = buffer")],
        "apart", "has none",
    ),
    "nothing again": Mistake([(FREE, "if until < made and False]")], "again", "No buffer is used again"),
    "no growing": Mistake(
        [("        elif free:", "        elif False:")], "little", "the largest of them grows"
    ),
    "the smallest grows": Mistake(
        [(LARGEST, LARGEST.replace("max", "min"))], "little", "let the largest of them grow"
    ),
    "the first": Mistake([(SMALLEST, "enough[0]")], "little", "take the smallest", programs=60),
    "the largest": Mistake(
        [(SMALLEST, SMALLEST.replace("min", "max"))], "little", "take the smallest", programs=60
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAN)
def test_a_usual_mistake_of_the_plan_is_named(name: str) -> None:
    tried("plan_memory", "plan", "plan_memory.plan", PLAN[name])


def test_the_order_of_the_numbers_is_not_that_of_the_steps() -> None:
    """In the order of the program the two are the same; in other orders such an answer overwrites values."""
    wrong = answer("plan_memory", "plan", ("sorted(lives, key=lambda t: (lives[t][0], t))", "sorted(lives)"))
    feedback = check("plan_memory.plan", wrong)
    assert feedback.failed == "orders", str(feedback)


def test_the_smallest_program_is_found_and_drawn() -> None:
    wrong = answer("plan_memory", "plan", (FREE, "if until <= made]"))
    feedback = check("plan_memory.plan", wrong, seed=3)
    assert feedback.failure is not None
    assert "Its steps:\n  0: exp reads 0 and makes 1 (64 bytes)" in feedback.failure.case
    assert feedback.failure.got == "64 bytes: 1: b0, 2: b0"
    assert feedback.failure.expected == "at most 128 bytes, as with 1: b0, 2: b1"
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "memory"


def test_a_crash_says_what_was_asked() -> None:
    failure = check("plan_memory.lifetimes", lambda steps, result: steps[9]).failure
    assert failure is not None
    assert "lifetimes(steps, result), for the program" in failure.case
    assert "IndexError" in failure.got
