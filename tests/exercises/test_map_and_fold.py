"""The exercise `map_and_fold`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.map_and_fold import TASKS, Rose, read, run, tree_text
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried

# Code that never ends is stopped by an exception in its thread, which may come while Python collects garbage.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("part", ["map", "fold"])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
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
def test_another_way_of_writing_it_passes(part: str, text: str) -> None:
    feedback = check(f"map_and_fold.{part}", text)
    assert feedback.passed, str(feedback)


CONS = "Cons(%first, %others) => { Cons(%f(%first), @map(%f, %others)) },"
NIL = "    Nil => { Nil },\n"
WRONG_MAP = {
    "one clause": Mistake([(NIL, "")], "empty", ""),
    "the rest": Mistake([("@map(%f, %others)", "Nil")], "elements", "Elements are missing"),
    "never applied": Mistake([(CONS + "\n" + NIL, "%list => { %list },\n")], "empty", ""),
    "twice": Mistake(
        [("{ Cons(%f(%first),", "{ let %ignored = %f(%first); Cons(%f(%first),")],
        "order",
        "more often than once",
    ),
    "backwards calls": Mistake(
        [(CONS, "Cons(%first, %others) => { let %r = @map(%f, %others); Cons(%f(%first), %r) },")],
        "order",
        "from the first element to the last",
    ),
    "the same list": Mistake(
        [("@map(%f, %others)", "@map(%f, %xs)")], "elements", "`%rest` is smaller than `%xs`"
    ),
    "doubled": Mistake(
        [
            ("Cons(%f(%first), @map", "Cons(%f(%first), Cons(%f(%first), @map"),
            ("%others)) }", "%others))) }"),
        ],
        "elements",
        "more elements than went in",
    ),
    "only numbers": Mistake(
        [
            (
                "[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]",
                "(%f: fn (int32) -> int32, %xs: List[int32]) -> List[int32]",
            )
        ],
        "empty",
        "Its type must be",
    ),
    "another name": Mistake([("def @map[", "def @mapp[")], "empty", ""),
    "a name mistyped": Mistake([("%f(%first)", "%g(%first)")], "empty", ""),
    "declared again": Mistake(
        [("def @map[", "type List[A] { Cons(A, List[A]), Nil }\ndef @map[")], "empty", "do not declare them"
    ),
    "imported": Mistake([("def @map[", 'import "prelude.rly"\ndef @map[')], "empty", "without an import"),
}
CALL = "%f(%root, @map(fn (%subtree: Tree[A]) -> B { @fold(%f, %subtree) }, %subtrees))"
WRONG_FOLD = {
    "no subtrees": Mistake([(CALL, "%f(%root, Nil)")], "trees", "The subtrees are not looked at"),
    "itself again": Mistake([("@fold(%f, %subtree)", "@fold(%f, %tree)")], "trees", "get something smaller"),
    "not folded": Mistake([(CALL, "%f(%root, %subtrees)")], "leaf", ""),
    "twice": Mistake([(CALL, f"let %once = {CALL}; {CALL}")], "order", "more often than once"),
}
WRONG = {
    f"{part}: {name}": (part, mistake)
    for part, table in (("map", WRONG_MAP), ("fold", WRONG_FOLD))
    for name, mistake in table.items()
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    part, mistake = WRONG[name]
    tried("map_and_fold", part.upper(), f"map_and_fold.{part}", mistake)


def test_the_smallest_list_is_found() -> None:
    wrong = answer("map_and_fold", "MAP", ("@map(%f, %others)", "Nil"))
    failure = check("map_and_fold.map", wrong, "elements").failure
    assert failure is not None
    assert failure.case.count("Cons(") == 2


def test_an_answer_must_be_a_text() -> None:
    failure = check("map_and_fold.map", 3).failure
    assert failure is not None
    assert failure.hint == "Give the text itself: a Python string."


def test_an_unwritten_answer_is_told_so() -> None:
    head = "def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]"
    text = f"{head} {{\n  # Your code here.\n  raise NotImplementedError\n}}"
    failure = check("map_and_fold.map", text).failure
    assert failure is not None
    assert "not written yet" in failure.hint


def test_trees_go_there_and_back() -> None:
    module = read(TASKS["map"], answer("map_and_fold", "MAP"))  # type: ignore[arg-type]  # a text
    tree = Rose(1, (Rose(2), Rose(3, (Rose(4),))))
    assert run(module, tree_text(tree)) == tree
