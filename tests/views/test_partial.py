"""The view of a partial evaluation: what is known of each row, what remains, and what is said."""

from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore
from relay_explorer.ir.module import IRModule
from relay_explorer.models.tree_lstm import tree_lstm
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import PassContext
from relay_explorer.views import picture
from relay_explorer.views.format import RowKind, spoken
from relay_explorer.views.partial import view as partial
from relay_explorer.views.partial.format import PartialMark, PartialView, State
from relay_explorer.views.partial.view import partial_view
from tests.support.views.check import check
from tests.views.partials import DATA, PROGRAMS, STAYS, TREE, sample


def view_of(text: str) -> PartialView:
    return partial_view(parse(text))


def said(view: PartialView) -> list[str]:
    return [spoken(step.say) for step in view.steps]


def remaining(view: PartialView) -> list[str]:
    rows = zip(view.rows[view.split :], view.residual, strict=True)
    return ["  " * row.depth + row.text for row, kept in rows if kept.needed]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kept_samples_are_what_the_pass_makes(name: str) -> None:
    kept = (DATA / f"partial_{name}.json").read_text("utf-8")
    assert kept == sample(name), "run `python -m tests.views.partials`"
    assert check(json.loads(kept)) == []


def test_what_remains_is_written_as_one_writes_it() -> None:
    assert remaining(view_of(PROGRAMS["power"])) == [
        "def @main(",
        "  %x: float32) -> float32 {",
        "  let %x1 = multiply(%x, 1f);",
        "  let %x2 = multiply(%x, %x1);",
        "  let %x3 = multiply(%x, %x2);",
        "  %x3",
        "}",
    ]


def test_rows_are_there_when_the_step_that_made_them_is() -> None:
    view = view_of(TREE)
    for row, (kept, printed) in enumerate(zip(view.residual, view.rows[view.split :], strict=True)):
        for step in view.steps:
            made = [b for b in step.bound if b.row == view.split + row and b.at == step.row]
            if made and step.mark in (PartialMark.KEPT, PartialMark.EFFECT) and "if" not in printed.text:
                assert view.steps[kept.born] is step, printed.text
                break
    texts = [row.text for row in view.rows[view.split :]]
    born = {text: kept.born for text, kept in zip(texts, view.residual, strict=True)}
    assert born["let %s = if (%x2) {"] < born["let %x8 = exp(%x1);"] < born["} else {"] < born["%b"]
    assert born["let %f = fn ("] > born["let %x14 = (%s, %x12, %x13, %f);"], "written when it is asked for"


def test_each_row_that_remains_knows_where_it_came_from() -> None:
    view = view_of(TREE)
    came = {
        view.rows[view.split + row].text: view.rows[kept.source].text
        for row, kept in enumerate(view.residual)
        if kept.source >= 0
    }
    assert came["let %x8 = exp(%x1);"] == came["let %x9 = exp(%b);"] == "exp(%v)"
    assert came["let %w1 = ref_write(%cell, %b);"] == "let %w = ref_write(%cell, %z);"
    assert came["let %s = if (%x2) {"] == "let %s = if (%2) {"
    assert came["%a: float32,"] == "%a: float32,"


def test_what_is_known_of_a_row_in_each_round() -> None:
    view = view_of(PROGRAMS["power"])
    (row,) = [n for n, r in enumerate(view.rows[: view.split]) if r.text.startswith("%n: int32")]
    values = [b for step in view.steps for b in step.bound if b.at == row]
    assert [(view.frames[b.frame].turn, b.text) for b in values] == [(0, "3"), (1, "2"), (2, "1"), (3, "0")]
    assert {b.state for b in values} == {State.KNOWN}


def test_every_decision_is_said_with_its_reason() -> None:
    told = said(view_of(TREE))
    assert told[0] == snapshot(
        "@main is evaluated as far as its data are static. Its parameters %a, %b and %n are "
        "dynamic, so the residual program has them too."
    )
    assert told[1] == snapshot(
        "A cell is created, at run time too: %cell. From here on its content is static: %a. Effects "
        "are never executed ahead of time, removed or reordered."
    )
    for line in (
        "multiply has to wait: %z = %b is dynamic. The residual program computes it as %x1.",
        "The condition %x2 is dynamic: both branches remain, and each is evaluated separately.",
        "Leaf constructs Leaf(%b).",
        "Node(Leaf(%b), Leaf(1)) matches Node(%l, %r): %l = Leaf(%b) and %r = Leaf(1). Only this "
        "clause is evaluated, and the residual program has no match.",
        "@sum is called again with %t = Leaf(1): recursive call 2. %t was Node(Leaf(%b), Leaf(1)), and "
        "is now a part of that, so the recursion must end, and is unrolled.",
        "The content of the cell %cell is %b here, so it need not be read at run time.",
        "multiply of 3 and 2 is 6: all of its arguments are static, so it is computed now.",
        "Its content is dynamic, so %cell is read at run time, after all earlier effects.",
        "The residual program needs %f, so code for it is generated. It may be called at any time, so its "
        "parameters and the contents of cells are dynamic.",
    ):
        assert line in told
    assert told[-1] == snapshot(
        "The residual program has 20 bindings. 5 of them are dead: DeadCodeElimination will remove "
        "them. The key a shows them."
    )


def test_what_stays_is_said_with_its_reason() -> None:
    told = said(view_of(STAYS))
    for line in (
        "The write stays here, in order: %r is written. The cell itself is dynamic, so any cell may hold 1 "
        "now: the known contents of all cells are forgotten. Effects are never executed ahead of time, "
        "removed or reordered.",
        "The value of %s is dynamic: 3 clauses may match, and each is evaluated.",
        "Only at run time is it known which function %f is. The call stays. It may write any cell, so their "
        "known contents are forgotten.",
        "@loop is called again with %x = 2, and none of its arguments gets smaller, so unrolling might "
        "never end. The call stays. It may write any cell, so their known contents are forgotten.",
    ):
        assert line in told


def test_what_cells_are_known_to_hold() -> None:
    held = [step.cells.held for step in view_of(TREE).steps if step.cells is not None]
    assert held == [
        (("%cell", "%a"),), (("%cell", "%b"),), (("%cell", "%b"),), (), (("%cell", "%x13"),), (),
        (("%cell", "%z"),), (),
    ]  # fmt: skip


def test_a_gap_stands_for_what_is_left_out() -> None:
    view = partial_view(parse(PROGRAMS["power"]), limit=12)
    assert view.gap == (12, 12)
    assert "12 steps are left out here: only the first 12 of 25 are recorded." in said(view)
    assert view.totals == view_of(PROGRAMS["power"]).totals, "totals are those of the whole run"
    assert max(kept.born for kept in view.residual) == len(view.steps) - 1


def test_a_sentence_whose_tree_is_known() -> None:
    """The chapter's program: every round is unrolled, whatever the sizes."""
    program = tree_lstm(inputs=3, hidden=2, moods=2).astext().replace("@main", "@mood")
    start = program.index("def @mood(") + len("def @mood(%sentence: Phrase, ")
    weights = program[start : program.index(")", program.index("%mood_bias: ", start) + 30)]
    words = "%a: Tensor[(1, 3), float32], %b: Tensor[(1, 3), float32]"
    sentence = "Pair(Word(%a), Pair(Word(%b), Word(%a)))"
    passed = ", %".join(part.split(":")[0] for part in weights.split(", %"))
    main = f"def @main({words}, {weights}) {{ @mood({sentence}, {passed}) }}"
    view = partial_view(parse(f"{program}\n{main}"))
    assert check(view.to_dict()) == []
    marks = [step.mark for step in view.steps]
    assert (marks.count(PartialMark.UNROLLED), marks.count(PartialMark.DECIDED)) == (4, 5)
    assert PartialMark.UNDECIDED not in marks
    assert sum("nn.dense" in line for line in remaining(view)) == 3 + 2 + 1


def test_explore_shows_it_and_the_still_picture_too() -> None:
    shown = explore(TREE, view="partial", name="tree")
    assert shown.view.kind == "partial"
    assert "<ol" in picture.html(shown.view)
    lines = [" ".join(line.split()) for line in picture.text(shown.view).splitlines()]
    assert "let %cell = ref(%a); effect: %cell" in lines
    assert lines[lines.index("Residual program:") - 1] == "… 19 more rows"
    assert "exp(%v) static ×1, dynamic ×2" in lines
    assert lines.index("Residual program:") < lines.index(
        "let %cell = ref(%a);", lines.index("Residual program:")
    )
    assert explore(TREE, view="partial", limit=3).view.summary.startswith("@main is evaluated as far as")


def test_what_cannot_be_shown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with raises(snapshot("RelayError: error: the module has no function to evaluate")):
        partial_view(IRModule())
    with raises(
        snapshot("""\
RelayError:
error: a recording of 0 events shows nothing
help: record at least 1 step\
""")
    ):
        explore(PROGRAMS["power"], view="partial", limit=0)
    long = PROGRAMS["power"].replace("@power(%x, 3)", "@power(%x, 60)")
    monkeypatch.setattr(partial, "MAX_ROWS", 50)
    with raises(
        snapshot("""\
RelayError:
error: the residual program has 64 rows, but an explorer shows at most 50
help: the option relay.PartialEvaluate.max_bindings of the context bounds it\
""")
    ):
        partial_view(parse(long))
    monkeypatch.undo()
    with PassContext(config={"relay.PartialEvaluate.max_bindings": 50}):
        view = partial_view(parse(long))
    assert any("has reached its maximal size" in line for line in said(view))


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_random_programs_have_views(seed: int) -> None:
    """Every step is told, and every binding that is needed is there when the step that made it is."""
    view = partial_view(generate(seed, size=40, closed=seed % 2 == 0).module)
    assert check(view.to_dict()) == []
    assert all(said(view))
    last = len(view.steps) - 1
    rows = zip(view.rows[view.split :], view.residual, strict=True)
    late = [row.text for row, kept in rows if kept.needed and row.kind == RowKind.LET and kept.born == last]
    assert late == []
