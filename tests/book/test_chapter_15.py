"""Chapter 15: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.narrow import as_tensor_type
from tests.book.chapters import cells, names, output, pipeline, shown, source

PAGE = "ch15_folding"


def numbers(start: str) -> list[int]:
    """Return the whole numbers that a cell prints."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", output(PAGE, start))]


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch15-layer", "ch15-mobilenet"]


def test_stages_that_it_links_to_are_those_that_it_names() -> None:
    words = {
        "Folding": "FoldConstant",
        "Sharing": "EliminateCommonSubexpr",
        "Sweeping": "DeadCodeElimination",
    }
    links = re.findall(r"\[`?(\w+)`?\]\(#rx-([\w-]+):stage=(\d+)\)", source(PAGE))
    assert len(links) == 5
    for word, name, stage in links:
        assert pipeline(PAGE, name).stages[int(stage)].name == words.get(word, word)


def label(expr: relay.Expr) -> str:
    """Return the operator that an expression calls."""
    return expr.op.name if isinstance(expr, relay.Call) and isinstance(expr.op, relay.op.Op) else ""


# -- the problem, and watching it


def test_the_dense_layer_is_run_twice() -> None:
    assert "nn.dense   2\n" in output(PAGE, "import numpy as np")


def test_what_each_pass_does_to_the_layer() -> None:
    given, folded, shared, swept = (stage.totals for stage in pipeline(PAGE, "ch15-layer").stages)
    sizes = [totals.expressions for totals in (given, folded, shared, swept)]
    rows = [before - after for before, after in pairwise(sizes)]
    assert rows[0] > rows[1] + rows[2]
    assert given.flops - folded.flops < 0.01 * given.flops
    assert shared.flops == pytest.approx(folded.flops / 2, rel=0.02)
    assert (folded.operators - shared.operators, shared.operators - swept.operators) == (2, 3)


def test_folding_needs_seven_rewrites_and_sharing_two() -> None:
    _, folded, shared, _ = pipeline(PAGE, "ch15-layer").stages
    assert (folded.told, shared.told) == (7, 2)
    assert folded.rewrites[5].rule == "An `if` with a constant condition is replaced by the branch taken."
    result = [rewrite.became for rewrite in folded.rewrites[:6]]
    assert result[:5] == ["8f", "0.125f", "True", "8f", "0.125f"]
    assert [rewrite.was for rewrite in folded.rewrites[1:6:3]] == [
        "%scale = divide(1f, 8f)",
        "%7 = divide(1f, 8f)",
    ]
    assert [rewrite.became for rewrite in shared.rewrites] == ["%0", "%a"]


def test_a_divide_can_be_followed_to_the_constant() -> None:
    result = pipeline(PAGE, "ch15-layer")
    divides = [n for n, item in enumerate(result.items) if item.label == "divide" and item.stage == 0]
    output = [item.label for item in result.items if item.stage == 1 and set(item.came_from) & set(divides)]
    assert "constant 0.125" in output


def test_normalizations_of_mobilenet() -> None:
    stages = pipeline(PAGE, "ch15-mobilenet").stages
    given, inference, folded, *rest = (stage.totals.operators for stage in stages)
    assert inference - given == 27 * 10
    assert inference - folded == 27 * 9
    assert rest == [folded, folded]
    assert all(stage.same for stage in stages[3:])
    simplified = names(PAGE)["TYPES"](names(PAGE)["INFERENCE"](names(PAGE)["mobilenet"]))
    roots = []
    relay.analysis.post_order_visit(
        simplified["main"], lambda expr: roots.append(expr) if label(expr) == "sqrt" else None
    )
    sizes = [as_tensor_type(root.checked_type).concrete_shape[0] for root in roots]
    assert (min(sizes), max(sizes)) == (32, 1024)
    assert folded < inference / 3
    assert stages[1].totals.flops - stages[2].totals.flops < 0.001 * stages[1].totals.flops


# -- build it


def test_the_readers_passes_and_the_packages_do_the_same_to_the_layer() -> None:
    assert numbers("from pocket import bridge, ir")[:2] == [15, 9]
    assert numbers("sweep = function_pass")[:3] == [9, 7, 4]
    packages = [stage.totals.operators for stage in pipeline(PAGE, "ch15-layer").stages]
    assert packages == [15, 9, 7, 4]


def test_the_pasted_cell_comes_back() -> None:
    printed = output(PAGE, "from relay_explorer.ir import structural_equal")
    assert re.findall(r"\d+", printed) == ["15", "27", "15"]
    assert printed.endswith("the cell is back: True\n")
    assert numbers("from unittest import mock") == [27]


def test_random_programs_compute_the_same() -> None:
    rows = output(PAGE, "import random").splitlines()
    assert [row.split()[0] for row in rows] == ["fold_constants", "share_common", "remove_dead"]
    counts = []
    for row in rows:
        right, of, before, ours, theirs = map(int, re.findall(r"\d+", row))
        assert right == of >= 50
        assert before > max(ours, theirs)
        counts.append(ours - theirs)
    assert counts[1:] == [0, 0], "sharing and sweeping remove as much as the package's"
    assert counts[0] == 3, "a `let` of a constant stays, and with it three calls in one program"
    page = names(PAGE)
    text = str(page["programs"][49])
    assert "let %b: float32 = 1f;\n    0f64" in text
    assert "abs(%0)" in text
    mine = page["fold"](page["mine"][49])
    theirs = page["bridge"].from_relay(page["FOLD"](page["programs"][49]))
    assert page["operators"](mine) - page["operators"](theirs) == 3


def test_the_three_of_the_page_on_other_programs() -> None:
    page = names(PAGE)
    tested = 0
    for seed in range(200, 280):
        module = page["TYPES"](page["Covered"](random.Random(seed), 15).program(True).module)
        program = page["bridge"].from_relay(module)
        if page["known"](program):
            tested += 1
            expected = page["plain"](page["run"](program))
            for step in (page["fold"], page["share"], page["sweep"]):
                program = step(program)
                assert page["plain"](page["run"](program)) == expected, seed
    assert tested > 20


def test_six_orders() -> None:
    matches = dict(re.findall(r"^(\w+, \w+, \w+) +(\d+)", output(PAGE, "from itertools"), re.M))
    assert len(matches) == 6
    assert min(matches, key=lambda order: int(matches[order])) == "fold, share, sweep"
    for first in ("share", "sweep"):
        assert all(int(n) > 4 for order, n in matches.items() if order.startswith(first))


# -- predictions and limits


def test_predictions_show_the_programs_that_are_run() -> None:
    asked = re.findall(r"```\{code-block\} text\n(.*?)```", source(PAGE), re.S)
    run = "".join(cells(PAGE)).replace(" ", "").replace("\n", "")
    assert len(asked) == 6
    for program in "".join(asked).splitlines():
        assert program.replace(" ", "") in run


def test_products_are_read_from_the_left() -> None:
    printed = output(PAGE, "def body")
    assert "multiply(6f, %x)" in printed
    assert printed.count("multiply") == 3


def test_zeros_stays_and_so_does_what_uses_it() -> None:
    *stays, gone = output(PAGE, "body(FOLD, 'exp").splitlines()
    assert gone == "1f"
    assert any("zeros(shape=[2]" in line for line in stays)


def test_a_let_hides_what_two_calls_have_in_common() -> None:
    graph, with_let = output(PAGE, 'body(SHARE, "tanh').split("free_var")[1:]
    assert [graph.count("tanh"), graph.count("exp"), graph.count("add")] == [1, 1, 1]
    assert [with_let.count("tanh"), with_let.count("exp"), with_let.count("add")] == [2, 1, 1]


def test_what_is_swept_and_what_is_kept() -> None:
    assert "let" not in output(PAGE, 'body(SWEEP, """\n  let %f')
    printed = output(PAGE, 'body(SWEEP, """\n  let %cell')
    assert "ref(1f)" in printed
    assert "ref_write" in printed
    assert "ref_read" not in printed


def test_which_are_the_same_twice() -> None:
    same, turned, read = output(PAGE, "TWO").split("(%0, ")[:3]
    assert same.count("add(") == 1
    assert turned.count("add(") == 2
    assert read.count("ref_read(") == 2
    assert output(PAGE, "DRAW").count("random.uniform(") == 1


def test_limits() -> None:
    assert output(PAGE, "big = ").startswith("4,000,000 bytes")
    assert output(PAGE, "choices = ") == "[0, 1, 1, 2]\n[1, 1, 1, 1]\n"
    fine, error = output(PAGE, "risky = ").split("\n", 1)
    assert fine == "NDArray(0.0, float32)"
    assert "index 7 is out of bounds" in error
    assert output(PAGE, "endless = ").splitlines()[-1] == "%x"


def test_a_type_with_a_question_mark_stays_as_it_was() -> None:
    printed = output(PAGE, "places = ")
    assert "argwhere(meta[relay.Constant][0])" in printed
    assert "(?, 1)" in printed


def test_algebra_that_it_says_is_not_done() -> None:
    page = names(PAGE)
    module = page["TYPES"](relay.parse("def @main(%x: float32) { (%x - %x, %x * 0f) }"))
    for step in (page["FOLD"], page["SHARE"]):
        module = step(module)
    run = relay.create_executor(mod=module).evaluate()
    with np.errstate(invalid="ignore"):
        assert all(np.isnan(field.numpy()) for field in run(np.float32("inf")))


def test_a_dead_let_that_says_when_a_cell_is_read() -> None:
    assert re.findall(r"\d\.0", output(PAGE, "early = relay.parse")) == ["1.0", "3.0", "1.0"]
