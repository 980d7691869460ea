"""The evaluation view: what each step says and changes, and the heap by identity."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import explore
from relay_explorer.execute import record
from relay_explorer.execute.record import Evaluation
from relay_explorer.ir.errors import RelayError
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.evaluation.format import EvaluationMark, EvaluationView, Opened
from relay_explorer.views.evaluation.view import evaluation_view
from tests.support.views.check import check
from tests.views.runs import DATA, NAMES, SHARING, evaluation, module, sample, sharing_sample


def view(run: Evaluation) -> EvaluationView:
    made = evaluation_view(run)
    assert check(json.loads(made.to_json())) == []
    return made


def run(text: str, *args: Any, **limits: Any) -> EvaluationView:
    return view(record(module(text), *args, **limits))


def said(made: EvaluationView) -> list[str]:
    return [step.say[0].format(*step.say[1:]).partition("\n")[0] for step in made.steps]


def values(made: EvaluationView, name: str) -> list[tuple[int, str | int]]:
    """What `name` got, by frame, in order."""
    found = []
    for step in made.steps:
        for change in step.changes:
            if change[0] in ("b", "e") and made.names[int(change[2])].name == name:
                found.append((int(change[1]), change[3]))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_front_ends_samples_are_what_python_makes(name: str) -> None:
    assert (DATA / f"evaluation_{name}.json").read_text("utf-8") == sample(name)
    assert check(json.loads(sample(name))) == []


@pytest.mark.parametrize("name", SHARING)
def test_the_samples_of_sharing_too(name: str) -> None:
    assert (DATA / f"sharing_{name}.json").read_text("utf-8") == sharing_sample(name)


def test_the_sentences_of_a_fold_over_a_tree() -> None:
    made = view(evaluation("tree"))
    told = said(made)
    assert told[0] == "@main begins."
    assert told[1] == "%a is a new Leaf of 1."
    assert told[9] == snapshot(
        "@sum is called with %t = Node(Node(Leaf(1), Leaf(2)), Node(Leaf(…. Its frame replaces that "
        "of @main, so the stack does not grow."
    )
    assert told[10].startswith("%t = Node(Node(Leaf(1), Leaf(2)), Node(Leaf(… matches Node(%l, %r): %l = ")
    assert made.steps[10].say[0].endswith("\nIt does not match {4}, which comes first.")
    assert "@sum returns 1, and @sum continues: %0 is that value." in told
    assert "This is 11: add of %0 = 3 and %1 = 8." in told
    assert told[-1] == "The result is 11."


def test_a_shared_part_is_one_object() -> None:
    made = view(evaluation("tree"))
    leaf = dict(values(made, "%a"))[0]
    holders = [o for o in made.objects if leaf in [value for _, value, _ in o.parts]]
    assert len(holders) == 2


def test_a_tree_is_consumed() -> None:
    """After its last match an inner node is of no more use, though its parts are."""
    made = view(evaluation("tree"))
    matched = [
        (number, change.objects[0])
        for number, step in enumerate(made.steps)
        for change in step.changes
        if isinstance(change, Opened)
    ]
    nodes = {thing: number for number, thing in matched if made.objects[int(thing)].label == "Node"}
    assert nodes
    assert all(made.objects[int(thing)].last == number for thing, number in nodes.items())


def test_lists_and_trees_say_how_their_parts_are_drawn() -> None:
    text = "def @main() { %0 = Cons(1, Nil); Rose(2, Cons(Rose(3, Nil), Nil)) }"
    roles = {o.text: [role for _, _, role in o.parts] for o in run(text).objects}
    assert roles["Rose(3, Nil)"] == [0, 3]
    assert roles["Cons(Rose(3, Nil), Nil)"] == [0, 1]
    assert [role for _, _, role in view(evaluation("tree")).objects[-1].parts] == [2, 2]


def test_a_cell_has_a_history() -> None:
    made = view(evaluation("cells"))
    (cell,) = [number for number, o in enumerate(made.objects) if o.label == "ref"]
    assert made.objects[cell].parts == (("", "0", 0),)
    changes: list[tuple[Any, ...]] = [change for step in made.steps for change in step.changes]
    writes = [change[2] for change in changes if change[:2] == ("w", cell)]
    assert writes == ["4", "7", "9", "10"]
    assert "The content of the cell %total changes from 4 to %2 = 7." in said(made)


def test_what_a_cell_held_keeps_only_as_long_as_it_can_be_read() -> None:
    text = """
    def @main() {
      let %r = ref(Cons(1, Nil));
      let %a = ref_write(%r, Cons(2, Nil));
      let %b = ref_read(%r);
      (%b, %r)
    }
    """
    made = run(text)
    last = {o.text: o.last for o in made.objects}
    wrote = next(n for n, step in enumerate(made.steps) if any(c[0] == "w" for c in step.changes))
    assert last["Cons(1, Nil)"] == wrote
    assert last["Cons(2, Nil)"] == len(made.steps)


def test_functions_and_what_they_captured() -> None:
    made = view(evaluation("closures"))
    parts = {o.label: o.parts for o in made.objects if o.kind == 4}
    assert parts["fn (%a)"] == (("%by", "2", 0),)
    (itself,) = [n for n, o in enumerate(made.objects) if o.label == "fn (%i)"]
    assert parts["fn (%i)"] == (("%down", itself, 0),)
    assert "%down is a closure that captures %down (itself)." in said(made)
    assert [f.name for f in made.frames].count("%down") == 3


def test_tail_calls_take_the_place_of_the_frame() -> None:
    made = view(evaluation("cells"))
    loop = [f for f in made.frames if f.name == "@count"]
    assert [f.turn for f in loop] == [0, 1, 2, 3, 4]
    assert len({f.caller for f in loop}) == 1
    assert {made.rows[f.call_row].text for f in loop} == {"let %sum = @count(%n, %total1);"}
    marks = [step.mark for step in made.steps]
    assert marks.count(EvaluationMark.TAIL_CALL) == 4
    assert marks.count(EvaluationMark.RETURN) == 1


def test_rows_that_only_name_a_value_have_it() -> None:
    text = """
    def @main(%c: bool) {
      let %two = 2;
      let %same = %two;
      if (%c) { %same } else { 7 }
    }
    """
    made = run(text, True)
    shown = {made.rows[row].text: value for row, value in made.last_values().items()}
    assert shown["let %two = 2;"] == "2"
    assert shown["let %same = %two;"] == "2"
    assert shown["%same"] == "2"
    assert "7" not in shown
    assert shown["if (%c) {"] == "2"


def test_the_step_that_goes_wrong() -> None:
    made = view(evaluation("unmatched"))
    assert made.failure is not None
    assert made.failure.step == made.start == len(made.steps) - 1
    assert made.steps[-1].mark == EvaluationMark.FAILURE
    assert made.rows[made.failure.row].text == "match? (%xs) {"
    assert said(made)[-1] == snapshot("**The run fails here.** No clause matches Nil.")
    assert made.failure.tries == snapshot((("add a clause for `Nil`, or for `_`, which matches any value",),))
    assert made.result is None


def test_what_is_left_out_is_said() -> None:
    made = view(evaluation("gap"))
    assert made.gap is not None
    assert (made.gap.step, made.gap.left_out) == (40, 1368)
    assert said(made)[40] == snapshot(
        "1,368 steps are left out here: only the first 40 of 1,409 are recorded."
    )
    assert made.steps[41].changes[0] == ("x",)
    (cell,) = [number for number, o in enumerate(made.objects) if o.label == "ref"]
    assert ("w", cell, "20100") in made.steps[41].changes
    assert made.summary == snapshot(
        "@main returns (20100, ref(…)): 1,409 steps, 201 calls, of which 200 tail calls, at most 2 "
        "frames at once. The first 40 steps are recorded."
    )


def test_a_run_without_end() -> None:
    made = view(evaluation("endless"))
    assert made.gap is not None
    assert made.gap.left_out == 970
    assert said(made)[-1] == snapshot(
        "The first 30 steps are recorded. The program was stopped after 1,000 steps, so its result "
        "is not known."
    )


def test_a_failure_after_the_gap_shows_its_frame() -> None:
    text = """
    type L { C(L), E }
    def @down(%i: int32, %l: L) -> int32 {
      if (equal(%i, 0)) { match? (%l) { C(_) => { 1 } } } else { @down(subtract(%i, 1), %l) }
    }
    def @main() { @down(100, E) }
    """
    made = run(text, limit=10)
    last = made.steps[-1]
    shown = {made.names[int(c[2])].name: c[3] for c in last.changes if c[0] == "b"}
    assert shown["%i"] == "0"
    assert shown["%l"] == "E"
    assert made.frames[last.frame].name == "@down"


def test_tensors_are_told_by_their_numbers_or_their_range() -> None:
    text = "def @main(%x: Tensor[(40), float32], %y: Tensor[(2, 2), bool]) { (%x, %y) }"
    big = np.linspace(-1, 2, 40, dtype="float32")
    made = run(text, big, np.eye(2, dtype=bool))
    assert [o.label for o in made.objects] == ["(40) f32", "(2, 2) bool", "(,)"]
    assert made.objects[0].text == "smallest -1, largest 2, mean 0.5"
    assert made.objects[1].text == "[[True, False], [False, True]]"
    strange = run("def @main(%x: Tensor[(20), float32]) { %x }", np.full(20, np.inf, "float32"))
    assert strange.objects[0].text == "20 elements, none finite"


def test_long_data_appears_as_it_is_reached() -> None:
    from relay_explorer.execute import make_list

    program = module("def @main(%xs: List[int32]) { match (%xs) { Cons(%a, _) => { %a }, Nil => { 0 } } }")
    made = view(record(program, make_list(program, range(100_000))))
    assert len(made.objects) <= 1000
    assert made.objects[-1].parts[1][1] == "…"
    assert len(made.to_json()) < 200_000


def test_data_stays_small() -> None:
    assert len(run(CELLS_200, 200).to_json()) < 200_000


CELLS_200 = """
def @loop(%i: int32, %acc: int32) -> int32 {
  if (equal(%i, 0)) { %acc } else { @loop(subtract(%i, 1), add(%acc, %i)) }
}
def @main(%n: int32) { @loop(%n, 0) }
"""


def test_random_programs() -> None:
    for seed in range(80):
        program = generate(50_000 + seed, size=10 + seed % 40, closed=True).module
        with np.errstate(all="ignore"):
            made = view(record(program, limit=10 + 7 * seed))
        picture.html(made)
        picture.svg(made)
        assert explore(program, view="ir").to_json()


def test_nothing_is_used_after_its_last_step() -> None:
    """What a step gives to a name, puts into a cell or opens is still of use in that step."""
    for seed in range(60):
        program = generate(70_000 + seed, size=10 + seed % 50, closed=True).module
        with np.errstate(all="ignore"):
            made = view(record(program))
        for number, step in enumerate(made.steps):
            for change in step.changes:
                things = (
                    change.objects
                    if isinstance(change, Opened)
                    else change[-1:]
                    if change[0] in ("b", "e", "w")
                    else ()
                )
                assert all(made.objects[t].last >= number for t in things if isinstance(t, int)), change


def test_only_what_ran_is_shown() -> None:
    made = view(evaluation("map"))
    heads = [row.text for row in made.rows if row.text.startswith("def ")]
    assert [head.partition("(")[0].partition("[")[0] for head in heads] == ["def @map", "def @main"]
    assert made.rows[0].text == "type List[A] {"


def test_what_a_page_without_scripts_shows() -> None:
    made = view(evaluation("tree"))
    shown = picture.html(made)
    assert "<li>@main begins.</li>" in shown
    assert "matches Node(%l, %r)" in shown
    assert "add(%0, %1)" in picture.text(made)


def test_explore_records() -> None:
    program = module("def @main(%k: int32) { @map(fn (%x: int32) { add(%x, %k) }, Cons(1, Nil)) }")
    shown = explore(program, view="evaluation", args=(2,), name="t-map")
    assert shown.view.kind == "evaluation"
    assert shown.view.summary == snapshot(
        "@main returns Cons(3, Nil): 15 steps, 3 calls, of which 1 tail call, at most 2 frames at once."
    )
    again = explore(record(program, 2), name="t-map2")
    assert again.view.kind == "evaluation"
    assert explore(record(program, 2), view="ir").view.kind == "ir"
    assert 'id="rx-t-map"' in shown.to_html()
    with pytest.raises(RelayError):
        explore(program, view="evaluation")


def test_markup_in_names_stays_text() -> None:
    text = "type T { `</script><b>`(int32) }\ndef @main() { `</script><b>`(1) }"
    shown = explore(parse(text), view="evaluation", name="t-markup").to_html()
    assert "</script><b>" not in shown


def test_names_are_never_read_as_templates() -> None:
    text = """
    type `T{0}` { `C{1}`(int32), `N{}` }
    def @`f{2}`(%x: int32) {
      match (`C{1}`(%x)) { `N{}` => { 1 }, `C{1}`(%y) => { %y } }
    }
    def @main() { @`f{2}`(3) }
    """
    assert any("C{1}(3) matches" in sentence for sentence in said(run(text)))
    wrong = run(text.replace("match (", "match? (").replace(", `C{1}`(%y) => { %y }", ""))
    assert wrong.failure is not None
    assert wrong.failure.say[0].format() == snapshot("no clause matches C{1}(3)")


def test_a_loop_of_tail_calls_opens_in_its_second_iteration() -> None:
    made = run(
        """
        def @main(%n: int32, %total: int32) -> int32 {
          if (equal(%n, 0)) { %total } else { @main(subtract(%n, 1), add(%total, %n)) }
        }
        """,
        np.int32(4),
        np.int32(0),
    )
    marks = [step.mark for step in made.steps]
    assert marks[made.start] is EvaluationMark.CHOICE
    assert marks[: made.start].count(EvaluationMark.CHOICE) == 1
    assert marks[: made.start].count(EvaluationMark.TAIL_CALL) == 1
