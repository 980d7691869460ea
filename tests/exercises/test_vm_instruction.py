"""The exercise `vm_instruction`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import random

import pytest

from relay_explorer.execute.vm import compile_program
from relay_explorer.grading import check
from relay_explorer.grading.vm_instruction import GetPath, Rules, combined, jumped_to, needed
from relay_explorer.grading.vm_instruction.programs import sample
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, tried
from tests.support.views.check import check as check_view


@pytest.mark.parametrize("part", ["run", "combine"])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"vm_instruction.{part}", answers("vm_instruction")[part], seed=seed, programs=15)
    assert feedback.passed, str(feedback)


def test_another_way_of_writing_it_passes() -> None:
    def backwards(code):  # type: ignore[no-untyped-def]
        """Pair by pair, from the end, until nothing changes."""
        from relay_explorer.execute.vm.bytecode import GetField
        from relay_explorer.grading.vm_instruction import retargeted

        for number in range(len(code) - 2, -1, -1):
            one, other = code[number : number + 2]
            later, entries = needed(code), jumped_to(code)
            if not isinstance(one, GetField) or not isinstance(other, (GetField, GetPath)):
                continue
            free = one.to == other.to or one.to not in later[number + 2]
            if other.source == one.to and free and number + 1 not in entries:
                rest = other.path if isinstance(other, GetPath) else (other.index,)
                joined = GetPath(other.to, one.source, (one.index, *rest))
                places = [n if n <= number else n - 1 for n in range(len(code))]
                result = [*code[:number], joined, *code[number + 2 :]]
                code = [retargeted(i, places) for i in result]
        return code

    feedback = check("vm_instruction.combine", backwards, programs=20)
    assert feedback.passed, str(feedback)


def test_every_rule_matters_in_the_programs() -> None:
    """In many of the random programs an answer that leaves out a rule gives other code."""
    differs = dict.fromkeys(("middle", "entries", "jumps", "runs", "same"), 0)
    for seed in range(30):
        case = sample(random.Random(seed), seed % 9, "match", "choice", "shared")
        code = compile_program(case.module(), opt_level=0).functions["main"].code
        for name in differs:
            differs[name] += combined(code, Rules(**{name: False})) != combined(code)
    assert min(differs.values()) >= 8, differs


SET, ONE = (
    "    registers[instruction.to] = value",
    "value[index] if isinstance(value, tuple) else value.fields[index]",
)
RUN = {
    "returned": Mistake([(SET, "    return value")], "tuples", "put it into"),
    "one field": Mistake([("instruction.path:", "instruction.path[:1]:")], "tuples", "Go on from it"),
    "from the inside": Mistake([("instruction.path:", "instruction.path[::-1]:")], "tuples", "outside in"),
    "no constructed values": Mistake([(ONE, "value[index]")], "data", "value.fields[index]"),
    "in between": Mistake(
        [(SET, SET + "\n    registers[instruction.source] = value")], "tuples", "Only the register `to`"
    ),
    "one more register": Mistake([(SET, "    registers.append(value)")], "tuples", "as many registers"),
    "nothing": Mistake([(SET, "    pass")], "tuples", "has not changed"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_a_usual_mistake_of_the_meaning_is_named(name: str) -> None:
    tried("vm_instruction", "run", "vm_instruction.run", RUN[name])


LATER = "(last.to == instruction.to or last.to not in later[number + 1])"
RETARGET = "[retargeted(instruction, places) for instruction in made]"
COMBINE = {
    "nothing returned": Mistake([(f"    return {RETARGET}", "    pass")], "straight", "Return the new list"),
    "nothing combined": Mistake(
        [("        if follows and", "        if False and")], "straight", "No two instructions"
    ),
    "pairs only": Mistake(
        [("isinstance(last, (GetField, GetPath))", "isinstance(last, GetField)")],
        "straight", "a third goes on",
    ),
    "the same register only": Mistake(
        [(LATER, "last.to == instruction.to")], "straight", "may be another than the last one"
    ),
    "needed later": Mistake([(LATER, "True")], "shared", "still needed"),
    "jumps as before": Mistake([(RETARGET, "made")], "jumps", "another number"),
    "jumped into": Mistake([("number not in entries and ", "")], "entries", "is jumped to"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMBINE)
def test_a_usual_mistake_of_the_code_is_named(name: str) -> None:
    feedback = tried("vm_instruction", "combine", "vm_instruction.combine", COMBINE[name])
    if "returned" not in name:
        assert feedback.picture is not None


def test_the_smallest_program_is_found_and_drawn() -> None:
    wrong = answer("vm_instruction", "combine", (LATER, "True"))
    feedback = check("vm_instruction.combine", wrong, seed=3)
    assert feedback.failure is not None
    assert "let %q = %p.1;" in feedback.failure.case
    assert "get_path r" in feedback.failure.got
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "machine"
    assert "get_path" in feedback.picture.to_json()
    assert check_view(feedback.picture.to_dict()) == []


def test_code_that_means_something_else_is_run() -> None:
    """A mistake without a name: the path the wrong way round."""
    wrong = answer(
        "vm_instruction", "combine", ("(*path, instruction.index))", "(instruction.index, *path))")
    )
    failure = check("vm_instruction.combine", wrong).failure
    assert failure is not None
    assert failure.hint.startswith("The new code means something else.")
    assert "which gives" in failure.got


def test_a_crash_says_what_was_asked() -> None:
    failure = check("vm_instruction.combine", lambda code: code[99]).failure
    assert failure is not None
    assert "combine(code), for the code of `@" in failure.case
    assert "IndexError" in failure.got
