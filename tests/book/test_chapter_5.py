"""Chapter 5: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import json
import re

from relay_explorer import relay
from relay_explorer.execute import record
from relay_explorer.ir.equal import structural_equal
from relay_explorer.views.sharing.format import SharingView
from tests.book.chapters import cells, explorers, names, output, source

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


def test_pasting_multiplies_in_an_unrolled_sentence() -> None:
    lines = output(PAGE, "left, right, weight").splitlines()
    assert [[int(n) for n in re.findall(r"\d+", line)] for line in lines] == [
        [2, 1, 5], [4, 3, 65], [8, 7, 785],
    ]  # fmt: skip


def test_pasting_does_not_cross_a_call() -> None:
    """The cell as a function, called once a phrase: five times the dense layers, at any depth."""
    cell = str(names(PAGE)["cell"]).replace("@main", "@cell")
    module = relay.parse(cell + """
def @main(%n: int32, %x: Tensor[(1, 4), float32], %w: Tensor[(20, 8), float32])
    -> Tensor[(1, 4), float32] {
  if (%n == 0) { %x } else { @cell(@main(%n - 1, %x, %w), @main(%n - 1, %x, %w), %w) }
}
""")  # fmt: skip
    tree = relay.transform.ToTree()(module)
    for levels, phrases in ((1, 1), (2, 3), (3, 7)):
        arguments = levels, *names(PAGE)["state"][1:]
        counts = [record(version, *arguments).operators()["nn.dense"] for version in (module, tree)]
        assert counts == [phrases, 5 * phrases]


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
    page = names(PAGE)
    assert output(PAGE, "def agrees") == "[True, True, True]\n"
    assert structural_equal(page["as_graph"](page["named"]), page["graph"])
    assert "let %x2 = 1.0f;" in output(PAGE, "from relay_explorer.compat import tvm")


def test_scopes() -> None:
    lines = dict(line.split(" depth ") for line in output(PAGE, "body = bridge").splitlines())
    depths = {name.strip(): int(depth) for name, depth in lines.items()}
    assert (depths["exp"], depths["sqrt"], depths["add"], depths["less"]) == (0, 1, 1, 0)
    assert output(PAGE, "let_f = ") == "['e']\n"


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
    inner = output(PAGE, "one_branch = ").split("if (%c) {")[1].split("} else {")[0]
    assert "exp(" in inner
    assert "sqrt(" in inner


def test_the_folded_solution() -> None:
    """Constants left in place: the cell alone agrees; and its peak in either order."""
    page = dict(names(PAGE))
    atoms = next(cell for cell in cells(PAGE) if "\nATOMS = " in cell).split("\n", 1)[1]
    changed = atoms.replace("ATOMS = (", "ATOMS = (ir.Constant, ")
    assert changed != atoms
    exec(changed, page)
    exec(next(cell for cell in cells(PAGE) if cell.startswith("def agrees")).split("\nprint")[0], page)
    assert [page["agrees"](page[name]) for name in ("small", "cell", "branches")] == [False, True, False]
    size = re.search(r"```\{code-block\} python\n(def size.*?)```", source(PAGE), re.DOTALL)
    assert size is not None
    exec(size[1], page)
    text = re.search(r'cell = relay\.parse\("""(.*?)"""', source(PAGE), re.DOTALL)
    assert text is not None
    swapped = relay.parse(text[1].replace("tanh(%2 + %3)", "tanh(%3 + %2)"))
    assert not structural_equal(swapped, page["cell"])
    peaks = []
    for module in (page["cell"], swapped):
        normal = relay.transform.ToANormalForm()(relay.transform.ToGraphNormalForm()(module))
        peaks.append(page["peak"](relay.transform.InferType()(normal)["main"], page["size"]))
    assert set(peaks) == {160}


def test_a_use_near_the_end_keeps_a_vector_alive() -> None:
    assert output(PAGE, "for title, function in").splitlines() == [
        "sums late: v0 is live from line 0 to line 4",
        "sums early: v0 is live from line 0 to line 1",
        "more bytes: 4000",
    ]


def test_the_small_program_in_its_other_forms() -> None:
    named, tree = output(PAGE, "unnamed = ").split("def ")[1:]
    assert [named.count("exp"), named.count("let")] == [1, 3]
    assert tree.count("exp") == 2
