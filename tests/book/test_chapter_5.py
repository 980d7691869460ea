"""Chapter 5: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import json
import re

from relay_explorer import relay
from relay_explorer.execute import record
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.module import IRModule
from relay_explorer.views.sharing.format import SharingView
from tests.book.chapters import CELL, explorers, names, output, source

PAGE = "ch05_sharing"


def view(name: str) -> SharingView:
    result = explorers(PAGE)[name].view
    assert isinstance(result, SharingView)
    return result


def runs(result: SharingView, what: str) -> list[list[int]]:
    """For each form: how often each copy of an expression was evaluated."""
    return [
        [item.runs for item in form.items if result.keys[item.key].what.startswith(what)]
        for form in result.forms
    ]


def test_explorers_show_themselves_as_a_page_needs_them() -> None:
    for name, explorer in explorers(PAGE).items():
        assert name.startswith("ch05-")
        assert 'class="relay-explorer"' in explorer._repr_html_()
        assert len(json.dumps(explorer.to_dict())) < 200_000


def test_pasting_runs_the_dense_layer_five_times() -> None:
    lines = output(PAGE, "def ones(").split("\n")
    assert lines[0] == "the same value: True"
    assert lines[1].split() == ["nn.dense", "1", "5"]


def test_the_cell_has_one_dense_layer_or_five() -> None:
    result = view("ch05-cell")
    assert runs(result, "nn.dense(") == [[1], [1], [1] * 5]
    assert runs(result, "concatenate(") == [[1], [1], [1] * 5]


def test_let_has_the_bars_of_the_graph() -> None:
    graph, let, _ = view("ch05-cell").forms
    assert sorted((i.key, i.lives) for i in graph.items) == sorted((i.key, i.lives) for i in let.items)


def test_what_one_branch_uses_stands_in_it_and_was_not_run() -> None:
    result = view("ch05-branches")
    assert runs(result, "sqrt(") == [[0], [0], [0]]
    graph = result.forms[0]
    rows = [row.text for row in result.rows[graph.first : graph.last + 1]]
    inside = next(n for n, text in enumerate(rows) if "sqrt(" in text)
    before = next(n for n, text in enumerate(rows) if "exp(" in text)
    assert before < next(n for n, text in enumerate(rows) if text.startswith("if (")) < inside


def test_the_value_before_the_function_is_computed_once() -> None:
    run = record(names(PAGE)["once"], 0.0)
    assert run.operators()["exp"] == 1
    assert run.totals.calls == 2


def test_what_the_learner_builds_is_what_the_passes_give() -> None:
    graph, result = names(PAGE)["graph"], names(PAGE)
    module = IRModule.from_expr(graph)
    theirs = relay.transform.ToANormalForm()(module)["main"]
    assert structural_equal(result["with_let"](graph), theirs)
    assert structural_equal(result["as_graph"](theirs), graph)


def test_scopes() -> None:
    result = {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1]
             for line in output(PAGE, "for expr, scope in scopes").splitlines()}  # fmt: skip
    assert (result["exp"], result["sqrt"], result["add"]) == ("before the if", "then", "else")


def test_the_order_is_a_factor_of_nearly_four() -> None:
    late, early = [int(n) for n in re.findall(r"(\d+) bytes", output(PAGE, "HEAD = "))]
    assert (late, early) == (16004, 4016)


def test_predictions() -> None:
    assert output(PAGE, 'a = relay.var("a", shape=())').split("\n")[:2] == [
        "as a graph   17",
        "with let     17",
    ]
    assert "one object: False" in output(PAGE, "twice = relay.parse")
    assert "let %u = ref_write(%cell, 7);" in output(PAGE, "cells = relay.parse")
    assert output(PAGE, "inside = relay").splitlines()[-1] == "1 and now 2"


def test_the_folded_solution() -> None:
    """Tuples named too, and the most that the cell needs in either order."""
    result = dict(names(PAGE))
    code = next(match[2] for match in CELL.finditer(source(PAGE)) if match[2].startswith("def with_let"))
    tuples = r"```\{code-block\} python\n(            case relay\.Tuple\(\).*?)```"
    extra = re.search(tuples, source(PAGE), re.DOTALL)
    assert extra is not None
    exec(code.replace("            case _:\n", extra[1] + "            case _:\n", 1), result)
    cell = result["cell"]
    normal = relay.transform.ToANormalForm()(relay.transform.ToGraphNormalForm()(cell))
    named = result["with_let"](cell["main"])
    assert structural_equal(named, normal["main"])
    typed = relay.transform.InferType()(IRModule.from_expr(named))["main"]
    assert result["most"](typed, size_with_tuples) == 160


def size_with_tuples(var: relay.Var) -> int:
    fields = getattr(var.checked_type, "fields", [var.checked_type])
    return sum(4 * int(f.shape[0] * f.shape[1]) for f in fields)
