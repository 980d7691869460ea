"""The sharing view: three forms of one computation, what each evaluates, and how long values are needed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore, models
from relay_explorer.execute import ExecutionError
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.sharing.format import Form, SharingView
from relay_explorer.views.sharing.view import sharing_view
from tests.support.views.check import check
from tests.views.runs import BRANCHES, DOUBLING, SHARED


def view(text: str, *args: object) -> SharingView:
    made = sharing_view(parse(text), args)
    assert check(json.loads(made.to_json())) == []
    return made


def runs(made: SharingView, form: Form) -> dict[str, int]:
    """By key: how often it was evaluated, all copies together."""
    found: dict[str, int] = {}
    for item in form.items:
        what = made.keys[item.key].what
        found[what] = found.get(what, 0) + item.runs
    return found


def times(made: SharingView, form: Form, operator: str) -> int:
    """How often an operator was evaluated."""
    return sum(n for what, n in runs(made, form).items() if what.startswith(f"{operator}("))


def test_a_shared_value_is_computed_once_or_as_often_as_it_is_used() -> None:
    made = view(SHARED)
    graph, let, tree = made.forms
    once = {"exp(%x)": 1, "tanh(%0)": 1, "add(%1, %0)": 1, "multiply(%2, %2)": 1}
    assert runs(made, graph) == runs(made, let) == once
    assert runs(made, tree) == {"exp(%x)": 4, "tanh(%0)": 2, "add(%1, %0)": 2, "multiply(%2, %2)": 1}


def test_the_rows_of_the_forms() -> None:
    made = view(SHARED)
    texts = ["\n".join(row.text for row in made.rows[f.first : f.last + 1]) for f in made.forms]
    assert "multiply(%2, %2)" in texts[0]
    assert "let %x1 = exp(%x);" in texts[1]
    assert texts[2].count("exp(%x)") == 4


def test_tokens_of_all_forms_name_the_same_keys() -> None:
    made = view(SHARED)
    (exp,) = [number for number, key in enumerate(made.keys) if key.what == "exp(%x)"]
    for form in made.forms:
        rows = made.rows[form.first : form.last + 1]
        assert any(token.ref == exp for row in rows for token in row.tokens)


def test_a_value_can_be_freed_after_its_last_use() -> None:
    made = view(SHARED)
    graph = made.forms[0]
    lives = {made.keys[i.key].what: i.lives for i in graph.items}
    assert lives["exp(%x)"] == ((1, 3),)  # made by step 1; `add` is step 3
    assert lives["tanh(%0)"] == ((2, 3),)
    assert graph.live == (0, 64, 128, 192, 128, 64)
    assert graph.peak == (3, 192)


def test_what_a_closure_captured_lives_as_long() -> None:
    """The value of %0 is used by %f's last call, though no row names it any more."""
    made = view(BRANCHES)
    graph = made.forms[0]
    (life,) = next(i.lives for i in graph.items if made.keys[i.key].what == "exp(%x)")
    calls = [i.lives for i in graph.items if made.keys[i.key].name and "(%x)" in made.keys[i.key].what]
    assert life[1] >= max(made for lives in calls for made, _ in lives) - 1


def test_branches_that_are_not_taken_are_not_evaluated() -> None:
    made = view("def @main(%x: float32) { %0 = exp(%x); if (less(%x, 2f)) { %0 } else { tanh(%0) } }", 1.0)
    assert [times(made, form, "tanh") for form in made.forms] == [0, 0, 0]
    assert [times(made, form, "exp") for form in made.forms] == [1, 1, 1]
    copies = [item for item in made.forms[2].items if made.keys[item.key].what == "exp(%x)"]
    assert sorted(item.runs for item in copies) == [0, 1]


def test_a_program_that_grows_too_large_is_not_written_out() -> None:
    made = view(DOUBLING)
    assert made.summary == snapshot(
        "Evaluations of the same computation: 20 as a graph, 20 with let. Without sharing it would "
        "be 1,048,576 expressions instead of 21, too many to show."
    )
    tree = made.forms[2]
    assert (tree.first, tree.items, tree.steps) == (-1, (), 0)
    assert tree.say == snapshot(
        (
            "Nothing is shared: expanded into a tree, `@main` has 1,048,576 expressions. That is too large "
            "to show.",
        )
    )


def test_a_function_is_evaluated_as_often_as_it_is_called() -> None:
    text = """
    def @main(%x: float32) {
      %0 = exp(%x);
      let %f = fn (%y: float32) { add(%0, tanh(%y)) };
      add(%f(1f), %f(%f(2f)))
    }
    """
    made = view(text, 1.0)
    assert [times(made, form, "tanh") for form in made.forms] == [3, 3, 3]


def test_effects_happen_once_in_every_form() -> None:
    text = """
    def @main() {
      let %r = ref(1);
      let %u = ref_write(%r, add(ref_read(%r), 1));
      %0 = ref_read(%r);
      add(%0, %0)
    }
    """
    made = view(text)
    for form in made.forms:
        assert (times(made, form, "ref_write"), times(made, form, "ref_read")) == (1, 2)


def test_arguments_are_ones_where_their_types_say_enough() -> None:
    assert view(SHARED).forms[0].steps == 6
    with raises(
        snapshot(
            "RelayError:\n"
            "from_string:1:11: error: `%x` is not a tensor of a static shape, so it has no default "
            "value\n"
            "   1 | def @main(%x: (float32, float32)) { %x.0 }\n"
            "     |           ^^^^^^^^^^^^^^^^^^^^^^\n"
            'help: give the arguments: explore(module, view="sharing", args=(…))'
        )
    ):
        view("def @main(%x: (float32, float32)) { %x.0 }")
    with raises(
        snapshot(
            "RelayError:\n"
            "from_string:1:11: error: `%x` is not a tensor of a static shape, so it has no default "
            "value\n"
            "   1 | def @main(%x: Tensor[(?), float32]) { %x }\n"
            "     |           ^^^^^^^^^^^^^^^^^^^^^^^^\n"
            'help: give the arguments: explore(module, view="sharing", args=(…))'
        )
    ):
        view("def @main(%x: Tensor[(?), float32]) { %x }")


def test_a_run_that_goes_wrong_is_an_error() -> None:
    text = "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(exp(%x), %y) }"
    with pytest.raises(ExecutionError):
        view(text, np.ones(2, "float32"), np.ones(3, "float32"))


def test_random_programs() -> None:
    for seed in range(40):
        program = generate(60_000 + seed, size=10 + seed % 40, closed=True).module
        with np.errstate(all="ignore"):
            made = sharing_view(program)
        assert check(json.loads(made.to_json())) == []
        graph, let, tree = made.forms
        total = [sum(i.runs for i in form.items) for form in (graph, let, tree)]
        if graph.steps == graph.total:
            assert total[0] == total[1]
            assert tree.first < 0 or total[2] >= total[0] or tree.steps < tree.total
        picture.html(made)
        picture.svg(made)


def test_a_model() -> None:
    made = explore(models.load("lenet"), view="sharing", name="t-lenet")
    assert made.view.kind == "sharing"
    assert made.view.summary == snapshot(
        "Evaluations of the same computation: 18 as a graph, 18 with let, 18 as a tree."
    )
