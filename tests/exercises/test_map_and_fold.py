"""The checks of the exercise `map_and_fold`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.map_and_fold import TASKS, Rose, read, run, tree_text
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

# Endless code is stopped by an exception in its thread, which may come while Python collects garbage.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("part", ["map", "fold"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"map_and_fold.{part}", answer("map_and_fold", part.upper()), seed=seed, programs=100)
    assert feedback.passed, str(feedback)


BY_REVERSING = """
def @turned[A](%xs: List[A], %done: List[A]) -> List[A] {
  match (%xs) { Nil => { %done }, Cons(%x, %r) => { @turned(%r, Cons(%x, %done)) } }
}
def @collect[A, B](%f: fn (A) -> B, %xs: List[A], %done: List[B]) -> List[B] {
  match (%xs) { Nil => { @turned(%done, Nil) }, Cons(%x, %r) => { @collect(%f, %r, Cons(%f(%x), %done)) } }
}
def @map[T, U](%g: fn (T) -> U, %list: List[T]) -> List[U] { @collect(%g, %list, Nil) }
"""
WITH_ITS_OWN_MAP = """
def @fold[A, B](%f: fn (A, List[B]) -> B, %t: Tree[A]) -> B {
  let %all = fn (%ts: List[Tree[A]]) -> List[B] {
    match (%ts) { Nil => { Nil }, Cons(%t, %r) => { let %b = @fold(%f, %t); Cons(%b, %all(%r)) } }
  };
  match (%t) { Rose(%x, %c) => { %f(%x, %all(%c)) } }
}
"""


@pytest.mark.parametrize(("part", "text"), [("map", BY_REVERSING), ("fold", WITH_ITS_OWN_MAP)])
def test_alternative_solution_passes(part: str, text: str) -> None:
    feedback = check(f"map_and_fold.{part}", text)
    assert feedback.passed, str(feedback)


CONS = "Cons(%first, %others) => { Cons(%f(%first), @map(%f, %others)) },"
NIL = "    Nil => { Nil },\n"
WRONG_MAP = {
    "has no clause for Nil": Mistake([(NIL, "")], "empty", ""),
    "drops the tail": Mistake([("@map(%f, %others)", "Nil")], "elements", "Elements are missing"),
    "never calls the function": Mistake([(CONS + "\n" + NIL, "%list => { %list },\n")], "empty", ""),
    "calls the function twice": Mistake(
        [("{ Cons(%f(%first),", "{ let %ignored = %f(%first); Cons(%f(%first),")],
        "order",
        "more than once per element",
    ),
    "calls the function on the tail first": Mistake(
        [(CONS, "Cons(%first, %others) => { let %r = @map(%f, %others); Cons(%f(%first), %r) },")],
        "order",
        "from the first element to the last",
    ),
    "recurses on the same list": Mistake(
        [("@map(%f, %others)", "@map(%f, %xs)")], "elements", "The rest of a list is smaller than the list"
    ),
    "emits elements twice": Mistake(
        [
            ("Cons(%f(%first), @map", "Cons(%f(%first), Cons(%f(%first), @map"),
            ("%others)) }", "%others))) }"),
        ],
        "elements",
        "too many elements",
    ),
    "has a monomorphic type": Mistake(
        [
            (
                "[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]",
                "(%f: fn (int32) -> int32, %xs: List[int32]) -> List[int32]",
            )
        ],
        "empty",
        "Its type must be",
    ),
    "defines another name": Mistake([("def @map[", "def @mapp[")], "empty", ""),
    "uses an undefined variable": Mistake([("%f(%first)", "%g(%first)")], "empty", ""),
    "declares List again": Mistake(
        [("def @map[", "type List[A] { Cons(A, List[A]), Nil }\ndef @map[")], "empty", "do not declare them"
    ),
    "imports the prelude": Mistake(
        [("def @map[", 'import "prelude.rly"\ndef @map[')], "empty", "without an import"
    ),
}
CALL = "%f(%root, @map(fn (%subtree: Tree[A]) -> B { @fold(%f, %subtree) }, %subtrees))"
WRONG_FOLD = {
    "drops the subtrees": Mistake([(CALL, "%f(%root, Nil)")], "trees", "The subtrees are not folded"),
    "recurses on the same tree": Mistake(
        [("@fold(%f, %subtree)", "@fold(%f, %tree)")], "trees", "argument of every recursive call smaller"
    ),
    "does not fold the subtrees": Mistake([(CALL, "%f(%root, %subtrees)")], "leaf", ""),
    "calls the function twice": Mistake(
        [(CALL, f"let %once = {CALL}; {CALL}")], "order", "more than once per element"
    ),
}
WRONG = {
    f"{part}: {name}": (part, mistake)
    for part, table in (("map", WRONG_MAP), ("fold", WRONG_FOLD))
    for name, mistake in table.items()
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    part, mistake = WRONG[name]
    check_mistake("map_and_fold", part.upper(), f"map_and_fold.{part}", mistake)


def test_finds_smallest_list() -> None:
    wrong = answer("map_and_fold", "MAP", ("@map(%f, %others)", "Nil"))
    failure = check("map_and_fold.map", wrong, "elements").failure
    assert failure is not None
    assert failure.case.count("Cons(") == 2


def test_requires_text() -> None:
    failure = check("map_and_fold.map", 3).failure
    assert failure is not None
    assert failure.hint == "Pass the text itself: a Python string."


def test_reports_missing_answer() -> None:
    head = "def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]"
    text = f"{head} {{\n  # Your code here.\n  raise NotImplementedError\n}}"
    failure = check("map_and_fold.map", text).failure
    assert failure is not None
    assert "There is no answer yet" in failure.hint


def test_trees_round_trip() -> None:
    module = read(TASKS["map"], answer("map_and_fold", "MAP"))  # type: ignore[arg-type]  # a text
    tree = Rose(1, (Rose(2), Rose(3, (Rose(4),))))
    assert run(module, tree_text(tree)) == tree
