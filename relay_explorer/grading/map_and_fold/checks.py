"""The checks of the exercise `map_and_fold`: programs in Relay, run on random lists and trees."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything
from typing import NamedTuple

from ...ir.errors import RelayError
from ...ir.module import IRModule
from ..answer_values import repr_of
from ..budget import Outcome, limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import TASKS, RefusedError, Rose, Task, list_text, read, run, tree_text, with_main

VIEW, CAPTION = "evaluation", "Your program, step by step"
LONG = 1_000  # elements of a list, levels of a tree


class Step(NamedTuple):
    """A function that the answer is called with, in Relay and in Python."""

    text: str
    meaning: Callable[..., Anything]


MAPPED = (
    Step("fn (%x: int32) -> int32 { %x + 1 }", lambda x: x + 1),
    Step("fn (%x: int32) -> int32 { 10 - %x }", lambda x: 10 - x),
    Step("fn (%x: int32) -> bool { %x > 2 }", lambda x: x > 2),
    Step("fn (%x: int32) -> (int32, bool) { (%x * 2, %x > 0) }", lambda x: (x * 2, x > 0)),
    Step("fn (%x: int32) -> List[int32] { Cons(%x, Nil) }", lambda x: [x]),
)
_SUM = (
    "fn (%x: int32, %rs: List[int32]) -> int32 { let %sum = fn (%l: List[int32]) -> int32 "
    "{ match (%l) { Cons(%y, %r) => { %y + %sum(%r) }, Nil => { 0 } } }; %x + %sum(%rs) }"
)
_FIRST = (
    "fn (%x: int32, %rs: List[int32]) -> int32 "
    "{ match (%rs) { Cons(%y, _) => { 10 * %y + %x }, Nil => { %x } } }"
)
FOLDED = (
    Step(_SUM, lambda x, rs: x + sum(rs)),
    Step(_FIRST, lambda x, rs: 10 * rs[0] + x if rs else x),
    Step("fn (%x: int32, %rs: List[bool]) -> bool { match (%rs) { Nil => { %x > 0 }, _ => { False } } }",
         lambda x, rs: x > 0 and not rs),
    Step("fn (%x: int32, %rs: List[Tree[int32]]) -> Tree[int32] { Rose(%x * 2, %rs) }",
         lambda x, rs: Rose(x * 2, tuple(rs))),
)  # fmt: skip


class Case(NamedTuple):
    """The arguments of an answer: a function, and data. If `logged`, the order of the calls is compared,
    too.
    """

    step: Step
    data: Anything  # a list of numbers, or a Rose
    logged: bool = False


def _program(task: Task, case: Case) -> str:
    """Write the body of `@main`."""
    data = tree_text(case.data) if task.name == "fold" else list_text([str(x) for x in case.data])
    if not case.logged:
        return f"@{task.name}({case.step.text}, {data})"
    # Every call logs its argument: the log has the last call first.
    params, _, body = case.step.text.removeprefix("fn ").partition(" {")
    noted = f"fn {params} {{ ref_write(%log, Cons(%x, ref_read(%log)));{body}"
    return f"let %log = ref(Nil); let %made = @{task.name}({noted}, {data}); (%made, ref_read(%log))"


def _expected(task: Task, case: Case) -> Anything:
    calls: list[int] = []
    if task.name == "map":
        calls = list(case.data)
        value = [case.step.meaning(x) for x in case.data]
    else:
        value = _folded(case.step, case.data, calls)
    return (value, calls[::-1]) if case.logged else value


def _folded(step: Step, tree: Rose, calls: list[int]) -> Anything:
    """Fold in Python: a node after its subtrees, these from first to last."""
    todo: list[tuple[Rose, bool]] = [(tree, False)]
    done: list[Anything] = []
    while todo:
        node, ready = todo.pop()
        if not ready:
            todo.append((node, True))
            todo += [(child, False) for child in reversed(node.children)]
            continue
        parts = done[len(done) - len(node.children) :]
        del done[len(done) - len(node.children) :]
        calls.append(node.value)
        done.append(step.meaning(node.value, parts))
    return done[0]


def _judge(task: Task, answer: str, case: Case) -> Failure | None:
    main = _program(task, case)
    shown = main if len(main) < 400 else f"{main[:300]} …"
    expected = _expected(task, case)
    brief = repr_of(expected, 300)
    read_first = limited(CASE_SECONDS, read, task, answer)
    if isinstance(read_first.error, RefusedError):
        refused = read_first.error
        return Failure(f"the text itself, before it runs on\n{shown}", brief, str(refused), refused.hint)
    if read_first.error is not None:
        return crashed("the text itself", read_first, brief)
    module: IRModule = read_first.value
    outcome = limited(CASE_SECONDS, run, module, main)
    if outcome.error is None and outcome.value == expected:
        return None
    program = with_main(module, main) if len(main) < 2_000 else None
    if outcome.error is not None:
        return _stopped(shown, brief, outcome, program)
    hint = _hint(task, case, expected, outcome.value)
    return Failure(shown, brief, repr_of(outcome.value, 300), hint, program, VIEW, CAPTION)


def _stopped(shown: str, expected: str, outcome: Outcome, program: IRModule | None) -> Failure:
    """Build the failure of a program that did not finish."""
    endless = "Is the argument of every recursive call smaller? The rest of a list is smaller than the list."
    if isinstance(outcome.error, RelayError):
        error = outcome.error
        hint = "The match has no clause for this value." if "match" in error.message else ""
        if any("recursion" in text for text in error.help):
            hint = endless
        return Failure(shown, expected, str(error), hint, program, "ir", CAPTION)
    return crashed(shown, outcome, expected, program=program, view="ir", caption=CAPTION, hint=endless)


def _hint(task: Task, case: Case, expected: Anything, got: Anything) -> str:
    if case.logged:
        (value, calls), (result, noted) = expected, got
        if value == result:
            return _calls_hint(task, calls, noted)
        expected, got = value, result
    if task.name == "fold":
        return _fold_hint(case, got)
    if got == expected[::-1]:
        return "The order is reversed: an accumulator that grows at the front ends up backwards."
    if got == list(case.data):
        return "The elements are unchanged: `%f` is never applied."
    if isinstance(got, list) and len(got) < len(expected):
        return (
            "Elements are missing. What do you do with the rest of the list, and what does the "
            "clause for `Nil` return?"
        )
    if isinstance(got, list) and len(got) > len(expected):
        return "There are too many elements: write one `Cons` for each element, and `Nil` at the end."
    return "Each element of the result is `%f` of the element of `%xs`."


def _calls_hint(task: Task, calls: list[int], noted: list[int]) -> str:
    if len(noted) > len(calls):
        return "`%f` is called more than once per element: bind its result with a `let`."
    if task.name == "fold":
        return "Fold the subtrees first, from the first to the last. Then call `%f` with their results."
    return (
        "`%f` must be called from the first element to the last: bind `%f(%x)` with `let` "
        "before the recursion."
    )


def _fold_hint(case: Case, got: Anything) -> str:
    if got == case.step.meaning(case.data.value, []):
        return "The subtrees are not folded: fold each of them, and pass the list of results to `%f`."
    if got == _folded(case.step, _mirrored(case.data), []):
        return "The subtrees come in the wrong order."
    return "The result is `%f` of the value at the root and the list of the subtrees' results."


def _mirrored(tree: Rose) -> Rose:
    return Rose(tree.value, tuple(_mirrored(child) for child in reversed(tree.children)))


# -- test cases


def _lists(least: int, steps: Iterable[Step], logged: bool = False) -> Callable[..., Iterator[Case]]:
    chosen = list(steps)

    def cases(rng: random.Random, count: int) -> Iterator[Case]:
        for number in range(max(4, count // 6)):
            size = least + number % 7 if least else 0
            yield Case(rng.choice(chosen), [rng.randint(-3, 9) for _ in range(size)], logged)

    return cases


def _long_list(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case(MAPPED[0], list(range(LONG)))


def _tree(rng: random.Random, size: int) -> Rose:
    """Build a random tree with that many nodes."""
    parts: list[int] = []
    left = size - 1
    while left > 0:
        parts.append(rng.randint(1, left))
        left -= parts[-1]
    return Rose(rng.randint(-3, 9), tuple(_tree(rng, part) for part in parts))


def _trees(least: int, steps: Iterable[Step], logged: bool = False) -> Callable[..., Iterator[Case]]:
    chosen = list(steps)

    def cases(rng: random.Random, count: int) -> Iterator[Case]:
        for number in range(max(4, count // 6)):
            size = 1 if least == 1 else least + number % 8
            yield Case(rng.choice(chosen), _tree(rng, size), logged)

    return cases


def _deep_tree(rng: random.Random, count: int) -> Iterator[Case]:
    tree = Rose(1)
    for number in range(LONG):
        tree = Rose(number % 3, (tree,))
    yield Case(FOLDED[2], tree)


def _smaller(case: Case) -> Iterator[Case]:
    if isinstance(case.data, list):
        for at in range(len(case.data)):
            yield case._replace(data=case.data[:at] + case.data[at + 1 :])
        return
    if len(case.data.children) > 60 or case.data == Rose(0):
        return
    for at, child in enumerate(case.data.children):
        yield case._replace(data=child)
        rest = case.data.children[:at] + case.data.children[at + 1 :]
        yield case._replace(data=Rose(case.data.value, rest))


def _property(name: str, says: str, task: Task, cases: Callable[..., Iterator[Case]]) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: _judge(task, answer, case), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


_MAP, _FOLD = TASKS["map"], TASKS["fold"]
EXERCISE = {
    "map": Exercise(
        "map",
        "@map",
        (
            _property("empty", "an empty list gives an empty list", _MAP, _lists(0, MAPPED[:2])),
            _property(
                "elements",
                "`%f` is applied to every element, and the order is kept",
                _MAP,
                _lists(1, MAPPED[:2]),
            ),
            _property("types", "elements and results may have any types", _MAP, _lists(1, MAPPED[2:])),
            _property(
                "order", "`%f` is called once per element, first to last", _MAP, _lists(1, MAPPED[:2], True)
            ),
            _property("long", "a list may be long", _MAP, _long_list),
        ),
        text=True,
    ),
    "fold": Exercise(
        "fold",
        "@fold",
        (
            _property(
                "leaf", "a tree without subtrees gives `%f` an empty list", _FOLD, _trees(1, FOLDED[:2])
            ),
            _property("trees", "subtrees are folded first", _FOLD, _trees(2, FOLDED[:2])),
            _property("types", "results may have any type", _FOLD, _trees(2, FOLDED[2:])),
            _property(
                "order", "each node is visited once, after its subtrees", _FOLD, _trees(2, FOLDED[:1], True)
            ),
            _property("deep", "a tree may be deep", _FOLD, _deep_tree),
        ),
        text=True,
    ),
}
