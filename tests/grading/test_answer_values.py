"""Answers that give strange things: whatever it is, a check says what was wanted, and never fails itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer.grading import check
from relay_explorer.grading.answer_values import integer, repr_of
from relay_explorer.grading.check import EXERCISES
from relay_explorer.grading.read_assembly import reading
from relay_explorer.grading.warp_access import pieces, turns
from tests.exercises.answers import answer


class Unshowable:
    def __repr__(self) -> str:
        raise ValueError("no")


class EqualToAll(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def deep() -> object:
    result: list[object] = []
    for _ in range(100_000):
        result = [result]
    return result


STRANGE: dict[str, Callable[[], object]] = {
    "cannot be shown": Unshowable, "nested": deep, "a long number": lambda: 10**6000,
    "equal to everything": lambda: EqualToAll(99), "of the wrong type": lambda: "3",
}  # fmt: skip
PARTS = ("warp_access.transactions", "read_assembly.sums", "plan_memory.plan", "vm_instruction.combine")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_value_is_a_wrong_answer(part: str, name: str) -> None:
    parameters = {"transactions": 2, "sums": 1, "plan": 2, "combine": 1}[part.partition(".")[2]]
    value = STRANGE[name]()
    two, one = (lambda a, b: value), (lambda a: value)
    feedback = check(part, two if parameters == 2 else one)
    assert feedback.failure is not None
    assert feedback.failure.hint
    assert "could not be looked at" not in str(feedback)
    assert "rx-feedback" in feedback._repr_html_()


@pytest.mark.parametrize("name", EXERCISES)
def test_no_exercise_trips_over_what_cannot_be_shown(name: str) -> None:
    parts = importlib.import_module(f"relay_explorer.grading.{name}.checks").EXERCISE
    for part in [part for part, result in parts.items() if not result.text]:
        feedback = check(f"{name}.{part}" if part else name, lambda *given: Unshowable())
        assert not feedback.passed
        assert "could not be looked at" not in str(feedback)


def test_what_nobody_thought_of_is_a_wrong_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def confused(*args: object) -> object:
        raise KeyError("surprise")

    monkeypatch.setattr("relay_explorer.grading.warp_access.checks.pieces_hint", confused)
    feedback = check("warp_access.transactions", lambda addresses, size: -1)
    assert feedback.failed == "strides"
    assert str(feedback) == snapshot(
        "transactions: strides does not hold (0 of 3 do so far)\n"
        "  ✗ strides: side by side, or apart\n"
        "  · anywhere: from any place, of elements of any size, by a part of the threads\n"
        "  · scattered: in any order\n"
        "\n"
        "On:\n"
        "    what your code gave\n"
        "\n"
        "Expected:\n"
        "    side by side, or apart\n"
        "\n"
        "Got:\n"
        "    something that could not be looked at: KeyError: 'surprise'\n"
        "\n"
        "Hint:\n"
        "    Is it what was asked for, and of that type? If you are sure of it, the check is wrong: "
        "tell us."
    )


def test_whole_numbers_may_be_numpy_s() -> None:
    def banks(addresses: list[int]) -> Any:
        words = np.unique(np.array(addresses, int) // 4)
        return np.bincount(words % 32, minlength=1).max()

    assert type(banks([0])) is not int
    assert check("warp_access.conflicts", banks).passed
    assert [integer(value) for value in (3, np.int8(3), True, np.True_, 3.0, "3", None)] == [3, 3] + [
        None
    ] * 5


def test_the_answers_of_the_package_are_not_the_learner_s() -> None:
    given = check("warp_access.transactions", pieces)
    assert given.failure is not None
    assert given.failure.got == "`pieces` of the package"

    # A learner's module is not one of the package's.
    mine: dict[str, Any] = {"__name__": "__main__", "turns": turns, "reading": reading}
    exec("conflicts = lambda addresses: turns(addresses)\ndef sums(text): return reading(text).sums", mine)
    for part in ("warp_access.conflicts", "read_assembly.sums"):
        called = check(part, mine[part.partition(".")[2]])
        assert called.failure is not None
        assert "of the package is the right answer itself" in called.failure.got
        assert "Write your own" in called.failure.hint
    assert mine["conflicts"]([0, 128]) == 2  # outside of a check it is a function like any other


WAITS = """    if isinstance(types[0], IncompleteType):
        return False
    x = tensor(types[0], 0)"""
TYPES = (  # a part, what is changed in the solution, and what the hint says of it
    ("warp_access.conflicts", ", default=0)", ")", "No thread takes part"),
    ("plan_memory.lifetimes", "            if tensor in lives:\n    ", "        ", "what no step makes"),
    ("plan_memory.lifetimes", "= (number, number)", "= number, 0.5", "whole numbers"),
    ("plan_memory.lifetimes", "    return lives", "    return {t: 0 for t in lives}", "a pair"),
    ("plan_memory.plan", "    return places", "    return {**places, 'x': 0}", "is no tensor"),
    ("vm_instruction.combine", "(*path, instruction.index)", "[*path, 0]", "is a tuple"),
    ("vm_instruction.run", "registers[instruction.to]", "registers[instruction.target]", "`to`, `source`"),
    ("choose_tile", "    return best[1:]", "    return best[:0:-1]", "`tn` comes first"),
    ("lower_operator.lowering", 'te.compute(x.shape, mean, name="mean")]', "mean]", "a list"),
    ("lower_operator.lowering", "te.all(j >= 0, j < n)", "te.all(j >= 0, j <= n)", "anything may stand"),
    ("lower_operator.relation", WAITS, "    x = types[0]", "the relation waits"),
)


@pytest.mark.parametrize(("part", "old", "new", "hint"), TYPES)
def test_a_mistake_of_types_is_told(part: str, old: str, new: str, hint: str) -> None:
    exercise, _, function = part.partition(".")
    feedback = check(part, answer(exercise, function or "tile", (old, new)))
    assert feedback.failure is not None, part
    assert hint in feedback.failure.hint, str(feedback)


def test_leaving_the_program_and_waiting_for_nobody() -> None:
    def leaves(addresses: list[int], size: int) -> int:
        sys.exit(3)

    async def waits(addresses: list[int], size: int) -> int:
        return 1

    def changes(m: int, n: int, k: int, element: int, cache: Any) -> tuple[int, int]:
        cache.size = 1 << 30
        return n, k

    for part, wrong, hint in (
        ("warp_access.transactions", leaves, "with `return`"),
        ("warp_access.transactions", waits, "without `async`"),
        ("choose_tile", changes, "What is given here is never changed"),
    ):
        feedback = check(part, wrong)
        assert feedback.failure is not None
        assert hint in feedback.failure.hint
        assert "<string>" not in feedback.failure.trace
        assert "__setattr__" not in feedback.failure.trace


class Shell:
    """What IPython's `exit` asks to end the kernel."""

    def __init__(self) -> None:
        self.left = False

    def ask_exit(self) -> None:
        self.left = True


def test_a_notebook_is_not_left_and_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class StdinNotImplementedError(NotImplementedError):
        """As a kernel raises it where nobody can answer."""

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    def leaves(addresses: list[int], size: int) -> None:
        shell.ask_exit()

    def asks(addresses: list[int], size: int) -> None:
        raise StdinNotImplementedError("no frontend")

    for wrong, hint in ((leaves, "ends a whole program"), (asks, "to answer `input`")):
        feedback = check("warp_access.transactions", wrong)
        assert feedback.failure is not None
        assert hint in feedback.failure.hint
    assert not shell.left
    shell.ask_exit()
    assert shell.left  # the shell's own again


def test_much_that_is_printed_is_cut_and_kept_from_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    def loud(addresses: list[int], size: int) -> int:
        print("<script>" + "x" * 5_000_000)
        print("warning", file=sys.stderr)
        return -1

    feedback = check("warp_access.transactions", loud)
    assert feedback.failure is not None
    assert feedback.failure.printed.endswith("x\nwarning\n")
    assert len(feedback.failure.printed) == 2000
    assert capsys.readouterr() == ("", "")


def test_a_value_s_own_error_is_said() -> None:
    assert repr_of(Unshowable()) == snapshot("Unshowable: cannot be shown, its `repr` raises ValueError")
    assert repr_of([1, 2, 3], 4) == "[1, "
