"""Checks report wrong answers of any type, and raise no error of their own."""

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
from relay_explorer.grading.warp_access import cycles, sectors
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
PARTS = (
    "warp_access.transactions",
    "read_assembly.accumulators",
    "plan_memory.plan",
    "vm_instruction.combine",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", STRANGE)
def test_marks_strange_values_as_wrong(part: str, name: str) -> None:
    parameters = {"transactions": 2, "accumulators": 1, "plan": 2, "combine": 1}[part.partition(".")[2]]
    value = STRANGE[name]()
    two, one = (lambda a, b: value), (lambda a: value)
    feedback = check(part, two if parameters == 2 else one)
    assert feedback.failure is not None
    assert feedback.failure.hint
    assert "could not be inspected" not in str(feedback)
    assert "rx-feedback" in feedback._repr_html_()


@pytest.mark.parametrize("name", EXERCISES)
def test_survives_values_without_repr(name: str) -> None:
    parts = importlib.import_module(f"relay_explorer.grading.{name}.checks").EXERCISE
    for part in [part for part, result in parts.items() if not result.text]:
        feedback = check(f"{name}.{part}" if part else name, lambda *args: Unshowable())
        assert not feedback.passed
        assert "could not be inspected" not in str(feedback)


def test_marks_answer_wrong_if_check_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_key_error(*args: object) -> object:
        raise KeyError("surprise")

    monkeypatch.setattr("relay_explorer.grading.warp_access.checks.sectors_hint", raise_key_error)
    feedback = check("warp_access.transactions", lambda addresses, size: -1)
    assert feedback.failed == "strides"
    assert str(feedback) == snapshot(
        "transactions: strides does not hold (0 of 3 do so far)\n"
        "  ✗ strides: the number of sectors is right for contiguous and for strided accesses\n"
        "  · anywhere: it is right for any start address and element size, even if some threads are "
        "inactive\n"
        "  · scattered: it is right for addresses in any order\n"
        "\n"
        "On:\n"
        "    the result of your own code\n"
        "\n"
        "Expected:\n"
        "    the number of sectors is right for contiguous and for strided accesses\n"
        "\n"
        "Got:\n"
        "    a result that could not be inspected: KeyError: 'surprise'\n"
        "\n"
        "Hint:\n"
        "    Does it return what the exercise asks for, with the right type? If you are sure that "
        "it does, the check is wrong: please tell us."
    )


def test_accepts_numpy_integers() -> None:
    def banks(addresses: list[int]) -> Any:
        words = np.unique(np.array(addresses, int) // 4)
        return np.bincount(words % 32, minlength=1).max()

    assert type(banks([0])) is not int
    assert check("warp_access.conflicts", banks).passed
    assert [integer(value) for value in (3, np.int8(3), True, np.True_, 3.0, "3", None)] == [3, 3] + [
        None
    ] * 5


def test_does_not_accept_package_objects() -> None:
    feedback = check("warp_access.transactions", sectors)
    assert feedback.failure is not None
    assert feedback.failure.got == "`sectors` of the package"

    # A learner's module is not one of the package's.
    names: dict[str, Any] = {"__name__": "__main__", "cycles": cycles, "reading": reading}
    exec("conflicts = lambda addresses: cycles(addresses)", names)
    exec("def accumulators(text): return reading(text).accumulators", names)
    for part in ("warp_access.conflicts", "read_assembly.accumulators"):
        feedback = check(part, names[part.partition(".")[2]])
        assert feedback.failure is not None
        assert "of the package is the solution itself" in feedback.failure.got
        assert "Write your own" in feedback.failure.hint
    assert names["conflicts"]([0, 128]) == 2  # outside of a check it is a function like any other


WAITS = """    if isinstance(types[0], IncompleteType):
        return False
    x = tensor(types[0], 0)"""
TYPES = (  # part, text in the solution, its replacement, expected hint
    ("warp_access.conflicts", ", default=0)", ")", "No thread is active"),
    ("plan_memory.lifetimes", "            if tensor in lives:\n    ", "        ", "that no step computes"),
    ("plan_memory.lifetimes", "= (number, number)", "= number, 0.5", "Steps are integers"),
    ("plan_memory.lifetimes", "    return lives", "    return {t: 0 for t in lives}", "a pair"),
    ("plan_memory.plan", "    return assigned", "    return {**assigned, 'x': 0}", "is not a tensor"),
    ("vm_instruction.combine", "(*path, instruction.index)", "[*path, 0]", "is a tuple"),
    ("vm_instruction.run", "registers[instruction.to]", "registers[instruction.target]", "`to`, `source`"),
    ("choose_tile", "    return best[1:]", "    return best[:0:-1]", "comes first, followed by `tk`"),
    ("lower_operator.lowering", 'te.compute(x.shape, mean_of, name="mean")]', "mean_of]", "a list"),
    ("lower_operator.lowering", "te.all(j >= 0, j < n)", "te.all(j >= 0, j <= n)", "contain anything"),
    ("lower_operator.relation", WAITS, "    x = types[0]", "the relation waits"),
)


@pytest.mark.parametrize(("part", "old", "new", "hint"), TYPES)
def test_hints_at_wrong_type(part: str, old: str, new: str, hint: str) -> None:
    exercise, _, function = part.partition(".")
    feedback = check(part, answer(exercise, function or "tile", (old, new)))
    assert feedback.failure is not None, part
    assert hint in feedback.failure.hint, str(feedback)


def test_hints_at_exit_async_and_mutation() -> None:
    def exits(addresses: list[int], size: int) -> int:
        sys.exit(3)

    async def waits(addresses: list[int], size: int) -> int:
        return 1

    def changes(m: int, n: int, k: int, element: int, cache: Any) -> tuple[int, int]:
        cache.size = 1 << 30
        return n, k

    for part, wrong, hint in (
        ("warp_access.transactions", exits, "with `return`"),
        ("warp_access.transactions", waits, "without `async`"),
        ("choose_tile", changes, "are immutable"),
    ):
        feedback = check(part, wrong)
        assert feedback.failure is not None
        assert hint in feedback.failure.hint
        assert "<string>" not in feedback.failure.trace
        assert "__setattr__" not in feedback.failure.trace


class Shell:
    """The object that IPython's `exit` calls to end the kernel."""

    def __init__(self) -> None:
        self.exited = False

    def ask_exit(self) -> None:
        self.exited = True


def test_refuses_exit_and_input_in_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    class StdinNotImplementedError(NotImplementedError):
        """The error that a kernel raises if no user can answer."""

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    def exits(addresses: list[int], size: int) -> None:
        shell.ask_exit()

    def asks(addresses: list[int], size: int) -> None:
        raise StdinNotImplementedError("no frontend")

    for wrong, hint in ((exits, "ends the whole program"), (asks, "`input` cannot be answered")):
        feedback = check("warp_access.transactions", wrong)
        assert feedback.failure is not None
        assert hint in feedback.failure.hint
    assert not shell.exited
    shell.ask_exit()
    assert shell.exited  # the shell's own method again


def test_captures_and_truncates_output(capsys: pytest.CaptureFixture[str]) -> None:
    def print_much(addresses: list[int], size: int) -> int:
        print("<script>" + "x" * 5_000_000)
        print("warning", file=sys.stderr)
        return -1

    feedback = check("warp_access.transactions", print_much)
    assert feedback.failure is not None
    assert feedback.failure.printed.endswith("x\nwarning\n")
    assert len(feedback.failure.printed) == 2000
    assert capsys.readouterr() == ("", "")


def test_reports_error_of_repr() -> None:
    assert repr_of(Unshowable()) == snapshot("Unshowable: cannot be shown, its `repr` raises ValueError")
    assert repr_of([1, 2, 3], 4) == "[1, "
