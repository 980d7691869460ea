"""Chapter 18: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import itertools
import math
import re

import pytest

from figures.static_dynamic import calls
from relay_explorer import relay
from relay_explorer.execute import record
from relay_explorer.ir import Let, Match, Tuple
from relay_explorer.views.partial.format import PartialMark, PartialView, State
from tests.book.chapters import cells, executed, explorers, names, output, shown, source

PAGE = "ch18_partial_evaluation"


def view(explorer: str) -> PartialView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, PartialView)
    return result


def say(explorer: str, step: int) -> str:
    """Return the sentence of a step, counted from 1 as readers and addresses do."""
    template, *arguments = view(explorer).steps[step - 1].say
    return template.format(*arguments)


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch18-power", "ch18-phrases", "ch18-effects"]


def test_the_problem_is_one_of_three_small_kernels() -> None:
    assert output(PAGE, "T = relay.transform").splitlines() == [
        "encode [['tanh'], ['nn.dense', 'tanh'], ['concatenate']]", "main []",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("explorer", "step", "words"),
    [
        ("ch18-power", 3, "equal of %n = 3 and 0 is False"),
        ("ch18-power", 4, "only the `else` branch is evaluated"),
        ("ch18-power", 6, "%n was 3, and is now smaller"),
        ("ch18-power", 18, "multiply has to wait: %x is dynamic"),
        ("ch18-phrases", 4, "Pair constructs Pair(Word(%not), Word(%bad))."),
        ("ch18-phrases", 8, "matches Pair(%left, %right)"),
        ("ch18-phrases", 9, "is now a part of that"),
        ("ch18-phrases", 34, "5 of them are dead"),
        ("ch18-effects", 5, "%y = 3 and %y = 3 is 9"),
        ("ch18-effects", 6, "**The write stays**"),
        ("ch18-effects", 7, "is 9 here, so it need not be read"),
        ("ch18-effects", 10, "The first branch begins"),
        ("ch18-effects", 16, "The `else` branch begins"),
        ("ch18-effects", 19, "Its content is dynamic"),
        ("ch18-effects", 21, "Its content is dynamic"),
    ],
)
def test_steps_say_what_the_text_says_of_them(explorer: str, step: int, words: str) -> None:
    assert words in say(explorer, step)
    assert f"](#rx-{explorer}:step={step})" in source(PAGE)


def test_every_step_that_it_links_to_is_tested() -> None:
    linked = set(re.findall(r"#rx-(ch18-\w+):step=(\d+)", source(PAGE)))
    assert len(linked) == 15
    assert all(1 <= int(step) <= len(view(name).steps) for name, step in linked)


def test_the_first_line_of_the_power_is_written_when_the_last_call_has_returned() -> None:
    marks = [step.mark for step in view("ch18-power").steps]
    assert marks.index(PartialMark.KEPT) == 17
    assert marks[16] == PartialMark.RETURNED
    rows = [bound.at for step in view("ch18-power").steps for bound in step.bound]
    assert max(rows.count(row) for row in rows) == 4, "up to four times"


def test_a_pair_of_unknown_words_is_known_in_part_and_tanh_is_there_three_times() -> None:
    phrases = view("ch18-phrases")
    assert phrases.steps[3].bound[0].state == State.PART
    (row,) = [n for n, r in enumerate(phrases.rows[: phrases.split]) if r.text == "tanh(%x)"]
    assert sum(kept.source == row for kept in phrases.residual) == 3
    assert "both branches remain" in say("ch18-effects", 9)


def test_both_branches_begin_with_the_same_store() -> None:
    effects = view("ch18-effects")
    held = {}
    now: tuple[tuple[str, str], ...] = ()
    for number, step in enumerate(effects.steps, 1):
        now = step.cells.held if step.cells is not None else now
        held[number] = now
    assert held[10] == held[16] == (("%cell", "9"),)
    assert held[18] == held[20] == ()


def test_ours_and_the_real_pass_mean_the_same() -> None:
    assert output(PAGE, "import numpy as np") == "True\n"
    assert "the same: True" in output(PAGE, "specialize = T.Sequential")
    page = names(PAGE)
    ours = page["to_relay"](page["ours"])["main"]
    result: list[relay.Expr] = []
    relay.analysis.post_order_visit(ours, result.append)
    assert not any(isinstance(expr, Match) for expr in result)
    lines = [expr for expr in result if isinstance(expr, Let)]
    assert sum(isinstance(line.value, Tuple) for line in lines) == 2
    printed = output(PAGE, "from pocket.bridge import")
    assert "let %x4 = Pair(" in printed
    assert printed.endswith("16 lines, 11 without dead code\n")


def test_words_go_into_the_kernel_of_the_concatenation() -> None:
    result = output(PAGE, "for kernel in kernels(straight").splitlines()
    assert sorted(result) == ["nn.dense tanh", "nn.dense tanh", "tanh concatenate", "tanh tanh concatenate"]


def test_the_treelstm_becomes_a_graph() -> None:
    printed = output(PAGE, "lstm = models.load")
    assert "before: 0 operators in @main, 10 calls" in printed
    assert ", 0 matches" in printed
    before, after = map(
        int, re.findall(r"(\d+) (?:before|after)", output(PAGE, "from relay_explorer.execute"))
    )
    assert before > after
    assert f"{after} kernels" in printed
    assert "after:  97 operators" in printed
    assert "yours:  97 operators, the same: True" in printed
    assert "the same: True" in output(PAGE, "from relay_explorer.execute")
    params = names(PAGE)["lstm"]["main"].params[1:5]
    weights = sum(math.prod(p.type_annotation.concrete_shape) for p in params)
    assert weights / 32 == pytest.approx(10_000, rel=0.05)


def test_separate_passes_do_the_same_but_for_recursion() -> None:
    (ours,) = re.findall(r"  (.+) /\* ty", output(PAGE, "chained = relay.parse"))
    theirs, recursion = re.findall(r"  (.+) /\* ty", output(PAGE, "def mark(module, name)"))
    assert ours == theirs == "multiply(%x, 4f)"
    assert recursion == "@power(%x, 3)"
    power = names(PAGE)["specialize"](names(PAGE)["power"])
    assert "@power" not in power["main"].astext()


def test_the_drawing_of_the_power_is_its_residual_program() -> None:
    lines = [line for n, _, line in calls() if n]
    assert lines == ["%2 = %x * %1", "%1 = %x * %0", "%0 = %x * 1f"]
    residual = names(PAGE)["operators"](names(PAGE)["specialize"](names(PAGE)["power"])["main"])
    assert residual == ["multiply"] * 3


def test_predictions_come_out_as_their_answers_say() -> None:
    printed = zip(cells(PAGE), executed(PAGE)[1], strict=True)
    answers = [text for code, text in printed if code.startswith("remains(")]
    pick, cell, unknown, up, choice = answers
    assert "exp(%x)" in pick
    assert "fn (%y" not in pick
    assert cell.count("ref_write") == 2
    assert "ref_read" not in cell
    read = "let %b = ref_read(%r)"
    assert [line for line in unknown.splitlines() if "ref_read" in line] == [f"  {read};"]
    assert unknown.index("%g()") < unknown.index(read) < unknown.index("ref_write")
    assert "(%x, %b, %x1)" in unknown
    assert up.count("@up(%x, 1)") == 1
    assert "add(1f, %0)" in choice


def test_half_a_tree_is_evaluated_as_far_as_it_is_known() -> None:
    package, ours = output(PAGE, "half = ").split("fn (")[1:]
    assert re.findall(r"@encode\((%\w+)", package) == ["%rest"]
    assert re.findall(r"@encode\((%\w+)", ours) == ["%left", "%right"]
    assert "match" not in package
    assert "match (%rest)" in ours


def test_growth_is_as_the_text_says() -> None:
    counts = [int(line.split()[1]) for line in output(PAGE, 'FIB = """').splitlines()]
    assert all(b / a > 4 for a, b in itertools.pairwise(counts))
    operators, calls = map(int, re.findall(r"(\d+) (?:operators|calls)", output(PAGE, "config = {")))
    assert operators < 60
    assert calls > 0


def test_there_are_as_many_trees_as_it_says() -> None:
    ways = [1, 1]
    for n in range(2, 12):
        ways.append(sum(ways[k] * ways[n - k] for k in range(1, n)))
    assert (ways[3], ways[4], ways[11]) == (2, 5, 16_796)


def test_the_recorder_of_runs_is_the_one_that_it_uses() -> None:
    assert names(PAGE)["record"] is record


def test_what_the_program_does_is_counted() -> None:
    done = names(PAGE)["operators"](names(PAGE)["straight"]["main"])
    assert (done.count("tanh"), done.count("concatenate"), done.count("nn.dense")) == (5, 2, 2)
    assert "five `tanh`s, two `concatenate`s and two dense layers" in source(PAGE)
