"""The checks of the exercise `vm_instruction`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer.execute.vm import compile_program
from relay_explorer.grading import check
from relay_explorer.grading.vm_instruction import GetPath, Rules, combined, jump_targets, live_registers
from relay_explorer.grading.vm_instruction.programs import sample
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, check_mistake
from tests.support.views.check import check as check_view


@pytest.mark.parametrize("part", ["run", "combine"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"vm_instruction.{part}", answers("vm_instruction")[part], seed=seed, programs=15)
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    def backwards(code):  # type: ignore[no-untyped-def]
        """Combine pairs from the end to the beginning."""
        from relay_explorer.execute.vm.bytecode import GetField
        from relay_explorer.grading.vm_instruction import retarget

        for number in range(len(code) - 2, -1, -1):
            one, other = code[number : number + 2]
            later, entries = live_registers(code), jump_targets(code)
            if not isinstance(one, GetField) or not isinstance(other, (GetField, GetPath)):
                continue
            free = one.to == other.to or one.to not in later[number + 2]
            if other.source == one.to and free and number + 1 not in entries:
                rest = other.path if isinstance(other, GetPath) else (other.index,)
                joined = GetPath(other.to, one.source, (one.index, *rest))
                positions = [n if n <= number else n - 1 for n in range(len(code))]
                result = [*code[:number], joined, *code[number + 2 :]]
                code = [retarget(i, positions) for i in result]
        return code

    feedback = check("vm_instruction.combine", backwards, programs=20)
    assert feedback.passed, str(feedback)


def test_programs_exercise_every_rule() -> None:
    """In many random programs, omitting a rule changes the code."""
    differs = dict.fromkeys(("middle", "entries", "jumps", "runs", "same"), 0)
    for seed in range(30):
        case = sample(random.Random(seed), seed % 9, "match", "choice", "shared")
        code = compile_program(case.module(), opt_level=0).functions["main"].code
        for name in differs:
            differs[name] += combined(code, Rules(**{name: False})) != combined(code)
    assert min(differs.values()) >= 8, differs


STORE, FIELD = (
    "    registers[instruction.to] = value",
    "value[index] if isinstance(value, tuple) else value.fields[index]",
)
RUN = {
    "returns the value": Mistake([(STORE, "    return value")], "tuples", "store it in"),
    "follows one index only": Mistake(
        [("instruction.path:", "instruction.path[:1]:")], "tuples", "Continue from it"
    ),
    "follows the path from the inside": Mistake(
        [("instruction.path:", "instruction.path[::-1]:")], "tuples", "outside in"
    ),
    "handles only tuples": Mistake([(FIELD, "value[index]")], "data", "value.fields[index]"),
    "overwrites the source register": Mistake(
        [(STORE, STORE + "\n    registers[instruction.source] = value")], "tuples", "Only the register `to`"
    ),
    "appends a register": Mistake([(STORE, "    registers.append(value)")], "tuples", "number of registers"),
    "stores nothing": Mistake([(STORE, "    pass")], "tuples", "has not changed"),
}


@pytest.mark.parametrize("name", RUN)
def test_hints_at_common_mistake_in_run(name: str) -> None:
    check_mistake("vm_instruction", "run", "vm_instruction.run", RUN[name])


LATER = "(last.to == instruction.to or last.to not in live[number + 1])"
RETARGET = "[retarget(instruction, positions) for instruction in combined]"
COMBINE = {
    "returns nothing": Mistake([(f"    return {RETARGET}", "    pass")], "straight", "Return the new list"),
    "combines nothing": Mistake(
        [("        if follows and", "        if False and")], "straight", "No instructions were combined"
    ),
    "combines only pairs": Mistake(
        [("isinstance(last, (GetField, GetPath))", "isinstance(last, GetField)")],
        "straight",
        "a third continues",
    ),
    "requires the same register": Mistake(
        [(LATER, "last.to == instruction.to")], "straight", "may differ from the last one"
    ),
    "overwrites a live register": Mistake([(LATER, "True")], "shared", "still live"),
    "keeps the old jump targets": Mistake([(RETARGET, "combined")], "jumps", "new indices"),
    "combines across a jump target": Mistake(
        [("number not in targets and ", "")], "entries", "A jump target"
    ),
}


@pytest.mark.parametrize("name", COMBINE)
def test_hints_at_common_mistake_in_combine(name: str) -> None:
    feedback = check_mistake("vm_instruction", "combine", "vm_instruction.combine", COMBINE[name])
    if name != "returns nothing":
        assert feedback.picture is not None


def test_draws_smallest_program() -> None:
    wrong = answer("vm_instruction", "combine", (LATER, "True"))
    feedback = check("vm_instruction.combine", wrong, seed=3)
    assert feedback.failure is not None
    assert "let %q = %p.1;" in feedback.failure.case
    assert "get_path r" in feedback.failure.got
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "machine"
    assert "get_path" in feedback.picture.to_json()
    assert check_view(feedback.picture.to_dict()) == []


def test_runs_code_without_specific_hint() -> None:
    """A mistake without a specific hint: the reversed path."""
    wrong = answer(
        "vm_instruction", "combine", ("(*path, instruction.index))", "(instruction.index, *path))")
    )
    failure = check("vm_instruction.combine", wrong).failure
    assert failure is not None
    assert failure.hint.startswith("The new code has a different meaning.")
    assert "which gives" in failure.got


def test_reports_question_of_a_crash() -> None:
    failure = check("vm_instruction.combine", lambda code: code[99]).failure
    assert failure is not None
    assert "combine(code), for the code of `@" in failure.case
    assert "IndexError" in failure.got
